"""Signatures and business cards: short lines by which an address, a phone or an e-mail stands.

In such a block the first line is a person's name and the other bare lines the house.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import COMMON

NAME = "signature"
_SCORE = 0.55
_LINES = re.compile(r"(?:[^\n]{0,80}\n){1,14}[^\n]{0,80}")
_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[?>*#|-]{1,3} ?)?")
_BARE = re.compile(r"[^\W\d_](?:[\w'&.,-]| (?=[^\W_]))*[\w.]")
_ANCHORS = frozenset({EntityType.ADDRESS, EntityType.PHONE, EntityType.EMAIL})
_MOST_WORDS = 5
_MOST_CHARS = 600
_HEAD_LINES = 5  # an address or a number comes within so many lines of the name


def find_blocks(folded: str, found: Sequence[Finding]) -> Iterator[Finding]:
    """Names and houses of signatures, from what the rules have found in them."""
    if "\n" not in folded or not any(finding.type in _ANCHORS for finding in found):
        return
    start = 0
    for block in re.split(r"(\n\s*\n(?=\s*\n)|\n{3,})", folded):
        if len(block) <= _MOST_CHARS:
            yield from _in_block(folded, start, start + len(block), found)
        start += len(block)


def _in_block(text: str, start: int, end: int, found: Sequence[Finding]) -> Iterator[Finding]:
    lines = [
        match.span()
        for match in _LINE.finditer(text, start, end)
        if match.group().strip(" \t?>*#|-")
    ]
    anchors = [
        place
        for place, (first, last) in enumerate(lines)
        if any(f.type in _ANCHORS and first <= f.start < last for f in found)
    ]
    if not anchors or not 1 <= anchors[0] < _HEAD_LINES:
        return
    for place, (first, last) in enumerate(lines[: anchors[0]]):
        lead = _BULLET.match(text, first, last)
        first = lead.end() if lead else first
        value = text[first:last].rstrip()
        words = value.split()
        if not words:
            continue
        if not _BARE.fullmatch(value) or len(words) > _MOST_WORDS or value.isdigit():
            return
        if any(word.strip(".,").title() in COMMON for word in words):
            continue
        if any(f.start <= first and first + len(value) <= f.end for f in found):
            continue
        kind = EntityType.ORGANIZATION if place else EntityType.PERSON
        yield Finding(first, first + len(value), kind, NAME, _SCORE)
