"""What becomes of a model's answers: only what stands in the text, and is a value, counts."""

from __future__ import annotations

import json

import pytest

from anonymization.recogniser.answers import _recognised
from anonymization.recogniser.contracts import (
    Call,
    Recognised,
    RecogniserAnswer,
    RecogniserConfig,
    Unread,
    text_key,
)
from anonymization.recogniser.informed import _InformedDetector
from anonymization.recogniser.passages import calls_of
from anonymization.text.contracts import (
    DetectionConfig,
    EntityType,
    Finding,
    Mode,
)
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, labelled

CONFIG = RecogniserConfig(model="m")
STRICT = DetectionConfig(
    entities=tuple(EntityType), english_model="", chinese_model="", japanese_model=""
)
NOTE = (
    "Please ask pebble about the order. Will said so; Will you call?\n"
    "This whole line is no value but a sentence of its own.\nif x: return"
)


def call_about(*pieces: Piece, rows: tuple[str, ...] = ()) -> Call:
    (call,) = calls_of("s", {"note.txt": pieces}, dict.fromkeys(rows, ""), CONFIG)
    return call


def read(answer: object, *pieces: Piece, rows: tuple[str, ...] = ()) -> Recognised:
    reply = RecogniserAnswer.model_validate_json(json.dumps(answer))
    return _recognised([call_about(*pieces, rows=rows)], [reply], STRICT.entities)


def named(known: Recognised, text: str) -> list[tuple[str, EntityType]]:
    spans = known.texts[text_key(text)].named
    return [(text[start:end], kind) for start, end, kind, _ in spans]


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        ("pebble", "warlord", "unknown_kind"),
        ("Acorn Hill", "organisation", "not_in_the_text"),
        ("x", "person", "too_short"),
        ("pebble " * 40, "person", "too_long"),
        ("order.\nThis", "other", "too_long"),
        ("This whole line is no value but a sentence of its own.", "other", "whole_line"),
        ("return", "other", "keyword"),
        ("the", "person", "keyword"),
    ],
)
def test_what_is_no_value_of_the_text_is_dropped_and_counted(
    value: str, kind: str, why: str
) -> None:
    known = read({"values": [{"value": value, "kind": kind}]}, Piece(NOTE))
    assert named(known, NOTE) == []
    assert known.counts[f"dropped {why}"] == 1 and known.counts["values"] == 0


def test_a_value_is_found_wherever_it_stands_as_a_word() -> None:
    cell = labelled("owner", "pebble")
    answer = {"values": [{"value": "pebble", "kind": "person"}]}
    known = read(answer, Piece(NOTE), cell, Piece("pebbles on the beach"))
    assert named(known, NOTE) == named(known, cell.text) == [("pebble", EntityType.PERSON)]
    assert named(known, "pebbles on the beach") == []


def test_a_quote_limits_where_a_value_is_meant() -> None:
    answer = {"values": [{"value": "Will", "kind": "person", "within": ["Will said so"]}]}
    known = read(answer, Piece(NOTE))
    ((start, end, kind, is_here),) = known.texts[text_key(NOTE)].named
    assert (NOTE[start:end], start, kind, is_here) == (
        "Will", NOTE.index("Will said"), EntityType.PERSON, True
    )  # fmt: skip


def test_kinds_that_the_level_does_not_look_for_are_dropped() -> None:
    reply = RecogniserAnswer.model_validate(
        {"values": [{"value": "pebble", "kind": "person"}], "not_private": []}
    )
    known = _recognised([call_about(Piece(NOTE))], [reply], (EntityType.SECRET,))
    assert named(known, NOTE) == []
    assert known.counts["dropped kind_of_another_level"] == 1


def test_rows_are_proposed_by_number_or_range_and_not_where_the_word_is_private() -> None:
    rows = ("pebble", "order", "call", "sentence")
    answer = {"values": [{"value": "pebble", "kind": "person"}], "not_private": ["1-3", 9, "x"]}
    known = read(answer, Piece(NOTE), rows=rows)
    assert known.proposals == {"order", "call"}
    assert known.counts["dropped no_such_row"] == 2


def test_a_name_that_is_called_not_private_is_a_proposal() -> None:
    answer = {"values": [{"value": "pebble", "kind": "person", "private": False}]}
    known = read(answer, Piece(NOTE), rows=("pebble", "order"))
    assert known.proposals == {"pebble"} and named(known, NOTE) == []


