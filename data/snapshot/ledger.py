"""What a release says of its ledger: the funnel, rejections, gates, overlaps and strata.

Counted by DuckDB from the Parquet tables of the private half, by whoever writes a release and by
whoever verifies one. The counts hold no ids and no texts.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from data import schemas
from data.contracts import (
    LedgerRow,
    LineageRow,
    Outcome,
    Scalar,
    StageTally,
    Status,
    TurnedAway,
    Verdict,
)
from data.neutralise import public_text, storable
from data.snapshot import layout
from data.snapshot.release import LedgerTables
from data.snapshot.tasks import bins, label_of, summary
from data.tables import (
    LEDGER,
    LINEAGE,
    VERDICTS,
    Schema,
    ledger_record,
    lineage_record,
    verdict_record,
    write_frame,
)

Rows = list[dict[str, Any]]

# Columns of the tables in DuckDB's types.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    layout.LEDGER_TABLE: schemas.LEDGER.sql_types,
    layout.VERDICTS_TABLE: schemas.VERDICTS.sql_types,
    layout.LINEAGE_TABLE: schemas.LINEAGE_ROWS.sql_types,
}
_NEVER_NULL: Mapping[str, Sequence[str]] = {
    layout.LEDGER_TABLE: ("stage", "unit", "item_id", "outcome", "n"),
    layout.VERDICTS_TABLE: ("item_id", "gate", "status"),
    layout.LINEAGE_TABLE: tuple(COLUMNS[layout.LINEAGE_TABLE]),
}
_JUDGED = (Status.PASSED, Status.FAILED, Status.UNVERIFIED)
_SHOWN_VALUES = 12  # most frequent texts listed per reason
_INFLATED = "SELECT sum(total_uncompressed_size) FROM parquet_metadata(?)"


class LedgerCounts:
    """Counts over the three tables, which `files` names by their names in a release."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, files: Mapping[str, Path]) -> None:
        self._connection = connection
        for name, file in files.items():
            parquet(connection, file).create_view(Path(name).stem)

    def heights(self) -> dict[str, int]:
        """Table -> its rows."""
        views = {name: self._connection.view(Path(name).stem) for name in COLUMNS}
        return {name: view.count("*").fetchall()[0][0] for name, view in views.items()}

    def ids(self, without: Collection[str]) -> set[str]:
        """The ids of all units but those of the kinds in `without`."""
        named = self._rows(
            "SELECT unit, item_id FROM ledger UNION SELECT parent_unit, parent FROM lineage "
            "UNION SELECT child_unit, child FROM lineage"
        )
        return {item for kind, item in named if kind not in without}

    def outcomes(self) -> dict[tuple[str, str, str], int]:
        """(stage, unit, outcome) -> units."""
        counted = self._rows("SELECT stage, unit, outcome, sum(n)::BIGINT FROM ledger GROUP BY ALL")
        return {(stage, unit, outcome): n for stage, unit, outcome, n in counted}

    def children(self) -> dict[tuple[str, str], dict[str, int]]:
        """(stage, parent unit) -> how many different children of each unit it made."""
        made: dict[tuple[str, str], dict[str, int]] = {}
        for stage, unit, child_unit, n in self._rows(
            "SELECT stage, parent_unit, child_unit, count(DISTINCT child) FROM lineage "
            "GROUP BY ALL ORDER BY ALL"
        ):
            made.setdefault((stage, unit), {})[child_unit] = n
        return made

    def funnel(self, tallies: Iterable[StageTally]) -> Rows:
        """The stages in pipeline order with their outcomes and the children they made."""
        made = self.children()
        return [
            {
                "stage": tally.stage,
                "kind": str(tally.kind),
                "unit": tally.unit,
                "n_in": tally.n_in,
                "outcomes": {str(outcome): n for outcome, n in tally.counts.items()},
                "made": made.get((tally.stage, tally.unit), {}),
            }
            for tally in tallies
        ]

    def summary(self, gates: Sequence[str]) -> dict[str, Rows]:
        """Rejections by gate and reason, gates by status, overlaps, strata of choosing stages."""
        return {
            "rejections": self.rejections(),
            "gates": self._gates(gates),
            "overlaps": self._overlaps(gates),
            "strata": self._strata(),
        }

    def rejections(self) -> Rows:
        """Rejected and errored units by stage, unit, gate and reason, with what was observed."""
        groups = self._rows(
            "SELECT stage, unit, outcome, gate, reason, sum(n)::BIGINT, count(*), "
            'list(observed), list("limit") FROM ledger WHERE outcome IN ($1, $2) GROUP BY ALL '
            "ORDER BY stage, unit, outcome, gate NULLS FIRST, reason NULLS FIRST",
            [str(Outcome.REJECTED), str(Outcome.ERRORED)],
        )
        keys = ("stage", "unit", "outcome", "gate", "reason", "n", "entries")
        return [
            dict(zip(keys, group[:-2], strict=True))
            | {"observed": _values_summary(group[-2]), "limits": _distinct(group[-1])}
            for group in groups
        ]

    def limits(self) -> dict[str, list[tuple[str | None, str]]]:
        """Gate -> reasons and limits of its verdicts; those without a reason (passed) first."""
        shown: dict[str, list[tuple[str | None, str]]] = {}
        for gate, reason, limit in self._rows(
            "SELECT DISTINCT gate, reason, limit_text FROM verdicts WHERE limit_text IS NOT NULL "
            "ORDER BY gate, coalesce(reason, ''), limit_text"
        ):
            shown.setdefault(gate, []).append((reason, str(public_text(limit))))
        return shown

    def _overlaps(self, gates: Sequence[str]) -> Rows:
        """How many items failed exactly each set of gates, most frequent first."""
        rank = {gate: index for index, gate in enumerate(gates)}
        sets = self._rows(
            "SELECT failed, count(*) FROM (SELECT list_sort(list(DISTINCT gate)) AS failed "
            "FROM verdicts WHERE status = $1 GROUP BY item_id) GROUP BY ALL",
            [str(Status.FAILED)],
        )
        counted = {
            tuple(sorted(names, key=lambda gate: (rank.get(gate, len(rank)), gate))): n
            for names, n in sets
        }
        ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        return [{"gates": list(names), "n": n} for names, n in ranked]

    def _strata(self) -> Rows:
        """Outcomes of the choosing stages per stratum."""
        merged: Counter[tuple[str, ...]] = Counter()
        for stage, unit, outcome, stratum, n in self._rows(
            "SELECT stage, unit, outcome, stratum, sum(n)::BIGINT FROM ledger "
            "WHERE stratum IS NOT NULL GROUP BY ALL"
        ):
            merged[(stage, unit, outcome, public_text(stratum) or "")] += n
        keys = ("stage", "unit", "outcome", "stratum")
        return [dict(zip(keys, key, strict=True)) | {"n": n} for key, n in sorted(merged.items())]

    def _gates(self, gates: Sequence[str]) -> Rows:
        statuses = self._by_gate("status")
        blocked = self._by_gate("blocked_by")
        limits = self._by_gate("limit_text")
        measured: dict[str, list[tuple[float, str, int]]] = {}
        for gate, value, status, n in self._rows(
            "SELECT gate, observed, status, count(*) FROM verdicts WHERE isfinite(observed) "
            "GROUP BY ALL"
        ):
            measured.setdefault(gate, []).append((value, status, n))
        return [
            {
                "gate": gate,
                "statuses": {str(one): statuses.get(gate, {}).get(str(one), 0) for one in Status},
                "blocked_by": dict(sorted(blocked.get(gate, {}).items())),
                "limits": _distinct(tuple(limits.get(gate, ()))),
                "histogram": _histogram(measured.get(gate, [])),
            }
            for gate in gates
        ]

    def _by_gate(self, column: str) -> dict[str, dict[str, int]]:
        """Gate -> value of the column -> verdicts; nulls are left out."""
        counted: dict[str, dict[str, int]] = {}
        verdicts = self._connection.view("verdicts").filter(f"{column} IS NOT NULL")
        for gate, value, n in verdicts.aggregate(f"gate, {column}, count(*)").fetchall():
            counted.setdefault(gate, {})[value] = n
        return counted

    def _rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, list(parameters)).fetchall()


