"""The line on which each item of a JSON listing starts, for messages about it."""

from __future__ import annotations

import re
from bisect import bisect_left

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_VALUE = re.compile(rb"\S")


def item_lines(raw: bytes, key: bytes | None) -> list[int]:
    """1-based lines of the items of the outermost list, or of the list under `key` of the root.

    `raw` must be sound JSON that holds this list. Linear in its length.
    """
    starts: list[int] = []
    depth, inside, last = 0, False, b""
    home = 1 if key is None else 2
    for token in _TOKEN.finditer(raw):
        text = token[0]
        if text in (b"[", b"{"):
            depth += 1
            if depth == home and text == b"[" and (key is None or last == b'"%s"' % key):
                inside, starts = True, [_next_value(raw, token.end())]
        elif text in (b"]", b"}"):
            inside = inside and depth != home
            depth -= 1
        elif text == b"," and inside and depth == home:
            starts.append(_next_value(raw, token.end()))
        elif text[:1] == b'"':
            last = text
    breaks = [match.start() for match in re.finditer(rb"\n", raw)]
    return [bisect_left(breaks, start) + 1 for start in starts]


def _next_value(raw: bytes, start: int) -> int:
    match = _VALUE.search(raw, start)
    return match.start() if match else len(raw)
