"""The page `docs/schema.md`, generated from the contracts of the staging tables and views.

python -m data.staging.page > docs/schema.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from data.schemas_attempts import ATTEMPT_TABLES
from data.staging.tables import (
    LEDGER_TABLES,
    RUN_ID,
    RUNS,
    STAGED,
    meanings,
    own_sql_types,
    sql_types,
)
from data.staging.views import VIEWS

_HEAD = """# Staging schema

Generated from the contracts by `data/staging/page.py`; do not edit. How to query it:
[staging](staging.md).

Every table and view except `runs` has `run_id` as its first column. A name without a schema means
all kept runs; with the prefix `newest.` it means the run that was staged last. No column holds raw
text."""

_ATTEMPTS = """## Attempts

Views over what was graded below a folder of attempts ([run](run.md)):
`benchmint sql --attempts FOLDER "FROM attempts"`. They are not part of the staging file, have no
`run_id`, and hold what agents said and were shown: they are private.
"""


def schema_page() -> str:
    """The whole page as Markdown, closed by a newline."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "\n## Views\n"
    for view in VIEWS:
        yield from _section(view.name, view.row, view.columns)
    ledger_tables = [table for table in STAGED if table in LEDGER_TABLES]
    lanes = [table for table in STAGED if table not in LEDGER_TABLES]
    for title, tables in (("Runs and lanes", [RUNS, *lanes]), ("The ledger", ledger_tables)):
        yield f"## {title}\n"
        for table in tables:
            meaning_of = meanings(table)
            columns = {name: (kind, meaning_of[name]) for name, kind in sql_types(table).items()}
            yield from _section(table.name, table.row, columns)
    yield _ATTEMPTS
    for table in ATTEMPT_TABLES:
        own = own_sql_types(table)
        columns = {name: (kind, table.columns[name][1]) for name, kind in own.items()}
        yield from _section(table.name, table.row, columns)


def _section(name: str, row: str, columns: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"One row: {row}.\n"
    yield "| column | type | meaning |\n|---|---|---|"
    for column, (kind, meaning) in columns.items():
        if column != RUN_ID or name == RUNS.name:
            yield f"| `{column}` | {kind} | {meaning.replace('|', chr(92) + '|')} |"
    yield ""


if __name__ == "__main__":
    print(schema_page(), end="")
