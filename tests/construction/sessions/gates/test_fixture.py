from __future__ import annotations

from dataclasses import replace

import pytest

from construction.sessions.gates.fixture import (
    GATE,
    FixtureConfig,
    FixtureObservation,
    FixtureReason,
    FoundFile,
    ResolvedMention,
    Strategy,
    measure,
)
from data.contracts import Status

CSV = FoundFile(None, "", "x.csv", 7)


def mention_of(role: str = "declared", size: int = 7) -> ResolvedMention:
    file = FoundFile(None, "", "x.csv", size)
    assert role in ("declared", "observed")
    declared = ResolvedMention("declared", 0, Strategy.ROOT, None, (file,))
    return (
        declared
        if role == "declared"
        else ResolvedMention("observed", -1, Strategy.ROOT, None, (file,))
    )


def lost(reason: FixtureReason) -> ResolvedMention:
    return ResolvedMention("declared", 0, Strategy.NONE, reason)


def observed(*mentions: ResolvedMention) -> FixtureObservation:
    return measure("s_i1", mentions)


def test_all_declared_files_at_hand_pass() -> None:
    verdict = GATE.judge(observed(mention_of(), mention_of()), FixtureConfig())
    assert (verdict.status, verdict.reason) == (Status.PASSED, None)
    assert (verdict.observed, verdict.limit) == (0, 0)
    assert verdict.measures["total_bytes"] == 14


def test_a_task_without_files_passes() -> None:
    verdict = GATE.judge(observed(), FixtureConfig())
    assert (verdict.status, verdict.observed, verdict.limit) == (Status.PASSED, 0, 0)


@pytest.mark.parametrize("reason", list(FixtureReason))
def test_one_declared_file_that_is_missing_or_refused_rejects(reason: FixtureReason) -> None:
    verdict = GATE.judge(observed(mention_of(), lost(reason), mention_of()), FixtureConfig())
    assert (verdict.status, verdict.reason) == (Status.FAILED, reason)
    assert (verdict.observed, verdict.limit) == (1, 0)
    refused = 0 if reason is FixtureReason.UNRESOLVED else 1
    assert (verdict.measures["resolved"], verdict.measures["refused"]) == (2, refused)


def test_the_first_problem_is_the_reason() -> None:
    both = observed(lost(FixtureReason.CREDENTIAL), lost(FixtureReason.UNRESOLVED))
    assert GATE.judge(both, FixtureConfig()).reason == FixtureReason.CREDENTIAL


def test_observed_files_never_reject() -> None:
    left_out = ResolvedMention("observed", -1, Strategy.NONE, FixtureReason.UNRESOLVED)
    verdict = GATE.judge(observed(left_out, mention_of("observed", 10**12)), FixtureConfig())
    assert verdict.status is Status.PASSED
    assert (verdict.measures["observed_files"], verdict.measures["observed_left_out"]) == (1, 1)
    assert verdict.measures["total_bytes"] == 0


def test_all_files_together_have_a_limit() -> None:
    config = FixtureConfig(max_total_bytes=10)
    verdict = GATE.judge(observed(mention_of(), mention_of()), config)
    assert (verdict.status, verdict.reason) == (Status.FAILED, FixtureReason.TOO_LARGE)
    assert (verdict.observed, verdict.limit) == (14, 10)


def test_what_is_missing_or_refused_is_named_and_described() -> None:
    names = ("in/figures_march.xlsx", "corpus/raw", "Makefile", "notes.qq9")
    mentions = [replace(lost(FixtureReason.UNRESOLVED), turn=1, name=name) for name in names]
    verdict = GATE.judge(observed(mention_of(), *mentions), FixtureConfig())
    assert [(item.description, item.name) for item in verdict.missing] == [
        ("a file .xlsx, named in turn 2", names[0]),
        ("a folder, named in turn 2", names[1]),
        ("a file, named in turn 2", names[2]),
        ("a file, named in turn 2", names[3]),
    ]
    assert not any(name in repr(verdict) for name in names)


@pytest.mark.parametrize(
    ("missing", "code", "reason"),
    [
        (("~/harbour",), ("main.go",), FixtureReason.NO_CODE),
        (("~/harbour",), (), FixtureReason.UNRESOLVED),
        (("out/tides.json",), ("a.go", "b.go", "c.go"), FixtureReason.NO_CODE),
        (("berths.csv",), ("skills/read_table.py",), FixtureReason.UNRESOLVED),
        (("tide.go", "fees.csv", "~/harbour"), ("a.go", "b.go", "c.go"), FixtureReason.UNRESOLVED),
        (("screen.png",), ("a.go", "b.go", "c.go"), FixtureReason.NO_CODE),
        (("screen.png",), ("a.go",), FixtureReason.UNRESOLVED),
    ],
)
def test_missing_code_is_the_reason_before_what_its_talk_names(
    missing: tuple[str, ...], code: tuple[str, ...], reason: FixtureReason
) -> None:
    lack = FixtureReason.UNRESOLVED
    named = [
        ResolvedMention("declared", 0, Strategy.NONE, lack, name=name) for name in missing[::-1]
    ]
    read = [ResolvedMention("observed", -1, Strategy.NONE, lack, name=name) for name in code]
    observation = measure("s_i1", [*named, *read])
    assert observation.reason is reason
    first = (code if reason is FixtureReason.NO_CODE else missing)[0]
    assert observation.missing[0].name == first
    assert len(observation.missing) == len(missing) + len(code) * (reason is FixtureReason.NO_CODE)


def test_code_at_hand_is_not_missing() -> None:
    lack = FixtureReason.UNRESOLVED
    file = FoundFile(None, "", "main.go", 7)
    observation = measure("s_i1", [
        ResolvedMention("declared", 0, Strategy.NONE, lack, name="~/harbour"),
        ResolvedMention("observed", -1, Strategy.NONE, lack, name="tide.go"),
        ResolvedMention("observed", -1, Strategy.ROOT, None, (file,), name="main.go"),
    ])  # fmt: skip
    assert observation.reason is lack
