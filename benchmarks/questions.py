"""500 questions from a quarter of SEC filings and 302 Japanese companies: time, balance, rivals.

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

SIZE = 500
MATERIAL = Path(os.environ.get("BENCHMINT_MATERIAL", "../shared/material"))
ABOUT = "Real statements to questions: time, balance, traces, what was left out. Command: " + (
    "`python -m benchmarks.questions`."
)
COMMAND = "from flows.cli import main; main()"


def measure(material: Path, out: Path) -> dict[str, Any]:
    """Run the command once; seconds on the clock, its report, and who the questions are about."""
    sec = material / "tables/sec"
    given = ("--sec", sec / "2010q2.zip", "--tickers", sec / "company_tickers.parquet")
    arguments = [*given, "--edinet", material / "tables/edinet", "--size", SIZE, "--out", out]
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", COMMAND, "questions", *map(str, arguments)],
        check=True,
        capture_output=True,
    )
    seconds = time.perf_counter() - began
    private = out / "private/questions"
    questions = pl.read_parquet(out / "public/questions.parquet")
    answers = pl.read_parquet(private / "answers.parquet")
    points = pl.read_parquet(out / "public/tables/points.parquet")
    report = orjson.loads((private / "questions.json").read_bytes())
    return {
        "seconds": round(seconds, 1),
        "questions": questions.height,
        "companies": questions["company_id"].n_unique(),
        "points": points.height,
        "traced": answers.join(points, on="point_id").height,
        "distinct texts": questions["question"].n_unique(),
        "report": report,
    }


def page(figures: dict[str, Any]) -> str:
    """The results as Markdown."""
    report = figures["report"]
    counts = report["by_region"] | report["by_category"]
    rejected = report["filters"]["rejected"]
    response = [
        (row["category"], "US" if row["is_us"] else "non-US", row["drawn"], row["rejected"])
        for row in report["response"]
    ]
    shares = [
        (row["damping"], f"{row['breakdown']:.1%}", row["fall_points"])
        for row in report["dampings"]
    ]
    parts = [
        f"`benchmint questions --size {SIZE}` over 2010q2 and 302 EDINET companies: "
        f"{figures['questions']} questions about {figures['companies']} companies in "
        f"{figures['seconds']} s (bar 90), from {figures['points']:,} data points; "
        f"{figures['traced']} answers traced to their row, "
        f"{figures['distinct texts']} distinct texts.",
        table(("region or category", "questions"), as_text(sorted(counts.items()))),
        "Points left out, by reason:",
        table(("reason", "points"), as_text(sorted(rejected.items()))),
        "Drawn and rejected, by stratum (what could not be asked came from the reserve):",
        table(("category", "region", "drawn", "rejected"), as_text(response)),
        "Probability of breakdown lines under each damping, and how far it falls below none:",
        table(("damping", "breakdown lines", "points"), as_text(shares)),
        "Guidance has no source in this material, and operating indicators stand in EDINET's "
        "`summary` alone, which counts as auto-generated: these categories stay nearly empty here.",
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def as_text(rows: Iterable[tuple[Any, ...]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]


def main() -> None:
    """Measure and write."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(MATERIAL, Path(folder) / "out")
    write_result("questions", ABOUT, page(figures), figures)


if __name__ == "__main__":
    main()
