"""Masking one file of any kind: texts in place, documents in a child process; and whether a masked
file is still what it was: code parses, data keep their types and keys.

Also the texts of documents, for the excerpts that judges read (`judging.stage_output`).
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sqlite3
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import yaml

from anonymization.documents.contracts import (
    DocumentConfig,
    DocumentReport,
    Refusal,
    Row,
    is_document,
)
from anonymization.documents.text_forms import caption_names, column_people, text_edits, text_pieces
from anonymization.documents.visitor import dumped, edits_to, name_edits, piece_from, pieces_to
from anonymization.text.contracts import Document, Edit, EntityType, Mode
from anonymization.text.encodings import encoding_of, writable
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Collector, Piece
from anonymization.text.vault import applied, decoded, encoded
from data.canonical import digest
from data.child import Child, ChildFailed, ChildLimits

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
    was, now, broken = _read(_cells_of, before, after)
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


def _cells_of(text: str) -> list[list[str]]:
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


_CHILD = "anonymization.documents.child"


@dataclass(frozen=True, slots=True)
class _MaskedText:
    """Masked bytes, the edits (offsets in code points of the original), and how to restore it."""

    data: bytes
    edits: tuple[Edit, ...]
    document: Document


@dataclass(frozen=True, slots=True)
class _MaskedDocument:
    """Masked bytes (empty if refused) and the report."""

    data: bytes
    report: DocumentReport


def mask_bytes(
    data: bytes,
    path: str,
    masker: Masker,
    config: DocumentConfig | None = None,
    released: str = "",
) -> _MaskedDocument:
    """Mask a file that is in memory. `released` is the path of the masked file."""
    config = config or DocumentConfig()
    released = released or path
    if len(data) > config.max_file_bytes:
        return _refused(path, data, Refusal.TOO_LARGE)
    if not is_document(data, path):
        text = _mask_text(data, path, masker, config, released)
        changed = _damage(data, text, path) if masker.vault.mode is Mode.SURROGATE else ""
        if changed:
            masker.vault.drop_document(released)
            return _refused(path, data, Refusal.DAMAGED, changed)
        rows = tuple(Row("", e.start, e.type, e.recognizer, e.score) for e in text.edits)
        sums = digest(data), digest(text.data)
        return _MaskedDocument(text.data, DocumentReport(released, *sums, rows))
    outcome, masked = _in_child(data, path, config, masker)
    if outcome.get("refusal"):
        return _refused(path, data, Refusal(outcome["refusal"]), outcome["part"], _rows_of(outcome))
    masker.vault.add_document(Document(released, path, digest(masked), digest(data), "", ()))
    return _MaskedDocument(
        masked, DocumentReport(released, digest(data), digest(masked), _rows_of(outcome))
    )


def _mask_text(
    data: bytes,
    path: str,
    masker: Masker,
    config: DocumentConfig | None = None,
    released: str = "",
) -> _MaskedText:
    """Mask a text file in the form that its name implies; the vault can restore it exactly.

    `released` is the path of the masked file, where it differs. Raises ValueError if `data` is no
    text.
    """
    encoding = encoding_of(data)
    if encoding is None:
        raise ValueError(f"{PurePath(path).suffix or 'a file'}: no text")
    text = decoded(data, encoding)
    learn([_with_names(text_pieces(text, path), config or DocumentConfig())], masker)
    edits = [
        replace(edit, new=writable(edit.new, encoding))
        for edit in text_edits(text, path, masker.edits)
    ]
    masked, spans = applied(text, edits)
    raw = encoded(masked, encoding)
    document = Document(released or path, path, digest(raw), digest(data), encoding, spans)
    masker.vault.add_document(document)
    return _MaskedText(raw, tuple(edits), document)


def _damage(data: bytes, masked: _MaskedText, path: str) -> str:
    encoding = masked.document.encoding
    return damage(decoded(data, encoding), decoded(masked.data, encoding), path)


def learn(files: Sequence[Sequence[Piece]], masker: Masker, *, are_apart: bool = False) -> None:
    """Add the values of files to the vault, and then the names in their columns.

    Of files that `are_apart` nothing but what can be nothing else spreads to the others.
    """
    for number, pieces in enumerate(files if are_apart else ()):
        masker.spreading.add_file(number, pieces)
    masker.learn(piece for pieces in files for piece in pieces)
    names = [column_people(pieces, masker.edits) for pieces in files]
    for number, pieces in enumerate(names if are_apart else ()):
        masker.spreading.add_file(number, pieces)
    if any(names):
        masker.learn(piece for pieces in names for piece in pieces)


def pieces_in(data: bytes, path: str, config: DocumentConfig | None = None) -> list[Piece]:
    """All texts of a file and its name, for a masker to learn; if unreadable, its name only."""
    config = config or DocumentConfig()
    name_pieces = Collector()
    for part in PurePath(path).parts:
        name_edits(part, name_pieces)
    if len(data) > config.max_file_bytes:
        return list(name_pieces.pieces)
    if not is_document(data, path):
        encoding = encoding_of(data)
        texts = text_pieces(decoded(data, encoding), path) if encoding else []
        return [*name_pieces.pieces, *_with_names(texts, config)]
    try:
        with Child(_CHILD, _limits(config)) as child:
            return [*name_pieces.pieces, *_with_names(_opened(child, data, path, config), config)]
    except ChildFailed:
        return list(name_pieces.pieces)


def masked_path(path: PurePath, masker: Masker) -> PurePath:
    """A relative path with private names of files and folders replaced."""
    return PurePath(*(applied(part, name_edits(part, masker.edits))[0] for part in path.parts))


def _opened(child: Child, data: bytes, path: str, config: DocumentConfig) -> list[Piece]:
    child.send(dumped({"name": PurePath(path).name, "config": config.model_dump(mode="json")}))
    child.send(data)
    return [piece_from(fields) for fields in json.loads(child.receive())]


def _in_child(
    data: bytes, path: str, config: DocumentConfig, masker: Masker
) -> tuple[dict[str, Any], bytes]:
    try:
        with Child(_CHILD, _limits(config)) as child:
            pieces = _opened(child, data, path, config)
            learn([_with_names(pieces, config)], masker)
            child.send(dumped(list(_edits_by_piece(pieces, masker))))
            return json.loads(child.receive()), child.receive()
    except (ChildFailed, ValueError):
        return {"refusal": Refusal.CRASHED.value, "part": "", "rows": []}, b""


def _with_names(pieces: list[Piece], config: DocumentConfig) -> list[Piece]:
    return [*pieces, *caption_names(pieces, config.caption_model)]


def _edits_by_piece(pieces: Iterable[Piece], masker: Masker) -> Iterable[list[Any]]:
    for piece in pieces:
        edits = masker.edits(piece)
        if edits:
            yield [pieces_to([piece])[0], edits_to(edits)]


def _rows_of(outcome: dict[str, Any]) -> tuple[Row, ...]:
    return tuple(Row(p, o, EntityType(k), by, score) for p, o, k, by, score in outcome["rows"])


def _refused(
    path: str, data: bytes, reason: Refusal, part: str = "", rows: tuple[Row, ...] = ()
) -> _MaskedDocument:
    report = DocumentReport(path, digest(data), rows=rows, refusal=reason, part=part)
    return _MaskedDocument(b"", report)


def _limits(config: DocumentConfig) -> ChildLimits:
    return ChildLimits(config.seconds, config.memory_bytes)