def test_a_row_of_an_unread_call_is_no_proposal() -> None:
    calls = [call_about(Piece(NOTE), rows=("order",)), call_about(Piece("order"), rows=("order",))]
    reply = RecogniserAnswer.model_validate({"values": [], "not_private": ["1"]})
    known = _recognised(calls, [reply, Unread("call.failed")], STRICT.entities)
    assert known.proposals == frozenset()
    assert known.counts["unread call.failed"] == 1
    assert text_key("order") not in known.texts


def test_what_was_recognised_is_read_back_as_it_was_written() -> None:
    known = read({"values": [{"value": "pebble", "kind": "person"}]}, Piece(NOTE), rows=("order",))
    assert Recognised.from_json(json.loads(json.dumps(known.as_json()))) == known


class Fixed:
    """A detector that finds the same spans in every text."""

    entities = frozenset(EntityType)
    dictionary = usual_words = frozenset({"hill", "acorn"})

    def __init__(self, *findings: Finding) -> None:
        self._findings = findings

    def find(self, texts: list[str]) -> list[list[Finding]]:
        return [[each for each in self._findings if each.end <= len(text)] for text in texts]


def test_a_name_by_rule_that_was_read_and_not_named_is_for_the_owner() -> None:
    text = "Mara Thornby wrote to Joss Harrow, m.kell@quill.example"
    person = Finding(0, 12, EntityType.PERSON, "english_model", 0.85)
    other = Finding(22, 33, EntityType.PERSON, "english_model", 0.85)
    mail = Finding(35, 55, EntityType.EMAIL, "email", 1.0)
    known = read({"values": [{"value": "Mara Thornby", "kind": "person"}]}, Piece(text))
    detector = _InformedDetector(Fixed(person, other, mail), known)  # type: ignore[arg-type]
    (findings,) = detector.find([text])
    by = {text[f.start : f.end]: f.recognizer for f in findings}
    assert by == {
        "Mara Thornby": "recogniser", "Joss Harrow": "unnamed", "m.kell@quill.example": "email",
    }  # fmt: skip
    (unread,) = detector.find(["Mara Thornby and others, of no file"])
    assert [f.recognizer for f in unread] == ["english_model", "english_model"]


def test_what_a_label_declares_stays_masked_whatever_the_model_says() -> None:
    text = "password: kestrel-90-Qx"
    known = read({"values": []}, Piece(text))
    by_rule = TextDetector(STRICT)
    assert _InformedDetector(by_rule, known).find([text]) == by_rule.find([text])
    assert any(f.type is EntityType.SECRET for f in by_rule.find([text])[0])


def test_the_masker_takes_what_a_model_named_and_leaves_other_places() -> None:
    answer = {
        "values": [
            {"value": "pebble", "kind": "person"},
            {"value": "Will", "kind": "person", "within": ["Will said so"]},
        ]
    }
    known = read(answer, Piece(NOTE))
    masker = Masker(
        _InformedDetector(TextDetector(STRICT), known), bytes(32), Mode.PLACEHOLDER, "s"
    )
    (masked,) = masker.mask_texts([NOTE])
    assert "pebble" not in masked and "Will said so" not in masked and "Will you call" in masked


def test_the_genitive_of_a_name_is_the_name() -> None:
    text = "Wiebkes Liste liegt bei Thede; die Bells und der Bell bleiben."
    answer = {
        "values": [
            {"value": "Wiebke", "kind": "person"},
            {"value": "Bell", "kind": "other"},
        ]
    }
    known = read(answer, Piece(text))
    assert [value for value, _ in named(known, text)] == ["Wiebke", "Bell"]


def test_a_longer_doubt_does_not_swallow_what_the_model_named() -> None:
    text = "Lunch Tess, then home"
    doubt = Finding(0, 10, EntityType.UNEXPLAINED, "unexplained", 0.55)
    known = read({"values": [{"value": "Tess", "kind": "person"}]}, Piece(text))
    (findings,) = _InformedDetector(Fixed(doubt), known).find([text])  # type: ignore[arg-type]
    assert [(text[f.start : f.end], f.recognizer) for f in findings] == [("Tess", "recogniser")]


def test_a_code_by_rule_that_was_read_and_not_named_is_for_the_owner() -> None:
    text = "see QFT-2291 and 4471 9920"
    code = Finding(4, 12, EntityType.UNEXPLAINED, "position", 0.6)
    number = Finding(17, 26, EntityType.UNEXPLAINED, "position", 0.6)
    known = read({"values": []}, Piece(text))
    (findings,) = _InformedDetector(Fixed(code, number), known).find([text])  # type: ignore[arg-type]
    assert [f.recognizer for f in findings] == ["unnamed", "position"]
