"""The three tools: what a client sees of them, their arguments, and the answer to a call.

`get_company_fundamentals` gives the values of one series, by period in either convention; the two
others are in `discovery`.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from construction.statements.asked_periods import Basis, PeriodQuery, parse_period
from construction.statements.tools.database import (
    MOST_COMPANIES,
    MOST_SERIES,
    MOST_VALUES,
    QUERY_CHARS,
    SUGGESTIONS,
    Companies,
    Database,
    Earlier,
    Fundamentals,
    Record,
    Refusal,
    SeriesList,
    Value,
    fiscal_text,
    understood,
)
from construction.statements.tools.discovery import (
    discover_companies,
    discover_company_series,
    local_label,
    named_company,
    series_scores,
    unknown_company,
)
from data.atomic import PRIVATE_FILE
from data.errors import InputError, error_location
from data.neutralise import one_line, visible
from data.text.folding import fold_words

# The log of calls: JSON lines that several processes may append to.

_MAX_CHARS = 200
_MAX_ARGUMENTS = 20
_MAX_OUTPUT = 1 << 20  # characters; more than any answer within the limits of the tools


@dataclass(frozen=True, slots=True)
class Call:
    """One call as logged; `outcome` is ok, refused, invalid or error.

    `question` and `attempt` are what the client says that it is working on, `output` is the text of
    the answer: with them the log is the trace of an attempt.
    """

    tool: str
    arguments: Mapping[str, Any]
    outcome: str
    rows: int
    milliseconds: float
    question: str | None = None
    attempt: str | None = None
    output: str = ""


class CallLog:
    """Appends one line per call to a file, or to standard error without one."""

    def __init__(self, path: Path | None) -> None:
        """Raises InputError if the file cannot be opened for appending."""
        self._path = path
        if path is not None:
            try:
                os.close(self._open(path))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                expected = "a file that the call log can be appended to"
                raise InputError(str(path), reason, expected, "Choose another file.") from error

    def record(self, call: Call) -> None:
        """Append `call` in one write, under a lock."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = asdict(call) | {
            "tool": _short(call.tool),
            "arguments": _shown(call.arguments),
            "question": _logged(call.question),
            "attempt": _logged(call.attempt),
            "output": visible(call.output[:_MAX_OUTPUT]),
        }
        line = orjson.dumps({"at": at, "process": os.getpid()} | body) + b"\n"
        if self._path is None:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            return
        handle = self._open(self._path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, line)
        finally:
            os.close(handle)

    def _open(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with long texts cut, control characters named, and no more than 20 of them."""
    names = list(arguments)[:_MAX_ARGUMENTS]
    shown = {_short(str(name)): _logged(arguments[name]) for name in names}
    left_out = len(arguments) - len(names)
    return shown | ({"…": f"{left_out} more"} if left_out else {})


def _logged(value: Any) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, str | int):
        return _short(str(value))
    return f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else "?"


def _short(text: str) -> str:
    shown = one_line(text[: _MAX_CHARS + 1])
    return shown if len(text) <= _MAX_CHARS else f"{shown[:_MAX_CHARS]}… ({len(text)} characters)"


_ASK_SERIES = "Call discover_company_series to find it."
_TOLD_PERIODS = 12
# The names of a series, the most exact first.
_FORMS: tuple[Callable[[Record], str | None], ...] = (
    lambda record: record["name"],
    lambda record: record["name_local"],
    lambda record: record["label"],
    local_label,
    lambda record: record["concept"],
)


def get_company_fundamentals(
    database: Database,
    company_id: str,
    series_id: str | None = None,
    series_name: str | None = None,
    period: str | None = None,
    convention: Basis = Basis.FISCAL,
    limit: int = 50,
) -> Fundamentals | Refusal:
    """Values of one series, newest first, each with its period in both conventions.

    The series is named by id, or by its full name, label or tag, in any of its languages, if only
    one series has that name. `period` is fiscal or calendar text; `convention` decides if the text
    does not say which. Refused: unknown company or series (with the nearest ones), several series
    of that name, an unreadable period.
    """
    if (series_id is None) == (series_name is None):
        return Refusal(f"Give either series_id or series_name. {_ASK_SERIES}")
    company_id, hint = named_company(database, company_id)
    refused = unknown_company(database, company_id)
    if refused:
        return refused
    series = _series(database, company_id, series_id, series_name)
    if isinstance(series, Refusal):
        return series
    try:
        query = None if period is None else parse_period(period)
    except InputError as error:
        return Refusal(f"No such period: found {error.actual}; expected {error.expected}.")
    points = database.points_of(company_id).filter(pl.col("series_id") == series["series_id"])
    values = _fundamentals(database, series, points, query, convention, limit)
    return replace(values, note=" ".join(note for note in (hint, values.note) if note) or None)


def _series(
    database: Database,
    company_id: str,
    series_id: str | None,
    series_name: str | None,
) -> Record | Refusal:
    known = database.series_of(company_id).to_dicts()
    requested = series_id if series_id is not None else series_name or ""
    if series_id is not None:
        for record in known:
            if record["series_id"] == series_id:
                return record
        owner = database.owners.get(series_id)
        if owner is not None:
            return Refusal(f"That series belongs to {owner}, not to this company.")
        return Refusal(f"No such series_id. {_ASK_SERIES}", _near(known, requested))
    folded = fold_words(requested)
    for form in _FORMS:
        fitting = [
            record for record in known if folded and fold_words(form(record) or "") == folded
        ]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            suggestions = _named(fitting[:SUGGESTIONS])
            return Refusal(f"{len(fitting)} series have that name; give series_id.", suggestions)
    return Refusal(f"No such series_name. {_ASK_SERIES}", _near(known, requested))


def _near(known: Sequence[Record], requested: str) -> tuple[str, ...]:
    if len(requested) > QUERY_CHARS or not fold_words(requested) or not known:
        return ()
    scores = series_scores(known, requested)
    order = sorted(range(len(known)), key=lambda position: (-scores[position], position))
    return _named([known[position] for position in order[:SUGGESTIONS]])


def _named(series: Sequence[Record]) -> tuple[str, ...]:
    return tuple(f"{record['series_id']} ({record['name']})" for record in series)


def _fundamentals(
    database: Database,
    series: Record,
    points: pl.DataFrame,
    query: PeriodQuery | None,
    convention: Basis,
    limit: int,
) -> Fundamentals:
    fitting = points if query is None else points.filter(query.expression(convention))
    note = None
    if fitting.is_empty():
        note = f"No value. Periods of this series: {_periods(points)}"
    company = database.companies[database.by_id[series["company_id"]]]
    return Fundamentals(
        company_id=series["company_id"],
        company=company["name"],
        series_id=series["series_id"],
        name=series["name"],
        fiscal_year_end=company["fiscal_year_end"],
        period_asked=None if query is None else understood(query, convention),
        values=tuple(
            _value(point, series["unit"], database.replaced.get(point["point_id"], ()))
            for point in fitting.head(limit).to_dicts()
        ),
        matched=fitting.height,
        note=note,
    )


def _periods(points: pl.DataFrame) -> str:
    """The newest available periods, in both conventions; the last day if a period has no name."""
    names: dict[str, None] = {}
    for point in points.iter_rows(named=True):
        fiscal, calendar = fiscal_text(point), point["calendar_period"]
        unnamed = f"to {_iso(point['period_end'])}"
        names[f"{fiscal or unnamed} (calendar {calendar})" if calendar else fiscal or unnamed] = (
            None
        )
    more = ", …" if len(names) > _TOLD_PERIODS else ""
    return ", ".join(list(names)[:_TOLD_PERIODS]) + more if names else "none"


def _value(point: Record, unit: str, replaced: Sequence[Record]) -> Value:
    return Value(
        value=point["value"],
        unit=unit,
        fiscal_period=fiscal_text(point),
        calendar_period=point["calendar_period"],
        period_start=_iso(point["period_start"]),
        period_end=point["period_end"].isoformat(),
        months=point["months"],
        period_type=point["period_type"],
        document=point["document"],
        filed=_iso(point["filed"]),
        computed=point["computed"],
        restatements=point["restatements"],
        earlier=tuple(
            Earlier(old["value"], old["document"], _iso(old["filed"])) for old in replaced
        ),
    )


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


_Answer = Companies | SeriesList | Fundamentals
_ID = 1000
_MAX_MESSAGE, _MAX_FAULTS, _MAX_NAME = 2000, 5, 60

INSTRUCTIONS = (
    "Reported values of company filings. Find the company, then its series, then the values. "
    "Values are decimals as filed, unscaled. Every value carries its fiscal and its calendar "
    "period: take care which one you are asked for."
)
_PERIODS = """\
Periods:
- Fiscal year: named after the calendar year in which it ends, except in Japanese filings, where \
it is named after the year in which it starts (2023年度: April 2023 to March 2024 is FY2023). \
"2024年3月期" names that same year by its last month. A company may count otherwise: period_start \
and period_end tell the days, fiscal_year_end (MM-DD) the end.
- Q1 to Q4, H1 and H2 count from the start of the fiscal year; 9M is its first nine months.
- Calendar period: the calendar year, half or quarter (2024, 2024-H1, 2024-Q1) that shares most \
days with the period, the earlier one in a tie; a balance has the quarter whose last day is \
nearest. Nine months have no calendar name.
- Year to date: cash flows, and some quarterly income statements, are filed from the start of the \
fiscal year: H1 and 9M values are cumulative. months says how long a value is (0: a balance on \
one day, which answers to every period that closes on that day).
- A period is fiscal text ("FY2024", "FY2024-Q1", "Q1 FY2024", "H1 FY2024", "9M FY2024", \
"2016年3月期"), calendar text ("calendar 2024-Q1", "CY2024") or a closing day ("2024-03-31"). \
A bare "2024" or "2024-Q1" counts by `convention`: fiscal unless you say calendar."""


class Arguments(BaseModel):
    """Arguments of a tool: closed to unknown names; null means the same as to leave one out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @staticmethod
    def _without_nulls(given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: value for name, value in given.items() if value is not None}


class CompanyArguments(Arguments):
    query: str = Field(
        min_length=1, max_length=QUERY_CHARS, description="name in English or local, ticker, or id"
    )
    country: str | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="headquarters, ISO 3166 alpha-2, e.g. JP",
    )
    limit: int = Field(default=10, ge=1, le=MOST_COMPANIES, description="most companies to return")


