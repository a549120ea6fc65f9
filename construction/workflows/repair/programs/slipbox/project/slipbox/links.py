"""Links in a text."""

import re
from dataclasses import dataclass

from slipbox.code import blanked

_LINK = re.compile(r"\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(\|[^\[\]\n]*)?\]\]")


@dataclass(frozen=True)
class Link:
    name: str  # as it is written
    part: str  # with its #
    words: str  # with its |
    start: int
    end: int


def read_links(text):
    """The links to other notes, in their order."""
    return [
        Link(match.group(1), match.group(2) or "", match.group(3) or "", match.start(), match.end())
        for match in _LINK.finditer(blanked(text))
        if match.group(1).strip()
    ]
