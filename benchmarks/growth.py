"""Does any stage take more than its share when everything grows? The whole demo, ×1 and ×10.

Ten times the sessions, filing companies, companies of the private tables, questions, analytic
tasks, drafts of workflows and released tasks; the environment's files and the popularity snapshots
stay as they are. Seconds are processor time of the build's processes, which other work on the
machine does not change much, sampled twice a second and given to the stage that ends next by the
log. The exponent is log10 of the ratio: 1 is linear. Stages below two seconds at ×10 are left out.

    python -m benchmarks.growth        writes benchmarks/results/growth.md and .json
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from benchmarks.large_build import watched
from benchmarks.report import table, write_result
from data.demo import generate
from data.demo.generate import CONFIG, DECLARATION, ENVIRONMENT, STATEMENTS, TABLES

FACTOR, SEED = 10, 7
_SESSIONS = 60
_LEAST_SECONDS, _STEP = 2.0, 0.5
_MIB = 1024
_COUNTED = re.compile(r"counted stage=(\S+)")
_LAST = "staging, release, verification"
_BINARIES = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Build:
    """One build: processor seconds by stage, seconds in all, peak MiB, released tasks, load."""

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
    _multiply_statements(demo / STATEMENTS, factor)
    _multiply_tables(demo / TABLES, factor)
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


def _multiply_statements(folder: Path, factor: int) -> None:
    """Write each filing company so many times, with other ids and another name."""
    source = next((folder / "sec").glob("*.zip"))
    with zipfile.ZipFile(source) as archive:
        tables = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in tables.items():
            head, _, body = text.partition(b"\n")
            copies = [_copied(body, n) for n in range(1 if name == "tag.txt" else factor)]
            archive.writestr(name, b"\n".join([head, b"".join(copies)]))
    for path in (folder / "edinet").iterdir():
        is_packed = path.suffix == ".gz"
        text = gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()
        n_head = 0 if is_packed else 2
        lines = text.splitlines(keepends=True)
        rows = b"".join(lines[n_head:])
        text = b"".join([*lines[:n_head], *(_copied(rows, n) for n in range(factor))])
        path.write_bytes(gzip.compress(text, mtime=0) if is_packed else text)


# In the rows of a company: its id with the SEC (999nnnn) or in Japan (E9nnnn), documents (S9nnnn),
# and its name, as filed with the SEC or with its legal form.
_ID = rb"(?<!\d)(?P<id>(?:000)?999|[ES]9)(?P<digit>\d)(?=\d{3}(?![\d.]))"
_NAME = rb"(?<=\t)[A-Z][^\t]+(?=\t\d{4}\t[A-Z]{2}\t)"
_LEGAL = b"|".join("株式会社".encode(code) for code in ("utf-8", "cp932"))
_OWN = re.compile(_ID + b"|" + _NAME + b"|" + _LEGAL + rb'|CO\., LTD\.(?=")')


def _copied(rows: bytes, number: int) -> bytes:
    """The rows of companies of other ids and names; those of copy 0 are as they are."""

    def other(match: re.Match[bytes]) -> bytes:
        if match["id"] is None:
            return b"%s %d" % (match[0], number)
        return b"%s%d" % (match["id"], (int(match["digit"]) + number) % 10)

    return _OWN.sub(other, rows) if number else rows


def _multiply_tables(folder: Path, factor: int) -> None:
    """Write each company of the private tables so many times, with another code and name."""
    for name in ("enterprise", "narrative"):
        path = folder / f"{name}.csv"
        frame = pl.read_csv(path, infer_schema=False)
        named = [column for column in ("code", "name", "name_en", "text") if column in frame]
        copies = [
            frame.with_columns(pl.col(named) + f" {n}" if n else pl.col(named))
            for n in range(factor)
        ]
        pl.concat(copies).write_csv(path)
    path = folder / "industry_totals.csv"
    frame = pl.read_csv(path, schema_overrides={"year": pl.String})
    frame.with_columns(pl.col("revenue") * factor).write_csv(path)


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
    usage = Usage(folder / "log")
    with usage.log.open("wb") as log:
        build = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PREFECT_HOME": str(folder / "prefect")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        peak, _ = watched(build, _STEP, usage.sample)
    seconds = time.monotonic() - started
    text = usage.log.read_text("utf-8")
    if build.returncode:
        raise subprocess.CalledProcessError(build.returncode, command, text[-2000:])
    tasks = re.search(r"^(\d+) tasks in", text, re.MULTILINE)
    assert tasks is not None
    load = os.getloadavg()[1]
    return Build(
        factor, usage.by_stage(), round(seconds, 1), peak // _MIB, int(tasks[1]), round(load, 1)
    )


@dataclass(slots=True)
class Usage:
    """Processor time of a build so far, and how many stages its log had counted by then.

    A process that has ended counts with what it had used when it was last seen, so that processes
    of less than half a second are missed.
    """

    log: Path
    samples: list[tuple[int, float]] = field(default_factory=list)
    processes: dict[tuple[int, str], float] = field(default_factory=dict)

    def sample(self, processes: Iterable[int]) -> None:
        ended = len(_COUNTED.findall(self.log.read_text("utf-8")))
        self.processes |= dict(filter(None, map(_processor_seconds, processes)))
        self.samples.append((ended, sum(self.processes.values())))

    def by_stage(self) -> dict[str, float]:
        """Seconds by stage; what comes after the last is named by what it does."""
        stages = [*_COUNTED.findall(self.log.read_text("utf-8")), _LAST]
        seconds: dict[str, float] = dict.fromkeys(stages, 0.0)
        for (_, before), (ended, now) in pairwise([(0, 0.0), *self.samples]):
            seconds[stages[ended]] += now - before
        return {stage: round(used, 2) for stage, used in seconds.items()}


def _processor_seconds(pid: int) -> tuple[tuple[int, str], float] | None:
    """A process (its id and when it began) and what it has used itself; None if it has ended."""
    try:
        values = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (pid, values[19]), sum(map(int, values[11:13])) / os.sysconf("SC_CLK_TCK")


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
        (
            "size",
            "seconds by the clock",
            "peak MiB, all processes",
            "released",
            "load of the machine",
        ),
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
