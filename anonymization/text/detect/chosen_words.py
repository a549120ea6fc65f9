"""Words of the dictionary that people choose as names, and where they are meant as such (strict).

That a word is in the dictionary explains `table`, and does not explain `heron`: machines, projects,
firms and children are called so, and offices seldom write of the bird. What such words are, and
which words near them say that the thing itself is meant, is in `data/chosen.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import words
from data.text.lexicon import load_table
from data.text.needs import has_eastern
from data.text.screened import Screened
from data.text.scripts import HAN, KANA, has_kana

_TABLE = "chosen.toml"
_Span = tuple[int, int, EntityType]
_OTHERS = frozenset({"positioned", "given", "houses", "chinese", "japanese"})
_BEFORE, _BEHIND = 160, 80  # characters in which a head explains a word
_INITIALISM = 3  # letters
_LINE = re.compile(r"[^\n]+")
_LETTERS = re.compile(r"[a-z]{2,}")
_ARTICLE = re.compile(r"(?:\b(?:[Aa]n?|[Ee]very|[Ee]ach|per|of)|\d) $")
_SMALL = words("words.toml", "function_words")


@cache
def _group(name: str, key: str = "words") -> frozenset[str]:
    return frozenset(str(load_table(__package__, "data", _TABLE)[name][key]).split())


@cache
def _chosen() -> dict[str, frozenset[str]]:
    """Each word with the words that explain it."""
    chosen: dict[str, frozenset[str]] = {}
    for name in load_table(__package__, "data", _TABLE):
        for word in _group(name) - _group("positioned") if name not in _OTHERS else ():
            chosen[word] = chosen.get(word, frozenset()) | _group(name, "heads")
    return chosen


def is_chosen(word: str) -> bool:
    """Is it a word that people choose as a name, and seldom mean as such at work?

    In capitals a short one is rather an initialism.
    """
    return word.lower() in _chosen() and not (word.isupper() and len(word) <= _INITIALISM)


def is_meant(text: str, start: int, end: int) -> bool:
    """Is a chosen word meant as the thing: behind an article, or near a word for its kind?"""
    word = text[start:end]
    if word.islower() and _ARTICLE.search(text, max(0, start - 6), start):
        return True
    near = text[max(0, start - _BEFORE) : start].lower() + " " + text[end : end + _BEHIND].lower()
    return not _chosen()[word.lower()].isdisjoint(_LETTERS.findall(near))


@cache
def _people() -> frozenset[str]:
    return _group("given") | _group("positioned") | _group("people")


@cache
def _positions() -> tuple[re.Pattern[str], ...]:
    """Positions of a person in a sentence, around words that are names too."""
    listed = sorted(_people())
    name = rf"(?P<v>(?i:{'|'.join(listed)}))"
    ends = (
        r"(?=[ \t]*(?:[,.;:!?)\n]|\Z)| (?:and|or|who|has|had|will|would|was|is|said|says|can|cannot"
        r"|does|did|about|before|after|first|again|tomorrow|today|yet|because|if|from|at|on|as)\b)"
    )
    lead = (
        r"(?i:ask|asked|asking|call|called|ring|rang|phone|phoned|tell|told|met|thank|thanks|paged|ping"
        r"|pinged|email|emailed|texted|reminded|hi|hello|dear|named|nicknamed|for|with|by|via|from"
        r"|i am|i'm|i’m|this is|that's|signed|contact|colleague|friend|neighbour|neighbor|brother"
        r"|sister|daughter|son|wife|husband|cousin|boss|nurse|pupil|certain)"
    )
    return (
        re.compile(rf"(?<![\w-]){lead} {name}{ends}"),
        re.compile(rf"(?<![\w-]){lead} {name}(?=['’]s\b)"),
        re.compile(rf"(?<![\w-]){lead} (?:(?:{'|'.join(listed)}),? )and {name}{ends}"),
        re.compile(
            rf"(?<![\w-])(?i:give|gave|send|sent|lend|lent|owes?|owed|showed|teach|paid)"
            rf" {name}"
            r"(?= (?:the|an?|his|her|my|our|their|some|back|\d))"
        ),
        re.compile(
            rf"(?:(?<=[.!?:,;] )|(?m:^)){name} (?=(?:said|says|told|tells|asked|asks|wrote|writes"
            r"|thinks|thought|phoned|rang|replied|promised|resigned|cannot come|can't come)\b)"
        ),
    )


_TITLED = Screened(
    r"\b(?i:mr|mrs|dr|prof|herr|frau|mme|aunt|auntie|uncle|grandpa|grandma"
    r"|granny|grandad|granddad|nanny|matron|old (?:mr|mrs))\.? (?P<v>[a-z][a-z'’-]{2,20})\b"
)


def _in_positions(text: str) -> Iterator[re.Match[str]]:
    """Names in the positions of a person; only lines with such a word are searched: it is slow."""
    for line in _LINE.finditer(text):
        if not _people().isdisjoint(_LETTERS.findall(line.group().lower())):
            for pattern in _positions():
                yield from pattern.finditer(text, *line.span())


def find_chosen(text: str) -> Iterator[_Span]:
    """The spans of people in sentences whose names are everyday words, in no order."""
    for match in (*_in_positions(text), *_TITLED.finditer(text)):
        if match["v"].lower() not in _SMALL and not _is_season(match):
            yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _houses().finditer(text):
        parts = _LETTERS.findall(match["v"])[:-1]
        if not any(part in _SMALL or part in _group("houses", "general") for part in parts):
            yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _lived().finditer(text):
        yield *match.span("v"), EntityType.ADDRESS
    for match in _STREET.finditer(text):
        yield *match.span(), EntityType.ADDRESS
    if not has_eastern(text):
        return
    for language in ("japanese",) if has_kana(text) else ("chinese",):
        for match in _eastern(language).finditer(text):
            near = text[max(0, match.start() - 30) : match.end() + 20]
            if not any(head in near for head in _group(language, "heads")):
                yield *match.span(), EntityType.UNEXPLAINED


_SEASONS = frozenset(
    ["dawn", "autumn", "summer", "winter", "spring", "april", "june", "may", "day", "holiday"]
)


def _is_season(match: re.Match[str]) -> bool:
    lead = match.group()[: match.start("v") - match.start()].strip().lower()
    return lead in ("by", "for", "from", "with") and match["v"].lower() in _SEASONS


# A house number and a street in small letters or in capitals.
_STREET = Screened(
    r"(?<![\w.,/-])(?:(?i:number|no\.?) )?\d{1,4}[a-d]?,? (?:(?:the )?[a-z]{3,14} ){1,2}"
    r"(?:street|road|lane|avenue|close|crescent|terrace|mews|row|cottages|gardens|villas)"
    r"(?![\w-])|(?<![\w.,/-])\d{1,4} (?:[A-Z]{3,14} ){1,2}(?:STREET|ROAD|LANE|AVENUE|CLOSE|TERRACE"
    r"|ROW|WAY|COURT|GARDENS|GROVE|DRIVE|PLACE|HILL|MEWS|COTTAGES)(?![\w-])"
)


@cache
def _houses() -> re.Pattern[str]:
    """Names of firms and houses in small letters, where no article makes them a common noun."""
    ends = "|".join(sorted(_group("houses")))
    return re.compile(
        r"(?:(?:\b(?:with|at|from|to|for|by|of|and|between|via|called|contact|ring|call|ask|behind|near"
        r"|opposite|outside|is|was|client|customer|tenant|firm|shop) |[:;,=>(\"'|\t] {0,2})|^)"
        rf"(?P<v>[a-z]{{3,12}}(?: and| &)?(?: [a-z]{{3,12}})? (?:{ends}))(?![\w-])",
        re.MULTILINE,
    )


@cache
def _lived() -> re.Pattern[str]:
    """A house with its article, behind a verb of living."""
    ends = "|".join(sorted(_group("houses") | _group("places")))
    return re.compile(
        r"(?i:\b(?:lives?|lived|living|stays?|stayed|staying|moved|moving|resides?|based|renting"
        r"|rents|home is|house is|pick (?:me|him|her|us|them) up|delivered?|parcel|come)) "
        r"(?:at|in|to|into|by|from) "
        rf"(?P<v>(?:the )?(?:[A-Za-z]{{3,12}} ){{1,2}}(?:{ends}))(?![\w-])"
    )


@cache
def _eastern(language: str) -> re.Pattern[str]:
    """Chosen words; Japanese ones, and those of one character, where nothing makes them longer."""
    listed = sorted(_group(language), key=lambda word: (-len(word), word))
    if language == "chinese":
        return re.compile("|".join(listed))
    kana = "|".join(word for word in listed if has_kana(word))
    han = "|".join(word for word in listed if not has_kana(word))
    return re.compile(
        rf"(?<![ァ-ヿ])(?:(?<![ぁ-ゖ])|(?<=[はがをにのともでへや]))(?:{kana})"
        rf"(?=[はがをにのともでへやさくだ]|[^{KANA}]|\Z)|(?<![{HAN}])(?:{han})(?![{HAN}])"
    )
