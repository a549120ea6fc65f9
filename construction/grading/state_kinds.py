"""Checks on the state of delivered files: what they say and do, never how they are worded.

A check is data: its `kind` names one of the functions below, and its `params` the file and what
must be true of it. `is` is a value or a constraint as in `actions`. Kinds in `_KEEPS`, and checks
with `keeps`, say that nothing else was changed: a copy of the inputs satisfies them, so alone they
count for nothing.

Imports what the exported bundle has.
"""

from __future__ import annotations

import calendar
import configparser
import csv
import datetime as dt
import hashlib
import io
import json
import re
import tarfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from construction.grading.actions import fits

# Delivered files as values: JSON, TOML, INI, `KEY=value`, requirements, CSV, tar, crontab.
#
# Every function takes the bytes of a file and raises ValueError where they are not of the form. The
# bytes may be hostile: sizes are bounded here, time and memory by the process that calls.
#
# Imports the standard library alone: the exported bundle takes it along.

_MAX_BYTES = 4 << 20  # of a file that is parsed
_MAX_ENTRIES, _MAX_VALUES, _MAX_DEPTH = 2000, 20_000, 40
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(.*)")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member of an archive: permission bits, what it is, the SHA-256 of its content."""

    mode: int
    kind: str  # file, folder, link or other
    sha256: str


def _text_of(data: bytes) -> str:
    """Text with Unix line ends. Raises ValueError for what is not UTF-8."""
    if len(data) > _MAX_BYTES:
        raise ValueError("too large")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _values_of(data: bytes, form: str) -> dict[str, Any]:
    """All values of a structured file by dotted key; items of lists by number from 0."""
    if form not in _PARSERS:
        raise ValueError(f"no such form: {form}")
    try:
        document = _PARSERS[form](_text_of(data))
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


