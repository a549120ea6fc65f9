"""Names by word lists, and capitalised words of no dictionary where a sentence expects a name.

Listed are countries, people, well-known towns, given names and kinds of organisation. The
dictionary comes with the English model's lemmatizer; without one only the lists are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import COMMON, NAMED_AFTER_PEOPLE, in_dictionary, words
from data.text.lexicon import trie_pattern
from data.text.screened import Screened
from data.text.scripts import AFTER, BEFORE, CAPITALS, LETTER, LETTERS

_GIVEN = words("names.toml", "given")
_NAMES = _GIVEN | words("names.toml", "ambiguous") | words("names.toml", "pinyin")
_PLACES = {
    name: kind
    for key, kind in (
        ("countries", EntityType.LOCATION),
        ("towns", EntityType.LOCATION),
        ("people", EntityType.NATIONALITY),
    )
    for name in words("places.toml", key)
}
_COUNTRIES = words("places.toml", "countries")
_QUALIFIER = re.compile(rf" \([{CAPITALS}][{LETTERS}]{{2,20}}\)")
_LONGEST = 4  # words in "United States of America"
_HEADS = words("words.toml", "organisation_heads")
_INSTITUTIONS = words("words.toml", "institutions") | frozenset({"University", "College", "Bank"})
_JOBS = words("words.toml", "job_heads")
_WORD = rf"[{CAPITALS}](?:[{LETTERS}0-9]|['-](?={LETTER})){{0,30}}"
_RUN = re.compile(
    rf"(?<![@/.-]){BEFORE}{_WORD}"
    rf"(?:(?:(?<=[ ][A-Z])\.)? (?:(?:of|and|the|van|von|de|da|del) )?{_WORD}){{0,6}}"
)
_OF_SAINTS = frozenset({"Santa", "San", "Saint", "St.", "Sainte", "São"})
_SERVICES = frozenset({"Catalina", "Cassandra", "Gemma", "Julia", "Ruby"})  # programs, alone
_STOPS = frozenset({"of", "and", "the", "Apt", "Suite", "Unit", "Flat"})
_LISTED = 2  # so many words or places among three names make a list
_TOKEN = re.compile(r"[^\s]+")
_LETTERS = re.compile(f"{LETTER}+")
# Three family names are a firm; words and places ("July, August and September") are a list, though
# one of the names may be a word too (Price). The other forms end in what only firms are called.
_PARTNERS = re.compile(rf"(?<!\.){BEFORE}(?<![:,] ){_WORD}, {_WORD} (?:and|&) {_WORD}{AFTER}")
_FIRM = re.compile(
    rf"(?<!\.){BEFORE}{_WORD} (?:and|&) (?:Sons|Co|Company|Partners|Daughters|Brothers){AFTER}"
    rf"|(?<!\.){BEFORE}{_WORD}-{_WORD}(?= (?:Inc|LLC|Ltd|Group){AFTER})"
)
_JOB_LINE = Screened(
    r"(?m)(?:^|(?<=, the ))[A-Za-z][A-Za-z,'/ -]{2,60}$|(?<=, the )[A-Za-z][A-Za-z' -]{2,60}(?=, )"
)
_LEGAL = re.compile(
    r"(?<= )(?:(?P<short>Inc|Corp|Ltd|Co)\.?|LLC|GmbH|Incorporated|Limited|PLC|plc)$"
)
_NUMBERED = re.compile(r"(?<![\w.,:/-])\d{1,3} $")
_POSSESSIVE = re.compile(r"'s?$")
_NOT_LOWER = frozenset({"Polish", "Slovene"})
_SMALL_PEOPLE = sorted(
    name.lower()
    for name, kind in _PLACES.items()
    if kind is EntityType.NATIONALITY and len(name) > 5 and name not in _NOT_LOWER
)
_LOWER_PEOPLE = Screened(f"(?<!-){BEFORE}(?:{'|'.join(reversed(_SMALL_PEOPLE))})(?!-){AFTER}")


def find_listed_names(folded: str, lines: MachineLines) -> Iterator[Finding]:
    """Findings of the word lists in prose."""
    firms = list(_firms(folded, lines)) if " and " in folded or " & " in folded else []
    yield from firms
    within = {offset for firm in firms for offset in range(firm.start + 1, firm.end)}
    for match in _RUN.finditer(folded):
        for finding in _in_run(match):
            if finding.start not in within and not lines.machine_at(finding.start):
                yield finding
    for match in _LOWER_PEOPLE.finditer(folded):
        if not lines.machine_at(match.start()):
            yield Finding(*match.span(), EntityType.NATIONALITY, "nationality_list", 0.6)
    for match in _JOB_LINE.finditer(folded):
        last = match.group().rsplit(" ", 1)[-1].lower()
        if last in _JOBS and _is_job_title(folded, match):
            yield Finding(*match.span(), EntityType.TITLE, "job_title", 0.6)


def whole_names(text: str, finding: Finding, dictionary: frozenset[str]) -> Iterator[Finding]:
    """The finding as a firm with all that belongs to it, or as the people that its words name."""
    if finding.type is EntityType.ORGANIZATION:
        words_of = text[finding.start : finding.end].split()
        if any(word.lower() in _HONOURS for word in words_of[1:]):
            person = _named_person(text, replace(finding, type=EntityType.PERSON), dictionary)
            if person is not None:
                yield person
            return
        finding = _without_order(text, finding, dictionary)
        yield _person_in(text, finding) or whole_firm(text, finding)
    elif finding.type is EntityType.PERSON and finding.recognizer not in _EXACT:
        start = finding.start
        for joint in [*_joints(text, finding), None]:
            end = joint.start() if joint else finding.end
            if joint and joint.group() == "-" and " " not in text[start:end]:
                continue  # `Anne-Li Wang`
            person = _named_person(text, replace(finding, start=start, end=end), dictionary)
            if person is not None:
                yield person
            start = joint.end() if joint else end
    else:
        yield finding


def _joints(text: str, finding: Finding) -> Iterator[re.Match[str]]:
    """What joins the people of a finding; the name behind the last one may go on beyond it."""
    seen = min(len(text), finding.end + 2)
    for joint in _JOINT.finditer(text, finding.start, seen):
        if joint.end() < finding.end:
            yield joint


_OPENING = re.compile(r"(?:\A|[\n.:!?;]\s?|^|[\"'(\[])[ \t]*(?:[-*•·–>#]|\d{1,2}[.)])?[ \t]*\Z")


def _without_order(text: str, finding: Finding, dictionary: frozenset[str]) -> Finding:
    """A firm without the verb that opens its line (`Call Brennick Bank`), and without the short
    forms behind it (`Brennick Bank VPN`)."""
    spans = [
        (finding.start + word.start(), finding.start + word.end())
        for word in _TOKEN.finditer(text[finding.start : finding.end])
    ]
    shown = [text[first:last] for first, last in spans]
    while len(spans) > 2 and shown[-2] in _HEADS and _ACRONYM.fullmatch(shown[-1]):
        if all(map(str.isupper, shown)) or _LEGAL.search(" " + shown[-1]):
            break
        spans.pop()
        shown.pop()
    is_opening = _OPENING.search(text, max(0, finding.start - 8), finding.start) is not None
    is_unknown = any(not in_dictionary(word, dictionary) for word in shown[1:] if word.isalpha())
    if len(spans) > 2 and is_opening and is_unknown and _is_verb(shown[0].lower(), dictionary):
        spans.pop(0)
    return replace(finding, start=spans[0][0], end=spans[-1][1])


def _is_verb(word: str, dictionary: frozenset[str]) -> bool:
    """Is it a word from which the dictionary derives a participle, a doer or an action?"""
    stems = (word, word.removesuffix("e"), word + word[-1:])
    if word not in dictionary or any(f"{stem}est" in dictionary for stem in stems):
        return False
    return any(f"{stem}{end}" in dictionary for stem in stems for end in _OF_VERBS)


_OF_VERBS = ("ing", "er", "or", "ion", "ation")


_EXACT = frozenset({"declared", "lac", "sudachi"})
_FAMILIES = trie_pattern(sorted(words("names.toml", "pinyin")))
# Between two people; a hyphen only before a Chinese name in Latin letters: `Chen Jing-Ma Li`.
_JOINT = re.compile(rf"\s*[/+&|]\s*|(?<=[a-z])-(?={_FAMILIES} [{CAPITALS}])")
_VERSION = re.compile(r"\s+v?\d[\w.]*$")
_HONOURS = words("words.toml", "honours")
_ACRONYM = re.compile(r"[A-Z]{3,}s?")


def _begins(word: str, dictionary: frozenset[str]) -> bool:
    """Does an everyday word stand before a given name: `Discuss Emma`?"""
    return word not in _NAMES and in_dictionary(word, dictionary)


def _named_person(text: str, finding: Finding, dictionary: frozenset[str]) -> Finding | None:
    """The person in a finding, without what is called after them (`Pike Scholarship`), a version
    or the verb before a given name (`Helping Reinhard`); None if nothing remains."""
    version = _VERSION.search(text, finding.start, finding.end)
    end = version.start() if version else finding.end
    spans = [
        (finding.start + word.start(), finding.start + word.end())
        for word in _TOKEN.finditer(text[finding.start : end])
    ]
    shown = [text[first:last].rstrip(".,") for first, last in spans]
    is_shouted = all(word.isupper() for word in shown)
    for number, word in enumerate(shown):
        is_short = _ACRONYM.fullmatch(word) is not None and not is_shouted
        if number and (word.lower() in NAMED_AFTER_PEOPLE or is_short):
            spans = spans[:number]
            break
    is_turned = len(spans) > 1 and text[spans[0][1] - 1] == ","
    while not is_turned and len(spans) > 1 and shown[1] in _GIVEN and _begins(shown[0], dictionary):
        spans.pop(0)
        shown.pop(0)
    if not spans or (
        len(spans) == 1 and _ACRONYM.fullmatch(shown[0]) and finding.recognizer == "spacy"
    ):
        return None
    first, last = spans[0][0], spans[-1][1]
    while last > first and text[last - 1] in ",;:":
        last -= 1
    kept = replace(finding, start=first, end=last)
    return kept if text[first:last].strip() else None


def _person_in(text: str, finding: Finding) -> Finding | None:
    """A model's organisation that is a given name and one or two other words: a person."""
    spans = [
        (finding.start + word.start(), finding.start + word.end())
        for word in _TOKEN.finditer(text[finding.start : finding.end])
    ]
    while len(spans) > 2 and text[slice(*spans[0])] in COMMON:
        spans.pop(0)
    parts = [text[first:last].rstrip(".,") for first, last in spans]
    if not 2 <= len(parts) <= 3 or parts[0] not in _GIVEN:
        return None
    if any(part in _HEADS or part in COMMON or not part[:1].isupper() for part in parts[1:]):
        return None
    return replace(finding, start=spans[0][0], type=EntityType.PERSON)


