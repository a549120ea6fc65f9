"""Is a masked file still what it was: does code parse, do data keep their types and keys?

A task whose program no longer parses, or whose columns no longer join, is no task: masking refuses
such a file and says what would have changed. Files that were broken before are not judged.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sqlite3
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import Any

import yaml

_LONGEST = 1_000_000  # characters of a file that is compared
_LONGEST_YAML = 200_000
_LONGEST_CELL = 1_000_000
_MOST_NODES = 500_000  # of a document: aliases of YAML multiply
_MOST_STEPS = 500_000  # of a database that runs a script
_SCHEMA_BYTES = 10_000
_MOST_PAGES = 4_096  # of 4 KiB, in memory
_BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError, csv.Error, yaml.YAMLError,
           sqlite3.Error)  # fmt: skip


def damage(before: str, after: str, name: str) -> str:
    """What of a file is no longer as it was (`syntax`, `types` …); empty if all is."""
    compare = _COMPARE.get(PurePath(name).suffix.lower())
    if compare is None or before == after or max(len(before), len(after)) > _LONGEST:
        return ""
    return compare(before, after)


def _read(read: Callable[[str], Any], before: str, after: str) -> tuple[Any, Any, str]:
    """What both are read as, and whether only the second is broken."""
    try:
        was = read(before)
    except _BROKEN:
        return None, None, ""
    try:
        return was, read(after), ""
    except _BROKEN:
        return None, None, "syntax"


def _python(before: str, after: str) -> str:
    was, now, broken = _read(ast.parse, before, after)
    if was is None:
        return broken
    if _imports(was) != _imports(now):
        return "imports"
    return "" if _kinds(was) == _kinds(now) else "statements"


def _imports(tree: ast.AST) -> list[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return [ast.dump(node) for node in nodes]


def _kinds(tree: ast.AST) -> list[str]:
    return [type(node).__name__ for node in ast.walk(tree)]


def _structured(read: Callable[[str], Any], before: str, after: str) -> str:
    was, now, broken = _read(lambda text: _traits(read(text), text), before, after)
    if was is None:
        return broken
    if was[0] != now[0]:
        return "types"
    return "" if now[1:] == was[1:] else "references"


# `${{ … }}` whole; of `${NAME:default}` the name, since what stands in for it may be private.
_EXPRESSION = re.compile(r"\$\{[^{}:]{1,80}(?=[:}])|\$\{\{[^{}]{1,200}\}\}")
_USES = ("depends_on", "networks", "volumes", "secrets", "configs", "links")


def _traits(document: Any, text: str) -> tuple[list[tuple[str, int]], list[str], list[str]]:
    """The shape of a document, which of its references lead nowhere, and its expressions."""
    shape = _shape(document)
    dangling = [] if _ALIASED.search(text) else sorted(_dangling(document))
    return shape, dangling, sorted(_EXPRESSION.findall(text))


_ALIASED = re.compile(r"(?m)(?:^|[ \[,])\*[A-Za-z]\w*\s*$")  # aliases of YAML multiply when walked


def _dangling(root: Any) -> Iterator[str]:
    """References to parts of the same document that are not there: the kind of each.

    JSON pointers (RFC 6901), and what services of a compose file use by name.
    """
    waiting = [*root] if isinstance(root, list) else [root]
    roots = list(waiting)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            pointer = value.get("$ref")
            is_pointer = isinstance(pointer, str) and pointer.startswith("#/")
            if is_pointer and not any(_resolves(root, str(pointer)) for root in roots):
                yield "$ref"
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    for root in roots:
        yield from _unknown_names(root)


def _resolves(document: Any, pointer: str) -> bool:
    for part in pointer[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, Mapping) and key in document:
            document = document[key]
        elif isinstance(document, list) and key.isdecimal() and int(key) < len(document):
            document = document[int(key)]
        else:
            return False
    return True


def _unknown_names(document: Any) -> Iterator[str]:
    services = document.get("services") if isinstance(document, Mapping) else None
    if not isinstance(services, Mapping):
        return
    for service in filter(lambda of: isinstance(of, Mapping), services.values()):
        for use in _USES:
            named: Any = services if use in ("depends_on", "links") else document.get(use) or {}
            held = service.get(use) or ()
            for name in held if isinstance(held, Mapping | list) else ():
                plain = name.partition(":")[0] if isinstance(name, str) else ""
                if re.fullmatch(r"[\w-]+", plain) and plain not in named:
                    yield use


def _shape(document: Any) -> list[tuple[str, int]]:
    """The type of each node and how many it holds, without what texts say. Raises ValueError."""
    nodes: list[tuple[str, int]] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        inner = value.values() if isinstance(value, Mapping) else value
        held = [*inner] if isinstance(value, Mapping | list | tuple) else []
        nodes.append((type(value).__name__, len(held)))
        if len(nodes) + len(waiting) + len(held) > _MOST_NODES:
            raise ValueError("too many nodes")
        waiting += held
    return nodes


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _yaml(text: str) -> list[Any]:
    return [] if len(text) > _LONGEST_YAML else list(yaml.safe_load_all(text))


def _table(before: str, after: str) -> str:
    was, now, broken = _read(_rows, before, after)
    if was is None:
        return broken
    if [len(row) for row in was] != [len(row) for row in now]:
        return "columns"
    if not was:
        return ""
    for old, new in zip(_columns(was), _columns(now), strict=True):
        if all(map(_is_number, old)) and not all(map(_is_number, new)):
            return "numbers"
        if len(set(old)) == len(old) and len(set(new)) < len(new):
            return "keys"
    return ""


def _rows(text: str) -> list[list[str]]:
    csv.field_size_limit(_LONGEST_CELL)
    head = text[: text.find("\n") + 1 or len(text)]
    delimiter = max(",\t;|", key=head.count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells of each column below the head, without empty ones."""
    width = max(map(len, rows))
    return [
        [row[number].strip() for row in rows[1:] if len(row) > number and row[number].strip()]
        for number in range(width)
    ]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return False
    return True


