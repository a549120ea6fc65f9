"""Near-duplicates: copies become one task, what differs in a fact or a column does not."""

from __future__ import annotations

import tomllib
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.contracts import Candidate, Disclosure, Fixture, Lane, Provenance
from selection.config import SelectionRecipe
from selection.near_duplicates import copies, input_words, is_copy, similar
from selection.release import SAME_TASK, Known, choose

PAIRS = tomllib.loads(Path("benchmarks/near_duplicates.toml").read_text(encoding="utf-8"))
REQUEST = (
    "Read ferries.csv, count the late crossings of every route and month, leave out cancelled ones,"
    " write the counts into late.csv sorted by route, and tell me below in a few sentences which"
    " route I should have a closer look at and why."
)
SYNONYMS = REQUEST.replace("count", "tally").replace("tell me", "explain")
COLUMNS = frozenset({"route", "month", "late", "cancelled", "ferry"})


def candidate(name: str, prompt: str, *inputs: str, lane: Lane = Lane.SESSIONS) -> Candidate:
    return Candidate(
        task_id=name,
        lane=lane,
        prompt=prompt,
        language="en",
        fixtures=tuple(
            Fixture(path=f"{sha}.csv", sha256=sha * 64, bytes=1, media_type="text/csv")
            for sha in inputs
        ),
        provenance=Provenance(
            source="s", source_format="chat", item_id=name, disclosure=Disclosure.PUBLIC
        ),
    )


@pytest.mark.parametrize(
    "other",
    [
        REQUEST.upper(),
        f"Hi there! {REQUEST} Thank you!",
        REQUEST.replace(",", ""),
        SYNONYMS,
    ],
)
def test_small_rewordings_are_copies(other: str) -> None:
    assert is_copy(REQUEST, other, COLUMNS)
    assert is_copy(other, REQUEST, COLUMNS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("route and month", "ferry and month"),
        ("late crossings", "early crossings"),
        ("leave out", "do not leave out"),
        ("late.csv", "counts.csv"),
        ("a few sentences", "three sentences"),
        ("count the late crossings of every route", "of every route the late crossings count"),
        (REQUEST, "Which route of ferries.csv is late most often? Write it into late.csv."),
    ],
)
def test_what_decides_the_result_makes_another_request(old: str, new: str) -> None:
    assert not is_copy(REQUEST, REQUEST.replace(old, new), COLUMNS)


def test_the_frame_that_both_have_makes_no_request_longer() -> None:
    short, frame = "Draw the delays by weekday.", f"\n\n{REQUEST}"
    assert not is_copy(short + frame, short.replace("weekday", "weekend") + frame, COLUMNS)


def test_a_word_in_place_of_another_needs_a_long_request_and_inputs_that_are_known() -> None:
    assert not is_copy(REQUEST, SYNONYMS, None)
    short = "Count the late crossings of each route in ferries.csv."
    assert not is_copy(short, short.replace("each", "every"), COLUMNS)
    assert is_copy(short, f"Please: {short}", None)


@pytest.mark.parametrize("long", PAIRS["long"], ids=lambda long: str(long["words"])[:10])
def test_the_longer_pairs_of_the_set_are_told_apart(long: dict[str, Any]) -> None:
    words, request = frozenset(long["words"].split()), long["request"]
    assert all(is_copy(request, copy, words) for copy in long["copies"])
    assert not any(is_copy(request, other, words) for other in long["others"])


def test_no_two_different_requests_of_the_set_are_copies() -> None:
    for file in PAIRS["files"]:
        worded = [(n, text) for n, task in enumerate(file["tasks"]) for text in task]
        for (task, text), (other, second) in combinations(worded, 2):
            assert task == other or not is_copy(text, second, frozenset())


def test_copies_are_the_same_in_any_order_and_only_over_the_same_inputs() -> None:
    pool = [
        candidate("c", REQUEST, "a"),
        candidate("a", f"Hi! {REQUEST} Many thanks to you!", "a"),
        candidate("b", SYNONYMS, "a"),
        candidate("d", REQUEST, "b"),
        candidate("e", REQUEST, "a", lane=Lane.ANALYTICS),
    ]
    for order in permutations(pool):
        assert copies(order, lambda _: COLUMNS) == {"b": "a", "c": "a"}


def test_one_of_several_copies_is_released_and_the_others_name_it() -> None:
    texts = [REQUEST, SYNONYMS, f"Hello, {REQUEST}"]
    pool = [candidate(name, text, "a") for name, text in zip("abc", texts, strict=True)]
    pool.append(candidate("d", "How many ferries are there in ferries.csv?", "a"))
    known = Known(opaque=lambda item: f"x-{item}", words=lambda _: COLUMNS)
    choice = choose(pool, {}, SelectionRecipe(), 7, known)
    (released,) = choice.chosen - {"d"}
    rest = {"a", "b", "c"} - {released}
    assert choice.reasons == dict.fromkeys(rest, SAME_TASK)
    assert choice.same_as == dict.fromkeys(rest, released)


def test_what_means_about_the_same_is_named() -> None:
    pool = [candidate(name, name, "a") for name in "abc"]
    directions = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0]}
    pairs = similar(pool, lambda texts: np.array([directions[text] for text in texts]))
    assert pairs == [("a", "b", 0.8)]


def test_words_of_inputs_are_known_of_texts_only(tmp_path: Path) -> None:
    table, binary = tmp_path / "t.csv", tmp_path / "t.xlsx"
    table.write_text("Route,负责人\nNorth,王\n", encoding="utf-8")
    binary.write_bytes(b"PK\x03\x04\0\0")
    assert input_words([table]) == frozenset({"route", "north", "负责人"})
    assert input_words([table, binary]) is None
    assert input_words([None]) is None
    assert input_words([]) == frozenset()
