"""From parts to a score: what is passed, what is undecided, and the published formulas."""

from __future__ import annotations

from itertools import product

import pytest

from construction.grading.combine import (
    _overall,
    combine,
    deterministic_score,
    deterministic_share,
    is_passed,
    timely_progress,
)
from construction.grading.spec import spec_of
from data.contracts import Answer, Candidate, Check, Disclosure, Lane, Milestone, Provenance
from data.contracts.attempt import Progress, ScorePart


def part(
    value: float | None,
    weight: float = 1.0,
    *,
    required: bool = False,
    evidence: str = "accuracy",
) -> ScorePart:
    return ScorePart(
        "part", evidence, weight, value, required, deterministic=evidence != "semantic"
    )


def test_the_overall_score_is_the_weighted_mean() -> None:
    assert _overall([part(1.0, 0.6), part(0.5, 0.2), part(0.0, 0.2)]) == 0.7


def test_a_part_without_weight_is_shown_and_does_not_count() -> None:
    assert _overall([part(1.0, 0.5), part(0.0, 0.0)]) == 1.0


def test_an_unjudged_part_leaves_the_overall_score_open() -> None:
    assert _overall([part(1.0, 0.9), part(None, 0.1, evidence="semantic")]) is None


@pytest.mark.parametrize(
    ("judged", "unjudged_weight", "expected"),
    [
        (1.0, 0.2, True),  # .80 even if the judge gives 0
        (1.0, 0.21, None),
        (0.0, 0.79, False),  # .79 even if the judge gives 1
        (0.0, 0.8, None),
    ],
)
def test_passed_is_decided_where_no_judge_could_change_it(
    judged: float, unjudged_weight: float, expected: bool | None
) -> None:
    parts = [
        part(judged, 1 - unjudged_weight),
        part(None, unjudged_weight, evidence="semantic"),
    ]
    assert is_passed(parts) is expected


def test_passed_agrees_with_every_verdict_that_a_judge_could_give() -> None:
    grid = [0.0, 0.25, 0.5, 0.75, 1.0]
    for first, weight, required in product([*grid, None], [0.1, 0.3, 0.5], [True, False]):
        parts = [part(first, 1 - weight, required=required), part(None, weight)]
        fillings = [
            [part(a if first is None else first, 1 - weight, required=required), part(b, weight)]
            for a, b in product(grid, grid)
        ]
        possible = {is_passed(filling) for filling in fillings}
        assert is_passed(parts) is (possible.pop() if len(possible) == 1 else None)


def test_a_failed_required_part_fails_the_task_whatever_its_weight() -> None:
    assert is_passed([part(1.0), part(0.99, 0.0, required=True)]) is False


def test_an_unjudged_required_part_leaves_the_task_open() -> None:
    assert is_passed([part(1.0), part(None, 0.0, required=True)]) is None


def test_without_any_weight_the_required_parts_decide() -> None:
    assert is_passed([part(1.0, 0.0, required=True)]) is True
    assert is_passed([part(1.0, 0.0)]) is None
    assert is_passed([]) is None


def test_the_threshold_is_compared_after_rounding() -> None:
    assert is_passed([part(1.0, 0.1) for _ in range(8)] + [part(0.0, 0.1), part(0.0, 0.1)])


def test_the_share_that_needs_no_judge() -> None:
    parts = [part(1.0, 0.6), part(None, 0.3, evidence="semantic"), part(0.0, 0.1)]
    assert deterministic_share(parts) == 0.7
    assert deterministic_score(parts) == pytest.approx(6 / 7)
    assert deterministic_share([]) == deterministic_score([]) == 0.0


def test_efficiency_is_for_passed_attempts_and_progress_for_the_others() -> None:
    progress = Progress(gpr_direct=0.5)
    passed = combine("t", [part(1.0)], steps=8, gold_steps=4, progress=progress)
    assert (passed.ee, passed.progress) == (0.5, Progress())
    failed = combine("t", [part(0.0)], steps=8, gold_steps=4, progress=progress)
    assert (failed.ee, failed.progress, failed.passed) == (None, progress, False)
    assert combine("t", [part(1.0)], steps=0, gold_steps=4).ee is None


def test_accuracy_is_the_mean_of_the_answer_parts() -> None:
    parts = [part(1.0, 0.5), part(0.0, 0.5), part(None, 0.2, evidence="semantic")]
    assert combine("t", parts, steps=1, gold_steps=1).acc == 0.5
    assert combine("t", [part(1.0, evidence="action")], steps=1, gold_steps=1).acc is None


def test_late_milestones_are_worth_less() -> None:
    assert timely_progress([], 3) is None
    assert timely_progress([1, 3], 3) == 1.0
    assert timely_progress([3, 5], 3) == pytest.approx((1 + 0.81) / 2)


def test_a_specification_holds_what_the_candidate_says() -> None:
    candidate = Candidate(
        task_id="t",
        lane=Lane.QUESTIONS,
        prompt="How many?",
        language="en",
        answers=(Answer(part="value", type="number", value="3", aliases=("three",)),),
        milestones=(Milestone(name="m", value="3", context=("widgets",)),),
        checks=(Check(check_id="c", kind="called", params={"operation": "send"}, text="Sent."),),
        provenance=Provenance(
            source="s", source_format="f", item_id="i", disclosure=Disclosure.PUBLIC
        ),
    )
    spec = spec_of(candidate.model_dump(mode="json"))
    assert spec.prompt == "How many?"
    assert spec.answers[0].aliases == ("three",)
    assert spec.milestones[0].context == ("widgets",)
    assert spec.checks[0].params == {"operation": "send"}
