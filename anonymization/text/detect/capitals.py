"""Capitals: everyday words with one where a sentence has a person, and missing or needless ones.

`Summer said`, `with Copper Kettle Catering`: the dictionary explains the words, the sentence does
not explain the capitals (level `strict`). Titles of papers, parts of a page and what offices write
with a capital (`data/capitals.toml`) stay, and so does a word that the same text also writes small.

Prose written without capitals gets them where a name is likely, without a change of length: on
listed given names and places, the word after a given name, words after `my name is` or before
`said`, and words in no dictionary that are next to a number (streets) or have letters outside
ASCII. In lines that already have a capital only given names in small letters get one, and an
unknown word after each. In a line of capitals, streets behind a number and the words behind a given
name get small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from anonymization.text.contracts import EntityType
from anonymization.text.detect.prose import MachineLines, is_machine
from anonymization.text.detect.wording import COMMON, in_dictionary, is_program_word, words
from data.text.scripts import CAPITALS, LETTERS

_PLAIN = words("capitals.toml", "plain")
_HEADS = words("capitals.toml", "heads")
_SPEAKING = words("capitals.toml", "speaking")
_BEFORE = words("capitals.toml", "before")
_GENERAL = frozenset(
    word.lower()
    for word in words("words.toml", "institutions")
    | words("words.toml", "organisation_heads")
    | words("words.toml", "function_words")
)
_FIRMS = frozenset(
    word.lower().rstrip(".") for word in words("words.toml", "organisation_heads")
) - {"group", "systems", "services", "solutions", "technologies", "analytics", "media"}
_CAP = r"[A-Z][a-z]+(?:['’-][A-Za-z]{2,})?"
_RUN = re.compile(
    rf"(?<![\w.@/#*_`\"“'‘-])(?P<v>{_CAP}(?:(?: (?:and|of|the|&) | ){_CAP}){{0,4}})(?![\w@/=(`]"
    rf"|-\w|\.\w|::)"
)
_ONE = re.compile(_CAP)
_SMALL_BEFORE = re.compile(r"(?P<word>[A-Za-z]+\.?),? \(?$")
_TITLES = frozenset(
    ["mr", "mrs", "ms", "miss", "dr", "prof", "dear", "hi", "hello", "aunt", "uncle"]
)
# Small words that begin a sentence: what follows stands inside it.
_FIRST = words("words.toml", "function_words") | _BEFORE
# A capitalised one of these before a name is part of no title: `Call Rusty`, not `Customer Value`.
_ADDRESSING = _BEFORE - words("capitals.toml", "roles")
# A title: two such words in it name somebody, one need not.
_TITLED = re.compile(
    r"(?i)(?:title|subject|betreff|objet|caption|subtitle|heading|topic): [^\n]{2,200}\Z"
)
_ARTICLES = frozenset({"the", "a", "an", "this", "each", "any", "no", "its", "some", "every"})
_AFTER = re.compile(r"(?P<own>['’]s )?,? ?(?P<word>[a-z]+)?")
# What a law or a treaty is about: before the words its kind, or behind them.
_LAW_BEFORE = re.compile(
    r"\b(?:Convention|Covenant|Charter|Treaty|Act|Law|Code|Directive|Regulations?|Ordinance|Statute"
    r"|Decree|Declaration|Protocol|Guidelines?) (?:\([^()\n]{1,30}\) )?(?:No\.? ?\d[\d/.]{0,9} )?"
    r"(?:for|on|of|concerning|regarding|relating to|relative to|against|about) (?:the )?\Z"
)
_LAW_BEHIND = re.compile(
    r"(?:(?: (?:and|of|the))? [A-Z][a-z]+){0,3} (?:Acts?|Laws?|Codes?|Regulations?|Directives?"
    r"|Ordinances?|Statutes?|Conventions?|Treaty|Treaties|Bill)(?![a-z])"
)
_FEWEST_SMALL, _SHARE = 3, 0.35  # words in small letters of a line of prose
_LOOK_BACK = 80  # characters in which the word before a run stands


def find_capitals(text: str, lines: MachineLines) -> Iterator[tuple[int, int, EntityType]]:
    """The spans of such runs of words, in order."""
    if _TITLED.match(text):
        for run in _RUN.finditer(text, text.index(":") + 1):
            span = _own_words(text, *run.span())
            if span and " " in text[slice(*span)]:
                yield *span, EntityType.UNEXPLAINED
        return
    if not any(map(str.islower, text)):
        return
    small = frozenset(re.findall(r"(?<![A-Za-z])[a-z]{3,}", text))
    offset = 0
    for line in text.splitlines(keepends=True):
        if not lines.machine_at(offset):
            for start, end in _in_line(line, small, _is_prose(line)):
                yield offset + start, offset + end, EntityType.UNEXPLAINED
        offset += len(line)


def _is_prose(line: str) -> bool:
    listed = re.findall(r"[A-Za-z]+", line)
    lower = sum(map(str.islower, listed))
    return lower >= _FEWEST_SMALL and lower >= _SHARE * len(listed)


def _in_line(line: str, small: frozenset[str], is_prose: bool) -> Iterator[tuple[int, int]]:
    for run in _RUN.finditer(line):
        span = _own_words(line, run.start(), run.end())
        if span is None:
            continue
        before = _SMALL_BEFORE.search(line, max(0, run.start() - _LOOK_BACK), run.start())
        lead = line[run.start() : span[0]].split()
        is_led = bool(lead) and lead[-1].lower() in _ADDRESSING
        if is_prose or is_led or (before and before["word"] in _BEFORE):
            yield from [span] if _is_somebody(line, span, run.start(), before, small) else []


def _own_words(line: str, start: int, end: int) -> tuple[int, int] | None:
    """The run from its first to its last word that is no general one."""
    own = [word for word in _ONE.finditer(line, start, end) if not is_plain_capital(word.group())]
    if not own:
        return None
    last = own[-1].end()
    following = next(_ONE.finditer(line, last, end), None)
    if following and following.group().lower() in _FIRMS:
        last = following.end()
    return own[0].start(), last


@cache
def is_plain_capital(word: str) -> bool:
    """Is it a word that names nobody though it is written with a capital?"""
    lower = word.lower()
    return (
        word in COMMON
        or lower in _PLAIN
        or lower in _GENERAL
        or lower.rstrip("s") in _PLAIN
        or lower in _SPEAKING
        or is_program_word(word)
    )


def _is_somebody(
    line: str,
    span: tuple[int, int],
    start: int,
    before: re.Match[str] | None,
    small: frozenset[str],
) -> bool:
    if _LAW_BEFORE.search(line, max(0, start - _LOOK_BACK), start) or _LAW_BEHIND.match(
        line, span[1]
    ):
        return False
    value = line[slice(*span)]
    word = before["word"].lower() if before else ""
    lead = line[start : span[0]].split()
    if lead and lead[-1].lower() in _ADDRESSING:  # `Call Rusty`
        return True
    is_inside = before is not None and (
        before["word"][0].islower() or "," in before.group() or word in _FIRST
    )
    after = _AFTER.match(line, span[1])
    follows = (after["word"] or "") if after else ""
    speaks = follows in _SPEAKING or bool(after and after["own"])
    if word.rstrip(".") in _TITLES:
        return True
    if not is_inside or word.endswith("."):
        is_alone = span[0] == start and " " not in value and before is None
        return is_alone and follows in _SPEAKING and value.lower() not in small
    if follows in _HEADS:
        return False
    is_known_here = all(part.lower() in small for part in value.split())
    if word in _ARTICLES:
        return " " in line[start : span[1]] and not is_known_here
    return (word in _BEFORE or speaks) or not is_known_here


_SMALL_LINE = re.compile(r"[^\n]{6,2000}")
_CAPITAL = re.compile(f"[{CAPITALS}]")
_WORD = re.compile(
    rf"(?<![{LETTERS}0-9_@/\\.#$=~'-])[{LETTERS}]{{2,30}}(?:-[{LETTERS}]{{2,30}})?(?![{LETTERS}0-9_@/\\=(]|\.[{LETTERS}0-9])"
)
_GIVEN = frozenset(name.lower() for name in words("names.toml", "given"))
_PLACE_LISTS = words("places.toml", "countries") | words("places.toml", "towns")
_PLACES = frozenset(name.lower() for name in _PLACE_LISTS if " " not in name)
# Places that are also everyday words when written in lower case.
_WORDS_TOO = frozenset(words("words.toml", "small_words_too"))
_EVERYDAY = frozenset(word.lower() for word in COMMON) | words("words.toml", "function_words")
_CUE = re.compile(
    r"(?:name(?:'s| is)|call(?:s|ed)? (?:me|him|her)|this is|i am|i'm|its|it's|named|met|dear"
    r"|contact|hi|hey|hello|account to|name to|ask|tell|ping|thx|thanks|thank you|cc|dm) $"
)
_SPOKE = re.compile(
    r"(?: [a-z'-]{2,30})? (?:said|says|told|asked|asks|wants|wrote|writes|called|emailed|replied"
    r"|texted|owes|paid|lives|lived|sits|forgot|signed|booked|joined|moved)\b"
)
_ARTICLE = re.compile(r"(?:^|[^\w])(?:the|an?|my|our|your|his|her|their|this|that|every|each|no) $")
_BEFORE_NUMBER = re.compile(r"(?:[^\W\d]\w{0,24}\.? ){0,2}\d{1,6}(?![\w%/-]|[.:]\d)")
_AFTER_NUMBER = re.compile(r"(?<![\w./:-])\d{1,6},? (?:[^\W\d]\w{0,24}\.? ){0,2}$")
_STREETS = frozenset(
    word.lower() for key in ("suffixes", "units", "types") for word in words("streets.toml", key)
)
_FEW = 3  # words that make a line prose
_SHOUTED_LINE = re.compile(
    rf"(?m)^(?=[^\n]{{0,200}}[{CAPITALS}]{{3}})(?:(?![a-zß-öø-ɏ])[^\n]){{6,400}}$"
)
_SHOUTED_WORD = re.compile(
    rf"(?<![{LETTERS}0-9_])[{CAPITALS}](?:[{CAPITALS}]|['-](?=[{CAPITALS}])){{1,24}}(?![{LETTERS}0-9_])"
)
_SHOUTED_STREET = re.compile(
    rf"(?<![\w./-])\d{{1,6}}[A-Z]? (?:[{CAPITALS}][{CAPITALS}'-]{{1,20}} ){{1,3}}"
    rf"(?:{'|'.join(sorted(word.upper() for word in words('streets.toml', 'suffixes')))})(?!\w)"
)


def with_capitals(text: str, dictionary: frozenset[str]) -> str:
    """The text with capitals added in prose without any, where a name is likely."""
    if not dictionary:
        return text
    chars: list[str] | None = None
    for start, end in _shouted(text):
        chars = chars or list(text)
        small = text[start:end].lower()
        chars[start:end] = small if len(small) == end - start else text[start:end]
    for offset in _capital_offsets(text, dictionary):
        upper = text[offset].upper()
        if len(upper) == 1:
            chars = chars or list(text)
            chars[offset] = upper
    return text if chars is None else "".join(chars)


def _shouted(text: str) -> Iterator[tuple[int, int]]:
    """Spans in lines of capitals that a name or street would write small."""
    for line in _SHOUTED_LINE.finditer(text):
        if is_machine(line.group()):
            continue
        for street in _SHOUTED_STREET.finditer(text, *line.span()):
            for word in _SHOUTED_WORD.finditer(text, *street.span()):
                yield word.start() + 1, word.end()
        line_words = list(_SHOUTED_WORD.finditer(text, *line.span()))
        for word, after in pairwise(line_words):
            is_given = word.group().lower() in _GIVEN and word.group().lower() not in _WORDS_TOO
            if is_given and text[word.end() : after.start()] == " ":
                yield word.start() + 1, word.end()
                yield after.start() + 1, after.end()


def _capital_offsets(text: str, dictionary: frozenset[str]) -> Iterator[int]:
    whole = not _CAPITAL.search(text)
    for line in _SMALL_LINE.finditer(text):
        if not whole and _CAPITAL.search(line.group()):
            yield from _given_in_small(text, line, dictionary)
            continue
        line_words = list(_WORD.finditer(text, line.start(), line.end()))
        if (len(line_words) < _FEW and not whole) or is_machine(line.group()):
            continue
        yield from _named(text, line_words, dictionary)


def _given_in_small(text: str, line: re.Match[str], dictionary: frozenset[str]) -> Iterator[int]:
    """Given names in small letters in a line with capitals, and an unknown word after each."""
    small = [
        word
        for word in _WORD.finditer(text, line.start(), line.end())
        if word.group() in _GIVEN
        and word.group() not in _WORDS_TOO
        and text[max(0, word.start() - 3) : word.start()] != "to "  # a verb: `to honor`
    ]
    if not small or is_machine(line.group()):
        return
    for word in small:
        yield word.start()
        after = _WORD.match(text, word.end() + 1)
        known = after is not None and (after.group() in dictionary or after.group() in _EVERYDAY)
        if after and text[word.end()] == " " and not known:
            yield after.start()


def _named(text: str, line_words: list[re.Match[str]], dictionary: frozenset[str]) -> Iterator[int]:
    after_given = False  # the preceding word is a given name
    for word in line_words:
        value, start, end = word.group(), word.start(), word.end()
        if value in _EVERYDAY:
            after_given = False
            continue
        unknown = not any(in_dictionary(part, dictionary) for part in value.split("-"))
        given = value in _GIVEN and value not in _WORDS_TOO
        is_place = value in _PLACES and value not in _WORDS_TOO
        near = text[max(0, start - 24) : start]
        cued = (after_given and text[start - 1] == " ") or _CUE.search(near) is not None
        cued |= _SPOKE.match(text, end) is not None and not _ARTICLE.search(near)
        street = (unknown or value in _STREETS) and _by_a_number(text, near, end)
        foreign = unknown and not value.isascii()
        if given or is_place or foreign or street or (cued and (unknown or after_given)):
            yield start
            if "-" in value:
                yield start + value.index("-") + 1
        after_given = given or (unknown and cued and not after_given)


def _by_a_number(text: str, near: str, end: int) -> bool:
    before = _BEFORE_NUMBER.match(text, end + 1)
    return before is not None or _AFTER_NUMBER.search(near) is not None
