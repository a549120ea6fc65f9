"""Reads a source into a snapshot: one row per skill, the top by the chosen measure.

A source is CSV, JSON as a list or in the registry's form, or JSON Lines.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

from construction.sessions.readers.source import loads
from construction.signals.collect.fields import (
    BadFieldError,
    SignalReason,
    SourceShape,
    canonical,
    describe,
    field_key,
    is_measure,
    shape_of,
    signal_of,
    value_at,
)
from construction.signals.config import CollectConfig, SourceKind, check_source
from data.canonical import canonical_json, digest
from data.contracts import (
    LedgerRow,
    Outcome,
    Popularity,
    ReadIssue,
    Scalar,
    Signal,
    SignalSnapshot,
    StageKind,
    StageTally,
)
from data.errors import InputError
from data.ledger import tally

_MAX_FILE_BYTES = 128 * 1024 * 1024
_ITEMS = "items"  # of a capture
_JSON_LINES = frozenset({".jsonl", ".ndjson"})
_JSON = _JSON_LINES | {".json"}
_NOT_A_RECORD = SignalReason.NOT_A_RECORD


@dataclass(frozen=True, slots=True)
class _SourceRow:
    """A row of a file, named `name:line` (CSV) or `name#item` (JSON), as a signal or an issue."""

    where: str
    content: Signal | ReadIssue


def read_signals(
    path: Path, source: str, date: dt.date, config: CollectConfig | None = None
) -> tuple[_SourceRow, ...]:
    """All rows of a snapshot file in file order; a row that cannot be used is an issue.

    Read by its content, whatever its name: JSON (a list of records, or an object with the list
    where the kind of source has it), JSON Lines, or else CSV with a header. Raises InputError if
    the whole file cannot be used, or is the capture of another source or date.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            actual = f"{path.stat().st_size} bytes"
            raise InputError(str(path), actual, f"at most {_MAX_FILE_BYTES}", "Split the file.")
        raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        actual = error.strerror or "an error"
        raise InputError(str(path), actual, "a file", "Check the path.") from None
    recipe = config or CollectConfig()
    reading = _Reading(path, source, date, recipe.kind, shape_of(recipe))
    if path.suffix.lower() in _JSON or raw.lstrip()[:1] in (b"{", b"["):
        return tuple(_read_json(raw, reading))
    return tuple(_read_csv(raw, reading))


@dataclass(frozen=True, slots=True)
class _Reading:
    """The file that is read, as what, and in which shape its records are."""

    path: Path
    source: str
    date: dt.date
    kind: SourceKind
    shape: SourceShape

    def row(self, where: str, line: int, record: object) -> _SourceRow:
        """The record as a signal, or the issue that says why it is not one."""
        if not isinstance(record, dict):
            actual = describe(record)
            return _SourceRow(where, self.issue(line, _NOT_A_RECORD, actual, "an object"))
        try:
            return _SourceRow(
                where, signal_of(canonical(record, self.shape), self.source, self.date)
            )
        except BadFieldError as bad:
            issue = self.issue(line, SignalReason.BAD_FIELD, bad.actual, bad.expected)
            return _SourceRow(where, issue)

    def issue(self, line: int, reason: SignalReason, actual: str, expected: str) -> ReadIssue:
        return ReadIssue("record", self.path.name, line, str(reason), actual, expected)


def _read_json(raw: bytes, reading: _Reading) -> Iterator[_SourceRow]:
    path, key = reading.path, reading.shape.items
    expected = f"a list of records, or an object with a list under {key!r}"
    try:
        document = loads(raw)
    except orjson.JSONDecodeError as error:
        if _is_json_lines(raw):
            yield from _read_json_lines(raw, reading)
            return
        todo = "Fix the file."
        raise InputError(str(path), "text, not JSON", expected, todo, error.lineno) from None
    if isinstance(document, dict) and "capture" in document:
        _check_capture(document["capture"], reading)
        key = _ITEMS
    items = value_at(document, key) if isinstance(document, dict) else document
    if items is None and path.suffix.lower() in _JSON_LINES:
        yield from _read_json_lines(raw, reading)
        return
    if not isinstance(items, list):
        raise InputError(str(path), describe(items), expected, "Fix the file.")
    lines = _item_lines(raw, None if items is document else key.encode())
    if len(lines) != len(items):  # the key is written with escapes, so the lines are unknown
        lines = [0] * len(items)
    for number, (line, record) in enumerate(zip(lines, items, strict=True), start=1):
        yield reading.row(f"{path.name}#{number}", line, record)


