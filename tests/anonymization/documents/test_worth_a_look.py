"""Which words of a masked text are listed for its owner, and which are explained beyond doubt."""

from __future__ import annotations

from time import process_time

import pytest

from anonymization.documents.remaining_words import (
    _clauses,
    _eastern_words,
    _english_words,
    merged,
    words_left,
)
from anonymization.documents.worth_a_look import sightings, without
from anonymization.text.contracts import DetectionConfig, Edit, EntityType
from anonymization.text.masking.pieces import FindingFilter, Piece, labelled
from anonymization.words_review import Why

DETECTION = DetectionConfig()
ENGLISH = _english_words(DETECTION)


def listed(piece: Piece, *private: str) -> dict[str, Why]:
    seen = list(sightings(piece, piece.value, ENGLISH, frozenset(private)))
    assert all(piece.value[s.start : s.end].lower().find(s.word.lower()) >= 0 for s in seen)
    return {sighting.word: sighting.why for sighting in seen}


def sentence(text: str) -> dict[str, Why]:
    return listed(Piece(f"{text} This is what they have said about it, and no more than that."))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We gave the parcel to biscuit after that.", {"parcel": Why.WORD, "biscuit": Why.UNKNOWN}),
        ("then they visited Harvest Table again.", {"Harvest Table": Why.NAME}),
        ("then they visited Open Door again.", {"Open Door": Why.NAME}),
        ("they met with Story about it.", {"Story": Why.NAME}),
        ("the page was updated with a ladder.", {"ladder": Why.WORD}),
        ("it is known as window here.", {"window": Why.NAME}),
        ("they said the “quiet river” was ready.", {"quiet river": Why.QUOTED}),
        ("send it to zorblat soon.", {"zorblat": Why.UNKNOWN}),
        ("see ticket GK-417-ZR for it.", {"GK-417-ZR": Why.CODE}),
        ("the row said '20 40' to them.", {}),
        ("call 802-555-0143 for it.", {"802-555-0143": Why.CODE}),
        ("her number is 2200 871 5560 now.", {"2200 871 5560": Why.CODE}),
        ("customer 52817 has it.", {"52817": Why.CODE}),
        ("the box opens with 61-40-7 now.", {"61-40-7": Why.CODE}),
        ("the order is K-31-0042 now.", {"K-31-0042": Why.CODE}),
        ("基本給512,300円です", {"512,300円": Why.CODE}),
        ("a,512,300円,b", {"512,300円": Why.CODE}),
        ("she has $142,350 now.", {"$142,350": Why.CODE}),
        ("login: claims_batch, file_name, on file.", {"claims_batch": Why.FIELD}),
        ("on 2026-03-10T15:21:57Z and 10:30, 3840x2160, 12px, v2.3.1 and 1.5 MB.", {}),
        ("They consider updating, fetched the file, and it doesn't matter.", {}),
    ],
)
def test_words_of_a_sentence(text: str, words: dict[str, Why]) -> None:
    assert sentence(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Open Door\n", {"Open Door": Why.NAME}),
        ("- Third Page\n", {"Third Page": Why.PHRASE}),
        (
            "the key is word-Word-4711 or update42 now",
            {"word-Word-4711": Why.CODE, "update42": Why.CODE},
        ),
        ("git checkout feature/open-status now", {"open-status": Why.FIELD}),
        ("<openDoor count='2'>", {"openDoor": Why.FIELD}),
        ("  fresh_start: true", {"fresh_start": Why.FIELD}),
    ],
)
def test_names_and_codes_of_everyday_words_are_one_row(text: str, words: dict[str, Why]) -> None:
    seen = sentence(text)
    assert seen == words


def test_values_and_parts_of_identifiers_stand_out() -> None:
    assert listed(labelled("client", "harvest")) == {"harvest": Why.FIELD}
    assert listed(labelled("state", "open")) == {}
    assert listed(labelled("room", "Fresh Start")) == {"Fresh Start": Why.NAME}
    assert listed(labelled("key", "lanternBatchSize")) == {"lantern": Why.FIELD}
    whole = listed(labelled("key", "lanternBatchSize"), "lantern")
    assert whole == {"lanternBatchSize": Why.FIELD}


def test_names_of_fonts_and_styles_are_no_words_but_an_unknown_one_is() -> None:
    assert listed(Piece("Colorful Grid Accent 3", accepts=FindingFilter.PROVEN)) == {}
    named = listed(Piece("Zorblat Heading", accepts=FindingFilter.PROVEN))
    assert named == {"Zorblat Heading": Why.UNKNOWN}


def test_references_to_cells_are_no_codes_but_a_cell_may_hold_a_code() -> None:
    assert listed(Piece("A1210", accepts=FindingFilter.WHOLE)) == {}
    assert listed(Piece("SUM(B2:B1500)")) == {}
    assert listed(Piece("A1210")) == {"A1210": Why.CODE}


@pytest.mark.parametrize(
    "words", ["dcterms:W3CDTF", "lpstr", "Beng", "Tunga", "FFFFFF", "orthographicFront"]
)
def test_words_that_office_programs_write_into_each_file_are_not_listed(words: str) -> None:
    assert listed(Piece(words, accepts=FindingFilter.PROVEN)) == {}


def test_what_masking_replaced_is_not_listed_and_shown_as_a_gap() -> None:
    text = "They sent biscuit to Mara Thornquist, for the parcel was late."
    start = text.index("Mara")
    edit = Edit(start, start + 15, "Robin Fensby", EntityType.PERSON, "test", 1.0)
    assert len(without(text, [edit])) == len(text)
    words = words_left([Piece(text)], lambda _: [edit], DETECTION)
    assert sorted(words) == ["biscuit", "parcel"]
    assert words["biscuit"].example == "They sent biscuit to …, for the parcel was late."
    both = merged([("a", words), ("b", words)])
    assert (both["parcel"].times, both["parcel"].files) == (2, {"a", "b"})


def test_chinese_and_japanese_are_cut_into_words() -> None:
    texts = {"请把合同发给青鸾项目的客户": "青鸾", "月白プロジェクトの資料を送った": "月白"}
    for text, word in texts.items():
        words = words_left([Piece(text)], lambda _: [], DETECTION)
        assert word in words and not words.keys() & {"合同", "客户", "项目", "資料", "プロジェクト"}
    chan = words_left([Piece("昨日ことねちゃんが来た")], lambda _: [], DETECTION)
    assert "ことね" in chan


def test_without_models_runs_are_cut_by_length() -> None:
    bare = DetectionConfig(english_model="", chinese_model="", japanese_model="")
    text = "请把合同发给青鸾项目"
    (clause,) = _clauses(text)
    assert _eastern_words([text], bare, is_japanese=False)[clause.group()] == (
        (0, 6, True),
        (6, 10, True),
    )
    assert "biscuit" in words_left([Piece("give it to biscuit")], lambda _: [], bare)


@pytest.mark.parametrize(
    "part", ["A", "A'", "A ", "1-", "a_", '"a ', "12 ", "$1,", "called ", "a1.", "Ab C", "“a", "é"]
)
def test_hostile_texts_take_time_in_proportion(part: str) -> None:
    text = part * 40_000
    began = process_time()
    for _ in sightings(Piece(text), text, ENGLISH):
        pass
    assert process_time() - began < 5
