"""Scripted analysts: each reads an environment with one flaw, and runs the reference steps.

A flaw shows where the variant still has the noise that it mishandles. What each scores on each
variant is therefore predicted before it is measured: all tasks, less those that its noise bites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from construction.analytics.ablation import Tables, outcome
from construction.analytics.contracts import AnalyticTask
from construction.analytics.environment.declaration import Noise
from construction.analytics.environment.variants import VARIANTS


@dataclass(frozen=True, slots=True)
class Analyst:
    """`flaw`: the noise that it leaves as it is; `until`: the last variant that still has it."""

    name: str
    flaw: Noise | None
    until: str | None

    def is_flawed(self, variant: str) -> bool:
        return self.until is not None and VARIANTS.index(variant) <= VARIANTS.index(self.until)


ANALYSTS = (
    Analyst("perfect", None, None),
    Analyst("ignores units", Noise.UNITS, "raw"),
    Analyst("ignores aliases", Noise.ALIASES, "raw"),
    # Cleaned tables still hold other releases; only the schema tells which one is meant.
    Analyst("first file only", Noise.SCOPE, "cleaned"),
    Analyst("ignores missing", Noise.MISSING, "raw"),
    Analyst("wrong year", Noise.YEARS, "raw"),
)


def predicted(analyst: Analyst, tasks: Sequence[AnalyticTask], variant: str) -> float:
    """The share of tasks right, from what was recorded when the tasks were made."""
    if not analyst.is_flawed(variant):
        return 1.0
    bitten = sum(str(analyst.flaw) in task.noise for task in tasks)
    return 1 - bitten / len(tasks)


def measured(
    analyst: Analyst,
    tasks: Sequence[AnalyticTask],
    variant: str,
    read: Tables,
    careless: Mapping[Noise, Tables],
) -> float:
    """The share of tasks whose every part is right, read from the files of the variant.

    `read`: the tables as the variant's files give them; `careless`: as they look with a flaw.
    """
    flawed = analyst.flaw is not None and analyst.is_flawed(variant)
    tables = careless[analyst.flaw] if flawed and analyst.flaw is not None else read
    right = sum(
        outcome(task.program, task.parts, tables) == tuple(a.value for a in task.answers)
        for task in tasks
    )
    return right / len(tasks)
