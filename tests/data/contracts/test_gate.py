from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from data.contracts import (
    Bound,
    Count,
    Gate,
    GateReason,
    Limit,
    Share,
    StageConfig,
    Status,
    Verdict,
    gates_in,
    share,
)
from data.contracts.gate import breaks


class Reason(GateReason):
    TOO_FEW = "sample.too_few", "There are too few words."
    TOO_LIVE = "sample.too_live", "Too many demands need a live system."
    UNSURE = "sample.unsure", "It could not be checked."


class Config(StageConfig):
    min_words: Count = 4
    max_live_share: Share = 0.34
    unsure: str = "keep"


@dataclass(frozen=True)
class Seen:
    words: int = 10
    live: int = 0
    demands: int = 3
    thread: bool = False
    unsure: int = 0
    reason: Reason | None = None


UNCHECKED = Limit(
    "unsure",
    Bound.MAX,
    "items",
    "All items are checked.",
    None,
    lambda seen: seen["unsure"],
    at=0,
    policy=("unsure", "reject"),
)
GATE = Gate(
    name="sample",
    stage="gates",
    section="sample",
    meaning="Is it a sample?",
    config=Config,
    reasons=Reason,
    measure=Seen,
    limits=(
        Limit(
            "min_words",
            Bound.MIN,
            "words",
            "It has at least this many words.",
            Reason.TOO_FEW,
            lambda seen: seen["words"],
        ),
        Limit(
            "max_live_share",
            Bound.MAX,
            "share of demands",
            "At most this share of the demands needs a live system.",
            Reason.TOO_LIVE,
            lambda seen: share(seen["live"], seen["demands"]),
            when=lambda seen: not seen["thread"],
        ),
        UNCHECKED,
        replace(UNCHECKED, policy=("unsure", "keep"), status=Status.UNVERIFIED),
    ),
)


def test_a_verdict_that_passes_shows_the_last_limit_and_all_measures_but_the_reason() -> None:
    verdict = GATE.judge(Seen(), Config())
    assert (verdict.status, verdict.observed, verdict.limit) == (Status.PASSED, 0, 0)
    assert verdict.measures == {"words": 10, "live": 0, "demands": 3, "thread": False, "unsure": 0}


def test_the_first_broken_limit_decides() -> None:
    verdict = GATE.judge(Seen(words=3, live=3), Config())
    assert (verdict.reason, verdict.observed, verdict.limit) == ("sample.too_few", 3, 4)
    verdict = GATE.judge(Seen(live=2), Config())
    assert (verdict.reason, verdict.observed) == ("sample.too_live", round(2 / 3, 9))


def test_a_limit_that_does_not_apply_breaks_nothing() -> None:
    assert GATE.judge(Seen(live=3, thread=True), Config()).status is Status.PASSED


@pytest.mark.parametrize(
    ("policy", "status"), [("keep", Status.UNVERIFIED), ("reject", Status.FAILED)]
)
def test_a_policy_of_the_settings_chooses_the_status(policy: str, status: Status) -> None:
    verdict = GATE.judge(Seen(unsure=1, reason=Reason.UNSURE), Config(unsure=policy))
    assert (verdict.status, verdict.reason) == (status, "sample.unsure")


def test_an_observation_that_is_one_number_is_observed_and_has_no_measures() -> None:
    limit = Limit("min_words", Bound.MIN, "words", "Enough words.", Reason.TOO_FEW)
    gate = Gate(
        name="words",
        stage="gates",
        section="sample",
        meaning="Are there enough words?",
        config=Config,
        reasons=Reason,
        measure=len,
        limits=(limit,),
    )
    verdict = gate.judge(3, Config())
    assert (verdict.reason, verdict.observed, verdict.measures) == ("sample.too_few", 3, {})
    assert gate.judge(4, Config()).status is Status.PASSED


def test_a_gate_with_a_judgement_of_its_own_is_not_complete() -> None:
    own = replace(GATE, decide=lambda seen, _: Verdict.passing("sample", seen.words, None))
    assert (GATE.complete, own.complete) == (True, False)
    assert own.judge(Seen(words=1), Config()).status is Status.PASSED


def test_the_gates_of_settings_are_listed_in_their_order() -> None:
    class Settings(StageConfig):
        others: Count = 1
        sample: Annotated[Config, GATE] = Config()

    assert gates_in(Settings) == (GATE,)


@pytest.mark.parametrize(
    ("bound", "value", "limit", "broken"),
    [
        (Bound.MIN, 9, 10, True),
        (Bound.MIN, 10, 10, False),
        (Bound.MAX, 0.34, 0.34, False),
        (Bound.MAX, 0.340000001, 0.34, True),
        (Bound.MAX, 0.3400000001, 0.34, False),
        (Bound.MAX, None, 0, False),
    ],
)
def test_values_are_compared_in_units_of_a_billionth(
    bound: Bound, value: float | None, limit: float, *, broken: bool
) -> None:
    assert breaks(bound, value, limit) is broken


def test_a_reason_is_its_text_and_has_a_sentence() -> None:
    assert str(Reason.TOO_FEW) == "sample.too_few"
    assert Reason("sample.too_few") is Reason.TOO_FEW
    assert Reason.TOO_FEW.meaning == "There are too few words."