class SeriesArguments(Arguments):
    company_id: str = Field(
        min_length=1, max_length=QUERY_CHARS, description="from discover_companies"
    )
    query: str | None = Field(
        None,
        min_length=1,
        max_length=QUERY_CHARS,
        description="words of the line item; all without",
    )
    category: str | None = Field(
        default=None,
        min_length=1,
        max_length=QUERY_CHARS,
        description="only series of this category",
    )
    limit: int = Field(default=50, ge=1, le=MOST_SERIES, description="most series to return")


class FundamentalsArguments(Arguments):
    company_id: str = Field(
        min_length=1, max_length=QUERY_CHARS, description="from discover_companies"
    )
    series_id: str | None = Field(
        default=None, min_length=1, max_length=_ID, description="from discover_company_series"
    )
    series_name: str | None = Field(
        None,
        min_length=1,
        max_length=_ID,
        description="instead of series_id: full name, label or tag",
    )
    period: str | None = Field(
        default=None,
        min_length=1,
        max_length=120,
        description="fiscal or calendar; all periods without",
    )
    convention: Basis = Field(
        Basis.FISCAL, description="how a period without FY or CY counts: fiscal or calendar"
    )
    limit: int = Field(default=50, ge=1, le=MOST_VALUES, description="most values to return")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool. `run` gets what the tool asks, such as the tables, and the arguments by name."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: TypeAdapter[Any]
    run: Callable[..., Any]

    def call(self, source: Any, arguments: Arguments) -> Any:
        """The answer, or a Refusal."""
        return self.run(source, **arguments.model_dump())


