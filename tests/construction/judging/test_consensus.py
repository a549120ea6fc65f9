"""Consensus routing: unanimous in, the rest round again; the books close whatever the order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.consensus import (
    ConsensusConfig,
    ConsensusReason,
    Endorsed,
    Opinion,
    _Queued,
    _RoundCount,
    route,
)
from data.contracts import Outcome
from data.errors import InputError

CONFIG = ConsensusConfig()


def said(item: str, number: int = 1, **answers: str) -> list[Opinion]:
    return [Opinion(item, who, answer, number) for who, answer in answers.items()]


def test_rounds_until_endorsed() -> None:
    opinions = [
        *said("a", ann="12", bob="12 "),
        *said("b", ann="yes", bob="no"),
        *said("b", 2, ann="No", cem="no"),
        *said("c", ann="x", bob="y"),
        *said("d", ann="x"),
        *said("e", 3, ann="x", bob="y"),
    ]
    done = route(["f", "e", "d", "c", "b", "a"], opinions, CONFIG)
    assert done.admitted == (
        Endorsed("a", "12", 1, ("ann", "bob")),
        Endorsed("b", "No", 2, ("ann", "cem")),
    )
    assert done.queue == (
        _Queued("c", 1, (("ann", "x"), ("bob", "y")), ConsensusReason.DISPUTED),
        _Queued("d", 1, (("ann", "x"),), ConsensusReason.TOO_FEW),
        _Queued("f", 0, (), ConsensusReason.TOO_FEW),
    )
    assert [row.reason for row in done.ledger] == [
        None, None, "consensus.disputed", "consensus.too_few", "consensus.given_up",
        "consensus.too_few",
    ]  # fmt: skip
    assert done.funnel == (
        _RoundCount(1, 4, 1, 5),
        _RoundCount(2, 1, 1, 4),
        _RoundCount(3, 1, 0, 4),
    )
    assert done.tally.counts == {Outcome.KEPT: 2, Outcome.REJECTED: 4, Outcome.ERRORED: 0}


def test_the_review_endorses_or_turns_away() -> None:
    opinions = [*said("a", ann="x", bob="y"), *said("b", ann="x", bob="x")]
    done = route(["a", "b"], opinions, CONFIG, decided={"a": "z", "b": None, "gone": "x"})
    assert done.admitted == (Endorsed("a", "z", 0, ("review",)),)
    assert done.ledger[1].reason == ConsensusReason.REVIEWED_OUT
    assert done.funnel[0] == _RoundCount(0, 2, 1, 1)


def test_one_voice_twice_is_an_error_and_no_unanimity() -> None:
    twice = [Opinion("a", "ann", "x"), Opinion("a", "ann", "x")]
    done = route(["a"], twice, CONFIG)
    assert (done.admitted, done.ledger[0].outcome) == ((), Outcome.ERRORED)
    assert done.ledger[0].reason == ConsensusReason.REPEATED


def test_agreement_is_what_the_caller_says() -> None:
    opinions = said("a", ann="1,200", bob="1200.0")
    assert route(["a"], opinions, CONFIG).admitted == ()
    done = route(["a"], opinions, CONFIG, same=lambda result: str(float(result.replace(",", ""))))
    assert done.admitted[0].answer == "1,200"


@pytest.mark.parametrize(
    ("items", "opinions", "actual"),
    [
        (["a", "a"], [], "a duplicate ID"),
        (["a"], [Opinion("b", "ann", "x")], "an opinion about an unknown item"),
        (["a"], [Opinion("a", "ann", "x", 0)], "a round below 1"),
    ],
)
def test_input_that_makes_no_sense(items: list[str], opinions: list[Opinion], actual: str) -> None:
    with pytest.raises(InputError, match=actual):
        route(items, opinions, CONFIG)


OPINIONS = st.lists(
    st.builds(
        Opinion,
        st.sampled_from("abc"),
        st.sampled_from(["ann", "bob", "cem"]),
        st.sampled_from("xy"),
        st.integers(1, 4),
    ),
    max_size=20,
)


@given(OPINIONS, st.randoms(use_true_random=False), st.integers(2, 3))
def test_order_does_not_matter_and_books_close(
    opinions: list[Opinion], chance: st.DataObject, least: int
) -> None:
    config = ConsensusConfig(min_annotators=least, max_rounds=2)
    items = ["a", "b", "c", "d"]
    done = route(items, opinions, config)
    shuffled = list(opinions)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert route(items[::-1], shuffled, config) == done
    assert sum(done.tally.counts.values()) == 4
    assert sum(entry.admitted for entry in done.funnel) == len(done.admitted)
    for entry in done.admitted:
        voices = [v for v in opinions if (v.item_id, v.round) == (entry.item_id, entry.round)]
        assert {v.answer for v in voices} == {entry.answer} and len(voices) >= least