def files_in(private: Path) -> dict[str, Path]:
    """The tables in the private half of a release, by name."""
    return {name: private / name for name in layout.PRIVATE_TABLES}


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory with one thread: to start more costs more than these tables do."""
    return duckdb.connect(config={"threads": 1})


def table_problem(
    connection: duckdb.DuckDBPyConnection, file: Path, name: str, largest: int
) -> str | None:
    """Why a file is no table of that name: too large, other columns, forbidden nulls.

    `largest` is in inflated bytes. Raises duckdb.Error if it is no Parquet, or damaged.
    """
    size = connection.execute(_INFLATED, [_exact(file)]).fetchall()[0][0] or 0
    if size > largest:
        return f"inflates to more than {largest:,} bytes"
    rows = parquet(connection, file)
    if dict(zip(rows.columns, map(str, rows.types), strict=True)) != COLUMNS[name]:
        return "has other columns than its schema"
    # The greatest value of each column decodes all of them: a damaged page is found here.
    wanted = [f"count({column}) < count(*)" for column in _NEVER_NULL[name]]
    least = "min(n) < 1" if name == layout.LEDGER_TABLE else "false"
    whole = [f'max("{column}")' for column in rows.columns]
    facts = rows.aggregate(", ".join((" OR ".join(wanted), least, *whole))).fetchall()[0]
    if facts[0]:
        return "has rows without a stage, unit, id or outcome"
    return "has rows that count no unit" if facts[1] else None


def parquet(connection: duckdb.DuckDBPyConnection, file: Path) -> duckdb.DuckDBPyRelation:
    """The rows of a file. Raises duckdb.Error if it is no Parquet."""
    return connection.read_parquet(_exact(file), hive_partitioning=False)


def _exact(file: Path) -> str:
    """The name as DuckDB takes it literally: characters of patterns stand in brackets."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file.absolute()))


