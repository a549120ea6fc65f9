"""The staging database: one DuckDB file for analysts, rebuilt aside and swapped in (law 7).

Readers that hold the old file keep the old data; whoever opens it afterwards sees the new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from data.atomic import replacing
from data.schemas import TABLES as SESSION_TABLES
from data.schemas_signals import SIGNAL_TABLES
from data.schemas_statements import COMPANIES, POINTS, QUESTIONS, SERIES
from data.tables import LEDGER, LINEAGE, TALLIES, VERDICTS, Schema

# Statements are staged without what only enrichment needs, questions without their answers.
TABLES = (*SESSION_TABLES, *SIGNAL_TABLES, COMPANIES, SERIES, POINTS, QUESTIONS)

_LOG_TABLES: Mapping[str, tuple[str, Schema]] = {
    "ledger": ("the outcome of one unit in one stage", LEDGER),
    "verdicts": ("one gate's measurement and judgement of one item", VERDICTS),
    "lineage_rows": ("one parent-child link made by a stage", LINEAGE),
    "tallies": ("the count of one outcome in one stage", TALLIES),
}

# name -> (what one row is, query). `rejections` is the view auditors start from.
VIEWS: Mapping[str, tuple[str, str]] = {
    "funnel": (
        "one stage: units in, and what became of them",
        """SELECT min(rowid) AS step, stage, kind, unit, max(n_in) AS n_in,
                  coalesce(sum(n) FILTER (outcome IN ('kept', 'consumed', 'chosen')), 0) AS passed,
                  coalesce(sum(n) FILTER (outcome = 'rejected'), 0) AS rejected,
                  coalesce(sum(n) FILTER (outcome = 'errored'), 0) AS errored,
                  coalesce(sum(n) FILTER (outcome = 'not_chosen'), 0) AS not_chosen
           FROM tallies GROUP BY stage, kind, unit ORDER BY step""",
    ),
    "rejections": (
        "one unit that was rejected or errored: by what, why, what was seen, what is allowed",
        """SELECT stage, unit, item_id, outcome, gate, reason,
                  coalesce(observed, evidence->>'found') AS observed,
                  coalesce("limit", evidence->>'expected') AS "limit",
                  evidence->>'path' AS path, CAST(evidence->>'line' AS BIGINT) AS line, evidence, n
           FROM ledger WHERE outcome IN ('rejected', 'errored')""",
    ),
    "gate_overlaps": (
        "how many items two gates both failed",
        """SELECT a.gate AS gate, b.gate AS other_gate, count(*) AS n
           FROM verdicts a JOIN verdicts b USING (item_id)
           WHERE a.status = 'failed' AND b.status = 'failed' AND a.gate < b.gate
           GROUP BY ALL ORDER BY n DESC, gate, other_gate""",
    ),
    # OVERLAPS is a reserved word: this name has to be quoted in queries, the other not.
    "overlaps": ("how many items two gates both failed", "FROM gate_overlaps"),
    "lineage": (
        "one parent-child link: session to instance, turn to instance, instance to candidate",
        """SELECT stage, parent_unit, parent, child_unit, child, why FROM lineage_rows
           UNION ALL
           SELECT 'recover', 'turn', session_uid || '#' || turn_index, 'instance', instance_id,
                  role FROM turns WHERE instance_id IS NOT NULL""",
    ),
}


def build_staging(target: Path, tables: Mapping[str, Sequence[Path]]) -> None:
    """Write `target` from the Parquet files of each table; a table without files is empty.

    The file replaces an older one in one step; it is readable by DuckDB 1.4 and later.
    """
    with replacing(target) as part:
        part.unlink()
        with duckdb.connect(
            str(part), config={"storage_compatibility_version": "v1.4.0"}
        ) as connection:
            for name, (row, schema) in _all_tables().items():
                _create(connection, name, schema, tables.get(name, ()))
                connection.execute(f"COMMENT ON TABLE {name} IS {_quoted(f'One row: {row}.')}")
            _comment_columns(connection)
            for name, (row, query) in VIEWS.items():
                connection.execute(f'CREATE VIEW "{name}" AS {query}')
                connection.execute(f'COMMENT ON VIEW "{name}" IS ' + _quoted(f"One row: {row}."))


def open_read_only(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a staging file for queries: read-only, no access to files or network."""
    return duckdb.connect(
        str(path),
        read_only=True,
        config={"enable_external_access": "false", "lock_configuration": "true"},
    )


def _all_tables() -> dict[str, tuple[str, Schema]]:
    return {table.name: (table.row, table.schema) for table in TABLES} | dict(_LOG_TABLES)


def _create(
    connection: duckdb.DuckDBPyConnection, name: str, schema: Schema, paths: Sequence[Path]
) -> None:
    columns = ", ".join(f'"{column}" {_sql_type(dtype)}' for column, dtype in schema.items())
    connection.execute(f"CREATE TABLE {name} ({columns})")
    if paths:
        connection.execute(
            f"INSERT INTO {name} BY NAME SELECT * FROM read_parquet(?)",  # noqa: S608
            [[str(path) for path in paths]],
        )


def _comment_columns(connection: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        for column, (_, meaning) in table.columns.items():
            connection.execute(
                f'COMMENT ON COLUMN {table.name}."{column}" IS {_quoted(meaning + ".")}'
            )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_SQL_TYPES = {
    "String": "VARCHAR",
    "Int64": "BIGINT",
    "Float64": "DOUBLE",
    "Boolean": "BOOLEAN",
    "Date": "DATE",
}


def _sql_type(dtype: Any) -> str:
    return _SQL_TYPES[str(dtype)]


def table_paths(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """The Parquet files of each staging table under `folders`, sorted, by file stem."""
    found: dict[str, list[Path]] = {name: [] for name in _all_tables()}
    for folder in folders:
        for path in sorted(folder.rglob("*.parquet")):
            if path.stem in found:
                found[path.stem].append(path)
    return found
