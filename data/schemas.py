"""Tables: every column with its type and meaning, as `schemas.toml` declares them.

The one source for writing Parquet, for the comments inside `staging.duckdb`, and for the docs. No
staged column holds raw text (law 8).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_SQL = {
    "text": "VARCHAR",
    "whole": "BIGINT",
    "number": "DOUBLE",
    "truth": "BOOLEAN",
    "day": "DATE",
}


@cache
def _polars_types() -> Mapping[str, Any]:
    import polars as pl  # who only verifies a release does not wait for it

    return {
        "text": pl.String,
        "whole": pl.Int64,
        "number": pl.Float64,
        "truth": pl.Boolean,
        "day": pl.Date,
        "decimal": pl.Decimal(38, 10),
    }


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what one row is, and its columns as name -> (type, meaning)."""

    name: str
    row: str
    columns: Mapping[str, tuple[str, str]]

    @property
    def schema(self) -> dict[str, Any]:
        """The columns with their Polars types."""
        return {name: _polars_types()[kind] for name, (kind, _) in self.columns.items()}

    @property
    def meanings(self) -> dict[str, str]:
        return {name: meaning for name, (_, meaning) in self.columns.items()}

    @property
    def sql_types(self) -> dict[str, str]:
        """The columns with their DuckDB types."""
        return {name: _SQL[kind] for name, (kind, _) in self.columns.items()}


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _table(key: str) -> Table:
    declared = _DECLARED[key]
    columns = {name: (kind, text) for name, (kind, text) in declared["columns"].items()}
    return Table(declared.get("name", key), declared["row"], columns)


FILES, SESSIONS, TURNS = _table("files"), _table("sessions"), _table("turns")
TASK_INSTANCES, FIXTURES = _table("task_instances"), _table("fixtures")
RESTORATIONS, MASKED_SPANS = _table("restorations"), _table("masked_spans")
CANDIDATES = _table("candidates")
SESSION_TABLES = (
    *(FILES, SESSIONS, TURNS, TASK_INSTANCES, FIXTURES, RESTORATIONS),
    *(MASKED_SPANS, CANDIDATES),
)

SIGNALS, SIGNAL_PATTERNS = _table("signals"), _table("signal_patterns")
PATTERNS, WEIGHTS = _table("patterns"), _table("weights")
SIGNAL_TABLES = (SIGNALS, SIGNAL_PATTERNS, PATTERNS, WEIGHTS)

COMPANIES, SERIES, POINTS = _table("companies"), _table("series"), _table("points")
# Values that a later filing replaced: the columns of POINTS, and the point that replaced them.
HISTORY = Table(
    "history",
    "one value that a later filing restated",
    {**POINTS.columns, "replaced_by": ("text", "point that replaced it")},
)
AMOUNTS, ROWS = _table("amounts"), _table("rows")
CONVENTIONS, CLOSINGS = _table("conventions"), _table("closings")
STATEMENT_TABLES = (COMPANIES, SERIES, POINTS, HISTORY, ROWS, CONVENTIONS, CLOSINGS)
QUESTIONS, ANSWERS = _table("questions"), _table("answers")

ATTEMPTS, TOOL_CALLS = _table("attempts"), _table("tool_calls")
SCORES, SCORE_PARTS = _table("scores"), _table("score_parts")
ATTEMPT_TABLES = (ATTEMPTS, TOOL_CALLS, SCORES, SCORE_PARTS)

RUNS, PILOT_SCORES = _table("runs"), _table("pilot_scores")
SELECTION_ROWS = _table("selection_rows")
TIMINGS, COSTS = _table("timings"), _table("costs")

LEDGER, VERDICTS = _table("ledger"), _table("verdicts")
LINEAGE_ROWS, TALLIES = _table("lineage_rows"), _table("tallies")
LEDGER_TABLES = (LEDGER, VERDICTS, LINEAGE_ROWS, TALLIES)
MISSING_INPUTS, CHANGED_PARTS = _table("missing_inputs"), _table("changed_parts")
