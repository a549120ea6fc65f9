"""Listed values: masked wherever they stand as whole words, whatever detection says of them."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import EntityType, Mode
from anonymization.text.masking.known_search import LISTED, Listed, ListedValues
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from tests.anonymization.text.masking.fakes import PatternDetector

KEY = bytes(range(32))
WORD, PERSON, FIRM = EntityType.UNEXPLAINED, EntityType.PERSON, EntityType.ORGANIZATION


def masker(*listed: tuple[EntityType, str], mode: Mode = Mode.SURROGATE) -> Masker:
    return Masker(PatternDetector(), KEY, mode, "s", listed)


def spelled(listed: Listed, text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in ListedValues(listed).find(text)]


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("pebble", "pebble, Pebble, PEBBLE_1, pebbles, pebbleTask", ["pebble", "Pebble", "PEBBLE"]),
        ("Falcon", "Falcon FALCON falcon Falconer", ["Falcon", "FALCON"]),
        ("Ace", "Ace! ACE; ace in a place, Aces", ["Ace", "ACE"]),
        (
            "Acorn Hill",
            "ACORN HILL, acorn_hill, acorn-hill, a.acornHill, Acorn Hills",
            ["ACORN HILL", "acorn_hill", "acorn-hill", "acornHill"],
        ),
        ("Jörg", "Jörg und Jörgensen", ["Jörg"]),
        ("Jo", "Jo\u200b, Joe", ["Jo"]),
        ("青鸟", "项目青鸟上线", ["青鸟"]),
        ("4711-2088-31", "4711 2088 31 and 47112088319", ["4711 2088 31"]),
    ],
)
def test_each_spelling_of_a_whole_word_is_found(value: str, text: str, expected: list[str]) -> None:
    assert spelled(((WORD, value),), text) == expected


def test_a_single_word_that_names_a_firm_is_found_although_firms_of_one_word_are_not() -> None:
    (masked,) = masker((FIRM, "harvest")).mask_texts(["the harvest is due"])
    assert "harvest" not in masked and masked.startswith("the ")


def test_what_does_not_stand_there_is_in_no_vault() -> None:
    item = masker((WORD, "pebble"), (WORD, "never"))
    item.mask_texts(["a pebble"])
    assert [(e.value, e.is_listed) for e in item.vault.entries] == [("pebble", True)]


def test_the_parts_of_a_listed_name_are_masked_where_the_whole_stands_nowhere() -> None:
    item = masker((PERSON, "Mara Thornquist"))
    (masked,) = item.mask_texts(["ask mthornquist or M. Thornquist"])
    assert "thornquist" not in masked.casefold()


@pytest.mark.parametrize(
    ("listed", "text", "rest"),
    [
        ("acme", "mail ann@acme.com today", "mail "),  # inside a longer value: masked with it
        ("ann@acme.com today", "mail ann@acme.com today or so", "mail "),  # longer than a value
        ("mail ann", "mail ann@acme.com", ""),  # across the start of one: both are masked
        ("ann@acme.com", "mail ann@acme.com", "mail "),
    ],
)
def test_a_listed_value_and_a_finding_leave_nothing_of_each_other(
    listed: str, text: str, rest: str
) -> None:
    item = masker((WORD, listed))
    (masked,) = item.mask_texts([text])
    assert masked.startswith(rest)
    assert not [word for word in ("ann", "acme") if word in masked]


def test_a_surrogate_keeps_no_listed_word_of_its_value() -> None:
    item = masker((WORD, "pebble"))
    item.learn([Piece("Pebble Chief", kind=EntityType.TITLE), Piece("pebble")])
    (edit,) = item.edits(Piece("Pebble Chief", kind=EntityType.TITLE))
    assert "pebble" not in edit.new.casefold() and edit.new.endswith(" Chief")


def test_placeholders_and_order_do_not_matter() -> None:
    texts = ["pebble at Acorn Hill", "Acorn Hill: a pebble"]
    listed = (WORD, "pebble"), (WORD, "Acorn Hill")
    first, second = masker(*listed), masker(*reversed(listed))
    second.learn(map(Piece, reversed(texts)))
    assert first.mask_texts(texts) == second.mask_texts(texts)
    (masked, _) = masker(*listed, mode=Mode.PLACEHOLDER).mask_texts(texts)
    assert masked == "<UNEXPLAINED_2> at <UNEXPLAINED_1>"


def test_the_audit_says_that_the_list_decided() -> None:
    (edit,) = masker((WORD, "pebble")).edits(Piece("a pebble"))
    assert (edit.type, edit.recognizer) == (WORD, LISTED)
