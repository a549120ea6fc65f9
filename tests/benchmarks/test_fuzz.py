"""A part of `make fuzz`: the first inputs of each reader; and the fuzzer sees a crash."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.fuzz import SEED, measure
from benchmarks.fuzz_mutations import mutated
from benchmarks.fuzz_readers import CORPUS, READERS, Reader
from data.errors import BenchmintError

INPUTS = 40


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_damaged_files_are_read_or_refused(reader: Reader) -> None:
    outcome = measure(reader, range(INPUTS))
    assert outcome.failures == ()


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_the_corpus_itself_is_read(reader: Reader, tmp_path: Path) -> None:
    """Damage to what was never readable would test nothing."""
    read = []
    for seed in reader.prepare(tmp_path):
        try:
            reader.read(tmp_path, seed)
            read.append(seed)
        except BenchmintError:
            continue
    assert read


def test_a_crash_and_a_message_of_two_lines_are_failures() -> None:
    def crash(_: Path, content: bytes) -> None:
        content.decode()
        raise BenchmintError("two\nlines")

    outcome = measure(Reader("crash", lambda _: [b"abc" * 50], crash), range(30))
    problems = " ".join(outcome.failures)
    assert "UnicodeDecodeError" in problems and "several lines" in problems


def test_an_input_is_the_same_every_time_and_most_are_new() -> None:
    seeds = [path.read_bytes() for path in sorted((CORPUS / "sessions").iterdir())]
    drawn = [[mutated(seeds, random.Random(f"{SEED}:x:{n}")) for n in range(50)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0]) - set(seeds)) > 40