def whole_firm(text: str, finding: Finding) -> Finding:
    """The finding with the full stop of `Inc.` and the number of `48 Factoring Inc`."""
    if finding.type is not EntityType.ORGANIZATION:
        return finding
    start, end = finding.start, finding.end
    legal = _LEGAL.search(text, start, end)
    if legal is None:
        return finding
    number = _NUMBERED.search(text, max(0, start - 4), start)
    start = number.start() if number else start
    if text[end : end + 1] == "." and legal["short"]:
        end += 1
    return replace(finding, start=start, end=end)


def _is_job_title(text: str, line: re.Match[str]) -> bool:
    """Is it a job title, by its words or by a name in the line above?"""
    value = line.group()
    if value.count(" ") > 6 or " the " in value:
        return False
    above = text[max(0, line.start() - 80) : line.start()].rstrip().rpartition("\n")[2]
    named = 2 <= len(above.split()) <= 5 and above.replace(".", "").replace(" ", "").isalpha()
    return named or text[max(0, line.start() - 6) : line.start()] == ", the "


def _firms(folded: str, lines: MachineLines) -> Iterator[Finding]:
    for pattern in (_PARTNERS, _FIRM):
        for match in pattern.finditer(folded):
            is_list = pattern is _PARTNERS and (_is_list(match.group()) or _is_turned(match))
            if not is_list and not lines.machine_at(match.start()):
                yield Finding(*match.span(), EntityType.ORGANIZATION, "firm", 0.6)