def _rows_of(data: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file by column, surrounding spaces removed."""
    try:
        rows = list(csv.reader(io.StringIO(_text_of(data)), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    rows = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not rows or len(rows) > _MAX_VALUES or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("no table")
    if len(set(rows[0])) < len(rows[0]):
        raise ValueError("a column twice")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _entries_of(data: bytes) -> dict[str, _Entry]:
    """The members of a tar archive by name, without `./` and without the last slash."""
    entries: dict[str, _Entry] = {}
    if len(data) > _MAX_BYTES:
        raise ValueError("too large")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = member.name.removeprefix("./").rstrip("/")
                if len(entries) > _MAX_ENTRIES or name in entries:
                    raise ValueError("too many entries, or one twice")
                if name not in ("", "."):
                    entries[name] = _entry_state_forms(archive, member)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(type(error).__name__) from None
    return entries


def _entry_state_forms(archive: tarfile.TarFile, member: tarfile.TarInfo) -> _Entry:
    kind, content = "other", b""
    if member.isfile() and (opened := archive.extractfile(member)) is not None:
        kind, content = "file", opened.read()
    elif member.isdir():
        kind = "folder"
    elif member.issym() or member.islnk():
        kind, content = "link", member.linkname.encode()
    return _Entry(member.mode & 0o7777, kind, hashlib.sha256(content).hexdigest())


# What a crontab does: when each of its commands is started, whatever way the times are written

_MONTHS = [name.lower() for name in calendar.month_abbr[1:]]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIRST, _LAST = dt.date(2024, 1, 1), dt.date(2028, 1, 1)  # every day of a leap year and of others
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class _Job:
    """A line of a crontab. `days` are the days of four years on which it is started."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[dt.date]
    command: str

    @property
    def times(self) -> tuple[frozenset[int], frozenset[int], frozenset[dt.date]]:
        return self.minutes, self.hours, self.days


def _jobs_of(text: str) -> list[_Job]:
    """The jobs of a user's crontab. Raises ValueError at a line that cron would refuse."""
    jobs = []
    for line in text.splitlines():
        stripped = line.strip()
        name, setting, _ = stripped.partition("=")
        is_setting = setting and name.rstrip().isidentifier()
        if not stripped or stripped.startswith("#") or is_setting:
            continue
        times, command = _split(stripped)
        jobs.append(_job(times, command))
    return jobs


def _job(times: str, command: str = "") -> _Job:
    """A job from its five fields or its macro."""
    minute, hour, day, month, weekday = _MACROS.get(times.lower(), times).split()
    months = _field(month, 1, 12, _MONTHS)
    days = _field(day, 1, 31)
    weekdays = frozenset(number % 7 for number in _field(weekday, 0, 7, _DAYS, first_name=0))
    either = not day.startswith("*") and not weekday.startswith("*")
    started = set()
    current = _FIRST
    while current < _LAST:
        of_month, of_week = current.day in days, (current.weekday() + 1) % 7 in weekdays
        fits = of_month or of_week if either else of_month and of_week
        if current.month in months and fits:
            started.add(current)
        current += dt.timedelta(days=1)
    minutes, hours = _field(minute, 0, 59), _field(hour, 0, 23)
    return _Job(minutes, hours, frozenset(started), " ".join(command.split()))


def _split(line: str) -> tuple[str, str]:
    parts = line.split(None, 1 if line.startswith("@") else _FIELDS)
    if len(parts) < (2 if line.startswith("@") else _FIELDS + 1):
        raise ValueError("a line without a command")
    times = " ".join(parts[:-1])
    if line.startswith("@") and times.lower() not in _MACROS:
        raise ValueError("no such macro")
    return times, parts[-1]


def _field(
    text: str, low: int, high: int, names: list[str] | None = None, first_name: int = 1
) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.lower().split(","):
        span, slash, step_text = part.partition("/")
        step = int(step_text) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            begin, dash, end = span.partition("-")
            first = _number(begin, names, first_name)
            last = _number(end, names, first_name) if dash else (high if slash else first)
        if step < 1 or not low <= first <= last <= high:
            raise ValueError(f"{part} is out of range")
        numbers.update(range(first, last + 1, step))
    return frozenset(numbers)


def _number(text: str, names: list[str] | None, first_name: int) -> int:
    return names.index(text) + first_name if names and text in names else int(text)


Files = Mapping[str, bytes]  # by path, POSIX
RUNS = "runs"  # the kind that executes what was delivered (`programs`)
_KEEPS = frozenset({"keeps_values", "keeps_lines", "keeps_bytes", "keeps_entries"})
_MAX_PATTERN_LINE = 2000  # characters of a line that a pattern is compared with


class StateReason(StrEnum):
    """Why a check on the state failed; renaming one is a breaking change."""

    MISSING_FILE = "state.missing_file"
    UNREADABLE = "state.unreadable"  # not of the form that it has to have
    WRONG_VALUE = "state.wrong_value"
    WRONG_ROWS = "state.wrong_rows"
    WRONG_LINES = "state.wrong_lines"
    WRONG_SCHEDULE = "state.wrong_schedule"
    WRONG_ENTRY = "state.wrong_entry"
    OTHER_CHANGES = "state.other_changes"
    NOTHING_REPAIRED = "state.nothing_repaired"  # nothing else changed, but nothing mended either
    EXIT_CODE = "state.exit_code"
    TIMED_OUT = "state.timed_out"
    NO_BOX = "state.no_box"  # nothing here can run it
    CRASHED = "state.crashed"  # reading it ended the process that read
    UNKNOWN_CHECK = "state.unknown_check"


def is_keeping(kind: str, params: Mapping[str, Any]) -> bool:
    """Does the check say that nothing else was changed, so that the inputs satisfy it?"""
    return kind in _KEEPS or bool(params.get("keeps"))


def judge_state(kind: str, params: Mapping[str, Any], files: Files) -> StateReason | None:
    """Why a check fails on these files; None if it holds. Never raises for what files hold."""
    run = _KINDS.get(kind)
    if run is None:
        return StateReason.UNKNOWN_CHECK
    data = files.get(params["file"])
    if data is None:
        return StateReason.MISSING_FILE
    try:
        return run(params, data)
    except (ValueError, OverflowError, RecursionError):
        return StateReason.UNREADABLE


def _value(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    """The value at the dotted `key` of a file of `form`; without `is` the key must be absent."""
    values = _values_of(data, params["form"])
    key = params["key"]
    if "is" not in params:
        gone = not any(name == key or name.startswith(f"{key}.") for name in values)
        return None if gone else StateReason.WRONG_VALUE
    where = {key: params["is"]}
    return None if fits(values, where) else StateReason.WRONG_VALUE


def _rows(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    """A CSV file has these `rows` under these `columns`, in any order unless `ordered`.

    Numbers are compared by value, other columns are allowed.
    """
    columns = params["columns"]
    table = _rows_of(data)
    if any(column not in row for row in table for column in columns):
        return StateReason.WRONG_ROWS
    remaining = [[row[column] for column in columns] for row in table]
    if len(remaining) != len(params["rows"]):
        return StateReason.WRONG_ROWS
    for position, wanted in enumerate(params["rows"]):
        candidates = [position] if params.get("ordered") else range(len(remaining))
        match = next((n for n in candidates if _same_cells(remaining[n], wanted)), None)
        if match is None:
            return StateReason.WRONG_ROWS
        if not params.get("ordered"):
            remaining.pop(match)
    return None


def _same_cells(row: Sequence[str], wanted: Sequence[Any]) -> bool:
    """Texts as texts, and numbers of the check by value."""
    return all(
        fits({"cell": cell}, {"cell": value}) for cell, value in zip(row, wanted, strict=True)
    )


def _lines(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    """Lines that the file `has` and `lacks`, without surrounding spaces; `is` is all of them."""
    present = [line.strip() for line in _text_of(data).splitlines() if line.strip()]
    if "is" in params:
        return None if present == list(params["is"]) else StateReason.WRONG_LINES
    fails = set(params.get("has", ())) - set(present) or set(params.get("lacks", ())) & set(present)
    return StateReason.WRONG_LINES if fails else None


def _schedule(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    """The jobs whose command contains `command` are started exactly at `times`, one job each."""
    started = [each for each in _jobs_of(_text_of(data)) if params["command"] in each.command]
    wanted = [_job(times) for times in params["times"]]
    same = len(started) == len(wanted) and all(
        any(each.times == other.times for each in started) for other in wanted
    )
    return None if same else StateReason.WRONG_SCHEDULE


def _entry(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    """A member of a tar archive is there with this `mode` (octal text), or `absent`."""
    entry = _entries_of(data).get(params["entry"])
    if params.get("absent"):
        return None if entry is None else StateReason.WRONG_ENTRY
    is_right = entry is not None and entry.mode == int(params["mode"], 8)
    return None if is_right else StateReason.WRONG_ENTRY


def _keeps_values(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    same = values_digest(data, params["form"], params.get("but", ())) == params["digest"]
    return None if same else StateReason.OTHER_CHANGES


def _keeps_lines(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    same = lines_digest(data, params.get("but", "")) == params["digest"]
    return None if same else StateReason.OTHER_CHANGES


def _keeps_bytes(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    same = hashlib.sha256(data).hexdigest() == params["digest"]
    return None if same else StateReason.OTHER_CHANGES


def _keeps_entries(params: Mapping[str, Any], data: bytes) -> StateReason | None:
    same = entries_digest(data, params.get("but", ())) == params["digest"]
    return None if same else StateReason.OTHER_CHANGES


def values_digest(data: bytes, form: str, but: Sequence[str]) -> str:
    """A digest of all values of a structured file except those at or below the keys `but`."""
    values = _values_of(data, form)
    kept = {
        key: value
        for key, value in values.items()
        if not any(key == name or key.startswith(f"{name}.") for name in but)
    }
    return _digest(kept)


def lines_digest(data: bytes, but: str) -> str:
    """A digest of the lines of a text that `but` does not match, without trailing spaces.

    Comments (`#`) may come and go.
    """
    lines = [line.rstrip()[:_MAX_PATTERN_LINE] for line in _text_of(data).splitlines()]
    pattern = re.compile(but) if but else None
    return _digest(
        [x for x in lines if x and not x.startswith("#") and not (pattern and pattern.search(x))]
    )


def entries_digest(data: bytes, but: Sequence[str]) -> str:
    """A digest of an archive's members except those in `but`."""
    entries = _entries_of(data)
    kept = {name: asdict(entry) for name, entry in entries.items() if name not in but}
    return _digest(kept)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


_KINDS: Mapping[str, Callable[[Mapping[str, Any], bytes], StateReason | None]] = {
    "value": _value,
    "rows": _rows,
    "lines": _lines,
    "schedule": _schedule,
    "entry": _entry,
    "keeps_values": _keeps_values,
    "keeps_lines": _keeps_lines,
    "keeps_bytes": _keeps_bytes,
    "keeps_entries": _keeps_entries,
}
STATE_KINDS = frozenset({*_KINDS, RUNS})
