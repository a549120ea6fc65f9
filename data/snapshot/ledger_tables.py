"""The ledger tables of a release as frames, and their public summary: the funnel and counts.

The frames are cleaned and sorted: the same for any order of input. The summary holds no ids and no
texts; the verifier computes the same from `private/*.parquet` and compares.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

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
from data.snapshot.statistics import bins, label_of, summary
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


@dataclass(frozen=True, slots=True)
class Frames:
    """Ledger, verdicts and lineage with the schemas of `data.tables`."""

    ledger: pl.DataFrame
    verdicts: pl.DataFrame
    lineage: pl.DataFrame


SCHEMAS: Mapping[str, Schema] = {
    layout.LEDGER_TABLE: LEDGER,
    layout.VERDICTS_TABLE: VERDICTS,
    layout.LINEAGE_TABLE: LINEAGE,
}


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


Rows = list[dict[str, Any]]

_TURNED_AWAY = (str(Outcome.REJECTED), str(Outcome.ERRORED))
_JUDGED = (Status.PASSED, Status.FAILED, Status.UNVERIFIED)
_SHOWN_VALUES = 12  # most frequent texts listed per reason


def funnel(tallies: Iterable[StageTally], frames: Frames) -> Rows:
    """The stages in pipeline order with their outcomes and the number of children they made."""
    made = children(frames.lineage)
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


def ledger_summary(frames: Frames, gates: Sequence[str]) -> dict[str, Rows]:
    """Rejections by gate and reason, gates by status, overlaps, and strata of choosing stages."""
    return {
        "rejections": rejections(frames.ledger),
        "gates": [_gate(frames.verdicts, gate) for gate in gates],
        "overlaps": overlaps(frames.verdicts, gates),
        "strata": strata(frames.ledger),
    }


def outcome_counts(ledger: pl.DataFrame) -> dict[tuple[str, str, str], int]:
    """(stage, unit, outcome) -> units."""
    counted = ledger.group_by("stage", "unit", "outcome").agg(pl.col("n").sum())
    return {(row[0], row[1], row[2]): row[3] for row in counted.iter_rows()}


def rejections(ledger: pl.DataFrame) -> Rows:
    """Rejected and errored units by stage, unit, gate and reason, with what was observed."""
    keys = ["stage", "unit", "outcome", "gate", "reason"]
    groups = (
        ledger.filter(pl.col("outcome").is_in(_TURNED_AWAY))
        .group_by(keys)
        .agg(pl.col("n").sum(), pl.len().alias("entries"), "observed", "limit")
        .sort(keys, nulls_last=False)
    )
    return [
        {key: group[key] for key in (*keys, "n", "entries")}
        | {"observed": values_summary(group["observed"]), "limits": _distinct(group["limit"])}
        for group in groups.iter_rows(named=True)
    ]


def limits_shown(verdicts: pl.DataFrame) -> dict[str, list[tuple[str | None, str]]]:
    """Gate -> reasons and limits of its verdicts; those that passed, without a reason, first."""
    columns = ("gate", "reason", "limit_text")
    pairs = verdicts.drop_nulls("limit_text").select(columns).unique().rows()
    shown: dict[str, list[tuple[str | None, str]]] = {}
    for gate, reason, limit in sorted(pairs, key=lambda row: tuple(value or "" for value in row)):
        shown.setdefault(gate, []).append((reason, str(public_text(limit))))
    return shown


def turned_away(rejections: Iterable[Mapping[str, Any]]) -> TurnedAway:
    """The sum over the groups that `rejections` made."""
    sizes = [(row["n"], row["entries"]) for row in rejections]
    return TurnedAway(sum(units for units, _ in sizes), sum(entries for _, entries in sizes))


def overlaps(verdicts: pl.DataFrame, gates: Sequence[str]) -> Rows:
    """How many items failed exactly each set of gates, most frequent first."""
    rank = {gate: index for index, gate in enumerate(gates)}
    failed = verdicts.filter(pl.col("status") == str(Status.FAILED))
    sets = failed.group_by("item_id").agg(pl.col("gate").unique())
    counted = Counter(
        tuple(sorted(names, key=lambda gate: (rank.get(gate, len(rank)), gate)))
        for names in sets["gate"].to_list()
    )
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [{"gates": list(names), "n": n} for names, n in ranked]


def strata(ledger: pl.DataFrame) -> Rows:
    """Outcomes of the choosing stages per stratum."""
    keys = ["stage", "unit", "outcome", "stratum"]
    placed = ledger.filter(pl.col("stratum").is_not_null())
    counted = placed.group_by(keys).agg(pl.col("n").sum()).sort(keys)
    merged: Counter[tuple[str, ...]] = Counter()
    for stage, unit, outcome, stratum, n in counted.iter_rows():
        merged[(stage, unit, outcome, public_text(stratum) or "")] += n
    return [dict(zip(keys, key, strict=True)) | {"n": n} for key, n in sorted(merged.items())]


def values_summary(values: Sequence[str | None]) -> dict[str, Any]:
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


def _gate(verdicts: pl.DataFrame, gate: str) -> dict[str, Any]:
    mine = verdicts.filter(pl.col("gate") == gate)
    statuses = Counter(mine["status"].to_list())
    return {
        "gate": gate,
        "statuses": {str(status): statuses.get(str(status), 0) for status in Status},
        "blocked_by": dict(sorted(Counter(mine["blocked_by"].drop_nulls().to_list()).items())),
        "limits": _distinct(mine["limit_text"].to_list()),
        "histogram": _gate_histogram(mine),
    }


def _gate_histogram(verdicts: pl.DataFrame) -> Rows:
    """Histogram of one gate's measurements by status; empty if it measures no numbers."""
    measured = verdicts.filter(pl.col("observed").is_finite())
    values = measured["observed"].to_list()
    edges = bins(values)
    counts: Counter[tuple[int, str]] = Counter()
    bin_number = {label: index for index, label in enumerate(edges)}
    for value, status in zip(values, measured["status"].to_list(), strict=True):
        counts[(bin_number[label_of(value, edges)], status)] += 1
    return [
        {"label": label} | {str(status): counts[(index, str(status))] for status in _JUDGED}
        for index, label in enumerate(edges)
    ]


def children(lineage: pl.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    """(stage, parent unit) -> how many different children of each unit it made."""
    counted = (
        lineage.group_by("stage", "parent_unit", "child_unit")
        .agg(pl.col("child").n_unique().alias("n"))
        .sort("stage", "parent_unit", "child_unit")
    )
    made: dict[tuple[str, str], dict[str, int]] = {}
    for stage, unit, child_unit, n in counted.iter_rows():
        made.setdefault((stage, unit), {})[child_unit] = n
    return made


def _distinct(values: Sequence[str | None]) -> list[str]:
    shown = {str(public_text(value)) for value in values if value is not None}
    return sorted(shown, key=lambda value: (len(value), value))[:_SHOWN_VALUES]


def _number(text: str) -> float | None:
    """The number that `text` represents; None for other text, including `inf` and `nan`."""
    if public_text(text) != text or not text.lstrip("-")[:1].isdigit():
        return None
    number = float(text)
    return number if math.isfinite(number) else None
