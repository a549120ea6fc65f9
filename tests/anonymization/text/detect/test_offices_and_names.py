"""A word that says an office, a trade or a house is no name, even where a name would stand."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import DOUBTED, UNDECIDED, EntityType, Finding
from tests.anonymization.text.masking.calls import strict

_WORDS = ["栄養士", "看護師長", "事務局", "介護主任", "护士长", "客服部", "管理员", "财务科"]
_NAMES = ["森田 恵子", "佐伯美緒", "刘晓燕", "欧阳明月"]
_FRAMES = ["担当者：{}", "氏名：{}", "姓名：{}", "联系人：{}", "责任人：{}"]


def _replaced(text: str, value: str) -> list[Finding]:
    start = text.index(value)
    return [
        finding
        for finding in strict().find([text])[0]
        if finding.start < start + len(value)
        and start < finding.end
        and finding.recognizer not in UNDECIDED
    ]


@pytest.mark.parametrize("frame", _FRAMES)
@pytest.mark.parametrize("word", _WORDS)
def test_offices_under_labels_of_people_go_to_the_list(word: str, frame: str) -> None:
    assert _replaced(frame.format(word), word) == []


@pytest.mark.parametrize("name", _NAMES)
def test_names_under_labels_are_replaced(name: str) -> None:
    frame = _FRAMES[1] if name in _NAMES[:2] else _FRAMES[2]
    assert _replaced(frame.format(name), name)


@pytest.mark.parametrize(
    "heading", ["Harbour clinic, Graves ward", "Einsatzplan", "Night shift, all floors"]
)
def test_headings_above_addresses_are_no_signatures(heading: str) -> None:
    text = f"{heading}\n\nWrite to kettler@brassmere.no or call +47 22 55 01 99.\n"
    assert _replaced(text, heading) == []


@pytest.mark.parametrize("login", ["bootenv", "startnode", "logrotate"])
def test_words_joined_in_one_are_no_certain_logins(login: str) -> None:
    assert _replaced(f"The user {login} does not exist.", login) == []
    logins = _replaced(f"ssh {login}@db.orlam.se", login)
    assert {finding.type for finding in logins} <= {EntityType.ACCOUNT, EntityType.EMAIL}
    assert all(finding.recognizer != DOUBTED for finding in logins)


def test_an_address_that_says_the_name_makes_it_certain() -> None:
    assert _replaced("From: Mara Thornby <m.thornby@orlam.no>", "Mara Thornby")


@pytest.mark.parametrize("title", ["Omwell — Classic Exhibit", "CrateBuilder", "Neon Market"])
def test_displayed_names_of_things_are_no_people(title: str) -> None:
    assert _replaced(f'{{"display_name": "{title}"}}', title) == []
    assert _replaced('{"display_name": "Marcus Quade"}', "Marcus Quade")


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        (
            "From: Nora Harbour\n\nThe Harbour closes at six; see Inner Harbour, Harbour plan.",
            "Harbour",
        ),
        ("Speaker: Ellen Summit\nA Big Summit follows. Summit tickets are sold.", "Summit"),
        (
            "Dear Paul Warden,\n\nthe Warden of the lodge has the keys. Warden duty is paid.",
            "Warden",
        ),
    ],
)
def test_a_noun_elsewhere_in_the_text_is_no_family_name_there(text: str, noun: str) -> None:
    last = text.rindex(noun)
    findings = [f for f in strict().find([text])[0] if f.recognizer not in UNDECIDED]
    assert not [f for f in findings if f.start <= last < f.end]


def test_a_family_name_that_is_a_word_is_replaced_again() -> None:
    text = "From: Sarah Baker\n\nBaker called at noon. Please answer Baker today.\n"
    last = text.rindex("Baker")
    findings = [f for f in strict().find([text])[0] if f.recognizer not in UNDECIDED]
    assert [f for f in findings if f.start <= last < f.end]
