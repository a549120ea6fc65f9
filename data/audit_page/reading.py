"""Reading the newest run's verdicts and rejections from a staging file, column by column.

Also the limits of a gate, applied anew to its recorded verdicts: a page offers another limit only
if the recorded ones reproduce every recorded verdict first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import orjson
import polars as pl

from data.contracts import Bound, Gate, Limit, Scalar, StageConfig, Status
from data.contracts.gate import OBSERVED, Number
from data.errors import NOT_BUILT, InputError
from data.staging.opening import open_read_only

STATUSES = pl.Enum([str(status) for status in Status])
_TRUTH = ("True", "False")
_ITEMS = ("instance", "candidate")
# Which instance a candidate was made from.
_MADE = (
    "SELECT child AS task, min(parent) AS instance FROM lineage "
    "WHERE child_unit = 'candidate' AND parent_unit = 'instance' GROUP BY child"
)
_ABOUT = (
    "SELECT run_id, snapshot, released, published, privacy FROM runs "
    "ORDER BY built_at DESC NULLS LAST, run_id DESC LIMIT 1"
)
_VERDICTS = f"""
    SELECT coalesce(c.instance, v.item_id) AS item, gate, status, reason, observed,
           observed_text, v."limit" AS "limit", limit_text, measures
    FROM verdicts v LEFT JOIN ({_MADE}) c ON c.task = v.item_id
    ORDER BY 1, 2, v.item_id"""  # noqa: S608 — a constant
_REJECTIONS = f"""
    SELECT coalesce(c.instance, r.item_id, '') AS item, r.stage, unit, r.outcome, gate, reason,
           observed, "limit", n, path, line, evidence ->> '$.missing' AS missing
    FROM rejections r
    LEFT JOIN ({_MADE}) c ON c.task = r.item_id AND unit = 'candidate'
    LEFT JOIN (SELECT stage, min(step) AS step FROM funnel GROUP BY stage) f ON f.stage = r.stage
    ORDER BY gate IS NULL, f.step NULLS LAST, 2, 5, 6, 1, r.item_id, path, line, unit, 7, 8"""  # noqa: S608

_POOL = """
    SELECT lane, count(*) AS pool, count(*) FILTER (outcome = 'chosen') AS released
    FROM candidates GROUP BY lane ORDER BY lane"""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of one gate; all columns have a place per verdict.

    `items` are instances, also where the gate judged their candidates. `observed` and `limit` are
    the scalars compared.
    """

    items: pl.Series
    status: pl.Series
    reason: pl.Series
    observed: Sequence[Scalar]
    limit: Sequence[Scalar]
    measures: Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class Books:
    """What an audit page is made of: facts of the run, the verdicts of each gate, and a frame of
    the rejections (and errors): a unit, or `n` that share a row. `items` are what gates judged,
    `pool` how many candidates each lane brought to the selection, and how many were released.
    """

    about: Mapping[str, Any]
    items: pl.Series
    gates: Mapping[str, Judged]
    rejections: pl.DataFrame
    pool: pl.DataFrame

    def judged_by(self, gates: Sequence[str]) -> Books:
        """The books of these gates, in this order, then of others that judged the same items.

        A gate that judges other things, such as a table, has no place in the funnel of the items.
        """
        order = [gate for gate in gates if gate in self.gates]
        ours = pl.concat([self.items.clear(), *(self.gates[gate].items for gate in order)])
        others = [gate for gate in self.gates if gate not in gates]
        order += [gate for gate in others if self.gates[gate].items.is_in(ours.implode()).any()]
        kept = {gate: self.gates[gate] for gate in order}
        items = pl.concat([self.items.clear(), *(judged.items for judged in kept.values())])
        items = self.items.filter(self.items.is_in(items.unique().implode()))
        return replace(self, items=items, gates=kept)

    def turned_away(self) -> pl.DataFrame:
        """The rejections of items, one each."""
        return self.rejections.filter(pl.col("unit").is_in(_ITEMS), pl.col("n") == 1)


def read_books(staging: Path) -> Books:
    """The newest run of a staging file. Raises InputError where there is none."""
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging database", NOT_BUILT)
    try:
        with open_read_only(staging) as connection:
            return _read(connection)
    except (duckdb.Error, pl.exceptions.PolarsError, ValueError) as error:
        actual = f"a file that cannot be used ({type(error).__name__})"
        expected = "a staging database from this version"
        raise InputError(str(staging), actual, expected, "Build again.") from error


def _read(connection: duckdb.DuckDBPyConnection) -> Books:
    names = ("run_id", "snapshot", "released", "published", "privacy")
    about = connection.execute(_ABOUT).fetchall() or [(None,) * len(names)]
    texts = ["" if value is None else str(value) for value in about[0]]
    verdicts = _frame(connection, _VERDICTS)
    return Books(
        dict(zip(names, texts, strict=True)),
        verdicts["item"].unique(maintain_order=True),
        {
            str(gate): judged(rows)
            for (gate,), rows in verdicts.group_by("gate", maintain_order=True)
        },
        _frame(connection, _REJECTIONS),
        _frame(connection, _POOL),
    )


