"""Folding, checksums, overlap and hostile input."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.tokens import Span

from anonymization.text.contracts import DetectionConfig, EntityType, Finding
from anonymization.text.detect import english
from anonymization.text.detect.address import find_addresses
from anonymization.text.detect.engine import Memo, resolve
from anonymization.text.detect.listed_names import find_listed_names
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.rules import (
    bank_card,
    iban,
    ip_address,
    load_rules,
    phone,
    scan,
)
from anonymization.text.detect.wording import chinese_name
from anonymization.text.identity_numbers import credit_code, resident_id
from data.text.folding import fold_characters


@given(st.text())
def test_folding_keeps_every_offset(text: str) -> None:
    assert len(fold_characters(text)) == len(text)


def test_folding() -> None:
    assert fold_characters("（０１０）６２３４：ＡＢ－٣\u00a0x，。") == "(010)6234:AB-3 x，。"


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (resident_id, "11010519491231002X", "110105194912310021"),
        (resident_id, "11010519491231002x", "11010519491331002X"),
        (credit_code, "91350100M000100Y43", "91350100M000100Y44"),
        (bank_card, "6222021234567890128", "6222021234567890129"),
        (bank_card, "4556-7375-8689-9855", "1556737586899855"),
        (iban, "GB29 NWBK 6016 1331 9268 19", "GB28NWBK60161331926819"),
        (ip_address, "81.187.45.201", "81.187.45.256"),
        (phone, "083 564 9312", "2025-03-11"),
        (chinese_name, "欧阳文静", "系统管理"),
        (chinese_name, "周海涛", "周末"),
    ],
)
def test_checks(check: object, good: str, bad: str) -> None:
    assert callable(check)
    assert check(good) is True
    assert check(bad) is False


_KINDS = st.sampled_from((EntityType.PERSON, EntityType.PHONE, EntityType.URL, EntityType.DATE))
_FINDINGS = st.lists(
    st.builds(
        lambda start, size, kind, score: Finding(start, min(40, start + size), kind, "r", score),
        st.integers(0, 39), st.integers(1, 12), _KINDS, st.sampled_from((0.5, 0.9)),
    ),
    max_size=12,
)  # fmt: skip
_TEXT = "ab12 " * 8
_OF_DIGITS = {EntityType.PHONE}  # of the kinds above


@given(_FINDINGS, st.randoms())
def test_overlaps_are_resolved_the_same_in_any_order(
    findings: list[Finding], random: object
) -> None:
    shuffled = findings[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve(_TEXT, shuffled) == resolve(_TEXT, findings)


@example(  # two lone characters side by side, each left over by a finding of its own
    [
        Finding(start, end, kind, "r", 0.5)
        for start, end, kind in (
            (0, 12, EntityType.PERSON),
            (1, 13, EntityType.PERSON),
            (13, 16, EntityType.PERSON),
            (15, 16, EntityType.PHONE),
        )
    ]
)
@example(  # the letters before a number that another number has cut
    [
        Finding(14, 18, EntityType.PHONE, "r", 0.5),
        Finding(17, 21, EntityType.PHONE, "r", 0.9),
    ]
)
@given(_FINDINGS)
def test_resolved_findings_do_not_overlap_and_cover_what_was_found(findings: list[Finding]) -> None:
    resolved = resolve(_TEXT, findings)
    places = [place for f in resolved for place in range(f.start, f.end)]
    assert len(places) == len(set(places))
    actual = {place for f in findings for place in range(f.start, f.end)}
    assert set(places) <= actual
    # What a finding gives up at a seam is a mark, a space, one lone character, or of a number its
    # label.
    for finding in findings:
        remaining = "".join(
            "|" if place in places else _TEXT[place] for place in range(finding.start, finding.end)
        )
        for rest in remaining.split("|"):
            is_label = finding.type in _OF_DIGITS and rest.strip().isalpha()
            assert len(rest.strip()) <= 1 or is_label


def test_a_proven_kind_cuts_a_longer_one() -> None:
    text = "王建国13812345678"
    name = Finding(0, len(text), EntityType.PERSON, "lac", 0.7)
    number = Finding(3, len(text), EntityType.PHONE, "mobile_chinese", 0.7)
    assert resolve(text, [name, number]) == [
        Finding(0, 3, EntityType.PERSON, "lac", 0.7),
        number,
    ]


def test_the_memo_forgets_the_least_recently_used() -> None:
    memo = Memo(200)
    memo.put("a", ())
    memo.put("b", ())
    assert memo.get("a") == ()
    memo.put("c", ())
    memo.put("d", ())
    assert memo.get("b") is None
    assert memo.get("d") == ()


_HOSTILE = (
    *(
        "a",
        "1",
        "A",
        "Ab ",
        "1 ",
        "12-",
        "(1",
        "a@",
        "@a.",
        "https://",
        "/home/",
        "A. ",
        "1:",
        "::",
    ),
    *("Ab, Ab and ", "1 Ab ", "Ab\n", "公司", "中国路1号", "Mr ", "卡号1234 "),
)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", _HOSTILE)
def test_repetition_does_not_make_a_pattern_run_away(unit: str) -> None:
    text = unit * (30_000 // len(unit))
    lines = MachineLines(text)
    actual = [*scan(load_rules(), text, lines), *find_addresses(text, lines)]
    actual += find_listed_names(text, lines)
    assert all(0 <= f.start < f.end <= len(text) for f in resolve(text, actual))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["!", "'", "!.", " a", "(", ") ", "the ", "A of "])
def test_trimming_what_a_model_found_does_not_run_away(unit: str) -> None:
    text = unit * (1200 // len(unit)) + "x"
    span = english._trim(text, 0, len(text))
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("the Mr Ellsworth's", "Ellsworth"),
        ("(Trondheim)", "Trondheim"),
        ("Brightwater Inc.", "Brightwater Inc."),
        ("ex-minister Ellsworth.", "Ellsworth"),
        ("Messina: Hollander", "Messina"),
    ],
)
def test_trimming(entity: str, expected: str) -> None:
    span = english._trim(entity, 0, len(entity))
    assert span is not None
    assert entity[slice(*span)] == expected


def test_entities_are_those_of_the_pipe_of_spacy() -> None:
    model = DetectionConfig().english_model
    units = [
        "Please ask Maria Lindqvist of Aster Freight about the pier in Bergen.",
        "The court in Graz heard Mr Pelz on 3 May, and Ms Okafor for the Republic of Austria. " * 6,
        "",
        " ",
        "nobody",
        "Ines, Tomas and Brightwater Ltd signed; Lukas Brandt did not.",
    ]
    own = [
        list(map(_entity, doc.ents)) for doc in english.with_entities(units, english.load(model), 4)
    ]
    assert own == [list(map(_entity, doc.ents)) for doc in english.load(model).pipe(units)]
    assert sum(map(len, own)) > len(units)


def _entity(span: Span) -> tuple[int, int, str]:
    return span.start_char, span.end_char, span.label_
