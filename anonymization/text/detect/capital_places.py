"""Capitalised everyday words where a sentence has a person or a firm (level `strict`).

`Summer said`, `with Copper Kettle Catering`: the dictionary explains the words, the sentence does
not explain the capitals. Titles of papers, parts of a page and what offices write with a capital
(`data/capitals.toml`) stay, and so does a word that the same text also writes small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from anonymization.text.contracts import EntityType
from anonymization.text.detect.explained_words import is_program_word
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import COMMON, words

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
_WORD = r"[A-Z][a-z]+(?:['’-][A-Za-z]{2,})?"
_RUN = re.compile(
    rf"(?<![\w.@/#*_`\"“'‘-])(?P<v>{_WORD}(?:(?: (?:and|of|the|&) | ){_WORD}){{0,4}})(?![\w@/=(`]"
    rf"|-\w|\.\w|::)"
)
_ONE = re.compile(_WORD)
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
_MOST_WORDS = 5
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
