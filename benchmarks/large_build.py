"""A build of thousands of generated sessions without a network: time, memory, Prefect's parameters.

The command is the users' own, with the default settings and `[demo] size`. Memory is the sum over
the build's processes of their proportional share (PSS), sampled every two seconds, and the resident
size of the largest process. Parameters and results are read from Prefect's database afterwards. The
plain baseline is the same build of the default demo (60 sessions), in the same run.

    python -m benchmarks.large_build --sessions 5000
                                         writes benchmarks/results/large_build.md and .json

Needs Linux and the right to make a network namespace (`unshare -n`), in which only the loopback is.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.report import table, write_result
from construction.sandbox.resources import _descendants

BASELINE = 60
_SAMPLE_SECONDS = 2.0
_BINARIES = Path(sys.executable).parent
_OFFLINE = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
_MIB = 1024
# Where Prefect keeps what flows and tasks were called with, and what they returned.
_CALLS = (
    ("flow_run", "parameters"),
    ("task_run", "task_inputs"),
    ("flow_run_state", "data"),
    ("task_run_state", "data"),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """One build. Memory in MiB; `largest_call_bytes` is the largest parameter or result."""

    sessions: int
    candidates: int
    released: int
    seconds: float
    peak_mib: int
    largest_process_mib: int
    largest_call_bytes: int
    verified: bool


def measure(sessions: int, folder: Path) -> Figures:
    """Build a demo of that size in a folder. Raises CalledProcessError if it fails."""
    folder.mkdir(parents=True)
    (folder / "build.toml").write_text(f"[demo]\nsize = {sessions}\n", encoding="utf-8")
    home = folder / "prefect"
    command = [*_OFFLINE, str(_BINARIES / "benchmint"), "build", "--config", "build.toml"]
    started = time.monotonic()
    with (folder / "log").open("wb") as log:
        build = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PREFECT_HOME": str(home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        peak, largest = watched(build)
    seconds = time.monotonic() - started
    text = (folder / "log").read_text(encoding="utf-8")
    if build.returncode:
        raise subprocess.CalledProcessError(build.returncode, command, text[-2000:])
    candidates, released = _selected(text)
    verified = subprocess.run(
        [_BINARIES / "benchmint", "verify", folder / "workspace/snapshots/latest"],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return Figures(
        sessions, candidates, released, round(seconds, 1), peak // _MIB, largest // _MIB,
        _largest_call(home / "prefect.db"), verified.returncode == 0,
    )  # fmt: skip


def watched(
    build: subprocess.Popen[bytes],
    step: float = _SAMPLE_SECONDS,
    also: Callable[[list[int]], None] = lambda _processes: None,
) -> tuple[int, int]:
    """The peak over time of all processes' PSS, and of one process's resident size, in KiB.

    `also` is called with the ids of these processes every `step` seconds.
    """
    peak = largest = 0
    while build.poll() is None:
        processes = list(_descendants(build.pid))
        sizes = [size for pid in processes if (size := _memory(pid)) is not None]
        peak = max(peak, sum(pss for pss, _ in sizes))
        largest = max([largest, *(rss for _, rss in sizes)])
        also(processes)
        time.sleep(step)
    return peak, largest


def _memory(pid: int) -> tuple[int, int] | None:
    """PSS and resident size of a process in KiB; None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = dict(re.findall(r"^(Pss|Rss):\s+(\d+) kB", text, re.MULTILINE))
    return (int(sizes["Pss"]), int(sizes["Rss"])) if len(sizes) == 2 else None


def _selected(text: str) -> tuple[int, int]:
    """Candidates and released tasks, from the last line of the printed summary."""
    row = re.search(r"^ select +candidate +(\d+) +(\d+)", text, re.MULTILINE)
    if row is None:
        raise ValueError("the build printed no row `select candidate`")
    return int(row[1]), int(row[2])


def _largest_call(database: Path) -> int:
    """Bytes of the largest parameter or result that Prefect recorded."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        sizes = [
            connection.execute(
                f"SELECT coalesce(max(length(CAST({column} AS blob))), 0) FROM {name}"
            ).fetchone()[0]
            for name, column in _CALLS
        ]
    return int(max(sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=5000)
    sessions = parser.parse_args().sessions
    with tempfile.TemporaryDirectory() as folder:
        runs = [measure(size, Path(folder) / str(size)) for size in (BASELINE, sessions)]
    head = (
        "sessions", "candidates", "released", "seconds", "s per session",
        "peak MiB, all processes", "largest process MiB", "largest Prefect parameter or result",
        "verified",
    )  # fmt: skip
    rows = [
        (
            str(run.sessions), str(run.candidates), str(run.released), f"{run.seconds:.0f}",
            f"{run.seconds / run.sessions:.2f}", str(run.peak_mib), str(run.largest_process_mib),
            f"{run.largest_call_bytes} bytes", "yes" if run.verified else "no",
        )
        for run in runs
    ]  # fmt: skip
    figures = {"runs": [asdict(run) for run in runs]}
    write_result("large_build", __doc__ or "", table(head, rows), figures)


if __name__ == "__main__":
    main()
