"""Noise for millions of cells from one secret: ChaCha with eight rounds, vectorised over rows.

A counter generator as law 5 requires, but a cipher: Philox does not claim secrecy, and the noise
that an attacker sees must not reveal the rest. Eight rounds are enough (Aumasson, "Too Much
Crypto", 2019). The word at (stage, entity, period, slot) depends on nothing else, so order,
duplicates and other rows change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.randomness import keyed_hash

Words = NDArray[np.uint32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SIGMA = np.frombuffer(b"expand 32-byte k", dtype="<u4")
_QUARTERS = (
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
_ROUNDS = 8
_FIRST_BYTES, _BLOCK_BYTES = 12, 16  # of text absorbed at first, and at a time
_MISSING = "\x00"
_ALONE = 1 << 15  # in the length of a text without a second part
SLOTS = 8  # 64-bit words of one block
CHUNK = 8192  # rows at a time: the state stays in the cache


def stage_key(key: bytes, stage: str) -> Words:
    """The 256-bit key of a stage as eight words."""
    return np.frombuffer(keyed_hash(key, stage, ""), dtype="<u4").astype(np.uint32)


def _permute(state: Words, rounds: int) -> None:
    """ChaCha's rounds on the columns of `state` (16 × n), in place (RFC 8439 §2.1)."""
    spare = np.empty_like(state[0])
    for _ in range(rounds // 2):
        for a, b, c, d in _QUARTERS:
            _mix(state[a], state[b], state[d], 16, spare)
            _mix(state[c], state[d], state[b], 12, spare)
            _mix(state[a], state[b], state[d], 8, spare)
            _mix(state[c], state[d], state[b], 7, spare)


def _mix(total: Words, addend: Words, turned: Words, by: int, spare: Words) -> None:
    """total += addend; turned = (turned ^ total) rotated left."""
    np.add(total, addend, out=total)
    np.bitwise_xor(turned, total, out=turned)
    np.left_shift(turned, np.uint32(by), out=spare)
    np.right_shift(turned, np.uint32(32 - by), out=turned)
    np.bitwise_or(turned, spare, out=turned)


def blocks(
    keys: Words, counter: int, nonce: NDArray[np.uint64] | None = None
) -> NDArray[np.uint64]:
    """Eight 64-bit words (rows) per key (columns of `keys`, 8 × n) at a counter and nonce."""
    start = np.zeros((16, keys.shape[1]), dtype=np.uint32)
    start[:4] = _SIGMA[:, None]
    start[4:12] = keys
    start[12] = counter
    if nonce is not None:
        start[13], start[14] = nonce & np.uint64(0xFFFFFFFF), nonce >> np.uint64(32)
    state = start.copy()
    _permute(state, _ROUNDS)
    state += start
    words = state[0::2].astype(np.uint64)  # in place from here: several chunks are worked on
    words <<= np.uint64(32)
    words |= state[1::2]
    return words


def _text_keys(stage: Words, texts: Texts) -> Words:
    """One key (8 words) per text: a cascade over its bytes, the lengths first."""
    keys = _absorbed(np.repeat(stage[:, None], len(texts), axis=1), texts.first_block())
    for at in range(_FIRST_BYTES, texts.longest, _BLOCK_BYTES):
        longer = texts.lengths > at
        if longer.all():
            keys = _absorbed(keys, texts.block(at, _BLOCK_BYTES))
        elif longer.any():
            keys[:, longer] = _absorbed(keys[:, longer], texts.only(longer).block(at, _BLOCK_BYTES))
    return keys


def _absorbed(keys: Words, block: Words) -> Words:
    """HChaCha: the outer words of the permuted state, which reveal nothing of the key."""
    state = np.empty((16, keys.shape[1]), dtype=np.uint32)
    state[:4] = _SIGMA[:, None]
    state[4:12] = keys
    state[12:] = block
    _permute(state, _ROUNDS)
    return np.concatenate([state[:4], state[12:]])


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 texts in one buffer: the start of each, its length, and that of its first part.

    With the lengths absorbed first, no text is a prefix of another, and the same letters split
    elsewhere are a different text.
    """

    buffer: NDArray[np.uint8]
    starts: Ints
    lengths: Ints
    heads: Ints

    @classmethod
    def of(cls, first: pl.Series, second: pl.Series | None) -> Texts:
        """Each row's text, or its two texts; missing ones count as a text of their own."""
        text = first.cast(pl.String).fill_null(_MISSING)
        heads = text.str.len_bytes().cast(pl.Int64).to_numpy()
        if second is not None:
            text = text + second.cast(pl.String).fill_null(_MISSING)
        lengths = text.str.len_bytes().cast(pl.Int64).to_numpy()
        joined = (text.str.join("").item() or "").encode() + bytes(_BLOCK_BYTES)
        heads = heads if second is not None else heads + _ALONE
        return cls(np.frombuffer(joined, np.uint8), np.cumsum(lengths) - lengths, lengths, heads)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """Bytes of the longest text."""
        return int(self.lengths.max(initial=0))

    def only(self, which: NDArray[np.bool_]) -> Texts:
        """Some of the texts."""
        return Texts(self.buffer, self.starts[which], self.lengths[which], self.heads[which])

    def first_block(self) -> Words:
        """Lengths and the first bytes (4 × n)."""
        block = np.empty((4, len(self)), dtype=np.uint32)
        block[0] = (self.lengths << 16) ^ self.heads
        block[1:] = self.block(0, _FIRST_BYTES)
        return block

    def block(self, at: int, size: int) -> Words:
        """Bytes `at` to `at` + `size` of each text as words, zeros after its end."""
        offsets = np.arange(at, at + size)
        index = self.starts[:, None] + offsets
        np.minimum(index, len(self.buffer) - 1, out=index)
        padded = np.where(offsets < self.lengths[:, None], self.buffer[index], np.uint8(0))
        return np.ascontiguousarray(padded).view("<u4").T.astype(np.uint32)


class RowNoise:
    """The words of any run of rows, keyed by entity and, if given, period."""

    def __init__(
        self, key: bytes, stage: str, entity: pl.Series, period: pl.Series | None, slots: int
    ) -> None:
        self._stage, self._slots = stage_key(key, stage), slots
        self._entity, self._period = entity, period

    def words(self, rows: slice) -> NDArray[np.uint64]:
        """Slots × rows. Only the texts of these rows are unpacked: tables may be large."""
        period = None if self._period is None else self._period[rows]
        keys = _text_keys(self._stage, Texts.of(self._entity[rows], period))
        made = [blocks(keys, counter) for counter in range(-(-self._slots // SLOTS))]
        return (made[0] if len(made) == 1 else np.concatenate(made))[: self._slots]


def chunks(height: int) -> list[slice]:
    """Runs of rows that fit the cache."""
    return [slice(start, min(start + CHUNK, height)) for start in range(0, height, CHUNK)]


def uniforms(words: NDArray[np.uint64]) -> Floats:
    """Uniform in the open interval (0, 1), from the upper 52 bits."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def normals(words: NDArray[np.uint64]) -> Floats:
    """Standard normal, by the inverse of the distribution function."""
    from scipy.special import ndtri  # late: 20 MB that digits drawn anew do not need

    return np.asarray(ndtri(uniforms(words)))
