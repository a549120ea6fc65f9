"""How many questions of each level a program without a model answers, and how many the oracle does.

The program searches the data tools with what regular expressions take out of the question: company,
line, statement, period, and for two values the second line or period. It takes the best hit each
time. What it gets right is the floor of its level: a score near it shows nothing about an agent.

    python -m benchmarks.question_floor      writes benchmarks/results/question_floor.md and .json
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.agreement import wilson
from benchmarks.report import table, write_result
from construction.grading.grade import grade
from construction.grading.oracle import OracleError, oracle
from construction.grading.spec import TaskSpec, spec_of
from construction.statements.asked_periods import parse_period
from construction.statements.model import read_statements
from construction.statements.tools.agent_tools import get_company_fundamentals
from construction.statements.tools.database import Database, Refusal, Value, index_database
from construction.statements.tools.discovery import discover_companies, discover_company_series
from data.contracts import Candidate
from data.contracts.attempt import Submission
from data.errors import InputError

MATERIAL = Path(os.environ.get("BENCHMINT_MATERIAL", "../shared/material"))
SIZE = 500
COMMAND = "from flows.cli import main; main()"
BARS = {"easy": "", "medium": "at most 60 %", "hard": "at most 30 %"}

_PERIOD = (
    r"(?P<period>(?:for|as of|at the end of) (?:the )?(?:(?:first|second|third|fourth)"
    r" (?:quarter|half|nine months) of )?(?:the )?(?:fiscal (?:year )?(?:to [A-Z][a-z]+ )?"
    r"[0-9]{4}(?: \([^()]*\))?|(?:[a-z-]+ ){1,4}ended (?:about )?[A-Z][a-z]+ [0-9]{1,2}, [0-9]{4}"
    r"(?: \([^()]*\))?|[A-Z][a-z]+ [0-9]{1,2}, [0-9]{4}|period from [^,]+, [0-9]{4} to [^,]+, "
    r"[0-9]{4}))"
)
_SINGLE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:was|were) the (?P<metric>.+) of (?P<company>[A-Z&].*)$",
        r"\b(?:was|were) (?P<company>.+?)(?:'s|(?<=s)') (?P<metric>.+)$",
        r"^how many (?P<metric>.+) did (?P<company>.+) have (?P<state>.*)$",
        r"^how much did (?P<company>.+) report in (?P<metric>.+)$",
        r"^how much in (?P<metric>.+) did (?P<company>.+) pay\b.*$",
        r"^how much (?P<metric>.+) did (?P<company>.+) report\b.*$",
        r"^what did (?P<company>.+) report as (?:its )?(?P<metric>.+)$",
    )
)
_CHANGE = re.compile(
    r"^By (?P<how>how much|what percentage) did the (?P<metric>.+) of (?P<company>.+) change from "
    r"(?P<before>.+) to (?P<now>(?:the same|fiscal|the |[A-Z][a-z]+ [0-9]).*)$"
)
_SHARE = re.compile(
    r"^What (?:was|were) the (?P<metric>.+) of (?P<company>.+) as a percentage of its "
    r"(?P<whole>.+)$"
)
_TAIL = re.compile(
    r",? (?:in (?:thousands|millions) of|in [A-Z]|as a (?:percentage|multiple)"
    r"|to (?:one|two|three) decimal).*$"
)
_STATEMENT = re.compile(
    r" in (?:its|the) (?P<statement>(?:income|cash flow) statement|balance sheet"
    r"|statement of [a-z ]+?|segment report)(?= for | as of | at | of |,|$)"
)
_FILING = re.compile(r", as [a-z ]+ (?:in the filing of|on) [A-Z][a-z]+ [0-9]{1,2}, [0-9]{4}")
_ASIDE = re.compile(
    r"the balance sheet date nearest to | before the effect of exchange rate changes"
    r"| \(the line item “[^”]*”\)"
)
_SCALES = {"thousands": 1000, "millions": 1_000_000}
_PARTS = {
    "first quarter": "Q1", "second quarter": "Q2", "third quarter": "Q3", "fourth quarter": "Q4",
    "first half": "H1", "second half": "H2", "first nine months": "9M",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What the expressions took out of a question."""

    company: str
    metric: str
    period: str
    operation: str = "value"
    second_metric: str = ""
    second_period: str = ""