def _is_turned(match: re.Match[str]) -> bool:
    """Is its second word a given name: `Smith, John and …`?"""
    return _LETTERS.findall(match.group())[1] in _GIVEN


def _is_list(text: str) -> bool:
    known = sum(word in COMMON or word in _PLACES for word in _LETTERS.findall(text))
    return known >= _LISTED


def _in_run(run: re.Match[str]) -> Iterator[Finding]:
    tokens = [
        (run.start() + token.start(), _POSSESSIVE.sub("", token.group()).rstrip("."))
        for token in _TOKEN.finditer(run.group())
    ]
    index = 0
    while index < len(tokens):
        size = 1
        for finding, matched_size in (
            _listed_place(run.string, tokens, index),
            _organisation(tokens, index),
            _person(tokens, index),
        ):
            if finding is not None:
                yield finding
                size = matched_size
                break
        index += size


_Tokens = list[tuple[int, str]]
_Match = tuple[Finding | None, int]


def _listed_place(text: str, tokens: _Tokens, index: int) -> _Match:
    start = tokens[index][0]
    for size in range(min(_LONGEST, len(tokens) - index), 0, -1):
        name = " ".join(word for _, word in tokens[index : index + size]).rstrip(".")
        kind = _PLACES.get(name)
        if kind is not None:
            name = _qualified(text, start, name) if name in _COUNTRIES else name
            recognizer = "place_list" if kind is EntityType.LOCATION else "nationality_list"
            return Finding(start, start + len(name), kind, recognizer, 0.6), size
    return None, 0


