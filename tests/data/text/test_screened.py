"""Screened patterns: what matches need, and that no match is lost."""

from __future__ import annotations

import re

import pytest

from data.text.screened import Need, Screened, _needs_of, find_each, screened


def needs(pattern: str, flags: int = 0) -> set[Need]:
    return set(_needs_of(re.compile(pattern, flags)))


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
        (r"\w+\d", {Need(frozenset(), digits=1)}),
        (r"[1-9]x?", {Need(frozenset(), digits=1)}),
        (r"[张王]\w|\d", {Need(frozenset(), digits=1, eastern=True)}),
        (r"\d°", {literals("°"), Need(frozenset(), digits=1)}),
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


@pytest.mark.parametrize(
    ("pattern", "digits"),
    [
        (r"\d{4}-\d\d", 6),
        (r"(?:1[0-2]|[3-9])\d+", 2),
        (r"(?:\d|x\d\d){3}", 3),
        (r"(?=\d{5})[0-9]{2,4}(?!\d)", 2),
        (r"[0-9a-f]{8}|\d{3}", 0),
    ],
)
def test_digits_that_every_match_has_are_counted(pattern: str, digits: int) -> None:
    assert max((need.digits for need in needs(pattern)), default=0) == digits
    screen = Screened(pattern)
    assert screen.may_match("1" * digits + " x-y")
    assert not digits or not screen.may_match("1" * (digits - 1) + " x-y")


def test_a_need_that_is_declared_is_one_more() -> None:
    screen = Screened(r"\w+", 0, folded("name", "named"))
    assert [match.group() for match in screen.finditer("his NAME")] == ["his", "NAME"]
    assert screen.search("his nam e") is None


def test_patterns_made_after_a_text_was_read_are_tried_on_it() -> None:
    text = "a text with zyxwv and 77 digits"
    assert not Screened(r"vwxyz \d").may_match(text)
    assert Screened(r"zyxwv|wvxyz").may_match(text)
    assert Screened(r"(?i)AND \d").may_match(text)


@pytest.mark.parametrize("literal", ["q", "qz", "qzx", "号", "号码", "号码q", "Q", "qZ", "ßq"])
def test_a_literal_of_any_length_is_found_where_it_stands(literal: str) -> None:
    screen = Screened(re.escape(literal))
    for text in (literal, f"{literal}.", f".{literal}", f"a {literal} b"):
        assert screen.may_match(text)
    assert not screen.needs or not screen.may_match("nothing of this")