def _check_capture(header: Any, reading: _Reading) -> None:
    """Raise InputError for what was captured of another source, or on another day."""
    wanted = {"source": reading.source, "date": reading.date.isoformat(), "kind": reading.kind}
    actual = {name: value_at(header, name) for name in wanted}
    if actual != wanted:
        expected = f"that of {reading.source} ({reading.kind}) on {reading.date}"
        todo = "Set [signals] source and [signals.collect] kind as for it; its name has its date."
        raise InputError(str(reading.path), "another capture", expected, todo)


def _is_json_lines(raw: bytes) -> bool:
    first, _, more = raw.partition(b"\n")
    try:
        return isinstance(loads(first), dict) and bool(more.strip())
    except orjson.JSONDecodeError:
        return False


def _read_json_lines(raw: bytes, reading: _Reading) -> Iterator[_SourceRow]:
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{reading.path.name}:{number}"
        try:
            yield reading.row(where, number, loads(line))
        except orjson.JSONDecodeError:
            issue = reading.issue(number, _NOT_A_RECORD, "text, not JSON", "an object")
            yield _SourceRow(where, issue)


def _read_csv(raw: bytes, reading: _Reading) -> Iterator[_SourceRow]:
    # Invalid bytes become unpaired surrogates, by which their rows are recognised below.
    lines = _Lines(list(io.StringIO(raw.decode("utf-8", "surrogateescape"), newline="")))
    records = _records(lines)
    header = _header(next(records, (1, [])), reading)
    for line, cells in records:
        where = f"{reading.path.name}:{line}"
        if isinstance(cells, str):
            issue = reading.issue(line, SignalReason.BAD_CSV, cells, "a CSV record")
        elif len(cells) != len(header):
            actual, expected = f"{len(cells)} cells", f"{len(header)} cells, as in the header"
            issue = reading.issue(line, SignalReason.BAD_CSV, actual, expected)
            # An open quotation mark consumes the following lines: continue after the first line.
            lines.position = line
        elif not all(map(_is_text, cells)):
            issue = reading.issue(line, SignalReason.NOT_TEXT, "bytes that are not UTF-8", "UTF-8")
        else:
            yield reading.row(where, line, dict(zip(header, cells, strict=True)))
            continue
        yield _SourceRow(where, issue)


