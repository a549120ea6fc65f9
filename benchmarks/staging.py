"""The ten questions of docs/staging.md on a run of 1,000,000 turns, and what a build pays for it.

    python -m benchmarks.staging [--turns N] [--runs N]

writes results/staging.md and staging.json. The rows are made up by arithmetic, with the shares of
the demo workspace; each question is asked through the documented views, in a fresh connection.
"""

from __future__ import annotations

import argparse
import datetime as dt
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.report import table, write_result
from benchmarks.staging_rows import write_run
from data.staging.database import open_read_only
from data.staging.runs import RunFacts, stage_run

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "staging.md"
_BAR = 1.0  # seconds a question may take
_TIMES = 3


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.turns, arguments.runs)
    about = __doc__.partition("\n\n    python")[0] if __doc__ else ""
    write_result("staging", about, _page(figures), figures)


def measure(folder: Path, turns: int, runs: int) -> dict[str, Any]:
    """Stage `runs` runs of `turns` turns each, then ask every question."""
    stages = folder / "stages"
    rows = write_run(stages, turns)
    staged, processor = [], []
    for number in range(runs):
        began, used = time.perf_counter(), time.process_time()
        stage_run(folder, facts(number), [stages])
        staged.append(round(time.perf_counter() - began, 1))
        processor.append(round(time.process_time() - used, 1))
    database = folder / "staging.duckdb"
    return {
        "turns": turns,
        "runs": runs,
        "rows_per_run": rows,
        "staging_seconds": staged,
        "staging_cpu_seconds": processor,
        "parquet_bytes": sum(path.stat().st_size for path in stages.rglob("*.parquet")),
        "database_bytes": database.stat().st_size,
        "questions": [_ask(database, title, sql) for title, sql in questions()],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def facts(number: int) -> RunFacts:
    """The facts of the `number`-th run."""
    released = dt.date(2026, 1, 1) + dt.timedelta(weeks=number)
    digest = f"{number:064x}"
    name = f"bench-{released:%Y.%m.%d}"
    return RunFacts(name, released, digest, "0" * 16, digest, {"session-1": digest}, "generated")


def questions() -> list[tuple[str, str]]:
    """The worked questions of the docs: title and SQL."""
    worked = []
    for section in _PAGE.read_text(encoding="utf-8").split("\n### ")[1:]:
        title, _, rest = section.partition("\n")
        worked.append((title, rest.partition("```sql\n")[2].partition("```")[0]))
    return worked


def _ask(database: Path, title: str, sql: str) -> dict[str, Any]:
    """The question's times, the first in a connection that has read nothing yet."""
    times: list[float] = []
    for _ in range(_TIMES):
        with open_read_only(database, every_run=True) as connection:
            began = time.perf_counter()
            answer = pl.DataFrame(connection.sql(sql))
            times.append(time.perf_counter() - began)
    return {
        "question": title,
        "rows": answer.height,
        "first": round(times[0], 3),
        "median": round(statistics.median(times), 3),
        "worst": round(max(times), 3),
    }


def _page(figures: Mapping[str, Any]) -> str:
    rows = figures["rows_per_run"]
    answers = figures["questions"]
    worst = max(answer["worst"] for answer in answers)
    kept = "kept" if worst < _BAR else "MISSED"
    table_rows = ", ".join(f"{name} {n:,}" for name, n in rows.items())
    pairs = zip(figures["staging_seconds"], figures["staging_cpu_seconds"], strict=True)
    staged = ", ".join(f"{wall:g} s ({used:g} s of processor time)" for wall, used in pairs)
    return (
        f"{figures['runs']} runs of {figures['turns']:,} turns each ({sum(rows.values()):,} rows a "
        f"run: {table_rows}).\n\nBar: each question under {_BAR:g} s. {kept.capitalize()}: the "
        f"slowest took {worst:g} s.\n\n"
        + table(
            ("question", "rows", "first (s)", "median (s)", "worst (s)"),
            [
                [str(answer[key]) for key in ("question", "rows", "first", "median", "worst")]
                for answer in answers
            ],
        )
        + f"\nStaging, one run after the other: {staged}. "
        f"{figures['parquet_bytes'] / 1e6:.0f} MB of Parquet a run, "
        f"{figures['database_bytes'] / 1e6:.0f} MB of database; peak memory of the process "
        f"{figures['peak_mb']} MB.\n"
    )


if __name__ == "__main__":
    main()
