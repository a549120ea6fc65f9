"""Fuzzing of every reader of foreign files: nothing may crash, hang, or leave its folder.

Each reader gets damaged copies of its corpus (`benchmarks/fuzz_corpus`, and what is made here from
the sample release). The damage is drawn from SEED, the reader and the number of the input, so a
failure can be repeated: `python -m benchmarks.fuzz --reader NAME --only NUMBER`. A reader may
refuse an input with an error of one line; any other exception, or more than LONGEST seconds, is a
failure. Run: make fuzz.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from benchmarks.fuzz_mutations import mutated
from benchmarks.fuzz_readers import READERS, Reader
from data.errors import BenchmintError
from tests.conftest import REPO

SEED = 20260119
INPUTS, LONGEST = 1_000, 20  # per reader; seconds
RESULTS = REPO / "benchmarks" / "results" / "fuzz.md"
HEAD = f"""# Fuzzing

`make fuzz` (seed {SEED}): damaged copies of a committed corpus for each reader of foreign files.
"Refused" inputs ended in an error of one line. A failure is any other exception, more than
{LONGEST} seconds, or a message of more than one line.

| reader | inputs | read | refused | failures | slowest |
|---|---|---|---|---|---|
"""


class TooLongError(Exception):
    """A reader takes more than LONGEST seconds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reader did with its inputs; `slowest` in seconds."""

    reader: str
    inputs: int
    refused: int
    failures: tuple[str, ...]
    slowest: float


def measure(reader: Reader, numbers: range) -> Outcome:
    """Give a reader the inputs with these numbers."""
    refused, slowest, failures = 0, 0.0, []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        seeds = reader.prepare(folder)
        for number in numbers:
            content = mutated(seeds, random.Random(f"{SEED}:{reader.name}:{number}"))
            began = time.monotonic()
            try:
                _limited(reader, folder, content)
            except BenchmintError as error:
                refused += 1
                if "\n" in str(error):
                    failures.append(f"{reader.name} {number}: a message of several lines")
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                name = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
                failures.append(f"{reader.name} {number}: {name}: {str(error)[:200]!r}")
            slowest = max(slowest, time.monotonic() - began)
    return Outcome(reader.name, len(numbers), refused, tuple(failures), slowest)


def _limited(reader: Reader, folder: Path, content: bytes) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    try:
        reader.read(folder, content)
    finally:
        signal.alarm(0)


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError(f"more than {LONGEST} s")


def row(outcome: Outcome) -> str:
    read = outcome.inputs - outcome.refused - len(outcome.failures)
    return (
        f"| {outcome.reader} | {outcome.inputs:,} | {read:,} | {outcome.refused:,} "
        f"| {len(outcome.failures)} | {outcome.slowest:.1f} s |"
    )


def main() -> None:
    """Fuzz the readers, print the failures, and write the table if all were fuzzed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=INPUTS, help="for each reader")
    parser.add_argument("--reader", choices=sorted(reader.name for reader in READERS))
    parser.add_argument("--only", type=int, help="one input by its number")
    given = parser.parse_args()
    numbers = range(given.inputs) if given.only is None else range(given.only, given.only + 1)
    outcomes = []
    for reader in READERS:
        if given.reader in (None, reader.name):
            outcomes.append(measure(reader, numbers))
            print(row(outcomes[-1]), *outcomes[-1].failures[:20], sep="\n", flush=True)
    if given.reader is None and given.only is None and given.inputs >= INPUTS:
        RESULTS.write_text(HEAD + "\n".join(map(row, outcomes)) + "\n", encoding="utf-8")
    sys.exit(any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    main()
