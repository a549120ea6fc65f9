"""SIGKILL between two file operations at the seams of a release; then the work is repeated.

A seam is where something half done would show: publishing, the link `latest`, the swap of the
staging database, signing, errata, purging and sealing. Each is run once to count its file
operations (Python's audit events), then killed before some of them, spread evenly. After each kill
whoever reads must find the old state or the new one; the same command again must end in the same
files as without a kill.

Run: python -m benchmarks.kill_seams [--kills 126] [--seam NAME]; without --seam it writes
benchmarks/results/kill_seams.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.kill_seams_work import SEAMS, Seam
from tests.conftest import REPO

RESULTS = REPO / "benchmarks" / "results" / "kill_seams.md"
# What changes files. Reading is no seam.
_EVENTS = frozenset(
    {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.truncate"}
)
_WRITING = os.O_WRONLY | os.O_RDWR
HEAD = """# Killed at the seams

`python -m benchmarks.kill_seams`: each seam is run once to count its file operations, then killed
(SIGKILL) before some of them, spread evenly, and run again. "Half done" counts the kills after
which a reader saw neither the old state nor the new one; "other end" those after which the repeated
command ended in other files than without a kill, or left temporary files.

The first run of this script saw three faults, which were mended: a kill while signing left a
temporary file in the public half, which then neither verified nor could be signed again; sealing
that was killed after the last file was destroyed could not be finished; signing, errata,
sealing and the metrics of a staged run left temporary files for good.

| seam | file operations | kills | half done | other end |
|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the kills of one seam; `faults` say after which operation what was wrong."""

    seam: str
    operations: int
    kills: int
    half_done: int
    other_end: int
    faults: tuple[str, ...]


def measure(seam: Seam, kills: int) -> Outcome:
    """Kill a seam at so many points, or at all if it has fewer."""
    with tempfile.TemporaryDirectory() as scratch:
        template = Path(scratch, "template")
        template.mkdir()
        in_child(lambda: seam.prepare(template))
        whole = _copy(template, Path(scratch, "whole"))
        operations = int(in_child(lambda: _counted(seam, whole)))
        expected = in_child(lambda: seam.state(whole))
        points = sorted({1 + number * operations // kills for number in range(kills)})
        half_done, other_end, faults = 0, 0, []
        for point in points:
            folder = _copy(template, Path(scratch, "killed"))
            in_child(partial(_counted, seam, folder, point))
            problem = in_child(partial(seam.seen, folder))
            if problem:
                half_done += 1
                faults.append(f"{seam.name}, operation {point}: {problem}")
            ended = in_child(partial(_repeated, seam, folder))
            if ended != expected:
                other_end += 1
                faults.append(f"{seam.name}, operation {point}: ends as {ended[:300]}")
            shutil.rmtree(folder)
        return Outcome(seam.name, operations, len(points), half_done, other_end, tuple(faults))


def _repeated(seam: Seam, folder: Path) -> str:
    """The work again, after the kill."""
    seam.act(folder)
    return seam.state(folder)


def _copy(template: Path, folder: Path) -> Path:
    return Path(shutil.copytree(template, folder, symlinks=True))


def in_child(work: Callable[[], object]) -> str:
    """What `work` returns, as text, or the error it raised; "" if it was killed.

    Each piece of work has a process of its own, so that threads of one are not killed with another,
    and this process has none that a fork would cut off.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(work() or "")
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {error}"
        os.write(writing, text.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read().decode()
    os.waitpid(child, 0)
    return content


def _counted(seam: Seam, folder: Path, kill_at: int | None = None) -> int:
    """Run a seam; the number of its file operations. Killed before the one with this number."""
    count = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        is_writing = event == "open" and bool(int(str(arguments[2] or 0)) & _WRITING)
        if event in _EVENTS or is_writing:
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.dont_write_bytecode = True
    sys.addaudithook(watch)
    seam.act(folder)
    return count


def row(outcome: Outcome) -> str:
    return (
        f"| {outcome.seam} | {outcome.operations} | {outcome.kills} | {outcome.half_done} "
        f"| {outcome.other_end} |"
    )


def main() -> None:
    """Measure the seams, print the faults, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=126)
    parser.add_argument("--seam", choices=sorted(seam.name for seam in SEAMS))
    given = parser.parse_args()
    chosen = [seam for seam in SEAMS if given.seam in (None, seam.name)]
    outcomes = []
    for seam in chosen:
        outcomes.append(measure(seam, -(-given.kills // len(chosen))))
        print(row(outcomes[-1]), *outcomes[-1].faults, sep="\n", flush=True)
    if given.seam is None:
        kills = sum(outcome.kills for outcome in outcomes)
        text = HEAD + "\n".join(map(row, outcomes)) + f"\n\n{kills} kills in all.\n"
        RESULTS.write_text(text, encoding="utf-8")
    sys.exit(any(outcome.faults for outcome in outcomes))


if __name__ == "__main__":
    main()
