"""What every attack is given and gives: original and released table side by side with numbers as an
attacker compares them, and the result: hits, their rate with an interval, the rate of guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.cells import Floats, numbers
from anonymization.tables.config import TableConfig
from anonymization.tables.keystream import Ints
from data.errors import InputError


@dataclass(frozen=True, slots=True)
class Linked:
    """Rows sorted by entity and year; row i of `original` and `released` is the same company.

    `original`, `released`: rows × columns, NaN where there is no number. `entity`, `group`,
    `year`: numbers per row; `cell` numbers group and year together. `doubled`: rows left out
    because their entity and year occurred before. `rows`: positions in the tables.
    """

    columns: tuple[str, ...]
    original: Floats
    released: Floats
    entity: Ints
    group: Ints
    year: Ints
    cell: Ints
    years: tuple[str, ...]
    doubled: int
    rows: Ints

    def __len__(self) -> int:
        return len(self.entity)

    def of(self, columns: Sequence[str]) -> Linked:
        """The same rows with some of the columns, in the given order."""
        at = [self.columns.index(name) for name in columns]
        return replace(
            self,
            columns=tuple(columns),
            original=self.original[:, at],
            released=self.released[:, at],
        )

    def knowing(self, columns: Sequence[str]) -> Linked:
        """Some of the columns, and the rows that have a number in any of them: the targets of an
        attacker who knows these columns. Gaps stay in a release, so the records have them too."""
        part = self.of(columns)
        return part.only(np.asarray(~np.isnan(part.original).all(axis=1)))

    def only(self, rows: NDArray[np.bool_]) -> Linked:
        """Some of the rows."""
        return replace(
            self,
            original=self.original[rows],
            released=self.released[rows],
            entity=self.entity[rows],
            group=self.group[rows],
            year=self.year[rows],
            cell=self.cell[rows],
            rows=self.rows[rows],
        )

    def fullest_year(self) -> Linked:
        """The rows of the year with the most rows, of the latest if several have."""
        counts = np.bincount(self.year)
        latest = len(counts) - 1 - int(np.argmax(counts[::-1]))
        return self.only(np.asarray(self.year == latest))

    def against(self, released: pl.DataFrame) -> Linked:
        """The same originals with another release of their table."""
        columns = [numbers(released[name])[self.rows] for name in self.columns]
        return replace(self, released=np.column_stack(columns))


def link(original: pl.DataFrame, released: pl.DataFrame, config: TableConfig) -> Linked:
    """Both tables in one order; rows of the two frames correspond by position.

    Errors: `InputError` if the frames differ in height or a measure is missing.
    """
    missing = [n for n in config.measures if n not in original.columns or n not in released.columns]
    if missing or original.height != released.height:
        actual = f"{original.height} and {released.height} rows, {len(missing)} measures missing"
        todo = "Pass the table and its own release."
        raise InputError("attacks", actual, "the rows and measures of a single table", todo)
    old = [numbers(original[name]) for name in config.measures]
    labels = _labels(original, config, old)
    at = labels["row"].to_numpy()
    number = {n: labels[n].rank("dense").cast(pl.Int64).to_numpy() - 1 for n in ("entity", "group")}
    year = labels["year"].rank("dense").cast(pl.Int64).to_numpy() - 1
    pair = labels.select(pl.struct("group", "year").rank("dense").cast(pl.Int64) - 1)
    return Linked(
        columns=config.measures,
        original=_matrix(old, at),
        released=_matrix([numbers(released[name]) for name in config.measures], at),
        entity=number["entity"],
        group=number["group"],
        year=year,
        cell=pair.to_series().to_numpy(),
        years=tuple(labels["year"].unique().sort().to_list()),
        doubled=original.height - labels.height,
        rows=at,
    )


def _matrix(columns: list[Floats], at: Ints) -> Floats:
    return np.column_stack([column[at] for column in columns])


def _labels(frame: pl.DataFrame, config: TableConfig, values: list[Floats]) -> pl.DataFrame:
    """Entity, group, year and position of each row that counts, in their order."""

    def text(column: str | None) -> pl.Series:
        if column is None:
            return pl.repeat("", frame.height, dtype=pl.String, eager=True)
        return frame[column].cast(pl.String).fill_null("")

    table = pl.DataFrame(
        {
            "entity": text(config.entity),
            "year": text(config.period).str.slice(0, config.period_chars),
            "group": text(config.group),
            "row": pl.Series(range(frame.height), dtype=pl.Int64),
            **{f"v{i}": column for i, column in enumerate(values)},
        }
    )
    table = table.sort(pl.exclude("row"))
    return table.unique(["entity", "year"], keep="first", maintain_order=True)


_APART = 1e3  # between states; magnitudes stay far below
_BLOCK = 1e6  # between labels


class Metric(StrEnum):
    """How magnitudes are compared: by logarithm, or by rank among the rows of a label."""

    LOG = "log"
    RANK = "rank"


def states(values: Floats) -> Floats:
    """0 missing, 1 negative, 2 zero, 3 positive."""
    return np.where(np.isnan(values), 0.0, np.sign(np.nan_to_num(values)) + 2)


def logs(values: Floats) -> Floats:
    """log10 of the magnitude with the sign of the value, which keeps the order; 0 for 0 and NaN.

    Reported values are whole numbers of some unit, so magnitudes are at least 1.
    """
    numbers = np.nan_to_num(values)
    logarithms: Floats = np.log10(np.abs(numbers), out=np.zeros_like(numbers), where=numbers != 0)
    return np.sign(numbers) * logarithms


def ranks(values: Floats, label: Ints) -> Floats:
    """Per column the rank among the rows of a label, 0 to 1; ties share theirs; 0.5 if missing."""
    scaled = np.full(values.shape, 0.5)
    for column in range(values.shape[1]):
        known = np.flatnonzero(~np.isnan(values[:, column]))
        scaled[known, column] = _ranked(values[known, column], label[known])
    return scaled


def _ranked(value: Floats, label: Ints) -> Floats:
    if not len(value):
        return value
    order = np.lexsort((value, label))
    v, group = value[order], label[order]
    new_group = np.append(True, group[1:] != group[:-1])
    new = new_group | np.append(True, v[1:] != v[:-1])
    starts, run = np.flatnonzero(new), np.cumsum(new) - 1
    middle = starts + (np.diff(np.append(starts, len(v))) - 1) / 2
    first = np.flatnonzero(new_group)
    size = np.diff(np.append(first, len(v)))
    which = np.cumsum(new_group) - 1
    scaled = np.empty(len(v))
    scaled[order] = (middle[run] - first[which] + 0.5) / size[which]
    return scaled


def normal_scores(values: Floats, label: Ints) -> Floats:
    """Ranks turned into standard normal quantiles."""

    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(ranks(values, label), 1e-6, 1 - 1e-6)))


def magnitudes(values: Floats, label: Ints, metric: Metric) -> Floats:
    """Rows × columns, larger for larger values."""
    return logs(values) if metric is Metric.LOG else ranks(values, label)


def spread(known: Floats) -> Floats:
    """The interquartile range of each column, or 1 if it is 0."""
    wide = np.subtract(*np.quantile(known, (0.75, 0.25), axis=0))
    return np.where(wide > 0, wide, 1.0)


def coordinates(magnitude: Floats, values: Floats, label: Ints | None) -> Floats:
    """Points whose Euclidean distance separates labels first, then states, then magnitudes."""
    points = magnitude + _APART * states(values)
    if label is None:
        return points
    return np.column_stack([points, _BLOCK * label])


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
