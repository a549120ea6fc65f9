"""What wrappers say about a text while they are taken off it."""

from __future__ import annotations

from dataclasses import dataclass, field

from construction.sessions.wrappers.clock import Clock
from data.contracts import Attachment


@dataclass(slots=True)
class Envelope:
    """Sender, channel and time as the wrappers have them; the first word on each stands.

    `preview` is how the message begins where a notice announces it, without the sender's name.
    """

    sender: str | None = None
    channel: str | None = None
    clock: Clock | None = None
    preview: str = ""
    attachments: list[Attachment] = field(default_factory=list)

    def note(self, sender: str | None, channel: str | None, clock: Clock | None) -> None:
        self.sender = self.sender or sender
        self.channel = self.channel or channel
        self.clock = self.clock or clock
