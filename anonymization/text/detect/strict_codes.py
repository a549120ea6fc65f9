"""Coordinates, dates of birth, plates and codes that no label announces (level `strict`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.capital_places import is_plain_capital
from anonymization.text.detect.explained_codes import is_known_lead
from data.text.dates import MONTH_NAME, OTHER_MONTH_NAME
from data.text.screened import Screened, find_each, screened
from data.text.scripts import HAN, HAN_KANA, LETTERS

_Span = tuple[int, int, EntityType]
_DEGREES = r"[+−-]?\d{1,3}\.\d{4,9}"
# Two numbers side by side, or one with a mark of degrees or a quarter of the sky.
_POSITION = Screened(
    rf"(?<![\w.])(?P<a>{_DEGREES})°?(?: ?[NS]\b)?(?:[,;/] ?|[ \t]{{1,3}}|,\n\s{{0,40}})"
    rf"(?P<b>{_DEGREES})(?![\w.])"
)
_MARKED = screened(
    r"(?<![\w.])[+-]?\d{1,3}(?:\.\d{2,9})? ?(?:°|º|度)(?: ?\d{1,2} ?['′’分](?: ?\d{1,2}"
    r"(?:\.\d{1,4})? ?(?:\"|″|”|''|秒))?)? ?[NSEWO]?(?=\W|\Z)",
    r"(?<![\w.])\d{1,3}\.\d{3,9} ?[NSEW]\b",
    r"(?:(?<=[北南东西東]纬)|(?<=[東西]経)|(?<=[东西]经)|(?<=北緯))\d{1,3}\.\d{2,}",
)
_LATITUDE, _LONGITUDE = 90, 180
_PLACES = 4
_MONTHS = f"{MONTH_NAME}|{OTHER_MONTH_NAME}"
_YEAR = r"(?:19[2-9]\d|200\d)"
_BIRTH = screened(
    rf"(?<![\d./-])(?:0?[1-9]|[12]\d|3[01])([-/. ])(?:0?[1-9]|1[0-2])\1{_YEAR}(?![\d/-]|\.\d)",
    rf"(?<![\d./-])(?:0?[1-9]|1[0-2])([-/])(?:0?[1-9]|[12]\d|3[01])\1{_YEAR}(?![\d/-]|\.\d)",
    rf"(?<!\d)(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th|er|\.)? (?:{_MONTHS}),? {_YEAR}(?!\d)",
    rf"\b(?:{_MONTHS}) (?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?,? {_YEAR}(?!\d)",
    r"(?:昭和|平成|大正|S|H)(?:[1-9]|[1-6]\d|元)[年.]\d{1,2}[月.]\d{1,2}日?",
    flags=re.IGNORECASE,
)
# Land registers, number plates and chassis numbers.
_PARCEL = Screened(
    r"(?i:\b(?:section|parcelle|flurst(?:ü|ue)ck|flurst\.|flur|gemarkung|lot|parcel|title"
    r"|grundbuch(?:blatt)?)) "
    r"(?P<v>[A-Z]{1,2} (?:n° ?|n[o°º]\.? ?|Nr\. ?)?\d{1,5}|(?:Nr\. ?)?\d{1,5}/\d{1,4}"
    r"|[A-Z]{2}\d{4,8})"
)
_VIN = Screened(
    r"(?<![A-Za-z0-9])(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}(?![A-Za-z0-9])"
)
_PLATE = Screened(
    r"(?<![\w-])(?:\d[A-Z]{3}\d{3}|[A-ZÄÖÜ]{1,3}[ -][A-Z]{1,2} ?\d{1,4}[EH]?"
    r"|[A-Z]{2}-\d{3}-[A-Z]{2}|[A-Z]{1,2} \d{3,4} [A-Z]{2}"
    rf"|[{HAN}][A-Z][·・ ]?[A-Z0-9]{{5,6}})(?![\w-])"
)
# Codes of the East: characters and digits with hyphens between them.
_MIXED = Screened(
    rf"(?<![\w-])(?=[^-\s]*-[^-\s]*-)(?=[\d-]*[{HAN_KANA}])(?:[{HAN_KANA}]{{1,2}}|\d{{1,5}})"
    rf"(?:-(?:[{HAN_KANA}]{{1,2}}|\d{{1,5}})){{2,4}}(?![\w-])"
)
# A machine by the word for its kind, and a name in front of it or behind it.
_KINDS = r"(?:pc|laptop|macbook|imac|ipad|nas|workstation|printer|srv|ws)"
_MACHINE = screened(
    r"(?<![\w/.-])(?!(?:multi|single|non|cross|anti|per|in|on|to|all)-)[a-z]{3,16}"
    rf"-{_KINDS}\d{{0,2}}(?![\w-]|\.\w)",
    rf"(?<![\w/.-]){_KINDS}-(?!(?:based|friendly|ready|side|only|like|style|like|specific)\b)"
    r"[a-z]{3,16}\d{0,2}(?![\w-]|\.\w)",
    r"(?:(?<=\bon )|(?<=\bfrom )|(?<=\bat ))[A-Z]{3,12}-\d{2,3}(?![\w-])",
)
# A passphrase of words with a sign between them.
_SIGNED = Screened(r"(?<=[\"'])[a-z]{4,16}[!$^*~#][a-z]{4,16}(?=[\"'])")
_INITIALS = re.compile(r"(?<![A-Za-z.])(?:[A-Z]\.){3,4}(?![A-Za-z])")
_NOT_INITIALS = frozenset({"U.S.A.", "U.S.S.R.", "Y.M.C.A."})
_CODE = Screened(
    r"(?<![\w/.-])(?:\d{2,4}[-/][A-Z]{1,3}[-/]\d{1,5}|[A-Z]{1,4}[-/]\d{2,5}[-/][A-Z0-9]{1,4}"
    r"|[A-Z]{2,3}[/]\d{3,6})(?![\w/-])"
)
_STARTING = Screened(
    r"(?<![\w./:-])(?=[\dA-Z-]{6,20}(?![\w/-]))(?:\d{1,4}[A-Z]{1,4}\d{1,6}-\d{2,8}"
    r"|\d{4,8}-[A-Z]{1,2})(?!\w)"
)
_BORN = Screened(
    rf"(?i:\b(?:born|dob|d\.o\.b\.|geboren|geb\.|née?)(?: on| am| le|:)? )"
    rf"(?P<v>\d{{1,2}}(?:st|nd|rd|th|\.)? (?i:{_MONTHS})\.? (?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}})(?!\w)"
)
_LANE = Screened(
    r"\b(?:on|in|at|off|near|down|up|of|from|to|behind|via|along|through)"
    r" (?P<v>(?!the |a |main |high |our |his |her |my |this |that "
    r"|same )"
    r"[a-z]{3,16} (?:street|road|lane|avenue|close|crescent|terrace|mews))\b"
)
_CODENAME = Screened(
    r"\b(?:project|operation|codename|code name) (?P<v>[a-z]{4,16})"
    r"(?= (?:is|was|has|will|slips?|starts?|started|ends?|goes|moves|stays|launch(?:es)?)\b)"
)
_JOINED = Screened(r"(?<![\w.@/-])[a-z]{4,16}[013-9]\d?[a-z]{4,16}(?![\w@(/-]|\.\w)")
_SHORT = re.compile(rf"(?<![{LETTERS}0-9])(?P<lead>[A-Z]{{1,4}})")


def find_codes(text: str) -> Iterator[_Span]:
    """The spans of such numbers and codes, in no order."""
    yield from _with_digits(text)
    for match in _LANE.finditer(text):
        yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _CODENAME.finditer(text):
        if not is_plain_capital(match["v"]):
            yield *match.span("v"), EntityType.UNEXPLAINED
    yield from _without_lead(text, (_MIXED, *_MACHINE, _SIGNED, _PLATE))
    for match in _INITIALS.finditer(text):
        if match.group() not in _NOT_INITIALS:
            yield *match.span(), EntityType.UNEXPLAINED


def _with_digits(text: str) -> Iterator[_Span]:
    """Coordinates, dates of birth, parcels, and codes of letters and digits."""
    for match in _POSITION.finditer(text):
        if _is_position(match["a"], match["b"]):
            yield *match.span("a"), EntityType.UNEXPLAINED
            yield *match.span("b"), EntityType.UNEXPLAINED
    for match in find_each(_MARKED, text):
        if any(mark in match.group() for mark in "NSEWO'′″分.") and len(match.group()) > _PLACES:
            yield *match.span(), EntityType.UNEXPLAINED
    for match in find_each(_BIRTH, text):
        yield *match.span(), EntityType.DATE
    for match in _BORN.finditer(text):
        yield *match.span("v"), EntityType.DATE
    for match in _PARCEL.finditer(text):
        yield *match.span("v"), EntityType.UNEXPLAINED
    yield from _without_lead(text, (_VIN, _CODE, _STARTING, _JOINED))


def _without_lead(text: str, patterns: Iterable[Screened]) -> Iterator[_Span]:
    """The spans of patterns, but for those that begin with the known head of a series."""
    for pattern in patterns:
        for match in pattern.finditer(text):
            lead = _SHORT.match(match.group())
            if lead is None or not is_known_lead(lead["lead"]):
                yield *match.span(), EntityType.UNEXPLAINED


def _is_position(first: str, second: str) -> bool:
    """Are they degrees of latitude and longitude, not two shares or scores?"""
    numbers = [float(part.replace("−", "-")) for part in (first, second)]
    small, large = sorted(map(abs, numbers))
    places = min(len(part.partition(".")[2]) for part in (first, second))
    is_fine = places > _PLACES or large > 1
    return small <= _LATITUDE and large <= _LONGITUDE and is_fine and large > 1