def _qualified(text: str, start: int, name: str) -> str:
    """The name with its qualifier: `Congo (Brazzaville)`."""
    more = _QUALIFIER.match(text, start + len(name))
    return name + more.group() if more else name


def _organisation(tokens: _Tokens, index: int) -> _Match:
    """Capitalised words up to one that ends an organisation's name."""
    if index and tokens[index - 1][1] != "of":
        return None, 0
    for size in range(len(tokens) - index, 1, -1):
        start, last = tokens[index + size - 1]
        if last.rstrip(".,") in _HEADS and tokens[index][1] not in COMMON:
            end = start + len(last)
            split = [n for n, word in tokens[index : index + size] if word == "of"]
            if split and tokens[index][1] not in _INSTITUTIONS:
                return None, 0
            return Finding(
                tokens[index][0], end, EntityType.ORGANIZATION, "organisation", 0.6
            ), size
    return None, 0


def _person(tokens: _Tokens, index: int) -> _Match:
    """A given name and up to three capitalised words after it."""
    start, word = tokens[index]
    if word not in _GIVEN or (word in _SERVICES and len(tokens) == 1):
        return None, 0
    if index and tokens[index - 1][1] in _OF_SAINTS:  # a town: Santa Clara
        return None, 0
    size, end = 1, start + len(word)
    for offset, after in tokens[index + 1 : index + 4]:
        if after in COMMON or after in _STOPS or offset > end + 2:
            break
        size, end = size + 1, offset + len(after)
    return Finding(start, end, EntityType.PERSON, "given_name", 0.6 if size > 1 else 0.55), size


