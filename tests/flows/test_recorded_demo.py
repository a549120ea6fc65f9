"""The demo as its first user builds it: judged by the recorded replies of a model."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import polars as pl
import pytest

from construction.judging.calls.store import _read_recorded
from construction.judging.checks.stage import PROGRAM, STAGE
from data.contracts import Outcome
from data.demo.generate import RECORDED_MODEL, REPLIES
from tests.flows.command import benchmint

LEAST_PROVEN = 0.8  # of the pairs of check programs; 28 of 30 when they were recorded
MOST_MISSING = 0.1  # of the questions; what masking or a view changes since costs a reply each


def test_the_recorded_replies_are_one_models_and_small() -> None:
    assert {one.reply.model for one in _read_recorded(REPLIES)} == {RECORDED_MODEL}
    assert REPLIES.stat().st_size < 3_000_000


@pytest.mark.slow(seconds=240)
def test_the_demo_says_whose_replies_judged_it_and_how_many_are_missing(tmp_path: Path) -> None:
    built = benchmint("build", "--out", tmp_path / "out")
    assert built.returncode == 0, built.stderr
    said = re.search(
        rf"^judged by recorded replies of {RECORDED_MODEL}"
        r"(?:; (\d+) of (\d+) questions had no reply)?",
        built.stdout,
        re.MULTILINE,
    )
    assert said is not None
    missing, questions = (int(number or 0) for number in said.groups())
    assert missing <= MOST_MISSING * questions, f"{missing} of {questions} have no reply"
    lines = (tmp_path / "out/snapshots/latest/public/tasks.jsonl").read_bytes().splitlines()
    judges = [task["role"]["judge"] for line in lines if (task := orjson.loads(line)).get("role")]
    assert judges.count(f"model:{RECORDED_MODEL}") >= 10
    ledger = pl.read_parquet(tmp_path / "out/snapshots/latest/private/ledger.parquet")
    programs = ledger.filter(pl.col("stage") == STAGE, pl.col("unit") == PROGRAM)
    proven = programs.filter(pl.col("outcome") == Outcome.KEPT).height
    assert proven >= LEAST_PROVEN * programs.height > 0