def asked_in(prompt: str) -> Asked | None:
    """The parts of a question; None if no expression fits."""
    text = _ASIDE.sub("", _FILING.sub("", prompt.split("?")[0]))
    if match := _CHANGE.search(text):
        now = match["now"]
        now, before = _TAIL.sub("", now), match["before"]
        kind = "growth" if match["how"] == "what percentage" else "difference"
        if "same" in now:
            now = re.sub(r"[0-9]{4}", lambda year: str(int(year[0]) + 1), before)
        return Asked(match["company"], match["metric"], now, kind, "", before)
    period = re.search(_PERIOD, text, re.I)
    words = text
    if period:
        words = f"{text[: period.start()]} {text[period.end() :]}"
    words = " ".join(words.split()).strip(" ,")
    if match := _SHARE.search(re.sub(r", to one decimal place", "", words)):
        spoken = period["period"] if period else ""
        return Asked(match["company"], match["metric"], spoken, "ratio", match["whole"])
    words = _TAIL.sub("", words)
    words = words[:1].lower() + words[1:]
    for pattern in _SINGLE:
        if match := pattern.search(words):
            metric = match["metric"].removeprefix("the line item ").strip("“” ,")
            return Asked(match["company"].strip(" ,"), metric, period["period"] if period else "")
    return None


def answered(prompt: str, database: Database) -> str | None:
    """The answer of the program; None if a search finds nothing."""
    parts = asked_in(prompt)
    if parts is None:
        return None
    name = re.sub(
        r" \((?:ticker|securities code|SEC CIK|EDINET code) ([^()]+)\)", r"", parts.company
    )
    code = re.search(r"\((?:ticker|securities code|SEC CIK|EDINET code) ([^()]+)\)", parts.company)
    located = "".join(match[0] for match in _STATEMENT.finditer(name))
    name = _STATEMENT.sub("", name)
    companies = discover_companies(database, code[1] if code else name, limit=1)
    if isinstance(companies, Refusal) or not companies.companies:
        return None
    company = companies.companies[0].company_id
    first = _value(database, company, f"{parts.metric}{located}", parts.period)
    if first is None:
        return None
    if "as originally reported" in prompt and first.earlier:
        first = replace(first, value=first.earlier[0].value)
    if parts.operation == "value":
        return _shown(first, prompt)
    second = _value(
        database, company, parts.second_metric or parts.metric, parts.second_period or parts.period
    )
    if second is None or not Decimal(second.value):
        return None
    own, other = Decimal(first.value), Decimal(second.value)
    if parts.operation == "difference":
        scale = next((size for word, size in _SCALES.items() if word in prompt), 1)
        return f"{(own - other) / scale:f}"
    part = own if parts.operation == "ratio" else own - other
    return f"{(part / other * 100).quantize(Decimal('0.1')):f}"


def _value(database: Database, company: str, metric: str, period: str) -> Value | None:
    """The best series' value of the period: the one with the days asked for, else the first."""
    where = _STATEMENT.search(metric)
    query = _STATEMENT.sub("", metric).strip(" ,")[:200]
    series = discover_company_series(database, company, query or metric[:200], limit=20)
    if isinstance(series, Refusal):
        return None
    hits = list(series.series)
    if where:
        hits.sort(key=lambda hit: hit.statement.lower() != where["statement"].strip())
    for hit in hits[:3]:
        found_values = get_company_fundamentals(
            database, company, hit.series_id, period=_period_query(period)
        )
        if not isinstance(found_values, Refusal) and found_values.values:
            return found_values.values[0]
    return None


