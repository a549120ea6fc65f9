"""What a person typed, without what transport put around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.sessions.wrappers.blocks import strip_blocks, strip_notices
from construction.sessions.wrappers.envelope import Envelope
from construction.sessions.wrappers.heads import strip_heads
from construction.sessions.wrappers.machine import machine_origin, strip_cron
from construction.sessions.wrappers.mail import strip_mail
from construction.sessions.wrappers.media import strip_media
from data.contracts import Attachment, Origin

_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_TRAILING_ID = re.compile(r"\[(?:message_id|msg_id|id)\s?[:：]\s?[^\]\n]{1,200}\]\s*$")
# Simulated users (tau-bench) close a conversation with a mark that is no speech.
_CLOSING_MARKS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A user's text taken apart.

    `said` is what the person typed: no gateway heads, metadata, message ids, leading mentions,
    attachment markers or quoted history. `at` is in seconds since the epoch, UTC, and set only
    if a wrapper gives a full date. `origin` is human unless a machine wrote the text.
    """

    said: str
    origin: Origin = Origin.HUMAN
    sender: str | None = None
    channel: str | None = None
    attachments: tuple[Attachment, ...] = ()
    at: float | None = None


def unwrap(text: str, dated: bool = True) -> Unwrapped:
    """Take transport wrappers, attachment markers and quoted history off a user's text.

    Linear in the length of `text`. Never fails: what is not recognised stays. With `dated`
    false, `at` is left out, which saves time where the log has times of its own.
    """
    envelope = Envelope()
    body, noticed = strip_notices(strip_blocks(text.strip(), envelope).lstrip(), envelope)
    body = _strip_inline(body, envelope)
    scheduled = strip_cron(body)
    if scheduled is not None:
        body, origin = scheduled, Origin.CRON
    elif noticed and not body and not envelope.attachments:
        body, origin = text.strip(), Origin.SYSTEM
    else:
        origin = machine_origin(body) or Origin.HUMAN
    at = envelope.clock.seconds() if dated and envelope.clock else None
    return Unwrapped(
        body, origin, envelope.sender, envelope.channel, tuple(envelope.attachments), at
    )


def _strip_inline(text: str, envelope: Envelope) -> str:
    """Take off what stands on a person's own lines: heads, mail, attachment markers."""
    body = strip_mail(strip_heads(text, envelope), envelope)
    without_media = strip_media(body, envelope)
    if without_media is not body:
        without_media = strip_heads(without_media, envelope)  # markers may stand before heads
    body = without_media
    if "[" in body:
        body = _TRAILING_ID.sub("", body)
    if "#" in body:
        for mark in _CLOSING_MARKS:
            body = body.replace(mark, "")
    if len(body) < len(text):
        body = _BLANK_LINES.sub("\n\n", body)
    return body.strip()
