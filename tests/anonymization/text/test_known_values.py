"""What counts as a spelling of a known value, for the sweep and the leak search alike."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.text.contracts import EntityType as Kind
from anonymization.text.known_values import respelled
from anonymization.text.masking.known_search import KnownValueSearch
from anonymization.text.normal_form import Origins, skeleton

# Kind, value, its surrogate.
VALUES = (
    (Kind.PHONE, "13800138000", "15412345678"),
    (Kind.PHONE, "+1 (415) 555-2671", "+1 (234) 555-0199"),
    (Kind.PHONE, "+44 7700 900123", "+44 7700 900999"),
    (Kind.PHONE, "555-1234", "555-9876"),
    (Kind.BANK_CARD, "4111 1111 1111 1111", "4000 0012 3456 7890"),
    (Kind.BANK_ACCOUNT, "GB82WEST12345698765432", "GB11ABCD00001111222233"),
    (Kind.NATIONAL_ID, "11010519491231002X", "990105195001010026"),
    (Kind.ACCOUNT, "20240315", "20250101"),
    (Kind.PERSON, "John Smithson", "Robin Fensby"),
    (Kind.PERSON, "Mary Ann Vossberg-Kay", "Ida Sue Quell-Oak"),
    (Kind.PERSON, "Dr. Lena Ullmark", "Dr. Vera Hasp"),
    (Kind.PERSON, "June May", "Kora Fitz"),
    (Kind.PERSON, "José García", "Alan Culley"),
    (Kind.PERSON, "王小明", "李思远"),
    (Kind.PERSON, "张伟", "赵敏"),
    (Kind.ORGANIZATION, "Quillfeather Robotics", "Marlow Dynamics"),
    (Kind.ORGANIZATION, "Tarnhatch Inc.", "Marlow Inc."),
    (Kind.ORGANIZATION, "Customer Success", "Cove Fell"),
    (Kind.EMAIL, "anna@quarry.example", "robin@tarn.example"),
)
SWEEP = KnownValueSearch((kind, value) for kind, value, _ in VALUES)
PATTERNS = LeakPatterns(
    [PrivateValue(value, kind) for kind, value, _ in VALUES], b"k" * 32, LeakConfig()
)
SURROGATES = {value: new for _, value, new in VALUES}

SPELLINGS = {
    "+86 138-0013-8000": "+86 154-1234-5678",
    "8613800138000": "8615412345678",
    "0086 13800138000": "0086 15412345678",
    "138 0013 8000": "154 1234 5678",
    "138\u00a00013\u20118000": "154\u00a01234\u20115678",
    "１３８００１３８０００": "１５４１２３４５６７８",
    "4155552671": "2345550199",
    "1.415.555.2671": "1.234.555.0199",
    "07700 900123": "07700 900999",
    "555 1234": "555 9876",
    "4111-1111-1111-1111": "4000-0012-3456-7890",
    "gb82 west 1234 5698 7654 32": "gb11 abcd 0000 1111 2222 33",
    "110105 19491231 002x": "990105 19500101 0026",
    "Smithson, John": "Fensby, Robin",
    "SMITHSON JOHN": "FENSBY ROBIN",
    "see john.smithson there": "see robin.fensby there",
    "cv_john-smithson_2024": "cv_robin-fensby_2024",
    "John\u00a0 Smithson": "Robin\u00a0 Fensby",
    "we heard it all from John\nSmithson, then": "we heard it all from Robin\nFensby, then",
    "Vossberg-Kay, Mary Ann": "Quell-Oak, Ida Sue",
    "ullmark, lena": "hasp, vera",
    "june  may": "kora  fitz",
    "Jo\u200bhn Smith\u00adson": "Robin Fensby",
    unicodedata.normalize("NFD", "José García"): "Alan Culley",
    "ＪＯＳÉ ＧＡＲＣÍＡ": "ALAN CULLEY",
    "王 小 明": "李 思 远",
    "王\u3000小明": "李\u3000思远",
    "王·小·明": "李·思·远",
    "王\u200b小\ufe00明": "李思远",
    "张\u3000\u3000伟": "赵\u3000\u3000敏",
    "Quillfeather_Robotics": "Marlow_Dynamics",
    "Tarn\u2060hatch Inc.": "Marlow Inc.",
    "an\u00adna@quarry.example": "robin@tarn.example",
}
OTHERS = (
    "138\t0013\t8000",
    "138,0013,8000",
    "138\n0013\n8000",
    "1 3 8 0 0 1 3 8 0 0 0",
    "913800138000",
    "99-138-0013-8000",
    "138-0013-8000-12",
    "555.1234",  # a decimal fraction
    "2024-03-15",  # a date
    "John, Smithson",
    "John\nSmithson",  # cells of a column
    "John\tSmithson",
    "by John. Smithson said",
    "Mary Smithson, John Doe",
    "Ann Smithson John Doe",
    "johnsmithson",
    "john.smithsonian",
    "May, June",
    "june_may",
    "大张 伟大",
    "张\n伟",
    "quillfeather robotics",
    "customer success",
    "Customer_Success",
    "Robotics Quillfeather",
)


def _masked(text: str) -> str:
    for hit in reversed(SWEEP.find(text)):
        standing = text[hit.start : hit.end]
        new = respelled(hit.type, hit.value, SURROGATES[hit.value], standing)
        text = text[: hit.start] + new + text[hit.end :]
    return text


def _leaked(data: bytes) -> set[tuple[int, str]]:
    return {(hit.offset, PATTERNS.values[hit.value_index].value) for hit in PATTERNS.find(data)}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spelling_is_masked_as_it_stands_and_found_as_a_leak(text: str) -> None:
    assert _masked(text) == SPELLINGS[text]
    (hit,) = SWEEP.find(text)
    offset = len(text[: hit.start].encode())
    assert _leaked(text.encode()) == {(offset, hit.value)}


@pytest.mark.parametrize("text", OTHERS)
def test_what_only_looks_alike_is_neither(text: str) -> None:
    assert SWEEP.find(text) == []
    assert _leaked(text.encode()) == set()


def test_a_value_as_it_is_known_goes_before_other_spellings() -> None:
    hits = SWEEP.find("mr smithson, John Smithson")
    assert [(hit.start, hit.value) for hit in hits] == [(13, "John Smithson")]


def test_a_surrogate_of_other_words_keeps_nothing_of_the_value() -> None:
    assert respelled(Kind.PERSON, "John Smithson", "person-7", "smithson, john") == "person-7"
    assert respelled(Kind.PHONE, "13800138000", "phone-7", "138 0013 8000") == "phone-7"
    assert respelled(Kind.PERSON, "王小明", "欧阳思远", "王 小 明") == "欧阳思远"


def test_values_are_found_across_the_parts_of_large_data() -> None:
    size = 1 << 22
    for lead in (size - 9, size - 1, size, size + 1, 2 * size - 4):
        text = "é" * (lead // 2) + " " * (lead % 2) + "smithson, john"
        assert _leaked(text.encode()) == {(lead, "John Smithson")}


def test_strays_in_a_text_and_bytes_that_are_none() -> None:
    text = "é " * 500
    strayed = text.encode() + b"\xff Smithson, John, \xe7\x8e\x8b \xe5\xb0\x8f \xe6\x98\x8e"
    start = len(text.encode()) + 2
    assert _leaked(strayed) == {(start, "John Smithson"), (start + 16, "王小明")}
    binary = bytes(range(128, 256)) * 4 + b"\0Smithson, John\0"
    assert _leaked(binary) == {(513, "John Smithson")}


@given(st.text(max_size=80), st.integers(0, 700))
@settings(max_examples=100)
def test_the_skeleton_leads_back(text: str, lead: int) -> None:
    whole = "é-" * lead + text
    made, origins = skeleton(whole), Origins(whole)
    assert made == b"".join(map(skeleton, whole))
    for at in range(max(0, len(made) - 40), len(made)):
        position = origins.at(at)
        assert skeleton(whole[position])
        assert len(skeleton(whole[:position])) <= at < len(skeleton(whole[: position + 1]))


@given(st.lists(st.sampled_from([*SPELLINGS, *OTHERS, "x", "; ", "\n", "\u200b", " "]), max_size=6))
@settings(max_examples=150)
def test_what_is_masked_holds_no_value(parts: list[str]) -> None:
    masked = _masked("; ".join(parts))
    assert SWEEP.find(masked) == []
    assert _leaked(masked.encode()) == set()
