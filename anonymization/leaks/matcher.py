"""Many byte strings in one pass: windows of bytes against a bitmap, then an exact look.

At every position the first bytes are read as one integer (numpy reads eight interleaved arrays
of them without copying), hashed into a bitmap of the patterns' windows; of the few that pass,
window and last bytes are compared in bulk, and the rest one by one. The cost hardly depends on
the number of patterns (after Karp and Rabin 1987).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_WINDOWS = (6, 4)
_TAIL = 4
_BLOCK = 1 << 17  # integers at a time: what fits the cache
_SHORT = 1 << 13  # bytes; below, one slow array of all positions costs less than eight calls
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_COMMON = 4  # patterns that may share a window before another place is looked for
_PADDING = 8
_UNUSUAL = re.compile(rb"[^a-z ]")
MIN_PATTERN = _WINDOWS[-1]

Ints = NDArray[np.int64]


class Matcher:
    """Finds where any of `patterns` (bytes, at least MIN_PATTERN long) occurs."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        if any(len(pattern) < MIN_PATTERN for pattern in patterns):
            raise ValueError(f"patterns must have {MIN_PATTERN} bytes or more")
        self._patterns = patterns
        widths = [next(w for w in _WINDOWS if len(pattern) >= w) for pattern in patterns]
        groups = [[n for n, own in enumerate(widths) if own == width] for width in _WINDOWS]
        self._groups = [
            _Group(patterns, numbers, width)
            for numbers, width in zip(groups, _WINDOWS, strict=True)
            if numbers
        ]

    def find(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Pairs of an offset and the number of the pattern that begins there, in no order."""
        padded = np.frombuffer(data + bytes(_PADDING), dtype=np.uint8)
        for group in self._groups:
            for start, number in group.candidates(padded, len(data)):
                if data.startswith(self._patterns[number], start):
                    yield start, number


class _Group:
    """The patterns whose windows have the same width, ordered by window."""

    def __init__(self, patterns: Sequence[bytes], numbers: Sequence[int], width: int) -> None:
        places = _rare_places(patterns, numbers, width)
        keyed = sorted(
            (int.from_bytes(patterns[n][at : at + width], "little"), n, at)
            for n, at in zip(numbers, places, strict=True)
        )
        windows = np.array([key for key, _, _ in keyed], dtype=np.uint64)
        self._numbers: Ints = np.array([n for _, n, _ in keyed], dtype=np.int64)
        self._shifts: Ints = np.array([at for _, _, at in keyed], dtype=np.int64)
        self._lengths: Ints = np.array([len(patterns[n]) for _, n, _ in keyed], dtype=np.int64)
        self._tails = np.array(
            [int.from_bytes(patterns[n][-_TAIL:], "little") for _, n, _ in keyed], dtype=np.uint32
        )
        self._keys, self._first, self._count = np.unique(
            windows, return_index=True, return_counts=True
        )
        self._mask = np.uint64((1 << (8 * width)) - 1)
        bits = min(26, max(16, len(self._keys).bit_length() + 5))
        self._drop = np.uint64(64 - bits)
        self._bitmap = np.zeros(1 << bits, dtype=np.bool_)
        self._bitmap[(self._keys * _FACTOR) >> self._drop] = True

    def candidates(self, padded: NDArray[np.uint8], length: int) -> Iterator[tuple[int, int]]:
        """Offsets with the numbers of the patterns that begin and end as the data does there."""
        step = 1 if length <= _SHORT else 8
        for offset in range(min(step, length)):
            count = -(-(length - offset) // step)
            windows = np.ndarray(count, "<u8", padded, offset, (step,))
            for start in range(0, count, _BLOCK):
                block = windows[start : start + _BLOCK] & self._mask
                places, which = self._windows(block)
                if len(places):
                    yield from self._ends((places + start) * step + offset, which, padded, length)

    def _windows(self, block: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """Indices into the block that hold a window, and which one."""
        hashes = (block * _FACTOR) >> self._drop
        # As signed integers, so that the lookup need not convert them; the hash keeps in bounds.
        likely = np.flatnonzero(self._bitmap.take(hashes.view(np.int64), mode="clip"))
        keys = block[likely]
        which = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        same = self._keys[which] == keys
        return likely[same], which[same]

    def _ends(
        self, places: Ints, which: Ints, padded: NDArray[np.uint8], length: int
    ) -> Iterator[tuple[int, int]]:
        """Of all patterns with these windows those whose last bytes are where they should be."""
        counts = self._count[which]
        repeated = np.repeat(np.arange(len(places)), counts)
        within = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
        member = self._first[which][repeated] + within
        starts = places[repeated] - self._shifts[member]
        ends = starts + self._lengths[member]
        fits = (starts >= 0) & (ends <= length)
        starts, ends, member = starts[fits], ends[fits], member[fits]
        tails = np.zeros(len(ends), dtype=np.uint32)
        for byte in range(_TAIL):
            tails |= padded[ends - _TAIL + byte].astype(np.uint32) << np.uint32(8 * byte)
        same = tails == self._tails[member]
        yield from zip(starts[same].tolist(), self._numbers[member[same]].tolist(), strict=True)


def _rare_places(patterns: Sequence[bytes], numbers: Sequence[int], width: int) -> list[int]:
    """Where to look in each pattern: around its first byte that is no small letter, which text
    holds less often, or, where many agree there, where few do.
    """
    places = {n: _unusual_place(patterns[n], width) for n in numbers}
    windows = Counter(patterns[n][places[n] : places[n] + width] for n in numbers)
    crowded = [n for n in numbers if windows[patterns[n][places[n] : places[n] + width]] > _COMMON]
    counts = Counter(
        patterns[n][at : at + width] for n in crowded for at in range(len(patterns[n]) - width + 1)
    )
    for n in crowded:
        own = [patterns[n][at : at + width] for at in range(len(patterns[n]) - width + 1)]
        places[n] = min((counts[window], at) for at, window in enumerate(own))[1]
    return [places[number] for number in numbers]


def _unusual_place(pattern: bytes, width: int) -> int:
    match = _UNUSUAL.search(pattern, 1)
    return min(max(0, match.start() - width // 2), len(pattern) - width) if match else 0
