"""`benchmint export`, run as a user does."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.statements.model import write_statements
from data.releases.tasks import read_tasks
from tests.construction.grading.exports.sample import (
    GOLD_TEXT,
    contents,
    ids,
    sample_export,
    sample_release,
)
from tests.construction.statements.tools.tiny import tiny_statements
from tests.flows.command import benchmint


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with the tables behind its data tools."""
    path = sample_release(tmp_path_factory.mktemp("release"))
    write_statements(read_tasks(path).tables, tiny_statements())
    return path


@pytest.mark.timeout(120)
def test_answers_are_computed_from_the_tables_of_the_release(
    snapshot: Path, tmp_path: Path
) -> None:
    done = benchmint("export", "harbor", snapshot, "--out", tmp_path / "x", "--with-private")
    assert (done.returncode, done.stdout[:9]) == (0, "5 tasks i"), done.stderr
    question, *_ = ids(sample_export(snapshot, with_private=True))
    solution = tmp_path / "x" / "tasks" / question / "solution"
    assert (solution / "answer.txt").read_text() == "125"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("runner", ["inspect", "harbor"])
def test_the_private_half_leaves_when_it_is_asked_for_and_not_before(
    snapshot: Path, tmp_path: Path, runner: str
) -> None:
    public = benchmint("export", runner, snapshot / "public", "--out", tmp_path / "public")
    assert public.returncode == 0, public.stderr
    assert not any(GOLD_TEXT.encode() in text for text in contents(tmp_path / "public").values())
    refused = benchmint(
        "export", runner, snapshot / "public", "--out", tmp_path / "x", "--with-private"
    )
    assert refused.returncode == 2
    assert "no private half" in refused.stderr
    assert not (tmp_path / "x").exists()
