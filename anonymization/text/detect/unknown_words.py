"""Capitalised words in no English dictionary, where a sentence expects a name.

The dictionary comes with the English model's lemmatizer; a model without one switches this
recognizer off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import COMMON, in_dictionary, words
from data.text.screened import Screened
from data.text.scripts import BEFORE, CAPITALS, LETTER, LETTERS

NAME = "unknown_word"
_SCORE, _ONE_SCORE = 0.55, 0.5
_KEYED_NAME, _KEYED_SCORE = "keyed_name", 0.65
_GIVEN = words("names.toml", "given")
_FUNCTION = words("words.toml", "function_words")
_PREFIXED = re.compile(r"(?:Mac|Mc|De|Di|Du|La|Le|Van|Fitz|St)[^\W\d_a-z][^\W\d_A-Z]+")
_CONTRACTED = re.compile(r"'(?:m|d|ll|re|ve|t)$")
_ENDS = rf"(?![{LETTERS}0-9_@/]|\.[{LETTERS}0-9])"
_WORD = rf"[{CAPITALS}](?:{LETTER}|-(?={LETTER})|'(?!s?(?![a-z]))){{2,30}}{_ENDS}"
_NAMES = rf"(?P<v>{_WORD}(?: (?:(?:de|da|do|del|van|von|der|den|la|le|of|y|e|a) )?{_WORD}){{0,3}})"
_PLACE = Screened(
    rf"{BEFORE}(?:in|from|to|at|near|visit|visiting|visited|via|towards|around|outside|inside"
    rf"|through|leaving|left|reached) {_NAMES}"
)
_FIRM = Screened(
    rf"(?i:{BEFORE}(?:works? (?:for|at)|worked (?:for|at)|employed (?:by|at)|joined|hired by"
    rf"|a year at|intern at|job at|founder of|founded|employee of)) {_NAMES}"
    rf"|{BEFORE}The (?P<v2>{_WORD}(?: {_WORD}){{0,2}})"
    r"(?= (?:office|orchestra|team|company|store|group|website))"
)
_PERSON = Screened(
    rf"(?i:{BEFORE}(?:said|says|starring|directed by|written by|sung by|influenced by|hear|heard"
    rf"|met|meet|told|thank|thanks|asked|with|and|is|was|but|by|me|named|calls? (?:me|him|her)"
    rf"|under|founders?:|friends?:)) {_NAMES}"
    rf"|(?:^|(?<=\n)|(?<=[.!?] ))(?P<v2>{_WORD})"
    rf"(?= (?:lives|lived|had|has|is|was|spent|said|says|listed"
    r"|wrote|writes|asked|shouted|told|tells|called|works|worked|moved|went|came|and I)\b"
    rf"|, (?:can|could|please|would|will|did|do|are|I|thanks?|the)\b|: ?[\"A-Z])"
)
_ASKED = Screened(
    rf"(?i:{BEFORE}(?:call|ring|email|ask|invite|remind|contact|ping|cc|attention)) "
    rf"(?P<v>{_WORD}(?: {_WORD}){{1,2}})"
)
_LOWER = Screened(
    BEFORE + r"(?:name is|calls? me|named (?:him|her)|follow up with|mr\.|mrs\.|ms\.|dr\.|miss) "
    r"(?P<v>[a-zß-öø-ɏ]{3,20}(?: [a-zß-öø-ɏ]\.?)?(?: [a-zß-öø-ɏ]{3,20})?)"
    r"(?=[.,;:!?'\n]|$| (?:but|and|in|on|to|flew)\b)"
)
# A key that says that its value is a person, with the value in quotes or at the end of a comment.
_KEYED = Screened(
    r"(?i:(?<![A-Za-z])(?:author|owner|assignee|reviewer|approver|customer|client|contact|employee"
    r"|manager|patient|requester|reporter|sender|recipient|person|full[ _-]?name|user[ _-]?name"
    r"|(?:first|last|family|given|middle|sur|nick|display|contact|customer|employee|client|real)"
    r"[ _-]?name|first|last|surname|signed(?:[ _-]by)?|prepared[ _-]by|contact[ _-]person))"
    r"[\"']?\s{0,3}[:=]\s{0,3}(?P<quote>[\"'`]?)"
    rf"(?P<v>{_WORD}(?: [{CAPITALS}]\.?)?(?: {_WORD}){{0,3}})(?:(?P=quote)(?=[\s,;)}}\]*]|$))"
)
# A cell, or the part behind a key: `Smith, John`.
_TURNED = Screened(
    rf"(?:^|(?<=[:;(\"'|] )|(?<=[(\"'|;])|(?<=\n))(?P<v>{_WORD}(?:[ -]{_WORD})?, (?P<given>{_WORD})"
    rf"(?: [{CAPITALS}]\.?| {_WORD})?)(?=$|[\n;)\"'|])"
)
# Two or three such words in a row need no other evidence.
_PAIR = re.compile(rf"(?<![@/.-]){BEFORE}(?P<v>{_WORD}(?: [{CAPITALS}]\.?)?(?: {_WORD}){{1,2}})")
# A single one inside a sentence: an organisation or a person, or a product in none of the lists.
_ONE = re.compile(rf"(?<=[a-z,] )(?P<v>{_WORD})")
_KINDS = (
    (_FIRM, EntityType.ORGANIZATION),
    (_PLACE, EntityType.LOCATION),
    (_PERSON, EntityType.PERSON),
    (_ASKED, EntityType.PERSON),
)


def find_unknown(folded: str, lines: MachineLines, dictionary: frozenset[str]) -> Iterator[Finding]:
    """Findings in prose, in no order; none without a dictionary."""
    if not dictionary:
        return
    expected = [*_expected(folded, dictionary), *_pairs(folded, dictionary)]
    covered = {offset for known in expected for offset in range(known.start, known.end)}
    for match in _ONE.finditer(folded):
        if match.start() not in covered and _unknown(match["v"], dictionary):
            expected.append(
                Finding(*match.span("v"), EntityType.ORGANIZATION, "lone_word", _ONE_SCORE)
            )
    yield from _keyed(folded, dictionary)
    for finding in expected:
        if not lines.machine_at(finding.start):
            yield finding


def _expected(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """Findings where the words around expect a person, an organisation or a place."""
    for match in _LOWER.finditer(folded):
        said = match["v"].split()
        unknown = [word for word in said if not _is_listed(word, dictionary)]
        if unknown and match["v"].endswith(unknown[-1]):
            yield Finding(*match.span("v"), EntityType.PERSON, NAME, _SCORE)
    for pattern, kind in _KINDS:
        for match in pattern.finditer(folded):
            group = "v" if match["v"] is not None else "v2"
            if _unknown(match[group], dictionary):
                yield Finding(*match.span(group), kind, NAME, _SCORE)


def _keyed(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """Names behind a key that says so, or family name first, whatever the line around them is."""
    for match in _TURNED.finditer(folded):
        family, given = match["v"].split(",")[0], match["given"]
        if given in _GIVEN and _is_name(family, dictionary):
            yield Finding(*match.span("v"), EntityType.PERSON, "turned_name", _KEYED_SCORE)
    for match in _KEYED.finditer(folded):
        every = [word for word in match["v"].split() if len(word.rstrip(".")) > 1]
        if any(word in _GIVEN or not _is_listed(word, dictionary) for word in every) and all(
            _is_name(word, dictionary) for word in every
        ):
            yield Finding(*match.span("v"), EntityType.PERSON, _KEYED_NAME, _KEYED_SCORE)


def _pairs(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    for match in _PAIR.finditer(folded):
        every = [word for word in match["v"].split() if len(word.rstrip(".")) > 1]
        if all(_is_name(word, dictionary) and not _is_listed(word, dictionary) for word in every):
            yield Finding(*match.span("v"), EntityType.PERSON, NAME, _SCORE)


def _is_listed(word: str, dictionary: frozenset[str]) -> bool:
    return word.lower() in _FUNCTION or in_dictionary(word, dictionary)


def _unknown(value: str, dictionary: frozenset[str]) -> bool:
    names = [word for word in value.split() if word[0].isupper()]
    return all(_is_name(word, dictionary) for word in names) and not all(
        _is_listed(word, dictionary) for word in names
    )


def _is_name(word: str, dictionary: frozenset[str]) -> bool:
    """Is it not an everyday word, nor an initialism (short capitals in ASCII)?"""
    if word in COMMON or word.title() in COMMON or _CONTRACTED.search(word):
        return False
    if word.isupper() and "-" not in word:
        return len(word) >= 5 or not word.isascii()
    if "-" in word:
        return not any(in_dictionary(part, dictionary) for part in word.split("-"))
    return word[1:].islower() or "'" in word or _PREFIXED.fullmatch(word) is not None
