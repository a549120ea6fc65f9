"""What speaks for a name: a model's word alone does not."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Finding
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.weight import Weight, _words_of, weights

WORDS = frozenset(
    {"configure", "external", "access", "with", "ingress", "token", "agent", "author", "grant"}
    | {"page", "will", "field", "key", "actions", "systems", "more", "add", "customer", "reader"}
    | {"book", "release", "by", "read", "the", "of", "in", "to", "salad", "kettle"}
)


def weigh(text: str, value: str, kind: EntityType, recognizer: str = "spacy") -> Weight:
    start = text.index(value)
    finding = Finding(start, start + len(value), kind, recognizer, 0.75)
    ((_, weight),) = weights(text, [finding], WORDS)
    return weight


PERSON, FIRM, PLACE = EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION


@pytest.mark.parametrize(
    ("text", "value", "kind", "expected"),
    [
        ("Alice Configure", "Alice Configure", PERSON, Weight.SURE),
        ("# Configure Access", "Configure Access", PERSON, Weight.NONE),
        ("Configure S3", "Configure S3", PERSON, Weight.NONE),
        ("the Zorvex tool", "Zorvex", PERSON, Weight.WEAK),
        ("Zorvex Quillane", "Zorvex Quillane", PERSON, Weight.SURE),
        ("read by Zorvex Field", "Zorvex Field", PERSON, Weight.SURE),
        ("Dear Zorvex", "Zorvex", PERSON, Weight.SURE),
        ("Reviewer: Grant Page, Will Field", "Will Field", PERSON, Weight.SURE),
        ("Key Actions & Systems", "Key Actions & Systems", FIRM, Weight.NONE),
        ("Zorvex Systems", "Zorvex Systems", FIRM, Weight.SURE),
        ("Field Access Ltd", "Field Access Ltd", FIRM, Weight.SURE),
        ("the Zorvex layer", "Zorvex", FIRM, Weight.WEAK),
        ("INFO zorvex reloaded", "zorvex", FIRM, Weight.NONE),
        ("in Zorvex", "Zorvex", PLACE, Weight.SURE),
        ("Zorvex Release", "Zorvex Release", PLACE, Weight.WEAK),
        ("the external page defied Grant .", "Grant", PERSON, Weight.WEAK),
        ("the page in which Salad Kettle read", "Salad Kettle", PERSON, Weight.WEAK),
        ("read the Field release with care", "Field", PERSON, Weight.NONE),
        ("Agent: read the book of the customer", "Agent", PERSON, Weight.NONE),
        ("we read by Reader, and a reader reads", "Reader", PERSON, Weight.NONE),
        ("Read by Leo, of the customer", "Leo", FIRM, Weight.WEAK),
        ("a year at Field Access as author", "Field Access", FIRM, Weight.WEAK),
        ("the page of Field Access as author", "Field Access", FIRM, Weight.NONE),
    ],
)
def test_names(text: str, value: str, kind: EntityType, expected: Weight) -> None:
    assert weigh(text, value, kind) is expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("@notes.md", "notes.md", Weight.NONE),
        ("run `zorvex list --json`", "zorvex", Weight.NONE),
        ("login: zorvex42", "zorvex42", Weight.SURE),
    ],
)
def test_logins(text: str, value: str, expected: Weight) -> None:
    assert weigh(text, value, EntityType.ACCOUNT, "said") is expected


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("Total 1205139695.78", "1205139695.78", Weight.NONE),
        ("| Mobile | 438790134 | 51901 |", "438790134", Weight.NONE),
        ("17 2 1170 2265 31\n18 3 1171 2260 30\n", "1170 2265 31", Weight.NONE),
        ("call 0172 3345671", "0172 3345671", Weight.SURE),
        ("phone: 13812345678", "13812345678", Weight.SURE),
        ("| Ann | +44 20 7946 0018 | 3 | 4 |", "+44 20 7946 0018", Weight.SURE),
    ],
)
def test_figures_are_no_telephone_numbers(text: str, value: str, expected: Weight) -> None:
    assert weigh(text, value, EntityType.PHONE, "phone_said") is expected


def test_who_is_listed_beside_somebody_is_somebody() -> None:
    text = "of our founders: Zorvexa, Page and Field are here; Book and Release are not"
    values = ("Zorvexa", "Page", "Field", "Book", "Release")
    findings = [
        Finding(text.index(value), text.index(value) + len(value), PERSON, "spacy", 0.75)
        for value in values
    ]
    weighed = dict(
        zip(values, (weight for _, weight in weights(text, findings, WORDS)), strict=True)
    )
    assert weighed["Page"] == weighed["Field"] == Weight.WEAK


def test_what_is_weak_is_masked_at_full_and_left_to_the_owner_at_strict() -> None:
    text = "We asked Zorvexa for help with the release of the reader."
    spans = {}
    for level in (MaskingLevel.FULL, MaskingLevel.STRICT):
        detector = TextDetector(at_level(DetectionConfig(), level))
        (findings,) = detector.find([text])
        spans[level] = {(text[f.start : f.end], f.recognizer == "doubted") for f in findings}
    assert ("Zorvexa", False) in spans[MaskingLevel.FULL]
    assert ("Zorvexa", True) in spans[MaskingLevel.STRICT]


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Rose or a rose", "Rose", True),
        ("Rose rosewood arose", "Rose", False),
        ("@rose and #rose", "Rose", False),
        ("rose's and rose_2", "Rose", True),
        ("call o'neil", "O'Neil", True),
        ("call a'o'neil", "O'Neil", True),
        ("call o'neils", "O'Neil", False),
        ("die straße", "Straße", True),
        ("ROSE", "Rose", False),
        ("", "Rose", False),
    ],
)
def test_a_word_words_of_where_it_stands_alone(text: str, word: str, expected: bool) -> None:
    assert (word.lower() in _words_of(text)) is expected
