"""Does any stage take more than its share when everything grows? The whole demo, ×1 and ×10.

Ten times the sessions, filing companies, companies of the private tables, questions, analytic
tasks, drafts of workflows and released tasks; the environment's files and the popularity snapshots
stay as they are. Seconds are those that each stage recorded when it was computed (of sharded stages
the sum over the shards), the rest from the log. The exponent is log10 of the ratio: 1 is linear.
Stages below a second at ×10 are left out.

    python -m benchmarks.growth        writes benchmarks/results/growth.md and .json
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import tomli_w

from benchmarks.large_build import watched
from benchmarks.report import table, write_result
from data.demo import generate
from data.demo.analytics import DECLARATION
from data.demo.generate import CONFIG, ENVIRONMENT, N_COMPANIES, STATEMENTS
from data.demo.statements import write_demo_statements
from data.demo.tables import FOLDER as TABLES
from data.demo.tables import write_tables

FACTOR, SEED = 10, 7
_SESSIONS, _TABLE_COMPANIES = 60, 240
_LEAST_SECONDS = 1.0
_MIB = 1024
_BINARIES = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Build:
    """One build: seconds by stage and in all, peak MiB, released tasks, CPU load at its end."""

    factor: int
    stages: dict[str, float]
    seconds: float
    peak_mib: int
    tasks: int
    load: float


def workspace(folder: Path, factor: int) -> Path:
    """Write a demo workspace so many times the usual size; returns its configuration."""
    demo = folder / "demo"
    generate(demo, _SESSIONS * factor, SEED)
    for part in (STATEMENTS, TABLES):
        for path in sorted((demo / part).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    write_demo_statements(demo / STATEMENTS, SEED, N_COMPANIES * factor)
    write_tables(demo / TABLES, _TABLE_COMPANIES * factor, seed=SEED)
    declaration = demo / ENVIRONMENT / DECLARATION
    values = tomllib.loads(declaration.read_text("utf-8"))
    values["quotas"] = {
        category: {difficulty: n * factor for difficulty, n in wanted.items()}
        for category, wanted in values["quotas"].items()
    }
    declaration.write_text(tomli_w.dumps(values), "utf-8")
    config = tomllib.loads((demo / CONFIG).read_text("utf-8"))
    config["selection"]["max_tasks"] *= factor
    config["questions"]["sampling"]["size"] *= factor
    config["workflows"] = {"drafts": 12 * factor, "per_generator": min(50, 3 * factor)}
    config["runtime"] = _runtime(demo)
    path = folder / "build.toml"
    path.write_text(tomli_w.dumps(config), "utf-8")
    return path


def _runtime(demo: Path) -> dict[str, Any]:
    return {
        "sessions": [str(demo / "sessions")],
        "files": [str(demo / "files")],
        "signals": sorted(map(str, (demo / "signals").glob("*.csv"))),
        "sec": [str(demo / STATEMENTS / "sec")],
        "edinet": [str(demo / STATEMENTS / "edinet")],
        "tables": [str(demo / TABLES)],
        "environment": str(demo / ENVIRONMENT / DECLARATION),
        "tripwires": str(demo / "tripwires.txt"),
    }


def measure(folder: Path, factor: int) -> Build:
    """Build a workspace of that size. Raises CalledProcessError if the build fails."""
    folder.mkdir(parents=True)
    config = workspace(folder, factor)
    command = [str(_BINARIES / "benchmint"), "build", "--config", str(config), "-v"]
    started = time.monotonic()
    with (folder / "log").open("wb") as log:
        build = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PREFECT_HOME": str(folder / "prefect")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        peak, _ = watched(build)
    seconds = time.monotonic() - started
    text = (folder / "log").read_text("utf-8")
    if build.returncode:
        raise subprocess.CalledProcessError(build.returncode, command, text[-2000:])
    tasks = re.search(r"^(\d+) tasks in", text, re.MULTILINE)
    assert tasks is not None
    stages = _seconds_by_stage(folder / "workspace" / "staging.duckdb")
    stages |= {"staging, release and verification": _after_selection(text)}
    load = os.getloadavg()[1]
    return Build(factor, stages, round(seconds, 1), peak // _MIB, int(tasks[1]), round(load, 1))


def _seconds_by_stage(staging: Path) -> dict[str, float]:
    with duckdb.connect(str(staging), read_only=True) as connection:
        rows = connection.execute("SELECT work, sum(seconds) FROM timings GROUP BY work").fetchall()
    return {work: round(seconds, 2) for work, seconds in rows}


def _after_selection(text: str) -> float:
    """Seconds from the end of the last stage to the end of the build, as the log gives them."""
    clock = re.compile(r"^(\d\d):(\d\d):(\d\d) (counted stage=select|released)", re.MULTILINE)
    ends = Counter[str]()
    for hours, minutes, seconds, event in clock.findall(text):
        ends[event] = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return float((ends["released"] - ends["counted stage=select"]) % 86_400)


def rows_of(small: Build, large: Build) -> list[tuple[str, ...]]:
    """A row for each stage that matters, steepest first."""
    rows = []
    for name, seconds in large.stages.items():
        before = small.stages.get(name, 0.0)
        if seconds >= _LEAST_SECONDS:
            exponent = math.log(seconds / max(before, 0.01), large.factor / small.factor)
            rows.append((exponent, (name, f"{before:.2f}", f"{seconds:.1f}", f"{exponent:.2f}")))
    return [row for _, row in sorted(rows, reverse=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the workspaces there")
    kept = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        folder = kept or Path(scratch)
        small, large = (measure(folder / f"times-{n}", n) for n in (1, FACTOR))
    whole = table(
        ("size", "seconds", "peak MiB, all processes", "released", "load of the machine"),
        [
            (f"×{b.factor}", f"{b.seconds:.0f}", str(b.peak_mib), str(b.tasks), f"{b.load:.1f}")
            for b in (small, large)
        ],
    )
    stages = table(("stage", "seconds ×1", f"seconds ×{FACTOR}", "exponent"), rows_of(small, large))
    figures = {"builds": [asdict(build) for build in (small, large)]}
    write_result("growth", __doc__ or "", f"{whole}\n{stages}", figures)


if __name__ == "__main__":
    main()
