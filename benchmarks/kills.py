"""A whole build killed 40 times, evenly over its time: does each end in the same digest?

The generated demo is built once, and its log tells how long each phase takes: the stages one after
the other, then staging, then publishing. Kills are spread evenly over this time, and at least one
falls into each of package, select, staging and publishing. For each the workspace is put back
to where its phase begins, the process group gets SIGKILL that far into the phase, and the same
command is run again. What is there after the kill must be nothing or a whole snapshot; after the
second run both SHA256SUMS must be those of the build that nobody killed, with nothing half written.

The outputs of later stages stay in the workspace: they are used again only if what they are made of
comes out the same, and otherwise the digests differ.

    python -m benchmarks.kills [--kills 40] [--size 60]     writes benchmarks/results/kills.md
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from benchmarks.report import RESULTS, table
from tests.flows.command import command, environment, key_file, sums

STAGING, PUBLISHING = "staging", "publishing"
NEEDED = ("package", "select", STAGING, PUBLISHING)
_ENDS = {"staged": STAGING, "released": PUBLISHING}  # by the log's message; a stage is `counted`
_STEP = 0.005


@dataclass(frozen=True, slots=True)
class Phase:
    """A stage, staging, or publishing: its seconds in a build that nobody kills."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Kill:
    """So many seconds into a phase."""

    phase: str
    after: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which phase was hit, and what was wrong afterwards; nothing if all was well."""

    phase: str
    fault: str = ""


class Builds:
    """Builds of one demo below a folder; `out` is where they build."""

    def __init__(self, folder: Path, size: int) -> None:
        self.out, self.whole = folder / "out", folder / "whole"
        self._arguments = ("build", "--quiet", "--key", key_file(folder), "--out", self.out)
        self._variables = {
            "BENCHMINT_DEMO__SIZE": str(size),
            "PREFECT_HOME": str(folder / "prefect"),
        }

    def run(self, kill: Kill | None = None) -> tuple[int, str]:
        """Exit code and phase at the end, which is where the kill came, if one was wanted."""
        before = set(self._logs())
        process = subprocess.Popen(
            command(*self._arguments),
            env=environment() | self._variables,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        phase = ""
        try:
            if kill is not None:
                phase = self._wait(process, before, kill)
        finally:
            if kill is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode, phase

    def _wait(self, process: subprocess.Popen[bytes], before: set[Path], kill: Kill) -> str:
        """Until the phase has gone on for so long; the phase that the build is in then."""
        began: float | None = None
        while process.poll() is None:
            ended = [name for name, _ in ends(self._newest(before))]
            current = self._next(ended)
            if began is None and current == kill.phase:
                began = time.monotonic()
            if began is not None and time.monotonic() - began >= kill.after:
                return current
            time.sleep(_STEP)
        return "after the end"

    def _next(self, ended: list[str]) -> str:
        """The phase that follows the last that ended."""
        names = [phase.name for phase in self.phases]
        return names[min(names.index(ended[-1]) + 1, len(names) - 1)] if ended else names[0]

    def measure(self) -> None:
        """The build that nobody kills: its phases and its digests."""
        code, _ = self.run()
        assert code == 0, "the build itself fails"
        marks = ends(self._newest(set()))
        self.phases = [Phase(name, at - before) for (_, before), (name, at) in pairwise(marks)]
        self.phases.insert(0, Phase(marks[0][0], marks[0][1] - started(self._newest(set()))))
        self.sums = sums(self.out)
        shutil.move(self.out, self.whole)

    def put_back(self, phase: str) -> None:
        """The workspace as it is when the phase begins; outputs of later stages are there."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.copytree(self.whole, self.out, symlinks=True)
        for name in ("snapshots", "staging"):
            shutil.rmtree(self.out / name)
        (self.out / "staging.duckdb").unlink()
        shutil.rmtree(self.out / "private" / "stages" / phase, ignore_errors=True)

    def fault_after_kill(self) -> str:
        latest = self.out / "snapshots" / "latest"
        return "" if not latest.exists() or sums(self.out) == self.sums else "latest is not whole"

    def fault_in_the_end(self, code: int) -> str:
        """What is wrong after the second run."""
        if code:
            return f"exit code {code}"
        if list(self.out.rglob("*.part")):
            return "half-written files"
        return "" if sums(self.out) == self.sums else "another digest"

    def _logs(self) -> list[Path]:
        return sorted((self.out / "private" / "logs").glob("*.jsonl"))

    def _newest(self, before: set[Path]) -> list[dict[str, object]]:
        """The records of the log that is not among those before."""
        logs = [path for path in self._logs() if path not in before]
        lines = logs[-1].read_bytes().splitlines(keepends=True) if logs else []
        return [orjson.loads(line) for line in lines if line.endswith(b"\n")]


