"""500 questions from SEC filings, 302 Japanese companies and a British one: time, shares, lacks.

The command runs as a user runs it, in a process of its own, imports included. Beside it stands
what the same draw would be without damping: the share of breakdown lines.

    python -m benchmarks.questions        writes benchmarks/results/questions.md and questions.json
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from benchmarks.report import table, write_result
from construction.statements.categories import HEADINGS, LEAST, cells, filling
from data.contracts import share
from data.figures import percent
from selection.config import SamplingConfig

SIZE = 500
SOURCES = ("sec", "edinet", "xbrl")
MATERIAL = Path(os.environ.get("BENCHMINT_MATERIAL", "../shared/material"))
ABOUT = "Real statements to questions: time, balance, traces, what was left out. Command: " + (
    "`python -m benchmarks.questions`."
)
COMMAND = "from flows.cli import main; main()"


def measure(material: Path, out: Path) -> dict[str, Any]:
    """Run the command once; seconds on the clock, its report, and who the questions are about."""
    sec = material / "tables/sec"
    filings = ("--sec", sec / "2010q2.zip", "--sec", sec / "apple_10k_2024")
    others = ("--edinet", material / "tables/edinet", "--xbrl", material / "tables/xbrl_json")
    tickers = ("--tickers", sec / "company_tickers.parquet")
    arguments = [*filings, *tickers, *others, "--size", SIZE, "--out", out]
    began, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "lane", "questions", *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    private = out / "private/questions"
    questions = pl.read_parquet(out / "public/questions.parquet")
    answers = pl.read_parquet(private / "answers.parquet")
    tables = (
        pl.read_parquet(out / f"public/tables/{name}.parquet") for name in ("points", "history")
    )
    points, replaced = (table.select("point_id") for table in tables)
    report = orjson.loads((private / "questions.json").read_bytes())
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used, 1),
        "questions": questions.height,
        "companies": questions["company_id"].n_unique(),
        "points": points.height,
        "traced": answers.join(pl.concat([points, replaced]), on="point_id").height,
        "distinct texts": questions["question"].n_unique(),
        "shares": shares(questions),
        "said at the start": [line for line in done.stderr.splitlines() if " about " in line],
        "report": report,
    }


def shares(questions: pl.DataFrame) -> list[tuple[str, ...]]:
    """The share of each category and length of period in the questions of each source, with the
    quota of the recipe."""
    config = SamplingConfig()
    source = pl.col("company_id").str.split(":").list.first()
    parts = [questions.filter(source == name) for name in SOURCES]
    rows = []
    for column, quotas in (("category", config.categories), ("period_type", config.periods)):
        for value in sorted({*questions[column].drop_nulls(), *quotas}):
            held = (percent(share(part.filter(pl.col(column) == value).height, part.height))
                    for part in (*parts, questions))  # fmt: skip
            rows.append((value, *held, percent(quotas[value]) if value in quotas else ""))
    return [("questions", *(str(part.height) for part in (*parts, questions)), ""), *rows]


def page(figures: dict[str, Any]) -> str:
    """The results as Markdown."""
    report = figures["report"]
    counts = report["by_region"] | report["by_category"]
    rejected = report["filters"]["rejected"]
    shares = [
        (row["damping"], f"{row['breakdown']:.1%}", row["fall_points"])
        for row in report["dampings"]
    ]
    parts = [
        f"`benchmint lane questions --size {SIZE}` over 2010q2, one modern 10-K, 302 EDINET "
        "companies and one xBRL-JSON report: "
        f"{figures['questions']} questions about {figures['companies']} companies in "
        f"{figures['seconds']} s (bar 90; {figures['cpu_seconds']} s of CPU), "
        f"from {figures['points']:,} data points; "
        f"{figures['traced']} answers traced to their row, "
        f"{figures['distinct texts']} distinct texts.",
        table(("region or category", "questions"), as_text(sorted(counts.items()))),
        "Shares of the questions of each source beside the quotas of the recipe, which are "
        "FinRetrieval's:",
        table(("category or period", *SOURCES, "all", "quota"), as_text(figures["shares"])),
        "Said at the start: " + "; ".join(figures["said at the start"]) + ".",
        "Points left out, by reason:",
        table(("reason", "points"), as_text(sorted(rejected.items()))),
        "What can be filled (`available`: filed values; `drawn`: with replacements), and the "
        "commonest reason why a value is not asked about:",
        table(HEADINGS, [list(cells(row)) for row in report["coverage"]]),
        "Probability of breakdown lines under each damping, and how far it falls below none:",
        table(("damping", "breakdown lines", "points"), as_text(shares)),
        scarce(report),
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def scarce(report: dict[str, Any]) -> str:
    """The categories that hold too few questions, and which public file would change it."""
    few, held = filling(report["coverage"]), report["by_category"]
    lines = [f"- `{name}` ({held.get(name, 0)} questions): {text}." for name, text in few.items()]
    enough = sum(n >= LEAST * report["questions"] for n in held.values())
    headline = f"{enough} of six categories hold at least {LEAST:.0%} of the questions."
    return "\n\n".join([headline, "\n".join(lines)])


def as_text(rows: Iterable[tuple[Any, ...]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]


def main() -> None:
    """Measure and write."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(MATERIAL, Path(folder) / "out")
    write_result("questions", ABOUT, page(figures), figures)


if __name__ == "__main__":
    main()
