"""Findings that follow from others nearby: signatures, repeated names, lists, ages, post codes.

In a signature or business card (short lines with an address, a phone or an e-mail) the first line
is a person's name and the other plain lines name the organisation. Once `Maciej Borkowski` is
found, a later `Borkowski` is the same person; if one of `Monjeau, Graves and Reed` is a person,
all are; a number right after a person, as in `Ines, 34,`, is an age, and one right after a place
a post code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import COMMON, in_dictionary, words
from data.text.dates import YEAR
from data.text.lexicon import trie_pattern
from data.text.screened import Screened
from data.text.scripts import AFTER, BEFORE, CAPITALS, LETTER

_SIGNATURE = "signature"
_SIGNATURE_SCORE = 0.62  # more than a firm by its last word
_LINE = re.compile(r"[^\n]+")
_BULLET = re.compile(r"\s*(?:[?>*#|-]{1,3} ?)?")
_BARE = re.compile(r"[^\W\d_](?:[^\W_]|['&.-]|,(?= )| (?=[^\W_]))*[^\W_.]\.?")
_ANCHORS = frozenset({EntityType.ADDRESS, EntityType.PHONE, EntityType.EMAIL})
_MOST_WORDS = 5
_HEADING = "##"
_SMALL = words("words.toml", "function_words") - words("words.toml", "name_particles")
_MOST_CHARS = 600
_HEAD_LINES = 5  # lines below the name in which an address or a number must follow


def find_blocks(folded: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Names and organisations in signatures, given the findings of the rules."""
    if "\n" not in folded or not any(finding.type in _ANCHORS for finding in findings):
        return
    start = 0
    for block in re.split(r"(\n\s*\n(?=\s*\n)|\n{3,})", folded):
        if len(block) <= _MOST_CHARS:
            yield from _in_block(folded, start, start + len(block), findings)
        start += len(block)


def _in_block(text: str, start: int, end: int, findings: Sequence[Finding]) -> Iterator[Finding]:
    lines = [
        match.span()
        for match in _LINE.finditer(text, start, end)
        if match.group().strip(" \t?>*#|-")
    ]
    anchors = [
        number
        for number, (first, last) in enumerate(lines)
        if any(f.type in _ANCHORS and first <= f.start < last for f in findings)
    ]
    if not anchors or not 1 <= anchors[0] < _HEAD_LINES:
        return
    for number, (first, last) in enumerate(lines[: anchors[0]]):
        lead = _BULLET.match(text, first, last)
        first = lead.end() if lead else first
        value = text[first:last].rstrip()
        words = value.split()
        if not words:
            continue
        if (lead and _HEADING in lead.group()) or (not number and not _SMALL.isdisjoint(words)):
            return  # `## Contacts`, `Tips for Success`
        if not _BARE.fullmatch(value) or len(words) > _MOST_WORDS or value.isdigit():
            return
        if any(word.strip(".,").title() in COMMON for word in words):
            continue
        others = (f for f in findings if f.type is not EntityType.ORGANIZATION)
        if any(f.start <= first and first + len(value) <= f.end for f in others):
            continue
        kind = EntityType.ORGANIZATION if number else EntityType.PERSON
        yield Finding(first, first + len(value), kind, _SIGNATURE, _SIGNATURE_SCORE)


_AGAIN, _LISTED, _AGED = "said_again", "listed_name", "age_of_person"
_POSTAL = "post_code"
_NEIGHBOUR_SCORE = 0.6
_SHORTEST = 4
_GIVEN = words("names.toml", "given")
_NAMED = rf"[{CAPITALS}](?:{LETTER}|['-](?={LETTER}{{2}})){{2,24}}"
_NAME = re.compile(rf"(?<![@/.-]){BEFORE}{_NAMED}{AFTER}")
_LIST = Screened(
    rf"(?<![@/.-]){BEFORE}{_NAMED}(?:, {_NAMED}){{0,6}},? (?:and|or|&) {_NAMED}{AFTER}(?! {_NAMED})"
)
_CODE = re.compile(
    r",? (?:(?P<state>[A-Z]{2}),? )?(?P<code>\d{4,6}(?:-\d{3,4})?|\d{3} \d{2}|\d{2}-\d{3})"
    r"(?=[;!?)\n]|[.,](?!\d)|$)"
)
_CODE_FIRST = re.compile(r"(?:^|(?<=[,\n])|(?<=, )|(?<=in ))(?P<code>\d{4,5}) $")
_AGE = re.compile(
    r"(?:,? (?:is|was|turned|turns|turning)(?: now| only| just| almost| nearly)? "
    r"|, (?:aged? )?| \()"
    r"(?P<v>[1-9]\d)(?=[,;!?)\n]|\.(?!\d)|$| (?:and|now|when|years?|but)\b)"
)


