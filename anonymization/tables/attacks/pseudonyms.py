"""Attacks on the pseudonyms of codes: dictionaries under a known or guessed key, order, likeness.

While the key exists, whoever gets it runs the permutation over all codes there could be and has
everyone. Sealed, what is left is guessing keys from what is published, and structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, result
from anonymization.tables.cells import Floats
from anonymization.tables.pseudonyms.codes import permuted_codes

SCOPE = "all codes"
_CHUNK = 20_000  # codes of a dictionary permuted at a time
_BLOCK = 512  # codes compared with all others at a time


def dictionary_attack(
    mapping: Mapping[str, str],
    dictionary: Sequence[str],
    key: bytes,
    space: str,
    prefix: str,
    knows: Knowledge,
) -> AttackResult:
    """Permute every code of `dictionary` with `key` and look the released pseudonyms up.

    `mapping` is the truth: code to pseudonym. A dictionary that is the public list of companies
    is permuted as the release was; of a larger one, codes that the release had to move to another
    free place are missed.
    """
    wanted = set(mapping.values())
    named: dict[str, list[str]] = {}
    for start in range(0, len(dictionary), _CHUNK):
        part = dictionary[start : start + _CHUNK]
        for code, image in permuted_codes(part, key, space, prefix).new.items():
            if image in wanted:
                named.setdefault(image, []).append(code)
    hits = [
        1 / len(named[image]) if code in named.get(image, ()) else 0.0
        for code, image in sorted(mapping.items())
    ]
    name = f"dictionary of {len(dictionary):,} codes"
    return _told(name, space, knows, np.array(hits))


def order_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """Both lists sorted: the k-th code is taken for the k-th pseudonym."""
    pairs = zip(sorted(mapping), sorted(mapping.values()), strict=True)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _told("same order", space, Knowledge.WHOLE_POPULATION, hits)


def likeness_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """The pseudonym that agrees with the code in most places, among those of the same length."""
    by_length: dict[int, list[str]] = {}
    for code in sorted(mapping):
        by_length.setdefault(len(code), []).append(code)
    hits = [hit for codes in by_length.values() for hit in _alike(codes, mapping)]
    return _told("most alike", space, Knowledge.WHOLE_POPULATION, np.array(hits))


def row_order_attack(
    codes: Sequence[str], published: Sequence[str], mapping: Mapping[str, str]
) -> AttackResult:
    """The k-th company of the source is taken for the k-th pseudonym of the released file.

    `codes` and `published` as they come first in the source and in the released file.
    """
    pairs = zip(dict.fromkeys(codes), dict.fromkeys(published), strict=False)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _told("row order", "rows", Knowledge.WHOLE_POPULATION, hits)


def _alike(codes: Sequence[str], mapping: Mapping[str, str]) -> Iterator[float]:
    images = [mapping[code] for code in codes]
    length = max(map(len, [*codes, *images]))
    old, new = _letters(codes, length), _letters(images, length)
    for start in range(0, len(codes), _BLOCK):
        block = old[start : start + _BLOCK]
        same = np.zeros((len(block), len(new)), dtype=np.int16)
        for place in range(length):
            same += block[:, place][:, None] == new[:, place][None, :]
        best = same == same.max(axis=1, keepdims=True)
        own = best[np.arange(len(block)), np.arange(start, start + len(block))]
        yield from np.where(own, 1 / best.sum(axis=1), 0.0).tolist()


def _letters(texts: Sequence[str], length: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[ord(c) for c in text.ljust(length)] for text in texts], dtype=np.int64)


def _told(name: str, space: str, knows: Knowledge, hits: Floats) -> AttackResult:
    return result(
        Risk.PSEUDONYM, name, (space,), SCOPE, knows, hits, 1 / len(hits) if len(hits) else 0.0
    )