class _ArrowStream:
    """A result as an Arrow stream and nothing else.

    Polars remembers the class of what it reads: of DuckDB's own class, the bindings would say at
    exit that it leaked.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def _frame(connection: duckdb.DuckDBPyConnection, sql: str) -> pl.DataFrame:
    return pl.DataFrame(_ArrowStream(connection.sql(sql)))


def judged(rows: pl.DataFrame) -> Judged:
    """The verdicts of one gate, from rows as `verdicts` of staging has them.

    Raises ValueError or PolarsError for a status or measures that no verdict has.
    """
    return Judged(
        rows["item"],
        rows["status"].cast(STATUSES),
        rows["reason"],
        _scalars(rows["observed"], rows["observed_text"]),
        _scalars(rows["limit"], rows["limit_text"]),
        _measures(rows["measures"]),
    )


def _scalars(numbers: pl.Series, texts: pl.Series) -> list[Scalar]:
    """The numbers, whole where they are; else the texts. Truth values are stored as 0 and 1."""
    as_text = numbers.is_null() | texts.is_in(_TRUTH).fill_null(value=False)
    if as_text.all():
        return texts.to_list()
    if not as_text.any() and (numbers == numbers.cast(pl.Int64, strict=False)).all(
        ignore_nulls=False
    ):
        return numbers.cast(pl.Int64).to_list()
    values = zip(as_text.to_list(), numbers.to_list(), texts.to_list(), strict=True)
    return [text if is_text else _plain(number) for is_text, number, text in values]


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number


def _measures(recorded: pl.Series) -> dict[str, list[Scalar]]:
    """The measures by name, in order of first use; None where a verdict has none of it.

    All objects are parsed as one array: 100,000 single ones take several times as long.
    """
    rows = orjson.loads("[" + ",".join(text or "{}" for text in recorded.to_list()) + "]")
    if len(rows) != recorded.len() or not {dict}.issuperset(map(type, rows)):
        raise ValueError("measures that are not a JSON object")
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


_UNITS = 1e9  # comparisons are made in units of 1e-9 (law 5)
Gates = Mapping[str, tuple[Gate[Any, Any], StageConfig]]  # by name, with the settings of the run


@dataclass(frozen=True, slots=True)
class Check:
    """A limit with its value, and what each recorded verdict compares with it (null: nothing)."""

    limit: Limit
    allowed: Number
    values: pl.Series

    def broken(self) -> pl.Series:
        """Per verdict: is the compared value on the wrong side?"""
        distance = (self.values * _UNITS + 0.5).floor() - (float(self.allowed) * _UNITS + 0.5) // 1
        wrong = distance < 0 if self.limit.bound is Bound.MIN else distance > 0
        return wrong.fill_null(value=False)


def checks_of(gate: Gate[Any, Any], config: StageConfig, judged: Judged) -> tuple[Check, ...]:
    """The checks that let an item fail; none where no limit may be moved, or where the verdicts
    do not hold what the limits compare.
    """
    limits = [limit for limit in gate.limits_under(config) if limit.status is Status.FAILED]
    if not gate.replayable or not any(limit.movable for limit in limits):
        return ()
    rows = _recorded(judged)
    try:
        return tuple(Check(limit, limit.allowed(config), _values(limit, rows)) for limit in limits)
    except (KeyError, TypeError):  # verdicts of another version
        return ()


def contradictions(gate: Gate[Any, Any], checks: Sequence[Check], status: pl.Series) -> int:
    """Recorded verdicts that do not follow from the checks: their limits were other ones."""
    if not checks:
        return 0
    broken = pl.DataFrame([check.broken().alias(f"{i}") for i, check in enumerate(checks)])
    frame = broken.select(broken=pl.any_horizontal(pl.all())).with_columns(status.alias("status"))
    failed = pl.col("status") == Status.FAILED
    unfounded = failed & ~pl.col("broken") if gate.complete else pl.lit(value=False)
    wrong = (pl.col("broken") & ~failed) | unfounded
    return int(frame.select((wrong & (pl.col("status") != Status.NOT_MEASURED)).sum()).item())


def _recorded(judged: Judged) -> list[dict[str, Scalar] | None]:
    """What each verdict recorded, by name; None where nothing was measured."""
    names = tuple(judged.measures) or (OBSERVED,)
    columns = tuple(judged.measures.values()) or (judged.observed,)
    measured = (judged.status != Status.NOT_MEASURED).to_list()
    return [
        dict(zip(names, row, strict=True)) if is_measured else None
        for row, is_measured in zip(zip(*columns, strict=True), measured, strict=True)
    ]


def _values(limit: Limit, rows: Sequence[Mapping[str, Scalar] | None]) -> pl.Series:
    compared = [None if row is None else limit.compared(row) for row in rows]
    if not {type(value) for value in compared} <= {int, float, bool, type(None)}:
        raise TypeError(limit.name)
    return pl.Series(
        [None if value is None else float(value) for value in compared], dtype=pl.Float64
    )
