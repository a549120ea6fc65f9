"""Worker and server killed by turns at five points of a deployed build, then `make serve` again.

Run: python -m benchmarks.kill_points. Writes benchmarks/results/operations.md. Takes minutes.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from flows.service import Service
from tests.conftest import REPO
from tests.flows.command import benchmint, key_file, sums
from tests.flows.service import Running, serving, wait_for

BUILD = "build-snapshot/build-snapshot"
SIZE = 10
RESULTS = REPO / "benchmarks" / "results" / "operations.md"

# Named by what lies below the output directory when the point is reached.
POINTS = {
    "the demo is being generated": "private/build.lock",
    "signals weighed": "private/stages/signals",
    "statements read": "private/stages/statements",
    "chosen": "private/stages/select",
    "staging swapped in, writing": "staging.duckdb",
}
VICTIMS = ("worker", "server")
HEAD = f"""# A deployed build that is killed

`python -m benchmarks.kill_points`: the demo ({SIZE} sessions) is built as a deployment.
At each point the worker and the run it started, or the server alone, get SIGKILL; then the service
is started again and takes the run up. Seconds count from that start, on two busy cores. The last
column compares both SHA256SUMS with those of a build that nobody killed; every snapshot verifies,
and no half-written file is left.

| killed when | killed | published then | service ready | run ended | run | digest |
|---|---|---|---|---|---|---|
"""


def kill(service: Running, victim: str) -> None:
    """SIGKILL for the server alone, or for the worker and the run it started."""
    processes = Service(service.folder, 0, None).processes
    server = processes.running("server")
    chosen = [pid for pid in processes.members() if (pid == server) == (victim == "server")]
    for pid in chosen:
        os.kill(pid, signal.SIGKILL)


def kill_and_restart(
    service: Running, out: Path, given: dict[str, object], point: str, victim: str
) -> str:
    """A row of the table: what was there at the kill, what came of it, and when."""
    run_id = service.start_run(BUILD, out=str(out), overrides=given)
    wait_for((out / POINTS[point]).exists)
    kill(service, victim)
    published = (out / "snapshots" / "latest").exists()
    began = time.monotonic()
    started = service.order("start")
    assert started.stdout.startswith("serving: "), started.stderr
    ready = time.monotonic() - began
    run = service.ended(run_id)
    done = time.monotonic() - began
    state = f"{run['state_type'].lower()}, {run['run_count']} starts"
    published_then = "yes" if published else "no"
    return f"| {point} | {victim} | {published_then} | {ready:.0f} s | {done:.0f} s | {state} |"


def measure(folder: Path, say: Callable[[str], None] = print) -> list[str]:
    """Worker and server by turns, at all points; raises AssertionError where a digest differs."""
    runtime = {"key_file": str(key_file(folder)), "workers": 1}
    given: dict[str, object] = {"demo": {"size": SIZE}, "runtime": runtime}
    rows = []
    with serving(folder / "serve") as service:
        whole = folder / "whole"
        service.ended(service.start_run(BUILD, out=str(whole), overrides=given))
        expected = sums(whole)
        for number, (point, victim) in enumerate(zip(POINTS, cycle(VICTIMS), strict=False)):
            out = folder / f"out-{number}"
            row = kill_and_restart(service, out, given, point, victim)
            same = sums(out) == expected
            rows.append(f"{row} {'same' if same else 'DIFFERENT'} |")
            say(rows[-1])
            assert same, row
            assert benchmint("verify", out / "snapshots" / "latest").returncode == 0
            assert not list(out.rglob("*.part"))
    return rows


def main() -> None:
    """Measure in a temporary folder and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder))
    RESULTS.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