class _Lines:
    """Lines for csv.reader; `position` (0-based, the next to read) can be set back."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.position = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.position >= len(self._lines):
            raise StopIteration
        self.position += 1
        return self._lines[self.position - 1]


def _records(lines: _Lines) -> Iterator[tuple[int, list[str] | str]]:
    """(1-based first line, cells) of each record; for a broken one a text with the error.

    After a broken record, reading continues with its second line. This stays linear, because the
    next quotation mark closes an open one, rightly or wrongly.
    """
    reader = csv.reader(lines, strict=True)
    while True:
        first = lines.position
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            lines.position = first + 1
            yield first + 1, f"text that is not CSV ({error})"
            continue
        if cells:
            yield first + 1, cells


def _header(record: tuple[int, list[str] | str], reading: _Reading) -> list[str]:
    """Column names. Raises InputError for a repeated name, and without slug or measure.

    Where the recipe declares the columns, each of them has to be there.
    """
    names, path = record[1], reading.path
    declared = [
        name
        for value in reading.shape.fields.values()
        for name in ((value,) if isinstance(value, str) else value)
    ]
    needed = ", ".join(declared) or f"slug and one of {', '.join(Popularity)}"
    expected = f"a header with {needed}, no name twice"
    if isinstance(names, str):
        raise InputError(str(path), names, expected, "Fix the header.", record[0])
    folded = [field_key(name) for name in names]
    has_all = "slug" in folded and any(map(is_measure, names))
    if declared:
        has_all = set(declared) <= set(names)
    if not has_all or len(set(folded)) < len(folded):
        raise InputError(str(path), f"{len(names)} columns", expected, "Fix the header.", record[0])
    return names


def _is_text(cell: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in cell)


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
_VALUE = re.compile(rb"\S")


def _item_lines(raw: bytes, key: bytes | None) -> list[int]:
    """1-based lines of the items of the outermost list, or of the list under `key` of the root.

    `raw` must be valid JSON that contains this list. Linear in its length.
    """
    starts: list[int] = []
    depth, inside, last = 0, False, b""
    home = 1 if key is None else 2
    for token in _TOKEN.finditer(raw):
        text = token[0]
        if text in (b"[", b"{"):
            depth += 1
            if depth == home and text == b"[" and (key is None or last == b'"%s"' % key):
                inside, starts = True, [_next_value(raw, token.end())]
        elif text in (b"]", b"}"):
            inside = inside and depth != home
            depth -= 1
        elif text == b"," and inside and depth == home:
            starts.append(_next_value(raw, token.end()))
        elif text[:1] == b'"':
            last = text
    breaks = list(accumulate(len(line) + 1 for line in raw.split(b"\n")))
    return [bisect_right(breaks, start) + 1 for start in starts]


def _next_value(raw: bytes, start: int) -> int:
    match = _VALUE.search(raw, start)
    return match.start() if match else len(raw)


_PLACE = re.compile(r"[:#][0-9]+$")  # the line of a row, or its number in a list
_DIGITS = 16  # of the digest of a row
_COLLECT, _TOP = "signals.collect", "signals.top"


@dataclass(frozen=True, slots=True)
class Collected:
    """A snapshot with its ledger: a row per row of the source, and one per skill for the top.

    Rows are named by their content (`_named_by_content`), so that the ledger does not depend on
    their order; `issues` say the lines.
    """

    snapshot: SignalSnapshot
    ledger: tuple[LedgerRow, ...]
    tallies: tuple[StageTally, ...]
    issues: tuple[ReadIssue, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A valid row that gives the measure."""

    where: str
    signal: Signal
    count: int


def collect_file(path: Path, source: str, date: dt.date, config: CollectConfig) -> Collected:
    """Read a snapshot file (CSV, JSON, or the capture of a registry) and choose its top signals.

    Raises InputError if the file or all its rows cannot be used, ConfigError for an invalid name.
    """
    rows = read_signals(path, check_source(source), date, config)
    collected = _choose_signals(rows, source, date, config)
    if not collected.snapshot.signals:
        known = {
            m for row in rows if isinstance(row.content, Signal) for m in row.content.popularity
        }
        given = ", ".join(m for m in Popularity if m in known) or "none"
        actual = f"{len(rows)} rows, none of them usable; measures given: {given}"
        todo = "See the issues of its rows, or choose another measure."
        first = f" (first: {collected.issues[0].actual})" if collected.issues else ""
        raise InputError(str(path), actual + first, f"signals with {config.measure}", todo)
    return collected


def _choose_signals(
    rows: Sequence[_SourceRow], source: str, date: dt.date, config: CollectConfig
) -> Collected:
    """The `config.top` skills by `config.measure`, ties by slug; the order of rows is irrelevant.

    Of rows with the same slug the one with the highest measure is kept. If the source states no
    rank, a signal gets its rank by the measure among the distinct skills.
    """
    issues = tuple(row.content for row in rows if isinstance(row.content, ReadIssue))
    rows = _named_by_content(rows)
    claims = [
        _Claim(row.where, row.content, row.content.popularity[config.measure])
        for row in rows
        if isinstance(row.content, Signal) and config.measure in row.content.popularity
    ]
    kept = _distinct(claims)
    ranked = sorted(kept.values(), key=lambda claim: (-claim.count, claim.signal.slug))
    chosen = ranked[: config.top]
    signals = sorted(
        (_with_rank(claim.signal, rank) for rank, claim in enumerate(chosen, start=1)),
        key=lambda signal: signal.slug,
    )
    ledger = [_row_outcome(row, kept, config.measure) for row in rows]
    top = [
        _top_outcome(claim, chosen[-1].count, rank, config)
        for rank, claim in enumerate(ranked, start=1)
    ]
    tallies = (
        tally(_COLLECT, StageKind.FILTER, "row", (row.where for row in rows), ledger),
        tally(_TOP, StageKind.CHOOSE, "signal", kept, top),
    )
    snapshot = _make_snapshot(source, date, config.measure, signals)
    return Collected(snapshot, (*ledger, *top), tallies, issues)


