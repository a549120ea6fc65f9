"""One id for one task over a train of releases, and the page that says why tasks left and came."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data.contracts import Answer, LedgerRow, Outcome
from data.releases.diff import changes_of, changes_page
from data.releases.facts import _IdentityReason, past_of
from data.releases.print import changes_lines
from data.tables import LEDGER, ledger_record, write_table
from tests.data.releases import train


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train.written(tmp_path_factory.mktemp("train")).path


def test_the_same_tasks_under_the_same_ids_are_no_contradiction(
    release: Path, tmp_path: Path
) -> None:
    candidates = train.given(tmp_path).candidates
    assert past_of([release]).contradictions(candidates) == {}
    assert past_of([]).contradictions(candidates) == {}


def test_no_other_task_under_an_id_and_no_task_under_another_id(
    release: Path, tmp_path: Path
) -> None:
    first, second, third, *_ = train.given(tmp_path).candidates
    other = first.model_copy(update={"prompt": "Something else altogether."})
    renamed = second.model_copy(update={"task_id": "t-renamed"})
    mended = third.model_copy(update={"difficulty": "hard"})
    new = first.model_copy(update={"task_id": "t-new", "prompt": "Not released yet."})
    assert past_of([release]).contradictions([other, renamed, mended, new]) == {
        first.task_id: _IdentityReason.OTHER_TASK,
        "t-renamed": _IdentityReason.OTHER_ID,
    }


def test_the_same_words_with_another_answer_are_another_task(release: Path, tmp_path: Path) -> None:
    task = train.given(tmp_path).candidates[1]
    answer = (Answer(part="total", type="number", value="-7"),)
    twin = task.model_copy(update={"task_id": "t-twin", "answers": answer})
    assert past_of([release]).contradictions([twin]) == {}


def test_an_id_given_away_long_ago_stays_with_its_task(release: Path, tmp_path: Path) -> None:
    given = train.given(tmp_path, 1)
    later = train.written(tmp_path, 1, candidates=given.candidates[1:]).path
    back = given.candidates[0].model_copy(update={"prompt": "Another task."})
    assert past_of([release, later]).contradictions([back]) == {
        back.task_id: _IdentityReason.OTHER_TASK
    }


def test_without_the_private_half_only_ids_are_compared(release: Path, tmp_path: Path) -> None:
    public = tmp_path / "release"
    shutil.copytree(release / "public", public / "public")
    first, second, *_ = train.given(tmp_path).candidates
    other = first.model_copy(update={"prompt": "Something else altogether."})
    renamed = second.model_copy(update={"task_id": "t-renamed"})
    assert past_of([public]).contradictions([other, renamed]) == {
        first.task_id: _IdentityReason.OTHER_TASK
    }


def test_why_a_task_left_and_came_is_in_the_other_ledger(tmp_path: Path) -> None:
    given = train.given(tmp_path)
    first, second, *rest = given.candidates
    old = train.written(tmp_path).path
    new = train.written(
        tmp_path, 1, candidates=rest, selection=train.mixture({"correspondence": 1.0})
    ).path
    row = LedgerRow(
        "select", "candidate", first.task_id, Outcome.NOT_CHOSEN, reason="select.not_in_subset"
    )
    (new / "private" / "ledger.parquet").unlink()
    write_table(new / "private" / "ledger.parquet", [ledger_record(row)], LEDGER)
    changes = changes_of(old, new)
    assert changes.kept == len(rest)
    fates = {fate.task: fate.why for fate in changes.retired}
    assert fates[first.task_id] == (
        "in the other release: select: The best subset of this size does not include it."
    )
    assert fates[second.task_id].startswith("it is not a candidate in the other release")
    assert any(fates[first.task_id] in line for line in changes_lines(changes))
    page = changes_page(changes, [], "No attempts <b>were</b> given.")
    assert "No attempts &lt;b&gt;were&lt;/b&gt; given." in page
    assert fates[first.task_id] in page
    assert f"{len(rest)} tasks kept, 2 retired, 0 new" in page