TOOLS = (
    ToolSpec(
        "discover_companies",
        "Find companies",
        "Companies by name (English or local, spelling need not be exact, legal forms such as "
        "Inc. or 株式会社 hardly count), ticker or id; best first, exact tickers before names. "
        "Returns company_id for the other tools, and the fiscal year end (MM-DD).",
        CompanyArguments,
        TypeAdapter(Companies),
        discover_companies,
    ),
    ToolSpec(
        "discover_company_series",
        "Find a company's line items",
        "Line items (series) of one company: hierarchical name `statement | section | label`, "
        "unit, category, and which periods have values, named by fiscal period. With a query the "
        "best fits first; without, in order of the statements. A series with dimensions is a "
        "part (a segment, a region), not the consolidated figure.",
        SeriesArguments,
        TypeAdapter(SeriesList),
        discover_company_series,
    ),
    ToolSpec(
        "get_company_fundamentals",
        "Read reported values",
        "Reported values of one series, newest first, with unit, both period conventions, days "
        "and filing. Values are as filed: not rounded, scaled, annualised or converted; the last "
        "filing wins where a value was restated, and `earlier` has what filings before it gave."
        "\n\n" + _PERIODS,
        FundamentalsArguments,
        TypeAdapter(Fundamentals),
        get_company_fundamentals,
    ),
)
BY_NAME = {spec.name: spec for spec in TOOLS}


