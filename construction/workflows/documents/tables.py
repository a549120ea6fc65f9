"""Records as DuckDB tables, and SQL of documents over them: hostile, so confined.

Each `service.collection` is a table with a column for each declared field; absent values are null.
Texts are VARCHAR, numbers DECIMAL(38,6), days DATE, times TIMESTAMP in the clock of the world,
lists VARCHAR[] and rows STRUCT[]. The database is in memory, reaches no file and no network, and
takes single SELECTs alone, without functions whose result differs from run to run.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

import duckdb
import orjson

from construction.workflows.declaration import service
from construction.workflows.values import FieldRule, FieldType
from data.staging.database import SAFE, in_memory

SECONDS, MEMORY, MOST_ROWS = 600.0, "512MB", 20_000  # hostile SQL ends; a busy machine goes on
# Wider than 18, so that DuckDB widens a product of two rather than let it overflow.
DECIMAL = "DECIMAL(38,6)"
_MOST_HELD = 128  # filled tables of a database: a draft has a dozen, in some versions of each
_TYPES: Mapping[FieldType, Any] = {
    FieldType.DATE: "DATE",
    FieldType.DATETIME: "TIMESTAMP",
    FieldType.INTEGER: "INTEGER",
    FieldType.NUMBER: DECIMAL,
    FieldType.BOOLEAN: "BOOLEAN",
    FieldType.TEXTS: ["VARCHAR"],
    FieldType.EMAILS: ["VARCHAR"],
}
# What DuckDB reads as the time although it looks like a column; `today` and `now` are columns.
_CLOCKS = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtimestamp", "localtime"}
)
_WITHOUT_OFFSET = len("2026-03-05T09:00:00")


class SqlFault(Exception):
    """SQL that is refused or does not run; the message is for the author of a document."""


@dataclass(frozen=True, slots=True)
class _Database:
    """A connection, and the keys of the tables in its schema `_HELD`, those longest unused first.

    A key tells what a table holds: rows, or SQL and what the tables hold that it reads. The runs
    of a draft make the same tables again, but for those of one collection, and a view of a table
    that is there costs a tenth of making it.
    """

    connection: duckdb.DuckDBPyConnection
    held: dict[str, None]


# Databases that nobody uses, without names for what they hold: to open and to fill one takes longer
# than most drafts' SQL.
_IDLE: list[_Database] = []
_HELD = "held"
# What tells of tables that were not put: schemas, and the beginnings of names.
_CATALOGS = frozenset({_HELD, "information_schema", "pg_catalog"})
_CATALOG = ("duckdb_", "pragma_", "sqlite_", "pg_")
_ROWS_OF = frozenset({"unnest", "range", "generate_series"})  # functions that make rows


def _opened() -> _Database:
    connection = in_memory({**SAFE, "threads": "1", "memory_limit": MEMORY})
    connection.execute("set lock_configuration = true")
    connection.execute(f"create schema {_HELD}")
    return _Database(connection, {})


class Tables:
    """One database in memory. `offset` is that of the world's clock."""

    def __init__(self, offset: dt.timedelta) -> None:
        try:
            self._database = _IDLE.pop()
        except IndexError:
            self._database = _opened()
        self._connection = self._database.connection
        self._keys: dict[str, str] = {}  # of the names that are given
        self._schemas: set[str] = set()
        self._zone = str(offset)
        self._watch = threading.Timer(SECONDS, self._connection.interrupt)
        self._watch.daemon = True
        self._watch.start()
        self._connection.execute(
            "create or replace macro in_zone(t, zone) as timezone(zone, timezone('UTC', t - "
            f"to_minutes({int(offset.total_seconds() // 60)})))"
        )

    def put(self, table: str, shape: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
        """A table with these columns and types, in place of one of the same name."""
        content = orjson.dumps([{name: row.get(name) for name in shape} for row in rows]).decode()
        form = json.dumps([dict(shape)])
        key = _key(form, content)
        if key not in self._database.held:
            columns = ", ".join(f'"{column}" {_sql_type(kind)}' for column, kind in shape.items())
            self._connection.execute(f"create or replace table {_held(key)} ({columns})")
            quoted = form.replace("'", "''")
            self._run(
                f"insert into {_held(key)} select r.* from (select"  # noqa: S608
                f" unnest(from_json(?::json, '{quoted}')) as r)",
                [content],
            )
        self._name(table, key)

    def _name(self, table: str, key: str) -> None:
        """Let a filled table be known by this name."""
        held = self._database.held
        held.pop(key, None)
        held[key] = None  # the last to have been used
        schema = table.rpartition(".")[0]
        if schema and schema not in self._schemas:
            self._connection.execute(f'create schema if not exists "{schema}"')
            self._schemas.add(schema)
        self._keys[table.lower()] = key  # as SQL means it
        self._connection.execute(f"create or replace view {_quoted(table)} as from {_held(key)}")

    def put_records(
        self, table: str, records: Iterable[Mapping[str, Any]], fields: Mapping[str, FieldRule]
    ) -> None:
        """The table of a collection."""
        shape = {"id": "VARCHAR"} | {name: type_of(rule) for name, rule in fields.items()}
        times = [name for name, rule in fields.items() if rule.type is FieldType.DATETIME]
        self.put(table, shape, ({**r, **{t: _clock(r.get(t)) for t in times}} for r in records))

    def keep(self, name: str, select: str) -> None:
        """Keep the result of a SELECT under a name. Raises SqlFault."""
        _require_select(select)
        read = (f"{table}={self._keys.get(table, '')}" for table in sorted(_tables_in(select)))
        key = _key(select, self._zone, *read)
        if key not in self._database.held:
            self._run(f"create or replace table {_held(key)} as {select}")
        self._name(name, key)

    def drop(self, names: Iterable[str]) -> None:
        """Forget the results that were kept under these names."""
        for name in names:
            if self._keys.pop(name.lower(), None):
                self._connection.execute(f"drop view {_quoted(name)}")

    def select(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a single SELECT as JSON values; days and times as texts. Raises SqlFault."""
        _require_select(sql)
        result = self._run(sql)
        names = [column[0] for column in result.description or ()]
        rows = result.fetchmany(MOST_ROWS + 1)
        if len(rows) > MOST_ROWS:
            raise SqlFault(f"more than {MOST_ROWS} rows")
        return [{name: _plain(cell) for name, cell in zip(names, row, strict=True)} for row in rows]

    def close(self) -> None:
        """Empty the database for whoever needs the next; one that was interrupted is not used."""
        is_sound = not self._watch.finished.is_set()
        self._watch.cancel()
        held = self._database.held
        try:
            self.drop(list(self._keys))
            for schema in self._schemas:
                self._connection.execute(f'drop schema "{schema}"')
            for key in list(held)[:-_MOST_HELD]:
                self._connection.execute(f"drop table {_held(key)}")
                del held[key]
        except duckdb.Error:
            is_sound = False
        if is_sound:
            _IDLE.append(self._database)
        else:
            self._connection.close()

    def _run(self, sql: str, given: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        if self._watch.finished.is_set():
            raise SqlFault(f"all SQL together takes more than {SECONDS:.0f} seconds")
        try:
            return self._connection.execute(sql, list(given))
        except (duckdb.Error, RuntimeError) as error:  # what is interrupted raises either
            raise _fault(error, sql) from None


@lru_cache(maxsize=4096)
def _require_select(sql: str) -> None:
    """Raises SqlFault unless it is a single SELECT whose result is the same in every run."""
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise _fault(error, sql) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise SqlFault(f"expected one SELECT: {_short(sql)}")
    if strays := _volatile() & names_in(_tree(sql)):
        raise SqlFault(f"{min(strays)} is not the same in every run: {_short(sql)}")
    _tables_in(sql)


def _tree(sql: str) -> dict[str, Any]:
    """A SELECT as DuckDB reads it. Raises SqlFault."""
    answer = _parser().cursor().execute("select json_serialize_sql(?::varchar)", [sql]).fetchone()
    tree: dict[str, Any] = orjson.loads(answer[0]) if answer else {}
    if tree.get("error"):
        raise SqlFault(f"{tree.get('error_message', 'no SELECT')} in: {_short(sql)}")
    return tree


def _fault(error: Exception, sql: str) -> SqlFault:
    return SqlFault(f"{str(error).splitlines()[0][:300]} in: {_short(sql)}")


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """A database without tables, in which nothing is run but what DuckDB says of a text."""
    return in_memory(SAFE)


@cache
def _volatile() -> frozenset[str]:
    """Names whose value differs from run to run, by DuckDB's own list."""
    listed = (
        _parser()
        .cursor()
        .execute("select function_name from duckdb_functions() where stability <> 'CONSISTENT'")
        .fetchall()
    )
    return frozenset(name for (name,) in listed) | _CLOCKS


def names_in(tree: Any) -> set[str]:
    """The names of functions, and of columns that are clocks, in a serialized SELECT."""
    if isinstance(tree, list):
        return {name for item in tree for name in names_in(item)}
    if not isinstance(tree, Mapping):
        return set()
    names = {name for item in tree.values() for name in names_in(item)}
    if isinstance(name := tree.get("function_name"), str):
        names.add(name.lower())
    columns = tree.get("column_names")
    if tree.get("class") == "COLUMN_REF" and isinstance(columns, list) and len(columns) == 1:
        names |= {str(columns[0]).lower()} & _CLOCKS
    return names


@lru_cache(maxsize=4096)
def _tables_in(sql: str) -> frozenset[str]:
    """The tables that a SELECT reads, as they are put. Raises SqlFault for any but those."""
    names = set()
    for node in _nodes(_tree(sql)):
        kind, schema = node.get("type"), str(node.get("schema_name", "")).lower()
        name = str(node.get("table_name") or node.get("function", {}).get("function_name")).lower()
        if kind == "SHOW_REF" or (kind == "TABLE_FUNCTION" and name not in _ROWS_OF):
            raise SqlFault(f"{name} is not a table of records: {_short(sql)}")
        if kind == "BASE_TABLE":
            if schema in _CATALOGS or name.startswith(_CATALOG) or node.get("catalog_name"):
                raise SqlFault(f"{name} is not a table of records: {_short(sql)}")
            names.add(f"{schema}.{name}" if schema not in ("", "main") else name)
    return frozenset(names)


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    """All objects of a serialized SELECT."""
    if isinstance(tree, Mapping):
        yield tree
    for item in tree.values() if isinstance(tree, Mapping) else tree:
        if isinstance(item, list | Mapping):
            yield from _nodes(item)


def _key(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


def _held(key: str) -> str:
    return f'{_HELD}."{key}"'


def _quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.rpartition(".")[::2] if part)


def type_of(rule: FieldRule) -> Any:
    """The type of a field's column, as `put` takes it."""
    if rule.type is FieldType.ROWS:
        return [{name: type_of(column) for name, column in rule.columns.items()}]
    return _TYPES.get(rule.type, "VARCHAR")


def fields_of(collection: str) -> Mapping[str, FieldRule]:
    """The declared fields of a "service.collection"."""
    name, _, plural = collection.partition(".")
    return service(name).collections[plural].fields


def _sql_type(kind: Any) -> str:
    if isinstance(kind, list):
        return f"{_sql_type(kind[0])}[]"
    if isinstance(kind, Mapping):
        inner = ", ".join(f'"{name}" {_sql_type(each)}' for name, each in kind.items())
        return f"STRUCT({inner})"
    return str(kind)


def _clock(value: Any) -> Any:
    return value[:_WITHOUT_OFFSET] if isinstance(value, str) else value


def _plain(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(timespec="seconds")
    if isinstance(cell, dt.date):
        return cell.isoformat()
    if isinstance(cell, list):
        return [_plain(item) for item in cell]
    if isinstance(cell, dict):
        return {name: _plain(item) for name, item in cell.items()}
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else round(cell, 6)
    return cell


def _short(sql: str) -> str:
    return " ".join(sql.split())[:160]