def spread(
    text: str, findings: Sequence[Finding], lines: MachineLines, dictionary: frozenset[str]
) -> list[Finding]:
    """More people, ages and post codes; `findings` is sorted and without overlap."""
    people = [finding for finding in findings if finding.type is EntityType.PERSON]
    places = [finding for finding in findings if finding.type is EntityType.LOCATION]
    if not people and not places:
        return []
    taken = {offset for finding in findings for offset in range(finding.start, finding.end)}
    more = [*_again(text, people, dictionary), *_listed(text, people)]
    for person in people:
        aged = _AGE.match(text, person.end)
        if aged:
            more.append(Finding(*aged.span("v"), EntityType.AGE, _AGED, _NEIGHBOUR_SCORE))
    for place_finding in places:
        more += _codes(text, place_finding)
    return [
        finding
        for finding in more
        if finding.start not in taken and not lines.machine_at(finding.start)
    ]


def _codes(text: str, location: Finding) -> Iterator[Finding]:
    """The post code after a place, and the state between them: `Springfield, IL 62704`."""
    before = _CODE_FIRST.search(text, max(0, location.start - 8), location.start)
    code = _CODE.match(text, location.end) or before
    if code and not YEAR.fullmatch(code["code"]):
        yield Finding(*code.span("code"), EntityType.ADDRESS, _POSTAL, _NEIGHBOUR_SCORE)
        if code.groupdict().get("state"):
            yield Finding(*code.span("state"), EntityType.LOCATION, _POSTAL, _NEIGHBOUR_SCORE)


def _again(text: str, people: Sequence[Finding], dictionary: frozenset[str]) -> Iterator[Finding]:
    names = {
        word.group()
        for person in people
        for word in _NAME.finditer(text, person.start, person.end)
        if word.group() in _GIVEN or _is_family_name(word, person, dictionary)
    }
    full = {text[person.start : person.end] for person in people}
    full = {name for name in full if " " in name and "\n" not in name}
    if any(text.count(name) > 1 for name in full):  # as a whole, never by half
        for again in re.finditer(rf"(?<!\w)(?:{trie_pattern(sorted(full))})(?!\w)", text):
            yield Finding(*again.span(), EntityType.PERSON, _AGAIN, _NEIGHBOUR_SCORE)
    if not names:
        return
    for word in _NAME.finditer(text):
        if word.group().removesuffix("'s") in names:
            yield Finding(*word.span(), EntityType.PERSON, _AGAIN, _NEIGHBOUR_SCORE)


def _is_family_name(word: re.Match[str], person: Finding, dictionary: frozenset[str]) -> bool:
    """Is it the last word of a person's name, and does the text use it as nothing else?"""
    text = word.string
    name = word.group()
    return (
        word.end() == person.end
        and len(name) >= _SHORTEST
        and name not in COMMON
        and (name[1:].islower() or "-" in name)
        and (not in_dictionary(name, dictionary) or is_only_name(text, name, dictionary))
    )


_DETERMINERS = {"a", "an", "the", "each", "every", "this", "that"}
_DETERMINERS |= {"our", "your", "their", "his", "her", "its", "any", "no"}
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "madam"}


def _stands_for_a_thing(text: str, name: str) -> bool:
    """Is a word the noun of something in some place: `the Bishop`, `Ring Nebula`?"""
    for noun in re.finditer(rf"(?:(?P<before>[\w.'-]+) )?(?<!\w){name}(?!\w)(?P<of> of\b)?", text):
        before = noun["before"] or ""
        if noun["of"] or before.lower() in _DETERMINERS:
            return True
        is_first_name = before in _GIVEN or before.strip(".").lower() in _TITLES or len(before) < 3
        if before[:1].isupper() and before[1:].islower() and not is_first_name:
            return True
    return False


_OFTEN = 4  # times that a name is written as one for each time that the word stands in a sentence


def is_only_name(text: str, name: str, dictionary: frozenset[str] = frozenset()) -> bool:
    """Does a text hold a word as a name: seldom in small letters, and not with versions?

    Nor, if it is a word of `dictionary`, as the noun of something.
    """
    plain = re.escape(name)
    is_word = name not in _GIVEN and in_dictionary(name, dictionary)
    if is_word and _stands_for_a_thing(text, plain):
        return False
    if text.count(name) > 1 and len(re.findall(rf"(?<!\w){plain} v?\d", text)) > 1:
        return False
    if name.lower() not in text:  # as of most names, for which no pattern is made
        return True
    small = len(re.findall(rf"(?<=[a-z,] ){plain.lower()}(?![A-Za-z])", text))
    return not small or _OFTEN * small <= len(re.findall(rf"(?<!\w){plain}(?!\w)", text))


def _listed(text: str, people: Sequence[Finding]) -> Iterator[Finding]:
    spans = {(person.start, person.end) for person in people}
    for listed in _LIST.finditer(text):
        members = list(_NAME.finditer(text, listed.start(), listed.end()))
        if any(member.span() in spans for member in members):
            for member in members:
                if member.group() not in COMMON:
                    yield Finding(*member.span(), EntityType.PERSON, _LISTED, _NEIGHBOUR_SCORE)
