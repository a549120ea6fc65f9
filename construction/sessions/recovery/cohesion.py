"""Lexical cohesion across the gaps of a session (Hearst 1997, TextTiling, with exchanges)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_WINDOWS = (1, 2, 3)  # exchanges on each side of a gap
_REACH = 2 * max(_WINDOWS) - 1
_FULL_MASS = 40  # topic terms on the poorer side at which cohesion counts in full
_MASS_WINDOW = 2
_NEAR = 2  # gaps on each side among which a valley is the lowest
_FAR = 3  # gaps on each side among which its rims are sought


@dataclass(frozen=True, slots=True)
class Cohesion:
    """How well the text before a gap and after it hang together.

    `value` is the mean cosine of the term counts of both sides, over windows of one to three
    exchanges (0 to 1); `mass` says how much text it rests on (0 to 1); `depth` how far it lies
    below the rims around it; `valley` whether no neighbouring gap is lower.
    """

    value: float
    mass: float
    depth: float
    valley: bool


def cohesions(terms: Sequence[frozenset[str]]) -> list[Cohesion]:
    """The cohesion of each of the `len(terms) - 1` gaps."""
    overlap = _overlaps(terms)
    sizes = [len(found) for found in terms]
    values = [_mean_cosine(overlap, place) for place in range(1, len(terms))]
    found: list[Cohesion] = []
    for index, value in enumerate(values):
        place = index + 1
        poorer = min(
            sum(sizes[max(0, place - _MASS_WINDOW) : place]),
            sum(sizes[place : place + _MASS_WINDOW]),
        )
        left = max(values[max(0, index - _FAR) : index + 1])
        right = max(values[index : index + _FAR + 1])
        lowest = min(values[max(0, index - _NEAR) : index + _NEAR + 1])
        mass = min(1.0, poorer / _FULL_MASS)
        found.append(Cohesion(value, mass, (left + right) / 2 - value, value <= lowest))
    return found


def _overlaps(terms: Sequence[frozenset[str]]) -> list[list[int]]:
    """`overlap[i][d]`: terms that exchanges i and i + d share.

    The dot product of the term counts of two blocks is the sum of the overlaps of their
    exchanges, so that every overlap is counted once, whatever the windows.
    """
    count = len(terms)
    return [
        [len(terms[i] & terms[j]) for j in range(i, min(count, i + _REACH + 1))]
        for i in range(count)
    ]


def _mean_cosine(overlap: list[list[int]], place: int) -> float:
    total = 0.0
    for window in _WINDOWS:
        left = range(max(0, place - window), place)
        right = range(place, min(len(overlap), place + window))
        across = 0
        for i in left:
            across += sum(overlap[i][place - i : right.stop - i])
        if across:
            total += across / (_square(overlap, left) * _square(overlap, right)) ** 0.5
    return total / len(_WINDOWS)


def _square(overlap: list[list[int]], block: range) -> int:
    """The squared length of a block's term counts."""
    total = 0
    for i in block:
        row = overlap[i]
        total += 2 * sum(row[: block.stop - i]) - row[0]
    return total
