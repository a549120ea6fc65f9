"""The audit of graders: what is tried on a task, and that a grader without care is seen through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from construction.grading.audit import (
    ACCEPTED,
    REJECTED,
    Probe,
    audit,
    audited_kinds,
    equivalent_forms,
    wrong_answers,
)
from construction.grading.gate import Attacked
from construction.grading.grade import grade
from construction.grading.spec import AnswerSpec, TaskSpec
from data.contracts.attempt import Score, Submission
from data.snapshot.release import AuditedKind

GOLD = AnswerSpec("value", "number", "-13166", unit="USD", scale=1000, decimals=0, tolerance=0.0)
SPEC = TaskSpec("t1", "What was net income, in USD thousands?", answers=(GOLD,))
SAFE = Attacked(0.0, 0.0, 0.0, None, None, 1, 1.0)


def held(probes: list[Probe]) -> dict[str, bool]:
    return {probe.kind: probe.held for probe in probes}


@pytest.mark.parametrize("value", ["-13166", "18", "0.25", "0", "115029"])
def test_the_graders_of_numbers_hold_on_all_probes(value: str) -> None:
    part = replace(GOLD, value=value, decimals=2 if "." in value else 0)
    probes = audit(replace(SPEC, answers=(part,)), SAFE, grade, None, 0.2)
    assert [kind for kind, ok in held(probes).items() if not ok] == []
    assert {probe.expected for probe in probes} == {ACCEPTED, REJECTED}


def test_zero_has_no_wrong_sign_and_no_wrong_scale() -> None:
    kinds = wrong_answers(replace(GOLD, value="0")).keys()
    assert "wrong sign" not in kinds and "times 1000" not in kinds
    assert "another value" in kinds


def accepts_digits(spec: TaskSpec, submission: Submission) -> Score:
    """A grader that looks for the digits of the gold anywhere."""
    digits = GOLD.value.strip("-")
    text = (submission.answer or "").replace(",", "")
    return grade(spec, replace(submission, answer=GOLD.value if digits in text else "none"))


def test_a_grader_that_looks_for_digits_anywhere_is_seen_through() -> None:
    seen = held(audit(SPEC, SAFE, accepts_digits, None, 0.2))
    assert not seen["wrong sign"] and not seen["times 1000"]
    assert not seen["right among others"] and not seen["refusal with the value"]
    assert seen["another value"] and seen["in a sentence"]
    assert not seen["full width"]  # it knows no other digits


def test_what_the_gate_saw_is_counted_with_the_rest() -> None:
    attacked = replace(SAFE, talk=0.5, oracle=0.0)
    seen = held(audit(SPEC, attacked, grade, None, 0.2))
    assert (seen["null"], seen["talk"], seen["computed answer"]) == (True, False, False)


def test_counts_by_kind_begin_with_what_has_to_be_rejected() -> None:
    probes = [Probe("b", ACCEPTED, True), Probe("a", REJECTED, False), Probe("b", ACCEPTED, False)]
    assert audited_kinds(probes) == (
        AuditedKind("a", REJECTED, 1, 0), AuditedKind("b", ACCEPTED, 2, 1),
    )  # fmt: skip


def test_forms_differ_from_each_other() -> None:
    forms = equivalent_forms(GOLD)
    assert len({*forms.values()}) == len(forms)