def turned_away(rejections: Iterable[Mapping[str, Any]]) -> TurnedAway:
    """The sum over the groups of `LedgerCounts.rejections`."""
    sizes = [(row["n"], row["entries"]) for row in rejections]
    return TurnedAway(sum(units for units, _ in sizes), sum(entries for _, entries in sizes))


def _values_summary(values: Sequence[str | None]) -> dict[str, Any]:
    """Observed values of one reason: quantiles if all are numbers, otherwise frequent texts."""
    present = [value for value in values if value is not None]
    numbers = [number for value in present if (number := _number(value)) is not None]
    if present and len(numbers) == len(present):
        return {"kind": "number"} | summary(numbers)
    shown = Counter(str(public_text(value)) for value in present)
    ranked = sorted(shown.items(), key=lambda item: (-item[1], item[0]))
    return {
        "kind": "text" if present else "none",
        "n": len(present),
        "values": [{"value": value, "n": n} for value, n in ranked[:_SHOWN_VALUES]],
    }


def _histogram(measured: Sequence[tuple[float, str, int]]) -> Rows:
    """Histogram of one gate's measurements by status; empty if it measures no numbers."""
    edges = bins([value for value, _, _ in measured])
    counts: Counter[tuple[str, str]] = Counter()
    for value, status, n in measured:
        counts[(label_of(value, edges), status)] += n
    return [
        {"label": label} | {str(status): counts[(label, str(status))] for status in _JUDGED}
        for label in edges
    ]


def _distinct(values: Sequence[str | None]) -> list[str]:
    shown = {str(public_text(value)) for value in values if value is not None}
    return sorted(shown, key=lambda value: (len(value), value))[:_SHOWN_VALUES]


def _number(text: str) -> float | None:
    """The number that `text` represents; None for other text, including `inf` and `nan`."""
    if public_text(text) != text or not text.lstrip("-")[:1].isdigit():
        return None
    number = float(text)
    return number if math.isfinite(number) else None


# The ledger tables of a release as frames: cleaned and sorted, the same for any order of input.


@dataclass(frozen=True, slots=True)
class Frames:
    """Ledger, verdicts and lineage with the schemas of `data.tables`."""

    ledger: pl.DataFrame
    verdicts: pl.DataFrame
    lineage: pl.DataFrame


def ledger_frames(tables: LedgerTables) -> Frames:
    """The ledger tables as sorted frames."""
    return Frames(
        _frame((ledger_record(_clean_ledger(row)) for row in tables.ledger), LEDGER),
        _frame(
            (verdict_record(_text(item), _clean_verdict(v)) for item, v in tables.verdicts),
            VERDICTS,
        ),
        _frame((lineage_record(_clean_lineage(row)) for row in tables.lineage), LINEAGE),
    )


def write(folder: Path, frames: Frames) -> None:
    """Write the three Parquet tables of the private half."""
    write_frame(folder / layout.LEDGER_TABLE, frames.ledger)
    write_frame(folder / layout.VERDICTS_TABLE, frames.verdicts)
    write_frame(folder / layout.LINEAGE_TABLE, frames.lineage)


@contextmanager
def counted(frames: Frames) -> Iterator[LedgerCounts]:
    """Counts over tables of a release that is not written."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), frames)
        with connect() as connection:
            yield LedgerCounts(connection, files_in(Path(folder)))


def gate_order(tables: LedgerTables) -> list[str]:
    """Gates in declared order, then by name any others that judged or rejected something."""
    seen = {verdict.gate for _, verdict in tables.verdicts}
    seen.update(row.gate for row in tables.ledger if row.gate is not None)
    declared = list(dict.fromkeys(tables.gates))
    return declared + sorted(seen - set(declared))


def _frame(records: Iterable[dict[str, Any]], schema: Schema) -> pl.DataFrame:
    """Rows sorted by all columns: a total order, independent of the input order."""
    rows = pl.DataFrame(list(records), schema=dict(schema), orient="row")
    return rows.sort(list(schema), nulls_last=False)


def _clean_ledger(row: LedgerRow) -> LedgerRow:
    return replace(
        row,
        item_id=_text(row.item_id),
        observed=storable(row.observed),
        limit=storable(row.limit),
        evidence=_clean_map(row.evidence),
    )


def _clean_verdict(verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        observed=storable(verdict.observed),
        limit=storable(verdict.limit),
        measures=_clean_map(verdict.measures),
    )


def _clean_lineage(row: LineageRow) -> LineageRow:
    return replace(row, parent=_text(row.parent), child=_text(row.child), why=_text(row.why))


def _clean_map(values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {_text(key): storable(value) for key, value in values.items()}


def _text(value: str) -> str:
    return str(storable(value))
