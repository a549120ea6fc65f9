"""Records of Every Eval Ever: what the schema asks for, and its own validator where it is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from selection.evaluation.board import Board, TaskFacts, board
from selection.evaluation.leaderboard_page import SCHEMA, _records, write_records
from tests.selection.evaluation.test_board import tables

_PATH = re.compile(
    r"data/demo/[\w.-]+/[\w.-]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
    r"[0-9a-f]{12}\.json"
)
# eval.schema.json of every-eval-ever 0.3.0: what must be there
_REQUIRED = {
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library",
    "model_info", "evaluation_results",
}  # fmt: skip
_OF_RESULT = {"evaluation_name", "source_data", "metric_config", "score_details"}
VALIDATOR = shutil.which("every_eval_ever")


def made() -> Board:
    attempts, scores = tables()
    attempts = attempts.with_columns(model=pl.lit("openrouter/openai/gpt-5"))
    return board(attempts, scores, [TaskFacts(t, t) for t in sorted(set(attempts["task_id"]))])


def written() -> list[tuple[str, dict[str, Any]]]:
    return list(_records(made(), "demo", "d" * 64, "1.0", 1_764_300_000))


def test_a_row_becomes_a_record() -> None:
    shown = made()
    for row, (path, record) in zip(shown.rows, written(), strict=True):
        assert _PATH.fullmatch(path), path
        assert record.keys() >= _REQUIRED
        assert record["schema_version"] == SCHEMA
        details = record["model_info"]["additional_details"]
        assert details.keys() >= {"deployment_type", "model_availability", "configuration"}
        assert all(isinstance(value, str) for value in details.values())
        first, *_ = record["evaluation_results"]
        assert first.keys() >= _OF_RESULT
        assert first["score_details"]["score"] == row.passed
        interval = first["score_details"]["uncertainty"]["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == (row.low, row.high)


def test_records_have_paths_of_their_own(tmp_path: Path) -> None:
    paths = write_records(made(), "demo", "d" * 64, "1.0", 1_764_300_000, tmp_path)
    assert len(set(paths)) == len(made().rows)
    assert all(path.is_file() and path.is_relative_to(tmp_path / "data") for path in paths)


@pytest.mark.skipif(VALIDATOR is None, reason="no every_eval_ever (pip, Python 3.12) on PATH")
def test_its_own_validator_accepts_them(tmp_path: Path) -> None:
    paths = write_records(made(), "demo", "d" * 64, "1.0", 1_764_300_000, tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in paths]
    done = subprocess.run(
        [str(VALIDATOR), "validate", *names], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
