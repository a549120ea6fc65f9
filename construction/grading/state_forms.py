"""Delivered files as values: JSON, TOML, INI, `KEY=value`, requirements, CSV, tar, crontab.

Every function takes the bytes of a file and raises ValueError where they are not of the form. The
bytes may be hostile: sizes are bounded here, time and memory by the process that calls.

Imports the standard library alone: the exported bundle takes it along.
"""

from __future__ import annotations

import configparser
import csv
import hashlib
import io
import json
import re
import tarfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_BYTES = 4 << 20  # of a file that is parsed
_MAX_ENTRIES, _MAX_VALUES, _MAX_DEPTH = 2000, 20_000, 40
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(.*)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of an archive: permission bits, what it is, the SHA-256 of its content."""

    mode: int
    kind: str  # file, folder, link or other
    sha256: str


def text_of(data: bytes) -> str:
    """Text with Unix line ends. Raises ValueError for what is not UTF-8."""
    if len(data) > MAX_BYTES:
        raise ValueError("too large")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def values_of(data: bytes, form: str) -> dict[str, Any]:
    """All values of a structured file by dotted key; items of lists by number from 0."""
    if form not in _PARSERS:
        raise ValueError(f"no such form: {form}")
    try:
        document = _PARSERS[form](text_of(data))
        flat: dict[str, Any] = {}
        _flatten(document, "", 0, flat)
    except (RecursionError, configparser.Error, csv.Error) as error:
        raise ValueError(type(error).__name__) from None
    return flat


def _flatten(value: Any, key: str, depth: int, flat: dict[str, Any]) -> None:
    if depth > _MAX_DEPTH or len(flat) > _MAX_VALUES:
        raise ValueError("too deep or too long")
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            _flatten(item, f"{key}.{name}" if key else str(name), depth + 1, flat)
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            _flatten(item, f"{key}.{number}" if key else str(number), depth + 1, flat)
    else:
        flat[key] = value


def _ini(text: str) -> dict[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    parser.read_string(text)
    sections = {name: dict(parser.items(name)) for name in parser.sections()}
    return {"DEFAULT": dict(parser.defaults()), **sections} if parser.defaults() else sections


def _settings(text: str) -> dict[str, str]:
    """`KEY=value` lines as shells and services read them: the last of a name counts."""
    values = {}
    for line in text.splitlines():
        stripped = line.strip().removeprefix("export ").strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, separator, value = stripped.partition("=")
        if not separator:
            raise ValueError("a line without =")
        value = value.strip()
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        values[name.strip()] = value[1:-1] if quoted else value
    return values


def _requirements(text: str) -> dict[str, str]:
    """Package -> its version specifier without spaces; names in their normal form."""
    wanted = {}
    for line in text.splitlines():
        stripped = line.partition("#")[0].strip()
        if not stripped:
            continue
        match = _REQUIREMENT.fullmatch(stripped)
        if match is None:
            raise ValueError("not a requirement")
        name = re.sub(r"[-_.]+", "-", match[1]).lower()
        if name in wanted:
            raise ValueError("a package twice")
        wanted[name] = "".join(match[2].split())
    return wanted


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "ini": _ini,
    "env": _settings,
    "requirements": _requirements,
}


def rows_of(data: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file by column, surrounding spaces removed."""
    try:
        rows = list(csv.reader(io.StringIO(text_of(data)), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    rows = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not rows or len(rows) > _MAX_VALUES or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("no table")
    if len(set(rows[0])) < len(rows[0]):
        raise ValueError("a column twice")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def entries_of(data: bytes) -> dict[str, Entry]:
    """The members of a tar archive by name, without `./` and without the last slash."""
    entries: dict[str, Entry] = {}
    if len(data) > MAX_BYTES:
        raise ValueError("too large")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = member.name.removeprefix("./").rstrip("/")
                if len(entries) > _MAX_ENTRIES or name in entries:
                    raise ValueError("too many entries, or one twice")
                if name not in ("", "."):
                    entries[name] = _entry(archive, member)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(type(error).__name__) from None
    return entries


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Entry:
    kind, content = "other", b""
    if member.isfile() and (opened := archive.extractfile(member)) is not None:
        kind, content = "file", opened.read()
    elif member.isdir():
        kind = "folder"
    elif member.issym() or member.islnk():
        kind, content = "link", member.linkname.encode()
    return Entry(member.mode & 0o7777, kind, hashlib.sha256(content).hexdigest())
