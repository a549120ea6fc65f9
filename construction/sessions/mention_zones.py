"""Parts of a text: those that a person pasted rather than said, and a way to ask for overlaps."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.M)
_MACHINE_LINE = re.compile(
    r"[ \t]*(?:at \S|File \"|[$➜#%] {1,3}\S|[\w.-]{1,60}@[\w.-]+[:~ ].{0,80}[$#] |"
    r"(?:diff --git|index [0-9a-f]{7}|@@ |\+\+\+ |--- [ab]/)|"
    r"[\w.]{1,80}(?:Error|Exception|Warning)\b[:(]|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d)"
)
_MACHINE_WORD = re.compile(r"\b(?:ENOENT|PASSED|FAILED)\b|:\d+:\d+\b")
_LONGEST_LINE = 1000
_ONLY_A_PATH = re.compile(r"[ \t]*(?=\S*[./\\])[\w./\\:~@+%-]{1,255}[ \t]*$")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


class Zones:
    """Parts of a text, merged, to be asked in logarithmic time."""

    def __init__(self, zones: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(zones):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def touch(self, start: int, end: int) -> bool:
        """Does a zone overlap `start:end`?"""
        position = bisect_left(self._starts, end) - 1
        return position >= 0 and self._ends[position] > start


NOWHERE = Zones(())


def pasted(text: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks, shell and trace lines, and the paragraphs that mostly consist of these.

    A fenced block that lists nothing but paths is how some people name their files: no zone.
    """
    start = 0
    for end in [*(match.end() for match in _PARAGRAPH.finditer(text)), len(text)]:
        yield from _machine_lines(text, start, end)
        start = end
    if "```" not in text and "~~~" not in text:
        return
    fences = [match.start() for match in _FENCE.finditer(text)]
    for opening, closing in zip(fences[::2], [*fences[1::2], len(text)], strict=False):
        body = text.find("\n", opening, closing) + 1
        lines = text[body:closing].splitlines() if body else []
        if not lines or not all(_ONLY_A_PATH.match(line) for line in lines if line.strip()):
            yield opening, closing


def _machine_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    lines = text[start:end].splitlines(keepends=True)
    marked = [_is_machine_line(line) for line in lines]
    if sum(marked) * 3 > len(lines):
        yield start, end
        return
    for line, is_marked in zip(lines, marked, strict=True):
        if is_marked:
            yield start, start + len(line)
        start += len(line)


def _is_machine_line(line: str) -> bool:
    if _MACHINE_LINE.match(line):
        return True
    return len(line) < _LONGEST_LINE and _MACHINE_WORD.search(line) is not None
