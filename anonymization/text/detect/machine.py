"""Tells lines that a person wrote from code, commands, data and listings."""

from __future__ import annotations

import re
from bisect import bisect_right

# What begins a line of code, of a shell session, or of a structured listing.
_OPENING = re.compile(
    r"\s*(?:def |class |import |from \S+ import |return\b|const |let |var |function |async "
    r"|export |public |private |static |if \(|for \(|while \(|else\b|elif |try:|except|#include"
    r"|@\w+\(|\$ |>>> |\.\.\. |sudo |git |cd |ls |cat |npm |pip |curl |python3? |docker |echo "
    r"|SELECT |INSERT |UPDATE |CREATE |[+-]{3} |@@ |diff --git|[\w.-]+ ?= ?[\w\"'\[({]|</?\w+[ >]"
    r"|[\[{<]|\"[\w -]{1,40}\" ?:|[-d][rwx-]{9}|sha\d+[=:]|\d{1,6}[:|→\t])"
)
_CODE_CHARS = re.compile(r"[{}\[\]()<>=;|\\/_$#*&^~`\"+]")
_STAMP = re.compile(r"\s*\d{4}-\d{2}-\d{2}T[\d:.,]+(?:Z| ?[+-]\d{2}:?\d{2})?\s*")
_SHORT = 48
_DENSE = 0.09


def is_machine(line: str) -> bool:
    """Whether a line reads as code or data rather than as words."""
    if _STAMP.fullmatch(line):
        return True
    if _OPENING.match(line):
        return True
    marks = len(_CODE_CHARS.findall(line))
    if len(line) < _SHORT:
        return marks > 2 + len(line) / 10
    return marks > _DENSE * len(line)


class MachineLines:
    """The lines of a text, judged when asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self._judged: dict[int, bool] = {}

    def machine_at(self, offset: int) -> bool:
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        place = bisect_right(self._starts, offset) - 1
        if place not in self._judged:
            end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._text)
            self._judged[place] = is_machine(self._text[self._starts[place] : end])
        return self._judged[place]