# What servers read that only know a part of JSON Schema, such as those with strict tool calls.
_PLAIN = ("type", "description", "enum", "items")


def parameters_of(spec: ToolSpec) -> dict[str, Any]:
    """The arguments as JSON Schema for strict servers: no references, limits or defaults.

    An optional argument may be null or left out: runners that check calls refuse one without what
    is required. The limits are in the descriptions, and `answer` checks them.
    """
    schema = spec.arguments.model_json_schema()
    required, definitions = schema.get("required", []), schema.get("$defs", {})
    properties = {
        name: _plain(field, definitions, optional=name not in required)
        for name, field in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _plain(field: Mapping[str, Any], definitions: Mapping[str, Any], *, optional: bool) -> Any:
    kinds = [kind for kind in field.get("anyOf", (field,)) if kind.get("type") != "null"]
    (kind,) = kinds
    if "$ref" in kind:
        kind = definitions[kind["$ref"].rpartition("/")[2]]
    plain = {name: value for name, value in {**kind, **field}.items() if name in _PLAIN}
    plain["type"] = kind["type"]
    low, high = kind.get("minimum"), kind.get("maximum")
    default = field.get("default")
    notes = [f"{low} to {high}"] if high is not None else []
    notes += [f"null: {default}"] if default is not None else []
    if notes:
        plain["description"] = f"{field['description']} ({'; '.join(notes)})"
    if optional:
        plain["type"] = [kind["type"], "null"]
        if "enum" in kind:
            plain["enum"] = [*kind["enum"], None]
    return plain


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a client gets: text, and the same as JSON values unless the call was refused.

    `outcome` (ok, refused, invalid or error) and the number of rows are for the log.
    """

    text: str
    outcome: str
    structured: dict[str, Any] | None = None
    rows: int = 0


def answer(database: Database, name: str, arguments: Mapping[str, Any]) -> _Reply:
    """The reply to one call.

    Nothing raises: what is wrong with the call, or with this server, becomes a refusal of one
    readable paragraph.
    """
    spec = BY_NAME.get(name)
    if spec is None:
        return _refused(f"No such tool. There are: {', '.join(BY_NAME)}.", "invalid")
    try:
        checked = spec.arguments.model_validate(arguments)
    except ValidationError as error:
        return _refused(_faults(spec, error), "invalid")
    try:
        result = spec.call(database, checked)
    except Exception as error:  # the last line before the client: no stack trace, no raw text
        failure = f"Internal error: {type(error).__name__} at {error_location(error)}."
        return _refused(failure, "error")
    if isinstance(result, Refusal):
        return _refused(result.text, "refused")
    text = spec.answer.dump_json(result).decode()
    return _Reply(text, "ok", spec.answer.dump_python(result, mode="json"), _rows(result))


def _refused(text: str, outcome: str) -> _Reply:
    return _Reply(one_line(text[:_MAX_MESSAGE]), outcome)


def _faults(spec: ToolSpec, error: ValidationError) -> str:
    """What is wrong with which argument; never the value."""
    lines = []
    for fault in error.errors(include_url=False, include_input=False)[:_MAX_FAULTS]:
        where = ".".join(map(str, fault["loc"]))[:_MAX_NAME]
        what = "there is no such argument" if fault["type"] == "extra_forbidden" else fault["msg"]
        lines.append(f"{where}: {what}")
    known = ", ".join(spec.arguments.model_fields)
    return f"Bad arguments: {'; '.join(lines)}. {spec.name} takes: {known}."


def _rows(result: _Answer) -> int:
    if isinstance(result, Companies):
        return len(result.companies)
    return len(result.series) if isinstance(result, SeriesList) else len(result.values)