def _make_snapshot(
    source: str, date: dt.date, measure: Popularity, signals: Iterable[Signal]
) -> SignalSnapshot:
    """The snapshot of distinct signals, sorted by slug, with a digest over all its fields."""
    ordered = tuple(sorted(signals, key=lambda signal: signal.slug))
    fields = {"source": source, "date": date, "measure": measure, "signals": ordered}
    return SignalSnapshot(date, source, measure, ordered, digest(fields))


def _named_by_content(rows: Sequence[_SourceRow]) -> list[_SourceRow]:
    """The rows sorted by a name that follows from file and content; equal rows are numbered."""
    named = []
    for row in rows:
        content = row.content
        if isinstance(content, ReadIssue):
            content = dataclasses.replace(content, line=0)
        name = f"{_PLACE.sub('', row.where)}#{digest(content)[:_DIGITS]}"
        named.append((name, row))
    counts: Counter[str] = Counter()
    unique = []
    for name, row in sorted(named, key=lambda pair: pair[0]):
        counts[name] += 1
        where = name if counts[name] == 1 else f"{name}~{counts[name]}"
        unique.append(dataclasses.replace(row, where=where))
    return unique


def _distinct(claims: Iterable[_Claim]) -> dict[str, _Claim]:
    """One claim per slug: the highest measure; of equal ones the first by content, then by row."""
    kept: dict[str, _Claim] = {}
    for claim in claims:
        known = kept.setdefault(claim.signal.slug, claim)
        if known is not claim and _precedence(claim) < _precedence(known):
            kept[claim.signal.slug] = claim
    return kept


def _precedence(claim: _Claim) -> tuple[int, bytes, str]:
    return -claim.count, canonical_json(claim.signal), claim.where


def _with_rank(signal: Signal, rank: int) -> Signal:
    if signal.provenance.rank is not None:
        return signal
    ranked = dataclasses.replace(signal.provenance, rank=rank)
    return dataclasses.replace(signal, provenance=ranked)


def _row_outcome(row: _SourceRow, kept: Mapping[str, _Claim], measure: Popularity) -> LedgerRow:
    content = row.content
    if isinstance(content, ReadIssue):
        evidence: dict[str, Scalar] = {
            "path": content.source_path,
            "found": content.actual,
            "expected": content.expected,
        }
        return LedgerRow(
            _COLLECT, "row", row.where, Outcome.ERRORED, reason=content.reason, evidence=evidence
        )
    count = content.popularity.get(measure)
    if count is None:
        reason = str(SignalReason.NO_MEASURE)
        return LedgerRow(
            _COLLECT, "row", row.where, Outcome.REJECTED, reason=reason, limit=str(measure)
        )
    winner = kept[content.slug]
    if winner.where == row.where:
        return LedgerRow(_COLLECT, "row", row.where, Outcome.KEPT, observed=count)
    return LedgerRow(
        _COLLECT,
        "row",
        row.where,
        Outcome.REJECTED,
        reason=str(SignalReason.DUPLICATE),
        observed=count,
        limit=winner.count,
        evidence={"slug": content.slug, "kept": winner.where},
    )


def _top_outcome(claim: _Claim, least: int, rank: int, config: CollectConfig) -> LedgerRow:
    """The outcome of the skill at `rank` (from 1); `least` is the measure of the last chosen."""
    chosen = config.top is None or rank <= config.top
    return LedgerRow(
        _TOP,
        "signal",
        claim.signal.slug,
        Outcome.CHOSEN if chosen else Outcome.NOT_CHOSEN,
        reason=None if chosen else str(SignalReason.BELOW_TOP),
        observed=claim.count,
        limit=least,
        evidence={"row": claim.where},
    )