def _sql(before: str, after: str) -> str:
    if "create table" not in before.lower():
        return ""
    was, now, broken = _read(_schema, before, after)
    return broken if was is None else "" if was == now else "schema"


def _schema(script: str) -> list[tuple[Any, ...]]:
    """Types, constraints and keys of the columns that a script makes, in SQLite and in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
        # A script states its values, it does not make longer ones; the rest is the schema's own.
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, len(script.encode()) + _SCHEMA_BYTES)
        database.set_authorizer(_in_memory)
        steps = iter(range(_MOST_STEPS // 1_000))
        database.set_progress_handler(lambda: next(steps, -1) < 0, 1_000)
        database.executescript(script)
        database.set_authorizer(None)
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return [
            (number, kind, required, key)
            for (table,) in tables
            for number, _, kind, required, _, key in database.execute(
                "SELECT cid, name, type, [notnull], dflt_value, pk FROM pragma_table_info(?)",
                [table],
            )
        ]


def _in_memory(action: int, *_: object) -> int:
    denied = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA)
    return sqlite3.SQLITE_DENY if action in denied else sqlite3.SQLITE_OK


def _of(read: Callable[[str], Any]) -> Callable[[str, str], str]:
    return lambda before, after: _structured(read, before, after)


_COMPARE: Mapping[str, Callable[[str, str], str]] = {
    ".py": _python,
    ".json": _of(json.loads),
    ".ipynb": _of(json.loads),
    ".jsonl": _of(_json_lines),
    ".ndjson": _of(_json_lines),
    ".yaml": _of(_yaml),
    ".yml": _of(_yaml),
    ".toml": _of(tomllib.loads),
    ".csv": _table,
    ".tsv": _table,
    ".sql": _sql,
}
