"""Screened patterns: what matches need, and that no match is lost."""

from __future__ import annotations

import re

import pytest

from data.text.screened import Need, Screened, find_each, has_eastern, needs_of, screened


def needs(pattern: str, flags: int = 0) -> set[Need]:
    return set(needs_of(re.compile(pattern, flags)))


def literals(*words: str) -> Need:
    return Need(frozenset(words))


def folded(*words: str) -> Need:
    return Need(frozenset(), frozenset(words))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"user=\w+", {literals("user=")}),
        (r"(?:user|login): \w", {literals("user", "login"), literals(": ")}),
        (r"(?i:User)\w*", {folded("user")}),
        (r"[Uu]ser\w*", {folded("user")}),
        (r"(?i)pass(?-i:PORT)", {folded("passport")}),
        (r"(?:ab){2,}", {literals("ab")}),
        (r"(?<=git@)\S+(?=:)", {literals("git@"), literals(":")}),
        (r"\w+\d", {Need(frozenset(), digit=True)}),
        (r"[1-9]x?", {Need(frozenset(), digit=True)}),
        (r"[张王]\w|\d", {Need(frozenset(), digit=True, eastern=True)}),
        (r"\d°", {literals("°"), Need(frozenset(), digit=True)}),
        (r"[$#]x", {folded("$", "#")}),
    ],
)
def test_needs_are_read_from_the_pattern(pattern: str, expected: set[Need]) -> None:
    assert needs(pattern) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        r"(?:user)?",
        r"user|\w",
        r"(?!user)\w",
        r"[^u]",
        r"(?:ab)*",
        r"[a-z]+",
        r"(?i:é)",
        "",
    ],
)
def test_what_a_match_can_be_without_is_no_need(pattern: str) -> None:
    assert needs(pattern) == set()


@pytest.mark.parametrize("text", ["SİGN", "ſıgn", "SIGN", "sign", "Sİgn"])
def test_letters_that_patterns_take_for_others_are_no_way_around(text: str) -> None:
    sign = Screened(r"(?i:sign)")
    assert sign.needs == (folded("sign"),)
    assert sign.search(text) is not None
    assert Screened(r"(?i:look)").search("LOO\u212a") is not None  # the sign of Kelvin


def test_a_text_without_what_is_needed_is_not_read() -> None:
    login = Screened(r"login (\w+)")
    assert not login.may_match("Log in as ann.")
    assert login.search("login ann") is not None
    assert [match[1] for match in login.finditer("login ann, login bob")] == ["ann", "bob"]


def test_alternatives_are_found_each_by_itself() -> None:
    patterns = screened(r"b(?P<first>\w)", r"\w(?P<second>c)", flags=re.IGNORECASE)
    assert [match.lastgroup for match in find_each(patterns, "a BC")] == ["first", "second"]


def test_eastern_script_is_han_kana_and_hangul() -> None:
    assert [has_eastern(text) for text in ("Straße", "œuvre – 5 °", "王", "あ", "김", "")] == [
        False,
        False,
        True,
        True,
        True,
        False,
    ]
