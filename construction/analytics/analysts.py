"""Scripted analysts: each reads the files of a variant with one flaw, and runs the reference steps.

A flaw shows as long as the variant has the noise that it mishandles. What an analyst scores on each
variant is therefore predicted before it is measured: all tasks, less those that its noise bites.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from construction.analytics.ablation import Tables, outcome
from construction.analytics.contracts import AnalyticTask
from construction.analytics.environment.declaration import Declaration, Noise
from construction.analytics.environment.second_reader import read_raw
from construction.analytics.environment.variants import VARIANTS, raw_declaration, read_clean


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
    declaration: Declaration,
    anonymized: Collection[str],
    environment: Path,
) -> float:
    """The share of tasks with every part right, from the files in `environment/<variant>` alone."""
    folder = environment / variant
    if variant == "raw":
        tables = _read_raw(analyst, declaration, anonymized, folder)
    else:
        tables = _read_clean(analyst, declaration, folder, variant)
    right = sum(
        outcome(task.program, task.parts, tables) == tuple(a.value for a in task.answers)
        for task in tasks
    )
    return right / len(tasks)


def _read_raw(
    analyst: Analyst, declaration: Declaration, anonymized: Collection[str], folder: Path
) -> Tables:
    """By the second reader: the first made the gold."""
    ignoring = () if analyst.flaw is None else (analyst.flaw,)
    return read_raw(raw_declaration(declaration, anonymized), folder, ignoring)


def _read_clean(analyst: Analyst, declaration: Declaration, folder: Path, variant: str) -> Tables:
    """Clean tables have nothing to mishandle but other releases, unless the schema names them."""
    tables = read_clean(declaration, folder)
    if analyst.flaw is Noise.SCOPE and analyst.is_flawed(variant):
        for table in declaration.tables:
            if table.stands_for is not None:
                tables[table.stands_for] = tables[table.name]
    return tables
