"""Damage to files, drawn from a seed: bytes, lines, cells, JSON values, pieces of others."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

HOSTILE = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"\\u0000",
    b"\x1b[2J",
    b"../../etc/passwd", b"1e999", b"-0", b"99999999999999999999999999", b"NaN", b"[" * 3000,
    b'{"a":' * 3000, b"\xe2\x80\xae", b"=1+1", b"A" * 70_000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, -(2**70), 1e308, float("inf"), float("nan"), "", " ", "\ud800",
    "\x00", "../x", "x" * 100_000, [], {}, [[]], [None], {"": {}}, [{}] * 50,
    "2026-99-99T25:61:61Z",
)  # fmt: skip


def mutated(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """One of the seeds, damaged one to four times."""
    content = draw.choice(seeds)
    for _ in range(draw.randint(1, 4)):
        content = draw.choice(_KINDS)(content, seeds, draw)
    return content


def _flip(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _time in range(draw.randint(1, 8)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _insert(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    at = draw.randint(0, len(content))
    return content[:at] + draw.choice(HOSTILE) + content[at:]


def _cut(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    start, end = sorted(draw.randint(0, len(content)) for _ in range(2))
    return content[:start] + content[end:]


def _truncate(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    return content[: draw.randint(0, len(content))]


def _splice(content: bytes, seeds: Sequence[bytes], draw: random.Random) -> bytes:
    other = draw.choice(seeds)
    return content[: draw.randint(0, len(content))] + other[draw.randint(0, len(other)) :]


def _lines(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    """Lines repeated, dropped and in another order."""
    lines = content.splitlines(keepends=True)
    picked = draw.choices(lines, k=draw.randint(0, len(lines) + 3)) if lines else []
    return b"".join(picked)


def _cells(content: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    """A cell of a table that is separated by commas or tabs."""
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    separator = b"\t" if b"\t" in lines[at] else b","
    cells = lines[at].split(separator)
    cells[draw.randrange(len(cells))] = draw.choice(HOSTILE)
    return b"\n".join([*lines[:at], separator.join(cells), *lines[at + 1 :]])


def _json(content: bytes, seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """A value of a JSON document, or of one of its lines, replaced, dropped or doubled."""
    lines = content.splitlines() or [b""]
    try:
        document = json.loads(content)
        lines, at = [content], 0
    except (ValueError, RecursionError):
        at = draw.randrange(len(lines))
        try:
            document = json.loads(lines[at])
        except (ValueError, RecursionError):
            return _flip(content, seeds, draw)
    changed = _changed(document, draw)
    lines[at] = json.dumps(changed, ensure_ascii=True).encode()
    return b"\n".join(lines) + b"\n"


def _changed(document: Any, draw: random.Random) -> Any:
    if not isinstance(document, dict | list) or not document or draw.random() < 0.15:
        return draw.choice(VALUES)
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    key = draw.choice(keys)
    kind = draw.random()
    if kind < 0.15:
        del document[key]
    elif kind < 0.25 and isinstance(document, dict):
        document[str(draw.choice(VALUES))] = document[key]
    else:
        document[key] = _changed(document[key], draw)
    return document


_Kind = Callable[[bytes, Sequence[bytes], random.Random], bytes]
_KINDS: tuple[_Kind, ...] = (
    _flip, _insert, _cut, _truncate, _splice, _lines, _cells, _json, _json, _json,
)  # fmt: skip