NAME = "unknown_word"
_SCORE, _ONE_SCORE = 0.55, 0.5
_KEYED_NAME, _KEYED_SCORE = "keyed_name", 0.65
_FUNCTION = words("words.toml", "function_words")
_PREFIXED = re.compile(r"(?:Mac|Mc|De|Di|Du|La|Le|Van|Fitz|St)[^\W\d_a-z][^\W\d_A-Z]+")
_CONTRACTED = re.compile(r"'(?:m|d|ll|re|ve|t)$")
_ENDS = rf"(?![{LETTERS}0-9_@/]|\.[{LETTERS}0-9])"
_CAP = rf"[{CAPITALS}](?:{LETTER}|-(?={LETTER})|'(?!s?(?![a-z]))){{2,30}}{_ENDS}"
_CAPS = rf"(?P<v>{_CAP}(?: (?:(?:de|da|do|del|van|von|der|den|la|le|of|y|e|a) )?{_CAP}){{0,3}})"
_PLACE = Screened(
    rf"{BEFORE}(?:in|from|to|at|near|visit|visiting|visited|via|towards|around|outside|inside"
    rf"|through|leaving|left|reached) {_CAPS}"
)
_FIRM_EXPECTED = Screened(
    rf"(?i:{BEFORE}(?:works? (?:for|at)|worked (?:for|at)|employed (?:by|at)|joined|hired by"
    rf"|a year at|intern at|job at|founder of|founded|employee of)) {_CAPS}"
    rf"|{BEFORE}The (?P<v2>{_CAP}(?: {_CAP}){{0,2}})"
    r"(?= (?:office|orchestra|team|company|store|group|website))"
)
_PERSON = Screened(
    rf"(?i:{BEFORE}(?:said|says|starring|directed by|written by|sung by|influenced by|hear|heard"
    rf"|met|meet|told|thank|thanks|asked|with|and|is|was|but|by|me|named|calls? (?:me|him|her)"
    rf"|under|founders?:|friends?:)) {_CAPS}"
    rf"|(?:^|(?<=\n)|(?<=[.!?] ))(?P<v2>{_CAP})"
    rf"(?= (?:lives|lived|had|has|is|was|spent|said|says|listed"
    r"|wrote|writes|asked|shouted|told|tells|called|works|worked|moved|went|came|and I)\b"
    rf"|, (?:can|could|please|would|will|did|do|are|I|thanks?|the)\b|: ?[\"A-Z])"
)
_ASKED = Screened(
    rf"(?i:{BEFORE}(?:call|ring|email|ask|invite|remind|contact|ping|cc|attention)) "
    rf"(?P<v>{_CAP}(?: {_CAP}){{1,2}})"
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
    rf"(?P<v>{_CAP}(?: [{CAPITALS}]\.?)?(?: {_CAP}){{0,3}})(?:(?P=quote)(?=[\s,;)}}\]*]|$))"
)
# A cell, or the part behind a key: `Smith, John`.
_TURNED = Screened(
    rf"(?:^|(?<=[:;(\"'|] )|(?<=[(\"'|;])(?<!\w')|(?<=\n))"
    rf"(?P<v>{_CAP}(?:[ -]{_CAP})?, (?P<given>{_CAP})"
    rf"(?: [{CAPITALS}]\.?| {_CAP})?)(?=$|[\n;)\"'|])"
)
# Two or three such words in a row need no other evidence.
_PAIR = re.compile(
    rf"(?<![@/.-]){BEFORE}(?P<v>(?:{_CAP}|[A-Z][a-z])(?: [{CAPITALS}]\.?)?(?: {_CAP}){{1,2}})"
)
# A single one inside a sentence: an organisation or a person, or a product in none of the lists.
_ONE = re.compile(rf"(?<=[a-z,] )(?P<v>{_CAP})")
_KINDS = (
    (_FIRM_EXPECTED, EntityType.ORGANIZATION),
    (_PLACE, EntityType.LOCATION),
    (_PERSON, EntityType.PERSON),
    (_ASKED, EntityType.PERSON),
)


_HEADING = re.compile(r"(?:\A|\n)#{1,6} [^\n]{0,40}\Z")  # capitals in it are its letter case


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
        is_title = match["v"].isupper() and _HEADING.search(folded, 0, match.start("v")) is not None
        if not is_title and all(
            _is_name(word, dictionary) and not _is_listed(word, dictionary) for word in every
        ):
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
