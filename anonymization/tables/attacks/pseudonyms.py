"""Attacks on the pseudonyms of codes: dictionary with a known or guessed key, order, likeness.

While the key exists, whoever gets it can permute all possible codes and identify everyone. After
sealing, an attacker can only guess keys from what is published, and use structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from anonymization.tables.attacks.linked import AttackResult, Knowledge, Risk, result
from anonymization.tables.cells import Floats
from anonymization.tables.pseudonyms.mapping import permuted_codes

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
    """Permute every code of `dictionary` with `key` and look up the released pseudonyms.

    `mapping` is the truth: code to pseudonym. If the dictionary is the public list of companies,
    it is permuted exactly like the release; a larger one misses codes that the release had to move
    to another free pseudonym.
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
    return _pseudonym_result(name, space, knows, np.array(hits))


def order_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """Both lists sorted: the k-th code is taken for the k-th pseudonym."""
    pairs = zip(sorted(mapping), sorted(mapping.values()), strict=True)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _pseudonym_result("same order", space, Knowledge.WHOLE_POPULATION, hits)


def likeness_attack(mapping: Mapping[str, str], space: str) -> AttackResult:
    """The pseudonym that agrees with the code in most positions, among those of equal length."""
    by_length: dict[int, list[str]] = {}
    for code in sorted(mapping):
        by_length.setdefault(len(code), []).append(code)
    hits = [hit for codes in by_length.values() for hit in _alike(codes, mapping)]
    return _pseudonym_result("most alike", space, Knowledge.WHOLE_POPULATION, np.array(hits))


def row_order_attack(
    codes: Sequence[str], published: Sequence[str], mapping: Mapping[str, str]
) -> AttackResult:
    """The k-th company of the source is taken for the k-th pseudonym of the released file.

    `codes` and `published` as they come first in the source and in the released file.
    """
    pairs = zip(dict.fromkeys(codes), dict.fromkeys(published), strict=False)
    hits = np.array([float(mapping[code] == image) for code, image in pairs])
    return _pseudonym_result("row order", "rows", Knowledge.WHOLE_POPULATION, hits)


def _alike(codes: Sequence[str], mapping: Mapping[str, str]) -> Iterator[float]:
    images = [mapping[code] for code in codes]
    length = max(map(len, [*codes, *images]))
    old, new = _letters(codes, length), _letters(images, length)
    for start in range(0, len(codes), _BLOCK):
        block = old[start : start + _BLOCK]
        same = np.zeros((len(block), len(new)), dtype=np.int16)
        for position in range(length):
            same += block[:, position][:, None] == new[:, position][None, :]
        best = same == same.max(axis=1, keepdims=True)
        own = best[np.arange(len(block)), np.arange(start, start + len(block))]
        yield from np.where(own, 1 / best.sum(axis=1), 0.0).tolist()


def _letters(texts: Sequence[str], length: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[ord(c) for c in text.ljust(length)] for text in texts], dtype=np.int64)


def _pseudonym_result(name: str, space: str, knows: Knowledge, hits: Floats) -> AttackResult:
    return result(
        Risk.PSEUDONYM, name, (space,), SCOPE, knows, hits, 1 / len(hits) if len(hits) else 0.0
    )
