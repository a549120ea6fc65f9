"""The result of an attack: hits, their rate with an interval, and the rate of guessing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from anonymization.tables.cells import Floats

_LEVEL = 0.95
_DECIDING = 9  # decimals of a figure that a gate compares (law 5)


class Knowledge(StrEnum):
    """What the attacker knows besides the release and the original values of the known columns."""

    ONE_TARGET = "one target"  # its own values only
    WHOLE_POPULATION = "whole population"  # all companies of the industry
    METHOD = "whole population, method and parameters"
    PUBLISHED = "everything published: code, recipe, seed"
    KEY = "the release key"


class Risk(StrEnum):
    """The risks for which limits are declared."""

    ONE_COMPANY = "one company"  # looked for alone, with one year's figures
    WHOLE_INDUSTRY = "whole industry"  # matched at once, with one year's figures
    HISTORY = "history"  # with the figures of all years
    LARGEST = "largest company"
    UNCHANGED_ROW = "unchanged row"  # all its figures are released as they came
    UNIQUE_PERSON = "unique person"  # the only one with the columns that leave as they are
    PSEUDONYM = "pseudonym"


LIMITED = (
    Risk.ONE_COMPANY,
    Risk.WHOLE_INDUSTRY,
    Risk.HISTORY,
    Risk.LARGEST,
    Risk.UNCHANGED_ROW,
    Risk.UNIQUE_PERSON,
)


@dataclass(frozen=True, slots=True)
class AttackResult:
    """One attack on one release.

    `n` targets, `hits` expected (a tie among k records counts 1/k), `rate` = hits / n with its
    95 % Clopper-Pearson interval (Biometrika 26, 1934; targets taken as independent), `chance` the
    rate of guessing within the same scope. `scope` is where the attacker looks.
    """

    risk: Risk
    name: str
    columns: tuple[str, ...]
    scope: str
    knows: Knowledge
    n: int
    hits: float
    rate: float
    ci_low: float
    ci_high: float
    chance: float


def result(
    risk: Risk,
    name: str,
    columns: tuple[str, ...],
    scope: str,
    knows: Knowledge,
    hits: Floats,
    chance: float,
) -> AttackResult:
    """The result of an attack; `hits`: per target the probability of naming the right record."""
    n, total = len(hits), float(hits.sum())
    low, high = interval(total, n)
    figures = (total, total / n if n else 0.0, low, high, chance)
    return AttackResult(
        risk, name, columns, scope, knows, n, *(round(f, _DECIDING) for f in figures)
    )


def interval(hits: float, n: float) -> tuple[float, float]:
    """Clopper-Pearson limits of a rate; fractional figures are interpolated."""

    from scipy.special import betaincinv

    tail = (1 - _LEVEL) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def guessing(label: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """Mean over targets of 1 / rows of the same label: the chance level inside labels."""
    return len(np.unique(label)) / len(label) if len(label) else 0.0
