"""Pilot runs say how hard a task is, and which candidates no two pilots differ on.

A lane's rule holds where there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data.contracts import Candidate, Measured, Status
from data.errors import ReleaseError
from data.pool import read_pool
from data.stage_tables import read_records
from selection.config import SelectionRecipe
from selection.pilots import (
    _verdicts,
    band_of,
    measure,
    read_passes,
    saturation,
    with_measured_difficulty,
    write_informative,
)
from selection.release import LEFT_OUT, Known, choose
from selection.scores import ScoreMatrix
from tests.selection.test_release import SESSIONS, candidate

NONE = float("nan")
# of three pilots: all pass, all fail, they differ, one ran, none ran
SCORES = np.array(
    [[0.6, 0.9, 1.0], [0.0, 0.5, 0.59], [0.0, 0.6, 1.0], [NONE, 1.0, NONE], [NONE, NONE, NONE]]
)
TASKS = SESSIONS[:5]
NAMES = [task.task_id for task in TASKS]
MATRIX = ScoreMatrix(
    tuple(NAMES), tuple(f"family-{at}" for at in range(5)), ("a", "b", "c"), SCORES
)


def test_a_score_at_the_threshold_passes() -> None:
    seen = measure(SCORES[0], 0.6)
    assert (seen.passed, seen.failed) == (3, 0)
    assert measure(SCORES[0], 0.61).failed == 1


def test_all_pass_and_all_fail_are_rejected_and_the_unmeasured_stay(tmp_path: Path) -> None:
    recipe = SelectionRecipe()
    judged = _verdicts(TASKS, MATRIX, recipe)
    reasons = [judged[name].reason for name in NAMES]
    assert reasons == ["informative.all_pass", "informative.all_fail", None, None, None]
    assert [judged[name].status for name in NAMES[2:]] == [
        Status.PASSED, Status.NOT_MEASURED, Status.NOT_MEASURED,
    ]  # fmt: skip
    write_informative(TASKS, MATRIX, recipe, tmp_path)
    assert {task.task_id for task in read_pool([tmp_path]).candidates} == {*NAMES[2:]}
    rows = {row.item_id: row.reason for row in read_records([tmp_path]).ledger}
    assert [rows[name] for name in NAMES] == reasons


def test_only_the_named_pilots_count() -> None:
    recipe = SelectionRecipe(pilots=("b", "a"))
    assert _verdicts(TASKS, MATRIX, recipe)[NAMES[1]].measures == {"passed": 0, "failed": 2}
    assert _verdicts(TASKS, MATRIX, recipe)[NAMES[2]].reason is None


def test_without_scores_nothing_is_rejected() -> None:
    judged = _verdicts(TASKS, None, SelectionRecipe())
    assert {verdict.status for verdict in judged.values()} == {Status.NOT_MEASURED}


@pytest.mark.parametrize(("unpiloted", "rest"), [("leave_out", False), ("keep", True)])
def test_candidates_without_scores_are_left_out_or_kept(unpiloted: str, rest: bool) -> None:
    recipe = SelectionRecipe.model_validate({"unpiloted": unpiloted})
    some = ScoreMatrix(MATRIX.items[2:3], MATRIX.families[2:3], MATRIX.models, SCORES[2:3])
    chosen = choose(TASKS, {}, recipe, 7, Known(opaque=str, pilots=some)).chosen
    assert (chosen > {NAMES[2]}) is rest
    assert NAMES[2] in chosen


def test_items_without_scores_are_added_in_order() -> None:
    whole = MATRIX.with_unscored(["a-first"], ["f"])
    assert whole.items == tuple(sorted(["a-first", *NAMES]))
    frame = pl.DataFrame(whole.scores, schema=list(whole.models))
    assert frame.row(whole.items.index(NAMES[0])) == (0.6, 0.9, 1.0)
    assert np.isnan(whole.scores[whole.items.index("a-first")]).all()


RULE = {"difficulty": "medium", "difficulty_rule": "of the lane"}
HEAD = "item,family,model,score"


def table(tmp_path: Path, head: str, *lines: str) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text("\n".join([head, *lines, ""]), "utf-8")
    return path


def test_real_agents_measure_difficulty_and_the_declared_one_stays() -> None:
    tasks = [candidate(number).model_copy(update=RULE) for number in range(6)]
    rates: Sequence[Sequence[float]] = ([1, 1, 0.5], [0.5, 0.5], [0, 0.5, 0], [1], [0, 0])
    passes = {task.task_id: each for task, each in zip(tasks[:5], rates, strict=True)}
    rated = with_measured_difficulty(tasks, passes)
    levels = ["easy", "medium", "hard", "unmeasured", "hard", "unmeasured"]
    assert [task.measured_difficulty for task in rated] == levels
    assert [task.pass_rate for task in rated] == [0.833333333, 0.5, 0.166666667, None, 0, None]
    assert {(task.difficulty, task.difficulty_rule) for task in rated} == {
        ("medium", "of the lane")
    }
    assert with_measured_difficulty(tasks, {}) == tasks


def test_scripted_agents_measure_nothing(tmp_path: Path) -> None:
    path = table(
        tmp_path, f"{HEAD},pass_rate",
        "a,f,one,0.9,1.0", "a,f,two,0.95,0.0", "a,f,skilled,1.0,", "b,f,skilled,0.3,",
        "b,f,steady,0.2,",
    )  # fmt: skip
    assert read_passes(path) == {"a": [0.0, 1.0]}


def test_without_the_column_a_score_of_the_pass_mark_passes(tmp_path: Path) -> None:
    path = table(tmp_path, HEAD, "a,f,one,0.8", "a,f,two,0.79", "b,f,one,1.0")
    assert read_passes(path) == {"a": [0.0, 1.0], "b": [1.0]}


@pytest.mark.parametrize(
    ("rate", "band"),
    [(None, None), (0.0, "none"), (0.3, "low"), (1 / 3, "middle"), (0.6, "middle"),
     (2 / 3, "high"), (0.99, "high"), (1.0, "all")],
)  # fmt: skip
def test_pass_rates_fall_into_bands(rate: float | None, band: str | None) -> None:
    assert band_of(rate) == band


def rated(number: int, rate: float | None, split: str = "full") -> Candidate:
    shown = None if rate is None else Measured(difficulty="medium", pass_rate=rate)
    return candidate(number).model_copy(update={"measured": shown, "split": split})


def test_a_release_says_which_share_of_its_tasks_is_saturated() -> None:
    tasks = [rated(number, rate) for number, rate in enumerate((1, 1, 0, 0.5, None))]
    assert saturation(tasks) == {"tasks": 4, "all_pass": 0.5, "all_fail": 0.25, "separate": 0.25}
    assert saturation([rated(1, None)]) is None


def test_the_selection_takes_the_declared_spread_of_pass_rates() -> None:
    rates = [0.1] * 6 + [0.5] * 6 + [0.9] * 12
    tasks = [rated(number, rate) for number, rate in enumerate(rates)]
    wanted = {"low": {"low": 0.3, "high": 0.4}, "high": {"high": 0.2}}
    recipe = SelectionRecipe.model_validate({"max_tasks": 10, "pass_rate_shares": wanted})
    choice = choose(tasks, {}, recipe, 7, Known(opaque=str))
    bands = Counter(band_of(task.pass_rate) for task in tasks if task.task_id in choice.chosen)
    assert len(choice.chosen) == 10
    assert 3 <= bands["low"] <= 4
    assert bands["high"] <= 2


def test_a_spread_that_the_pool_cannot_give_is_named() -> None:
    tasks = [rated(number, 0.9) for number in range(12)]
    recipe = SelectionRecipe.model_validate(
        {"max_tasks": 6, "pass_rate_shares": {"low": {"low": 0.5}}}
    )
    with pytest.raises(ReleaseError, match="pass_rate low needs at least 3 items"):
        choose(tasks, {}, recipe, 7, Known(opaque=str))


def test_smoke_tasks_are_left_out_or_capped() -> None:
    tasks = [rated(number, None, "smoke" if number < 8 else "full") for number in range(14)]
    none = SelectionRecipe.model_validate({"split_shares": {"smoke": {"high": 0.0}}})
    choice = choose(tasks, {}, none, 7, Known(opaque=str))
    smoke = {task.task_id for task in tasks if task.split == "smoke"}
    assert choice.chosen == {task.task_id for task in tasks} - smoke
    assert {choice.reasons[name] for name in smoke} == {LEFT_OUT}
    capped = SelectionRecipe.model_validate({"split_shares": {"smoke": {"high": 0.25}}})
    choice = choose(tasks, {}, capped, 7, Known(opaque=str))
    assert (len(choice.chosen), len(choice.chosen & smoke)) == (8, 2)
    assert len(choose(tasks, {}, SelectionRecipe(), 7, Known(opaque=str)).chosen) == 14
