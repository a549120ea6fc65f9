"""The staged tables: those of all lanes, of the ledger, and of the runs themselves.

Every table gets `run_id` as its first column when it is staged.
"""

from __future__ import annotations

from collections.abc import Mapping

from data import schemas
from data.schemas import LEDGER_TABLES, RUNS, Table

RUN_ID = "run_id"

# Statements are staged without the tables of enrichment, questions without their answers.
_LANES = (
    *schemas.SESSION_TABLES,
    *schemas.SIGNAL_TABLES,
    *(schemas.COMPANIES, schemas.SERIES, schemas.POINTS),
    *(schemas.CONVENTIONS, schemas.CLOSINGS, schemas.QUESTIONS),
    *(schemas.PILOT_SCORES, schemas.SELECTION_ROWS, schemas.TIMINGS, schemas.COSTS),
)
# Written for every run; `runs` itself holds one row of each.
STAGED = (*_LANES, *LEDGER_TABLES)
TABLES = (RUNS, *STAGED)


def sql_types(table: Table) -> dict[str, str]:
    """The columns of a staged table with their DuckDB types, `run_id` first."""
    return {RUN_ID: "VARCHAR"} | table.sql_types


def meanings(table: Table) -> Mapping[str, str]:
    """What each column of a staged table means."""
    return {RUN_ID: "run, one of `runs`"} | table.meanings
