"""Length, fixture and restoration on cases written without sight of the gates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from construction.mentions.named_files import declared_files
from construction.sessions.fixtures.resolve import resolve_fixtures
from construction.sessions.fixtures.roots import RootIndex
from construction.sessions.gates import fixture, length, restoration
from data.contracts import Verdict
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
    def judge(case: Case) -> Verdict:
        root = tmp_path / case["id"]
        root.mkdir()
        write_files(root, case["files"])
        limits = {"max_file_bytes": case["max_bytes"]} if "max_bytes" in case else {}
        config = fixture.FixtureConfig(**limits)
        observation = resolve_fixtures(instance_of(case), RootIndex([root]), config)
        return fixture.GATE.judge(observation, config)

    return judge


def ids(cases: list[Case]) -> list[str]:
    return [case["id"] for case in cases]


LENGTH, FIXTURE, RESTORATION = load("length"), load("fixture"), load("restoration")


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
    assert (verdict.status, verdict.reason) == (expected["status"], expected["reason"]), case["why"]
    named = sorted(_last(mention.path) for mention in declared_files(instance_of(case)))
    assert named == sorted(map(_last, expected["declared"])), case["why"]


def _last(path: str) -> str:
    """The case writers name a file once by its path, once without its folder."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def test_bars(fixture_verdict: Judge) -> None:
    gates: tuple[tuple[list[Case], Judge], ...] = (
        (LENGTH, length_verdict),
        (RESTORATION, restoration_verdict),
        (FIXTURE, fixture_verdict),
    )
    for cases, judge in gates:
        assert len(cases) >= 40
        assert sum(case["hard"] for case in cases) * 2 >= len(cases)
        precision, recall = precision_and_recall(cases, judge)
        assert precision >= BAR
        assert recall >= BAR
