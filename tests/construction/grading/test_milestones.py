"""Milestones: what is evidence, what is chance, what follows, and why an attempt ended."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from construction.grading.grade import _inferred, _reached, progress, termination
from construction.grading.spec import AnswerSpec, MilestoneSpec, StepSpec, TaskSpec
from data.contracts.attempt import AttemptStatus, Call, Progress, Submission, Termination

SERIES = "sec:80/Assets/Balance sheet/USD"
COMPANY = MilestoneSpec("company", "sec:80", step=1)
LINE = MilestoneSpec("series", SERIES, step=2, implies=("company",))
PERIOD = MilestoneSpec(
    "period", "FY2010-Q1", step=3, context=(SERIES, "total assets"), implies=("company", "series")
)
VALUE = MilestoneSpec(
    "value",
    "3633000000",
    "number",
    "USD",
    step=3,
    context=(SERIES, "total assets"),
    implies=("company", "series", "period"),
)
STEPS = tuple(
    StepSpec(number, name, name)
    for number, name in enumerate(("find_company", "find_series", "read_values", "present"), 1)
)
SPEC = TaskSpec(
    "t-1",
    answers=(AnswerSpec("value", "number", "3633", "USD", 1_000_000, 0),),
    steps=STEPS,
    milestones=(COMPANY, LINE, PERIOD, VALUE),
)


def call(step: int, name: str, output: object, **arguments: object) -> Call:
    text = output if isinstance(output, str) else json.dumps(output)
    return Call(f"c{step}", step, name, arguments, text)


def said(text: str, step: int = 1) -> Submission:
    return Submission(statements=((step, text),), steps=step)


def test_milestones_are_found_in_the_step_where_they_first_occur() -> None:
    calls = (
        call(1, "find_company", {"companies": [{"company_id": "sec:80"}]}, query="Ardent"),
        call(3, "find_series", {"series": [{"series_id": SERIES}]}, company_id="sec:80"),
        call(
            6,
            "read_values",
            {"values": [{"value": "3633000000", "fiscal_period": "FY2010-Q1"}]},
            company_id="sec:80",
            series_id=SERIES,
        ),
    )
    submission = Submission(calls=calls, steps=6)
    assert _reached(SPEC, submission) == {"company": 1, "series": 3, "period": 6, "value": 6}
    figures = progress(SPEC, submission)
    assert (figures.gpr_direct, figures.gpr_inferred, figures.first_unreached) == (1.0, 1.0, None)
    assert figures.tpe == pytest.approx((1 + 1 + 0.9**2 + 0.9**2) / 4)


def test_a_number_without_its_context_is_chance() -> None:
    assert _reached(SPEC, said("I saw 3,633,000,000 somewhere.")) == {}
    assert _reached(SPEC, said("Revenue was 3,633,000,000. Total assets were higher.")) == {}
    assert _reached(SPEC, Submission(calls=(call(1, "search", {"hits": 3633000000}),))) == {}
    assert "value" in _reached(SPEC, said("Total assets were 3,633,000,000 dollars."))


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("Total assets: $3,633 million", True),
        ("Total assets: 3.633 billion", True),
        ("Total assets (in millions): 3,633", True),
        ("Total assets: 3,660 million", True),  # within 1 %
        ("Total assets: 3,690 million", False),
        ("Total assets: -3,633 million", False),
        ("Total assets: 3.633 million", False),
    ],
)
def test_numbers_match_within_one_percent(text: str, is_shown: bool) -> None:
    assert ("value" in _reached(SPEC, said(text))) is is_shown


def test_near_zero_the_tolerance_is_absolute() -> None:
    zero = MilestoneSpec("change", "0", "number", context=("change",))
    spec = TaskSpec("t-1", milestones=(zero,))
    assert _reached(spec, said("The change is 0.0000005.")) == {"change": 1}
    assert _reached(spec, said("The change is 0.001.")) == {}


def test_a_ratio_may_be_written_as_a_percentage() -> None:
    spec = TaskSpec(
        "t-1",
        milestones=(MilestoneSpec("margin", "0.355", "number", "ratio", context=("margin",)),),
    )
    assert _reached(spec, said("The margin is 35.5%.")) == {"margin": 1}
    assert _reached(spec, said("The margin is 35.5.")) == {}


def test_identifiers_match_whole() -> None:
    for text in ("sec:801", "xsec:80", f"only {SERIES}", "sec:80-1"):
        assert "company" not in _reached(SPEC, said(text)), text
    for text in ("It is sec:80.", "(SEC:80)", '"sec:80"'):
        assert "company" in _reached(SPEC, said(text)), text


def test_failed_calls_and_outputs_of_earlier_steps_are_no_evidence() -> None:
    failed = replace(call(1, "find_company", "sec:80", query="sec:80"), is_error=True)
    assert _reached(SPEC, Submission(calls=(failed,))) == {}
    listed = {"series": [{"series_id": SERIES, "last_period": "FY2010-Q1"}]}
    listing = Submission(calls=(call(1, "find_series", listed),))
    assert set(_reached(SPEC, listing)) == {"series"}


def test_what_a_milestone_implies_is_reached_with_it() -> None:
    direct = _reached(SPEC, said("Total assets were 3,633 million dollars.", step=9))
    assert direct == {"value": 9}
    assert _inferred(SPEC, direct) == dict.fromkeys(("value", "company", "series", "period"), 9)
    figures = progress(SPEC, said("Total assets were 3,633 million dollars.", step=9))
    assert (figures.gpr_direct, figures.gpr_inferred) == (0.25, 1.0)


def test_cycles_of_implications_end() -> None:
    spec = TaskSpec(
        "t-1",
        milestones=(
            MilestoneSpec("a", "alpha", implies=("b", "nowhere")),
            MilestoneSpec("b", "beta", implies=("a",)),
        ),
    )
    assert _inferred(spec, {"a": 4}) == {"a": 4, "b": 4}


def test_the_first_unreached_milestone_names_its_operation() -> None:
    figures = progress(SPEC, said("The company is sec:80."))
    assert (figures.first_unreached, figures.operation) == ("series", "find_series")
    nothing = progress(SPEC, Submission())
    assert (nothing.gpr_direct, nothing.tpe, nothing.first_unreached) == (0.0, None, "company")
    assert progress(TaskSpec("t-1"), said("x")) == Progress()


def test_characters_that_json_escapes_are_read() -> None:
    spec = TaskSpec("t-1", milestones=(MilestoneSpec("series", "e:1/受取利息/JPY"),))
    assert _reached(spec, Submission(calls=(call(1, "x", {"id": "e:1/受取利息/JPY"}),)))


@pytest.mark.parametrize(
    ("status", "answer", "passed", "expected"),
    [
        (AttemptStatus.COMPLETED, "3633", True, None),
        (AttemptStatus.INFRA_ERROR, None, None, None),
        (AttemptStatus.TIMEOUT, None, False, Termination.TIMEOUT),
        (AttemptStatus.TIMEOUT, "I cannot answer this.", False, Termination.TIMEOUT),
        (AttemptStatus.COMPLETED, " ", False, Termination.SILENT_STOP),
        (AttemptStatus.COMPLETED, "I cannot answer this.", False, Termination.GAVE_UP),
        (AttemptStatus.COMPLETED, "3600", False, Termination.WRONG_ANSWER),
        (AttemptStatus.BUDGET, None, False, Termination.OTHER),
        (AttemptStatus.AGENT_ERROR, "half an ans", False, Termination.OTHER),
    ],
)
def test_why_an_attempt_ended(
    status: AttemptStatus, answer: str | None, passed: bool | None, expected: Termination | None
) -> None:
    assert termination(status, Submission(answer=answer), passed) is expected