def _period_query(spoken: str) -> str | None:
    """The period as the tool reads it: its days if there are any, else part and year."""
    text = re.sub(r"^(?:for|as of|at the end of|the period from) ", "", spoken)
    days = re.search(r"\(([^()]*)\)", text)
    part = next((code for words, code in _PARTS.items() if words in text), None)
    year = re.findall(r"[0-9]{4}", re.sub(r"\([^()]*\)", "", text))
    tries = [text, days[1] if days else "", f"{part} FY{year[-1]}" if part and year else ""]
    for candidate in tries:
        try:
            parse_period(candidate)
        except InputError:
            continue
        return candidate
    return f"FY{year[-1]}" if year else None


def _shown(value: Value, prompt: str) -> str:
    amount = Decimal(value.value)
    if value.unit == "ratio":
        return f"{amount * 100 if 'percentage' in prompt else amount:f}"
    scale = next((size for word, size in _SCALES.items() if f"in {word}" in prompt), 1)
    return f"{amount / scale:f}"


def measure(material: Path, out: Path) -> dict[str, Any]:
    """Questions, the program's and the oracle's right answers by level and means."""
    sec = material / "tables/sec"
    filings = ("--sec", sec / "2010q2.zip", "--sec", sec / "apple_10k_2024")
    given = (*filings, "--tickers", sec / "company_tickers.parquet")
    arguments = [*given, "--edinet", material / "tables/edinet", "--size", SIZE, "--out", out]
    command = [sys.executable, "-c", COMMAND, "lane", "questions", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)
    statements = read_statements(out / "public/tables")
    frames = (statements.companies, statements.series, statements.points, statements.history)
    database = index_database(*frames)
    pool = pl.read_parquet(out / "private/questions/candidates.parquet")
    return scored([Candidate.model_validate_json(row) for row in pool["candidate"]], database)


def scored(candidates: list[Candidate], database: Database) -> dict[str, Any]:
    """Counts by level and by means."""
    counts: dict[str, Counter[str]] = {}
    for candidate in candidates:
        spec = spec_of(candidate.model_dump(mode="json"))
        level = f"level {candidate.difficulty}"
        means = candidate.provenance.detail.get("means") or "no means"
        result = {"n": 1, "floor": _is_right(spec, answered(candidate.prompt, database)),
                  "oracle": _oracle_right(spec, database)}  # fmt: skip
        for key in (level, *(f"means {name}" for name in str(means).split(", "))):
            counts.setdefault(key, Counter()).update(result)
    return {key: dict(count) for key, count in sorted(counts.items())}


def _is_right(spec: TaskSpec, answer: str | None) -> bool:
    if answer is None:
        return False
    part = spec.answers[0]
    try:
        rounded = Decimal(answer).quantize(Decimal(1).scaleb(-(part.decimals or 0)))
    except InvalidOperation:
        return False
    return grade(spec, Submission(answer=f"{rounded:f}")).overall == 1


def _oracle_right(spec: TaskSpec, database: Database) -> bool:
    try:
        return grade(spec, oracle(spec, database)).overall == 1
    except OracleError:
        return False


def page(figures: Mapping[str, Mapping[str, int]]) -> str:
    """The results as Markdown."""
    rows = []
    for key, count in figures.items():
        share = wilson(count["floor"], count["n"])
        bar = BARS.get(key.removeprefix("level "), "")
        rows.append([key, str(count["n"]), f"{share.value:.1%}",
                     f"{share.low:.1%} to {share.high:.1%}", bar,
                     f"{count['oracle'] / count['n']:.1%}"])  # fmt: skip
    head = ("questions", "n", "floor", "95 % interval", "bar", "oracle")
    return table(head, rows)


def main() -> None:
    """Measure and write."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(MATERIAL, Path(folder) / "out")
    write_result("question_floor", __doc__ or "", page(figures), figures)


if __name__ == "__main__":
    main()
