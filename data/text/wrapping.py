"""Lines that were wrapped: a break inside a sentence is no end of it."""

from __future__ import annotations

import re
from itertools import pairwise

from data.text.scripts import count_han

_PAGE = 45  # columns; a shorter line was ended by its writer
_PAGE_HAN = 36  # in Chinese, where a line is broken anywhere and words are short
_ENDS = re.compile(r"[.!?;:。！？；：…][\"'”’)\]*`]*\s*$")
_OPEN_END = re.compile(r"(?i)(?:\b(?:to|in|into|as|at|from|under|named|called)|[到为在成至])\s*$")
_ITEM = re.compile(r"\s*(?:[-*•·#>|]|\d{1,2}[.)、](?!\d))")


def unwrapped(text: str) -> str:
    """The text with a space for every line break inside a sentence; offsets stay the same."""
    lines = text.split("\n")
    pieces = [lines[0]]
    for line, following in pairwise(lines):
        pieces += [" " if goes_on(line, following) else "\n", following]
    return "".join(pieces)


def goes_on(line: str, following: str) -> bool:
    """Is `following` the continuation of a line that was wrapped?"""
    if not line.strip() or not following.strip() or begins_item(following):
        return False
    return not _ENDS.search(line) and not _is_heading(line) and _is_long(line)


def begins_item(line: str) -> bool:
    """Does the line begin an item of a list, a heading, a quotation or a row of a table?"""
    return _ITEM.match(line) is not None


def _is_heading(line: str) -> bool:
    return line.lstrip()[:1] in ("#", "|")


def _is_long(line: str) -> bool:
    """True for a line as wide as a page, and for one that ends with "to" or "in"."""
    han = count_han(line)
    page = _PAGE_HAN if 2 * han > len(line) else _PAGE
    return len(line) + han >= page or _OPEN_END.search(line) is not None
