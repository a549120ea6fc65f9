"""The staged tables: those of all lanes, of the ledger, and of the runs themselves.

Every table gets `run_id` as its first column when it is staged.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from data import schemas
from data.metrics import COSTS, TIMINGS
from data.schemas import SIGNAL_TABLES, Table
from data.schemas_statements import (
    CLOSINGS,
    COMPANIES,
    CONVENTIONS,
    POINTS,
    QUESTIONS,
    SERIES,
)

RUN_ID = "run_id"

RUNS = Table(
    "runs",
    "one build that is kept",
    {
        RUN_ID: (pl.String, "snapshot name, date, and the head of the run's key"),
        "snapshot": (pl.String, "name and date of the snapshot that was built"),
        "released": (pl.Date, "release date of the recipe"),
        "built_at": (pl.Float64, "when it was last staged, seconds since the epoch, UTC"),
        "published": (pl.String, "directory name of the snapshot; null if none was published"),
        "digest": (pl.String, "snapshot digest; null if none was published"),
        "n_tasks": (pl.Int64, "tasks released; null if none was published"),
        "privacy": (pl.String, "generated, public or masked"),
        "recipe_digest": (pl.String, "SHA-256 of the resolved recipe"),
        "code_version": (
            pl.String,
            "SHA-256 over the packages' source files except the demo's, shortened",
        ),
        "release_key_digest": (pl.String, "SHA-256 of the release key"),
        "n_inputs": (pl.Int64, "inputs with a digest in the manifest"),
        "problem": (pl.String, "why its other tables are missing; null if they are not"),
    },
)
SCORES = Table(
    "scores",
    "one pilot model's score on one candidate",
    {
        "task_id": (pl.String, "candidate"),
        "model": (pl.String, "pilot model"),
        "score": (pl.Float64, "score, 0 to 1; null where the pilot did not run"),
    },
)
SELECTION_ROWS = Table(
    "selection_rows",
    "one constraint of the selection, and what it costs",
    {
        "name": (pl.String, "constraint"),
        "kind": (pl.String, "size, lane, family, difficulty, cluster, churn, budget, …"),
        "low": (pl.Float64, "least allowed; null if unbounded"),
        "high": (pl.Float64, "most allowed; null if unbounded"),
        "value": (pl.Float64, "what the selection has"),
        "price": (pl.Float64, "what a unit beyond the bound costs; null where it is hard"),
        "excess": (pl.Float64, "units beyond the bound that were paid for"),
    },
)
LEDGER = Table(
    "ledger",
    "the outcome of one unit in one stage, or of n units that share it",
    {
        "stage": (pl.String, "stage"),
        "unit": (pl.String, "what is counted: file, line, session, turn, instance, candidate, …"),
        "item_id": (pl.String, "id of the unit; in parentheses for a group of n units"),
        "outcome": (pl.String, "kept, consumed, rejected, errored, chosen or not_chosen"),
        "gate": (pl.String, "gate that decided"),
        "reason": (pl.String, "why; null for what passed"),
        "observed": (pl.String, "what the gate measured, as text"),
        "limit": (pl.String, "what the gate allows, as text"),
        "stratum": (pl.String, "stratum of a choosing stage"),
        "evidence": (pl.String, "JSON: a pointer (path, line, offsets), never the text itself"),
        "n": (pl.Int64, "units"),
    },
)
VERDICTS = Table(
    "verdicts",
    "one gate's measurement and judgement of one item",
    {
        "item_id": (pl.String, "item judged"),
        "gate": (pl.String, "gate"),
        "status": (pl.String, "passed, failed, unverified or not_measured"),
        "reason": (pl.String, "why it failed; null for what passed"),
        "observed": (pl.Float64, "what was measured; null if it is not a number"),
        "limit": (pl.Float64, "what is allowed; null if it is not a number"),
        "observed_text": (pl.String, "the same as text"),
        "limit_text": (pl.String, "the same as text"),
        "measures": (pl.String, "JSON: further measurements"),
        "blocked_by": (
            pl.String,
            "what kept it from being measured: a gate, or a command",
        ),
    },
)
LINEAGE_ROWS = Table(
    "lineage_rows",
    "one parent-child link that a stage wrote down",
    {
        "stage": (pl.String, "stage that made the child"),
        "parent_unit": (pl.String, "what the parent is"),
        "parent": (pl.String, "id of the parent"),
        "child_unit": (pl.String, "what the child is"),
        "child": (pl.String, "id of the child"),
        "why": (pl.String, "why the child was made from the parent"),
    },
)
TALLIES = Table(
    "tallies",
    "the count of one outcome in one stage, or in one shard of it",
    {
        "stage": (pl.String, "stage"),
        "kind": (pl.String, "filter, derive or choose"),
        "unit": (pl.String, "what is counted"),
        "outcome": (pl.String, "outcome"),
        "n": (pl.Int64, "units with that outcome"),
        "n_in": (pl.Int64, "units that came in (of the shard)"),
    },
)

# Statements are staged without the tables of enrichment, questions without their answers.
_LANES = (
    *schemas.TABLES,
    *SIGNAL_TABLES,
    *(COMPANIES, SERIES, POINTS, CONVENTIONS, CLOSINGS, QUESTIONS),
)
LEDGER_TABLES = (LEDGER, VERDICTS, LINEAGE_ROWS, TALLIES)
# Written for every run; `runs` itself holds one row of each.
STAGED = (*_LANES, SCORES, SELECTION_ROWS, TIMINGS, COSTS, *LEDGER_TABLES)
TABLES = (RUNS, *STAGED)

_SQL_TYPES = {
    "String": "VARCHAR",
    "Int64": "BIGINT",
    "Float64": "DOUBLE",
    "Boolean": "BOOLEAN",
    "Date": "DATE",
}


def sql_types(table: Table) -> dict[str, str]:
    """The columns of a staged table with their DuckDB types, `run_id` first."""
    return {RUN_ID: "VARCHAR"} | own_sql_types(table)


def own_sql_types(table: Table) -> dict[str, str]:
    """The columns of any table with their DuckDB types."""
    return {name: _SQL_TYPES[str(dtype)] for name, dtype in table.schema.items()}


def meanings(table: Table) -> Mapping[str, str]:
    """What each column of a staged table means."""
    own = {name: meaning for name, (_, meaning) in table.columns.items()}
    return {RUN_ID: "run, one of `runs`"} | own
