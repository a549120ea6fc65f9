"""Scripted analysts: each reads the files of a variant with one flaw, and runs the reference steps.

A flaw shows as long as the variant has the noise that it mishandles. What an analyst scores on each
variant is therefore predicted before it is measured: all tasks, less those that its noise bites.

They read raw files by a second reader, in DuckDB SQL, which makes the clean tables once more. It is
written apart from `environment.cleaning`, with which it shares the declaration and how bytes are
read. Where the two differ, one has misread the declaration.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import orjson
import polars as pl

from construction.analytics.ablation import Tables, outcome
from construction.analytics.contracts import AnalyticTask
from construction.analytics.environment.declaration import (
    Column,
    Declaration,
    File,
    Noise,
    Table,
)
from construction.analytics.environment.variants import (
    VARIANTS,
    content,
    raw_declaration,
    read_clean,
)

_BLANKS = " \t\r\n\u00a0\u3000"
_LONGEST_ROW = 1 << 26  # bytes: a row may hold a whole document
_SCHEMA: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "number": pl.Float64(),
    "year": pl.Int64(),
}


def read_raw(
    declaration: Declaration, folder: Path, ignoring: Collection[Noise] = ()
) -> dict[str, pl.DataFrame]:
    """The clean tables of the raw files in `folder`, by name; `declaration`: over these files."""
    connection = duckdb.connect(":memory:", config={"threads": "1"})
    with TemporaryDirectory() as scratch:
        for name in sorted({table.file for table in declaration.tables}):
            _load(connection, name, declaration.files[name], folder, Path(scratch))
    made = {
        table.name: _selected(connection, declaration, table, ignoring)
        for table in declaration.tables
    }
    if Noise.SCOPE in ignoring:
        made |= {t.stands_for: made[t.name] for t in declaration.tables if t.stands_for}
    return made


def _load(
    connection: duckdb.DuckDBPyConnection, name: str, file: File, folder: Path, scratch: Path
) -> None:
    """A table of texts with the rows of a file, numbered in `(row)`."""
    table = _name(name)
    if file.texts:
        rows = [(key, content(folder, path).decode()) for key, path in file.texts.items()]
        connection.execute(f"CREATE TABLE {table} (doc_id VARCHAR, text VARCHAR)")
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    elif file.path.endswith(".parquet"):
        plain = scratch / f"{name}.parquet"
        plain.write_bytes(content(folder, file.path))
        rows_of = f"read_parquet({_text(str(plain))})"
        select = f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM {rows_of}"
        connection.execute(f"CREATE TABLE {table} AS {select}")
    else:
        rows_of = _plain_rows(name, file, folder, scratch)
        select = f"SELECT * FROM {rows_of}"
        connection.execute(f"CREATE TABLE {table} AS {select}")
    connection.execute(f'ALTER TABLE {table} ADD COLUMN "(row)" BIGINT')
    connection.execute(f'UPDATE {table} SET "(row)" = rowid')


def _plain_rows(name: str, file: File, folder: Path, scratch: Path) -> str:
    """The call that reads a file's rows of data, written out as lines of JSON."""
    encoding = "utf-8-sig" if file.encoding == "utf-8" else file.encoding
    text = content(folder, file.path).decode(encoding)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    head = rows[file.header]
    unique = [n if head.index(n) == at else f"{n}.{at}" for at, n in enumerate(head)]
    plain = scratch / f"{name}.jsonl"
    with plain.open("wb") as handle:
        for row in rows[file.data_from :]:
            cells = (cell or None for cell in row)
            handle.write(orjson.dumps(dict(zip(unique, cells, strict=True))) + b"\n")
    columns = ", ".join(f"{_text(column)}: 'VARCHAR'" for column in unique)
    options = f"format = 'newline_delimited', maximum_object_size = {_LONGEST_ROW}"
    return f"read_json({_text(str(plain))}, columns = {{{columns}}}, {options})"


def _selected(
    connection: duckdb.DuckDBPyConnection,
    declaration: Declaration,
    table: Table,
    ignoring: Collection[Noise],
) -> pl.DataFrame:
    cells = ", ".join(
        f"{_cell(declaration, column, ignoring)} AS {_name(column.name)}"
        for column in table.columns
    )
    latest = f', {_name(table.latest)} AS "(latest)"' if table.latest else ""
    kept = " AND ".join(
        f"{sign}coalesce({_name(column)} IN ({', '.join(map(_text, values))}), false)"
        for sign, chosen in (("NOT ", table.drop), ("", table.keep))
        for column, values in chosen.items()
    )
    source, where = _source(table), kept or "true"
    rows = f'SELECT {cells}{latest}, "(row)" FROM {source} WHERE {where}'
    keys = ", ".join(map(_name, table.key))
    known = " AND ".join(f"{_name(key)} IS NOT NULL" for key in table.key)
    order = ('"(latest)" DESC NULLS LAST, ' if table.latest else "") + '"(row)" DESC'
    single = (
        ""
        if Noise.REPEATS in ignoring
        else (f" QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {order}) = 1")
    )
    names = ", ".join(map(_name, table.names))
    ordered = f'{single} ORDER BY {keys}, "(row)"'
    query = f"SELECT {names} FROM ({rows}) WHERE {known}{ordered}"
    schema = {column.name: _SCHEMA[column.type] for column in table.columns}
    return pl.DataFrame(connection.execute(query).fetchall(), schema=schema, orient="row")


