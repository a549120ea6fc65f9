"""All attacks on one released table: the measurement that the release gate judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymization.tables.attacks import joint, published, single, trajectory
from anonymization.tables.attacks.features import Metric
from anonymization.tables.attacks.linked import Linked, link
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk
from anonymization.tables.attacks.uniqueness import KMap, k_maps
from anonymization.tables.config import TableConfig
from anonymization.tables.settings import AttackConfig

_DIGITS = (1, 2, 3)
_RATIO_COLUMNS = (3, 4)
_LARGEST_BY = 3  # columns


@dataclass(frozen=True, slots=True)
class AttackReport:
    """`rows`, `companies`, `years` attacked; `doubled` rows of an entity and year left out.

    `assigned_year` is the year whose rows the assignment attacks looked at, None if they did not.
    """

    rows: int
    companies: int
    years: tuple[str, ...]
    doubled: int
    known: tuple[str, ...]
    results: tuple[AttackResult, ...]
    k_maps: tuple[KMap, ...]
    assigned_year: str | None

    def worst(self, risk: Risk, columns: int) -> AttackResult | None:
        """The attack with the highest rate among those that know up to `columns` columns."""
        found = [r for r in self.results if r.risk is risk and len(r.columns) <= columns]
        return max(found, key=lambda r: r.rate, default=None)


def attack(
    original: pl.DataFrame,
    released: pl.DataFrame,
    config: TableConfig,
    settings: AttackConfig,
    linked: Linked | None = None,
) -> AttackReport:
    """Attack `released`, whose rows correspond to those of `original` by position.

    Identifiers are not used: the attacker has the original values of the known columns, industry
    and year, and wants the released record. `linked`: both tables, if they are linked already.
    Errors: `InputError` as `link`.
    """
    if linked is None:
        linked = link(original, released, config)
    known = known_columns(linked, settings)
    simulated = _simulated(linked, original, config, settings)
    results = list(_quick(linked, known))
    results += _repeated(linked, known, simulated[0], Knowledge.PUBLISHED)
    results += _histories(linked, known, simulated)
    if settings.assignment:
        results += _slow(linked, known, simulated, settings.exact_rows)
        other = published.rerun(
            linked, original, config, published.seed_key(settings.seed, "another")
        )
        results += _repeated(linked, known, other, Knowledge.METHOD)
    fullest = linked.fullest_year()
    return AttackReport(
        rows=len(linked),
        companies=len(np.unique(linked.entity)),
        years=linked.years,
        doubled=linked.doubled,
        known=known,
        results=tuple(results),
        k_maps=tuple(k_maps(original, released, config, known[:1], settings.bins)),
        assigned_year=linked.years[int(fullest.year[0])] if settings.assignment else None,
    )


def known_columns(linked: Linked, settings: AttackConfig) -> tuple[str, ...]:
    """All measures: those named in the settings first, then the fullest, most varied ones."""
    order = list(settings.known)
    told = []
    for at, name in enumerate(linked.columns):
        values = linked.original[:, at]
        values = values[~np.isnan(values)]
        told.append((-len(np.unique(values)) - len(values), name))
    return tuple(order + [name for _, name in sorted(told) if name not in order])


def knowledge_levels(known: Sequence[str]) -> list[tuple[str, ...]]:
    """The first one, two, three columns, and all of them."""
    counts = sorted({min(n, len(known)) for n in (1, 2, 3, len(known))})
    return [tuple(known[:n]) for n in counts if n]


def _simulated(
    linked: Linked, original: pl.DataFrame, config: TableConfig, settings: AttackConfig
) -> list[Linked]:
    """The attacker's own runs; the first with the public seed as key."""
    turns = ["", *(str(turn) for turn in range(1, settings.simulations))]
    keys = [published.seed_key(settings.seed, turn) for turn in turns]
    return [published.rerun(linked, original, config, key) for key in keys]


def _quick(linked: Linked, known: Sequence[str]) -> Iterator[AttackResult]:
    for columns in knowledge_levels(known):
        part = linked.knowing(columns)
        for digits in _DIGITS:
            yield single.prefix_join(part, digits)
        yield single.nearest(part, Metric.LOG, within=False)
        for metric in Metric:
            yield single.nearest(part, metric, within=True)
    for n in sorted({min(n, len(known)) for n in _RATIO_COLUMNS} - {0, 1}):
        yield single.ratio(linked.knowing(known[:n]))
    for name in known[:_LARGEST_BY]:
        yield single.dominant(linked.knowing([name]))


def _repeated(
    linked: Linked, known: Sequence[str], again: Linked, knows: Knowledge
) -> Iterator[AttackResult]:
    for columns in knowledge_levels(known):
        yield published.rerun_match(linked.knowing(columns), again.knowing(columns), knows)


def _histories(
    linked: Linked, known: Sequence[str], simulated: Sequence[Linked]
) -> Iterator[AttackResult]:
    """Only where the table has more than one year."""
    if len(linked.years) < 2:
        return
    for columns in knowledge_levels(known):
        part = linked.knowing(columns)
        yield trajectory.sign_history(part)
        yield trajectory.history(part, [run.knowing(columns) for run in simulated])


def _slow(
    linked: Linked, known: Sequence[str], simulated: Sequence[Linked], most: int
) -> Iterator[AttackResult]:
    year = linked.fullest_year()
    for columns in knowledge_levels(known):
        part, runs = year.knowing(columns), [run.knowing(columns) for run in simulated]
        yield joint.assignment(part, most)
        yield joint.aware_assignment(part, runs, most)
        yield joint.rank_window(part, runs)
