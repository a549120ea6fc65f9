"""Task classes: induced from the pool, whatever its order; split by seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from construction.judging.baseline.label import (
    HELD_OUT,
    IN_DOMAIN,
    Member,
    induce_classes,
    split_classes,
)
from construction.judging.settings import ClassesConfig
from construction.signals.matching import Vectors, _unit
from data.contracts import TaskClass

CONFIG = ClassesConfig()
TOPICS = ("invoice", "speech", "roof", "garden")


def encode(texts: Sequence[str]) -> Vectors:
    """Vectors by the topic that a text names, and a little by its length."""
    rows = [[*(float(topic in text) for topic in TOPICS), len(text) / 1000] for text in texts]
    return _unit(np.array(rows))


def member(number: int, topic: str, role: str = "executive", skill: str = "speech") -> Member:
    text = f"Write about the {topic}, part {number}"
    return Member(f"t{number}", role, f"{role}.{skill}", f"Text about the {topic}", text)


POOL = [
    *(member(number, TOPICS[number % 2]) for number in range(6)),
    *(member(number, TOPICS[2], "marketing", "content_writing") for number in range(6, 9)),
]


def test_requests_about_one_thing_share_a_class() -> None:
    classes = induce_classes(POOL, ClassesConfig(radius=0.5), encode)
    assert classes["t0"].subclass_id == classes["t2"].subclass_id == classes["t4"].subclass_id
    assert classes["t1"].subclass_id == classes["t3"].subclass_id != classes["t0"].subclass_id
    assert classes["t6"].big_class == "marketing"
    assert {one.subclass_id for one in classes.values()} == {
        "executive.speech",
        "executive.speech-2",
        "marketing.content_writing",
    }


def test_tasks_are_compared_by_what_is_wanted_not_by_the_rest_of_the_request() -> None:
    pool = [
        Member(f"t{number}", "executive", "executive.speech", "Text about the roof", request)
        for number, request in enumerate(("For the garden party", "For the speech of May"))
    ]

    def subclasses(members: list[Member]) -> set[str]:
        classes = induce_classes(members, ClassesConfig(radius=0.1), encode)
        return {one.subclass_id for one in classes.values()}

    assert len(subclasses(pool)) == 1
    unnamed = [replace(one, business_task="") for one in pool]
    assert len(subclasses(unnamed)) == 2


def test_a_class_has_name_and_definition() -> None:
    actual = induce_classes(POOL, ClassesConfig(radius=0.5), encode)["t6"]
    assert actual.name == "Posts, newsletters and articles"
    assert actual.definition.startswith("Texts for the public from given facts")
    assert actual.reason == "one of 3 of 3 requests of the role"


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_pool_makes_no_difference(shuffled: random.Random) -> None:
    pool = list(POOL)
    shuffled.shuffle(pool)
    assert induce_classes(pool, CONFIG, encode) == induce_classes(POOL, CONFIG, encode)


def test_groups_of_two_roles_never_share_an_id() -> None:
    pool = [member(1, "invoice"), Member("t2", "marketing", "executive.speech", "Text", "Write")]
    classes = induce_classes(pool, CONFIG, encode)
    assert classes["t1"].subclass_id == "executive.speech"
    assert classes["t2"].subclass_id == "executive.speech-2"


def test_an_empty_pool_has_no_classes() -> None:
    assert induce_classes([], CONFIG, encode) == {}


def classes_of(big: str, count: int) -> list[TaskClass]:
    return [
        TaskClass(
            big_class=big,
            subclass_id=f"{big}.{number}",
            name="n",
            definition="d",
            confidence=1.0,
            reason="r",
        )
        for number in range(count)
    ]


def test_a_quarter_of_the_subclasses_is_held_out_and_one_always_stays() -> None:
    classes = [*classes_of("a", 8), *classes_of("b", 1)]
    split = split_classes(classes, CONFIG, 7)
    assert [split[f"a.{number}"] for number in range(8)].count(HELD_OUT) == 2
    assert split["b.0"] == IN_DOMAIN
    assert split == split_classes(reversed(classes), CONFIG, 7)
    seeds = {tuple(split_classes(classes, CONFIG, seed).values()) for seed in range(20)}
    assert len(seeds) > 1


def test_one_subclass_never_empties_a_big_class() -> None:
    split = split_classes(classes_of("a", 3), ClassesConfig(held_out_share=1.0), 7)
    assert sorted(split.values()) == [HELD_OUT, HELD_OUT, IN_DOMAIN]