def _source(table: Table) -> str:
    """The file's rows, with the declared columns turned into rows where they are."""
    if not table.unpivot:
        return _name(table.file)
    wide = ", ".join(map(_name, table.unpivot))
    into = " ".join(f"WHEN {_text(old)} THEN {_text(new)}" for old, new in table.unpivot.items())
    turned = f'UNPIVOT INCLUDE NULLS ("(value)" FOR "(cells)" IN ({wide}))'
    replaced = f'CASE "(cells)" {into} END AS "(cells)"'
    rows = f"SELECT * REPLACE ({replaced}) FROM {_name(table.file)} {turned}"
    return f"({rows})"


def _cell(declaration: Declaration, column: Column, ignoring: Collection[Noise]) -> str:
    """The SQL of a clean cell."""
    raw = _name(column.source)
    stripped = f"trim({raw}, {_text(_BLANKS)})"
    marks = ", ".join(map(_text, ("", *column.missing)))
    known = f"CASE WHEN {stripped} NOT IN ({marks}) THEN {stripped} END"
    if column.type == "year":
        lagged = column.lag and Noise.YEARS in ignoring
        return f"TRY_CAST(substr({_name(column.lag) if lagged else known}, 1, 4) AS BIGINT)"
    if column.type == "number":
        factor = 1.0 if Noise.UNITS in ignoring else column.factor
        number = f"TRY_CAST(replace({known}, ',', '') AS DOUBLE)"
        value = f"CASE WHEN isfinite({number}) THEN {number} * {factor!r}::DOUBLE END"
        return f"coalesce({value}, 0)" if Noise.MISSING in ignoring else value
    if Noise.ALIASES in ignoring:
        return f"CASE WHEN {stripped} NOT IN ({marks}) THEN {raw} END"
    others = declaration.aliases.get(column.aliases, {})
    names = " ".join(f"WHEN {_text(old)} THEN {_text(new)}" for old, new in others.items())
    return f"CASE {known} {names} ELSE {known} END" if names else known


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Analyst:
    """`flaw`: the noise that it leaves as it is; `until`: the last variant that still has it."""

    name: str
    flaw: Noise | None
    until: str | None

    def is_flawed(self, variant: str) -> bool:
        return self.until is not None and VARIANTS.index(variant) <= VARIANTS.index(self.until)


ANALYSTS = (
    Analyst("perfect", None, None),
    Analyst("ignores units", Noise.UNITS, "raw"),
    Analyst("ignores aliases", Noise.ALIASES, "raw"),
    # Cleaned tables still hold other releases; only the schema tells which one is meant.
    Analyst("first file only", Noise.SCOPE, "cleaned"),
    Analyst("ignores missing", Noise.MISSING, "raw"),
    Analyst("wrong year", Noise.YEARS, "raw"),
)


def predicted(analyst: Analyst, tasks: Sequence[AnalyticTask], variant: str) -> float:
    """The share of tasks right, from what was recorded when the tasks were made."""
    if not analyst.is_flawed(variant):
        return 1.0
    bitten = sum(str(analyst.flaw) in task.noise for task in tasks)
    return 1 - bitten / len(tasks)


def measured(
    analyst: Analyst,
    tasks: Sequence[AnalyticTask],
    variant: str,
    declaration: Declaration,
    anonymized: Collection[str],
    environment: Path,
) -> float:
    """The share of tasks with every part right, from the files in `environment/<variant>` alone."""
    folder = environment / variant
    if variant == "raw":
        tables = _read_raw(analyst, declaration, anonymized, folder)
    else:
        tables = _read_clean(analyst, declaration, folder, variant)
    right = sum(
        outcome(task.program, task.parts, tables) == tuple(a.value for a in task.answers)
        for task in tasks
    )
    return right / len(tasks)


def _read_raw(
    analyst: Analyst, declaration: Declaration, anonymized: Collection[str], folder: Path
) -> Tables:
    """By the second reader: the first made the gold."""
    ignoring = () if analyst.flaw is None else (analyst.flaw,)
    return read_raw(raw_declaration(declaration, anonymized), folder, ignoring)


def _read_clean(analyst: Analyst, declaration: Declaration, folder: Path, variant: str) -> Tables:
    """Clean tables have nothing to mishandle but other releases, unless the schema names them."""
    tables = read_clean(declaration, folder)
    if analyst.flaw is Noise.SCOPE and analyst.is_flawed(variant):
        for table in declaration.tables:
            if table.stands_for is not None:
                tables[table.stands_for] = tables[table.name]
    return tables