def started(records: list[dict[str, object]]) -> float:
    return _seconds(records[0])


def ends(records: list[dict[str, object]]) -> list[tuple[str, float]]:
    """The phases that ended, and when."""
    marks = []
    for record in records:
        message = str(record["message"])
        name = str(record["stage"]) if message == "counted" else _ENDS.get(message)
        if name is not None:
            marks.append((name, _seconds(record)))
    return marks


def _seconds(record: dict[str, object]) -> float:
    hours, minutes, seconds = str(record["at"])[11:23].split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)


def spread(phases: list[Phase], kills: int) -> list[Kill]:
    """Kills evenly over the time of all phases, and at least one in each that is needed."""
    total = sum(phase.seconds for phase in phases)
    missing = set(NEEDED)
    chosen: list[Kill] = []
    for number in range(kills):
        at = (number + 0.5) * total / kills
        for phase in phases:
            if at < phase.seconds:
                chosen.append(Kill(phase.name, at))
                break
            at -= phase.seconds
    missing -= {kill.phase for kill in chosen}
    often = Counter(kill.phase for kill in chosen)
    for phase in phases:
        if phase.name in missing:
            busiest = often.most_common(1)[0][0]
            chosen.remove(next(kill for kill in chosen if kill.phase == busiest))
            often[busiest] -= 1
            chosen.append(Kill(phase.name, phase.seconds / 2))
    order = [phase.name for phase in phases]
    return sorted(chosen, key=lambda kill: (order.index(kill.phase), kill.after))


def measure(folder: Path, kills: int, size: int) -> tuple[list[Phase], list[Outcome]]:
    """One build that is not killed, and the others."""
    builds = Builds(folder, size)
    builds.measure()
    outcomes = []
    for kill in spread(builds.phases, kills):
        builds.put_back(kill.phase)
        code, phase = builds.run(kill)
        fault = builds.fault_after_kill()
        code, _ = builds.run()
        outcomes.append(Outcome(phase, fault or builds.fault_in_the_end(code)))
        print(f"{kill.phase} after {kill.after:.2f} s: {outcomes[-1]}", flush=True)
    return builds.phases, outcomes


def report(phases: list[Phase], outcomes: list[Outcome], size: int) -> str:
    """The page: by phase how many kills, and how many digests differed."""
    hit, bad = (
        Counter(outcome.phase for outcome in outcomes),
        Counter(outcome.phase for outcome in outcomes if outcome.fault),
    )
    names = [*(phase.name for phase in phases), *sorted(hit.keys() - {p.name for p in phases})]
    seconds = {phase.name: f"{phase.seconds:.1f}" for phase in phases}
    rows = [(name, seconds.get(name, ""), str(hit[name]), str(bad[name])) for name in names]
    rows.append(("all", f"{sum(p.seconds for p in phases):.1f}", str(len(outcomes)), str(len(bad))))
    faults = "".join(
        f"- {outcome.phase}: {outcome.fault}\n" for outcome in outcomes if outcome.fault
    )
    about = (__doc__ or "").partition("    python -m")[0].strip()
    head = ("phase", "seconds", "kills", "differ")
    return f"# Kills\n\n{about}\n\nSessions of the demo: {size}.\n\n{table(head, rows)}\n{faults}"


def main() -> None:
    """Measure in a temporary folder and write the table; exit 1 if a digest differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--size", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        phases, outcomes = measure(Path(folder), given.kills, given.size)
    page = report(phases, outcomes, given.size)
    (RESULTS / "kills.md").write_text(page, encoding="utf-8")
    sys.exit(any(outcome.fault for outcome in outcomes))


if __name__ == "__main__":
    main()
