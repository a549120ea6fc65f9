"""What an item lacks: its name for private views, its kind and source for public ones (law 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

MISSING, MISSING_NAMES = "missing", "missing_names"  # keys of a ledger row's evidence


class MissingKind(StrEnum):
    FILE = "a file"
    FOLDER = "a folder"
    SITE = "a site"
    WEB = "the web"
    SYSTEM = "a system"
    ACCOUNT = "an account"
    CONVERSATION = "an earlier conversation"
    MATERIAL = "other material"
    DAY = "the day"
    ASKER = "the one who asks"


@dataclass(frozen=True, slots=True)
class MissingInput:
    """An input that is not at hand.

    `name` is the text that names it, and private. `source` says where that text is, in words of
    this code: "named in turn 2". `extension` is one of the known ones, or empty.
    """

    kind: MissingKind
    source: str
    name: str = field(repr=False)
    extension: str = ""

    @property
    def description(self) -> str:
        """The input without its name: "a file .xlsx, named in turn 2"."""
        extension = f" .{self.extension}" if self.extension else ""
        return f"{self.kind}{extension}, {self.source}"


def named_in_turn(position: int) -> str:
    """The source of what the person's message at this position, from 0, names."""
    return f"named in turn {position + 1}"


def descriptions(missing: Iterable[MissingInput]) -> str:
    """All inputs without their names; those that are described alike stand once, with a count."""
    counts = Counter(item.description for item in missing)
    return "; ".join(text if n == 1 else f"{text} ({n} times)" for text, n in counts.items())
