"""What a lint says: faults, what keeps tasks from running here, and what it did not look at."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data.errors import InputError
from data.figures import amount

_LARGEST_BYTES = 64 << 20
_TRIALS, _SECONDS = 120, 80.0  # tasks that are tried in a sandbox, unless a number is wanted
_FROM = 10  # tasks
_BOM = b"\xef\xbb\xbf"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one task, or about all of them (`task` empty)."""

    task: str
    code: str
    detail: str = ""


@dataclass(slots=True)
class Report:
    """The findings about a set. Only `defects` are the author's to mend."""

    format: str
    tasks: int
    defects: list[Finding] = field(default_factory=list)
    portability: list[Finding] = field(default_factory=list)
    unchecked: list[Finding] = field(default_factory=list)

    def lists(self) -> dict[str, list[Finding]]:
        return {
            "defects": self.defects,
            "portability": self.portability,
            "not checked": self.unchecked,
        }


@dataclass(slots=True)
class Trials:
    """How many tasks are tried in a sandbox: so many, or as many as a short run allows."""

    wanted: int | None = None
    n_tried: int = 0
    n_left: int = 0
    began: float = field(default_factory=time.monotonic)

    def allow(self) -> bool:
        """May another be tried?"""
        is_late = self.wanted is None and time.monotonic() - self.began > _SECONDS
        most = _TRIALS if self.wanted is None else self.wanted
        may = self.n_tried < most and not is_late
        self.n_tried += may
        self.n_left += not may
        return may

    def left_out(self, code: str) -> list[Finding]:
        """What is said of those that were not tried."""
        what = f"{amount(self.n_tried, 'task')} tried, {self.n_left:,} left out (see --trials)"
        return [Finding("", code, what)] if self.n_left else []


@dataclass(slots=True)
class Missing:
    """Files that tasks name: those that are not there, and the kinds of which some are.

    A kind that many tasks name and none has was left out of this copy (videos, repositories that
    are fetched apart), and no task's author forgot it: that is not checked, and no defect. Nor
    is what else a task lacks that is known to be incomplete.
    """

    lost: list[tuple[str, Finding]] = field(default_factory=list)  # kind, finding
    there: set[str] = field(default_factory=set)

    def settle(self, report: Report) -> None:
        """Put the findings into the report."""
        tasks = Counter(kind for kind, _ in {(kind, each.task) for kind, each in self.lost})
        apart = {kind for kind, n in tasks.items() if n >= _FROM and kind not in self.there}
        partial = {each.task for kind, each in self.lost if kind in apart}
        codes = {kind: each.code for kind, each in self.lost}
        report.defects += [each for _, each in self.lost if each.task not in partial]
        for kind in sorted(apart):
            what = f"{kind}: {tasks[kind]} tasks refer to it and none has it; it is kept elsewhere"
            report.unchecked.append(Finding("", codes[kind], what))
        report.unchecked += [
            each for kind, each in self.lost if each.task in partial and kind not in apart
        ]


def unread(task: str, error: OSError) -> Finding:
    """A task of which a file cannot be read here."""
    name = Path(str(error.filename or "")).name
    return Finding(task, "task.unread", f"{name}: {error.strerror or type(error).__name__}")


def repeated(named: Iterable[tuple[str, str]], code: str, what: str) -> Iterator[Finding]:
    """Tasks whose second member was there before; an empty one repeats nothing."""
    first: dict[str, str] = {}
    for task, key in named:
        if key and key in first:
            yield Finding(task, code, f"{what} of {first[key]}")
        first.setdefault(key, task)


def words_of(text: str) -> str:
    """A text as it is compared with others: its words, in lower case."""
    return " ".join(text.casefold().split())


def rows_of(path: Path) -> list[Any]:
    """The records of a JSON array, of JSON lines, or of an object that has them under one name or
    by id. Raises InputError.
    """
    if path.stat().st_size > _LARGEST_BYTES:
        raise InputError(
            path.name, "a larger file", f"at most {_LARGEST_BYTES:,} bytes", "Split it."
        )
    if path.suffix in (".parquet", ".csv"):
        return _table(path)
    raw = path.read_bytes().removeprefix(_BOM)
    if not raw.strip():
        raise InputError(path.name, "an empty file", "records", "Choose another one.")
    try:
        return _listed(orjson.loads(raw))
    except orjson.JSONDecodeError as error:
        if raw.lstrip().startswith(b"["):
            raise _no_json(path, error, error.lineno) from None
    records = []
    for number, line in enumerate(raw.splitlines(), 1):
        try:
            records += [orjson.loads(line)] if line.strip() else []
        except orjson.JSONDecodeError as error:
            raise _no_json(path, error, number) from None
    return records


def _table(path: Path) -> list[Any]:
    try:
        is_csv = path.suffix == ".csv"
        frame = pl.read_csv(path, infer_schema=False) if is_csv else pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        actual = type(error).__name__
        raise InputError(path.name, actual, "a table with a header", "Correct it.") from None
    return frame.to_dicts()


def _listed(loaded: Any) -> list[Any]:
    if isinstance(loaded, list):
        return loaded
    if isinstance(loaded, dict) and loaded:
        lists = [value for value in loaded.values() if isinstance(value, list)]
        if len(lists) == len(loaded) == 1:
            return list(lists[0])
        if all(isinstance(value, dict) and "question" in value for value in loaded.values()):
            return [{"id": name, **value} for name, value in loaded.items()]
    return [loaded]


def _no_json(path: Path, error: orjson.JSONDecodeError, line: int) -> InputError:
    actual = f"invalid JSON at character {error.colno}"
    expected = "a JSON array, or one record per line (NaN is not JSON)"
    return InputError(path.name, actual, expected, "Correct it.", line)


def holds_number(text: str, number: str) -> bool:
    """Does a text hold a number as it is written, and not as a part of another one?"""
    return re.search(rf"(?<![\w.,]){re.escape(number)}(?![\w%])(?![.,]\d)", text) is not None
