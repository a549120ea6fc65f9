"""Reasons in words: every reason has a sentence, and limits have direction and unit."""

from __future__ import annotations

from enum import StrEnum

import pytest

from construction.grading.actions import ActionReason
from construction.grading.answers.lexicon import AnswerReason
from construction.grading.findings import FindingReason
from construction.grading.hard_rules import ContentReason, RuleReason
from construction.grading.hard_rules import FileReason as OwnWorkReason
from construction.grading.state_kinds import StateReason
from construction.judging.calls.contracts import CallReason
from construction.judging.checks.prove import ProofReason
from construction.judging.consensus import ConsensusReason
from construction.judging.contracts import JudgeReason
from construction.judging.model.attempt_case import AttemptReason
from construction.sessions.gates.fixture import FixtureReason
from construction.sessions.recovery.exchanges import LeftOutReason
from construction.sessions.scan import FileReason
from construction.signals.collect.fields import SignalReason
from construction.statements.categories import CategoryReason
from construction.statements.database import _FilterReason, _ScaleReason
from construction.statements.periods import _PeriodReason
from construction.statements.questions.contracts import QuestionReason
from construction.statements.readers.edinet.source import Reason as EdinetReason
from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.xbrl.source import XbrlReason
from construction.workflows.demand import _DemandReason
from construction.workflows.pool import _ProposalReason
from construction.workflows.prefilters import IdeaReason
from data.contracts import CutReason
from data.reasons import ReasonWords, sentences, stage_sentences
from data.releases.facts import _IdentityReason
from data.staging.database import open_read_only
from flows.gates import GATES
from tests.demo import Demo

REASONS = (
    ActionReason, AnswerReason, AttemptReason, CallReason, CategoryReason, ConsensusReason,
    ContentReason, CutReason, _DemandReason, EdinetReason, FileReason, _FilterReason, FindingReason,
    IdeaReason, _IdentityReason, JudgeReason, LeftOutReason, OwnWorkReason, _PeriodReason,
    ProofReason, _ProposalReason, QuestionReason, RuleReason, _ScaleReason, SecReason, SignalReason,
    StateReason, XbrlReason,
)  # fmt: skip
WORDS = ReasonWords.of(GATES)


@pytest.mark.parametrize("reasons", REASONS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_reason_of_a_stage_has_a_sentence(reasons: type[StrEnum]) -> None:
    prefix = "turn." if reasons is LeftOutReason else ""
    assert {f"{prefix}{reason}" for reason in reasons} <= stage_sentences().keys()


def test_a_sentence_stands_once_and_is_one() -> None:
    gates = {str(reason) for gate in GATES for reason in gate.reasons}
    assert gates.isdisjoint(stage_sentences())
    for reason, sentence in sentences(GATES).items():
        assert sentence[0].isupper() and sentence.endswith("."), reason


def test_every_reason_in_the_demo_has_a_sentence(demo: Demo) -> None:
    with open_read_only(demo.out / "staging.duckdb") as staging:
        rows = staging.execute("SELECT DISTINCT reason FROM rejections").fetchall()
    assert rows
    assert {row[0] for row in rows if row[0] is not None} <= sentences(GATES).keys()


@pytest.mark.parametrize(
    ("gate", "reason", "limit", "words"),
    [
        ("fixture", "fixture.unresolved", "0", "at most 0 files"),
        ("length", "length.too_short", "10", "at least 10 characters"),
        ("length", None, "10", "at least 10 characters"),
        ("self_containment", "self_containment.multi_task", "self_contained", "self_contained"),
        (None, "file.empty", None, None),
        (None, "line.not_json", "one JSON object", "one JSON object"),
    ],
)  # fmt: skip
def test_a_limit_is_read_with_direction_and_unit(
    gate: str | None, reason: str | None, limit: str | None, words: str | None
) -> None:
    assert WORDS.allowed(gate, reason, limit) == words


def test_of_a_reason_with_limits_in_several_units_the_one_with_this_value_is_meant() -> None:
    assert WORDS.allowed("fixture", FixtureReason.TOO_LARGE, "200000000") == (
        "at most 200,000,000 bytes"
    )
    assert WORDS.allowed("fixture", FixtureReason.TOO_LARGE, "0") == "at most 0 files"
    assert WORDS.allowed("fixture", FixtureReason.TOO_LARGE, "7") == "7"  # another setting


def test_a_limit_of_one_has_its_unit_in_the_singular() -> None:
    assert WORDS.allowed("fixture", FixtureReason.TOO_LARGE, "1") == "1"
    assert WORDS.allowed("length", "length.too_short", "1") == "at least 1 character"
