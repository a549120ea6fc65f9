"""Pseudonyms of codes: a permutation of their code space, drawn from the release key.

Whoever gets the key can invert it by trying a million codes, as for a keyed hash; `privacy seal`
destroys the key, after which this is impossible. All pseudonyms of a code space have one shape
(digits, letters, punctuation): a shape that few codes have would tell whose they are, and of codes
such as hexadecimal ones hardly two have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from anonymization.tables.keystream import Words, blocks, stage_key
from data.errors import InputError
from data.randomness import keyed_hash

_TABLE = 2**20  # code spaces up to this size are shuffled as a whole
_ROUNDS = 12
_LARGEST = 2**62
_DIGITS, _UPPER, _LOWER = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_TRIES = 500


@dataclass(frozen=True, slots=True)
class CodeMap:
    """`clashes`: pseudonyms that equal some other real code, because the space is too full."""

    new: dict[str, str]
    clashes: int


def permuted_codes(codes: Iterable[str], key: bytes, space: str, prefix: str = "") -> CodeMap:
    """One-to-one pseudonyms of one shape; if there is room, no pseudonym is a real code.

    The shape is the most common one that has room for all codes. If none has, each code keeps its
    shape, which narrows down whose it is. A code whose image is a real code tries other images, in
    keyed order, until one is free: only these pseudonyms, and those of codes of another shape,
    depend on the other codes.
    Errors: `InputError` for codes without the prefix, or of a shape with 2⁶² codes or more.
    """
    shapes: dict[str, list[str]] = {}
    for code in sorted(set(codes)):
        shapes.setdefault(_shape(code, prefix), []).append(code)
    guests: list[str] = []
    if common := _common(shapes, len(prefix)):
        guests = [code for shape in shapes if shape != common for code in shapes[shape]]
        shapes = {common: shapes[common]}
    new: dict[str, str] = {}
    clashes = 0
    for shape, members in sorted(shapes.items()):
        images, clashed = _images(members, guests, shape, len(prefix), key, space)
        new |= dict(zip([*members, *guests], images, strict=True))
        clashes += clashed
    return CodeMap(new, clashes)


def _common(shapes: Mapping[str, Sequence[str]], fixed: int) -> str:
    """The most common shape with room for all codes beside as many that are free, or none."""
    needed = 2 * sum(map(len, shapes.values()))
    roomy = [shape for shape in shapes if needed <= _size(shape[fixed:]) < _LARGEST]
    return min(roomy, key=lambda shape: (-len(shapes[shape]), shape), default="")


def _size(shape: str) -> int:
    """How many codes a shape has."""
    return prod(len(_ALPHABETS.get(char, char)) for char in shape)


def _shape(code: str, prefix: str) -> str:
    """9 for a digit, A or a for a letter; all other characters and the prefix unchanged."""
    if not code.startswith(prefix):
        expected, todo = "codes that begin with the prefix", "Correct the prefix of the column."
        raise InputError("codes", f"a code of {len(code)} characters without it", expected, todo)
    rest = code[len(prefix) :]
    return prefix + "".join(_KINDS.get(char, char) for char in rest)


_KINDS = {**dict.fromkeys(_DIGITS, "9"), **dict.fromkeys(_UPPER, "A"), **dict.fromkeys(_LOWER, "a")}
_ALPHABETS = {"9": _DIGITS, "A": _UPPER, "a": _LOWER}


def _images(
    codes: list[str], guests: list[str], shape: str, fixed: int, key: bytes, space: str
) -> tuple[list[str], int]:
    """Pseudonyms of the codes of a shape, then of the guests, whose own shape is another."""
    alphabets = [_ALPHABETS.get(char, char) for char in shape[fixed:]]
    size = _size(shape[fixed:])
    if size >= _LARGEST:
        expected, todo = "codes of at most 18 digits", "Declare the column as a name or drop it."
        raise InputError("codes", f"a shape of {len(shape)} characters", expected, todo)
    permute = _Permutation(size, key, f"codes/{space}/{shape}")
    numbers = [_number(code[fixed:], alphabets) for code in codes]
    starts = [_drawn(code, size, key, space) for code in guests]
    images, clashes = _avoiding(numbers, starts, permute, key, space, [*codes, *guests])
    return [shape[:fixed] + _code(number, alphabets) for number in images], clashes


def _drawn(code: str, size: int, key: bytes, space: str) -> int:
    """Where a guest begins to look for a free image."""
    return int.from_bytes(keyed_hash(key, f"codes/{space}/guest", code)[:16], "big") % size


def _avoiding(
    numbers: list[int],
    starts: list[int],
    permute: _Permutation,
    key: bytes,
    space: str,
    codes: list[str],
) -> tuple[list[int], int]:
    """The images of `numbers`, then those of guests, which move away from every other image."""
    images = permute(np.array([*numbers, *starts], dtype=np.uint64)).tolist()
    real, taken = set(numbers), set(images[: len(numbers)])
    guests = range(len(numbers), len(images))
    again = [*(at for at in range(len(numbers)) if images[at] in real), *guests]
    again.sort(key=lambda at: (at >= len(numbers), keyed_hash(key, f"codes/{space}", codes[at])))
    # wide steps: real codes occur in dense runs, and so do the images that need another one
    steps = np.arange(1, _TRIES, dtype=np.uint64) * np.uint64(permute.size // _TRIES + 1)
    for at in again:
        tries = (images[at] + steps) % np.uint64(permute.size)
        for other in [images[at], *permute(tries).tolist()]:
            if other not in real and other not in taken:
                taken.add(other)
                images[at] = other
                break
    return images, sum(image in real for image in images)


def _number(text: str, alphabets: list[str]) -> int:
    number = 0
    for char, alphabet in zip(text, alphabets, strict=True):
        number = number * len(alphabet) + alphabet.index(char)
    return number


def _code(number: int, alphabets: list[str]) -> str:
    chars = []
    for alphabet in reversed(alphabets):
        number, digit = divmod(number, len(alphabet))
        chars.append(alphabet[digit])
    return "".join(reversed(chars))


class _Permutation:
    """A keyed permutation of 0 … size - 1: a shuffle, or a Feistel network with cycle walk."""

    def __init__(self, size: int, key: bytes, stage: str) -> None:
        self.size = size
        self._key = stage_key(key, stage)
        self._half = np.uint64(int(np.ceil(np.sqrt(float(size)))) + 1)
        self._table = self._shuffle() if size <= _TABLE else None

    def __call__(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        if self._table is not None:
            return self._table[numbers]
        out = self._network(numbers)
        while (outside := out >= self.size).any():
            out[outside] = self._network(out[outside])
        return out

    def _shuffle(self) -> NDArray[np.uint64]:
        words = self._words(np.arange(self.size, dtype=np.uint64), 0)
        return np.argsort(words, kind="stable").astype(np.uint64)

    def _network(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        first_half, second_half = numbers // self._half, numbers % self._half
        for turn in range(1, _ROUNDS + 1):
            first_half, second_half = (
                second_half,
                (first_half + self._words(second_half, turn)) % self._half,
            )
        return first_half * self._half + second_half

    def _words(self, numbers: NDArray[np.uint64], turn: int) -> NDArray[np.uint64]:
        """One word per number and turn."""
        keys: Words = np.repeat(self._key[:, None], len(numbers), axis=1)
        words: NDArray[np.uint64] = blocks(keys, turn, numbers)[0]
        return words
