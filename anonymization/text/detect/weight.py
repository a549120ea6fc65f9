"""How much speaks for a name: what stands in it and around it, not that a model says so.

A model takes headings, products and commands for names. A name is sure by a known given name, a
title, a legal form, or by two words that no dictionary has; it is weak if an unknown word is all
there is; and nothing speaks for it if the dictionary explains every word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from anonymization.text.contracts import EntityType, Finding, kinds
from anonymization.text.detect.declared import declared_kind
from anonymization.text.detect.joined_words import (
    has_own_address,
    is_in_help,
    is_joined,
    names_itself,
    of_population,
)
from anonymization.text.detect.neighbours import is_only_name
from anonymization.text.detect.public_values import is_public
from anonymization.text.detect.strict_fields import field_of
from anonymization.text.detect.wording import (
    COMMON,
    NO_LOGIN,
    chinese_name,
    in_dictionary,
    is_known,
    is_participle,
    is_program_word,
    words,
)
from data.text.dates import MONTH_ABBREVIATIONS
from data.text.lexicon import trie_pattern
from data.text.scripts import HAN, LETTERS, has_han, has_kana


class Weight(IntEnum):
    """What speaks for a finding."""

    NONE = 0
    WEAK = 1
    SURE = 2


_YEAR = re.compile(r"(?<![\w./:-])(?:19|20)\d\d(?![\w/:-]|\.\d)")
_STATUS = re.compile(r"HTTP/\d(?:\.\d)?[\"'] \Z")  # and the size of an answer behind it
_QUOTES, _QUOTED_NUMBER = frozenset({("'", "'"), ('"', '"')}), 10
_CELL_ENDS = ("',", "')")  # of a row, whose values no program reads as names
_ABBREVIATED = re.compile(r"[^\W\d_]{2,4}\.")
_NUMBER_OF_SAMPLE = re.compile(r" \d{1,4}\Z")
_NUMBERED_SAMPLE = re.compile(r"(?<=[a-z]) ?\d{1,4}\Z")
_UNDER_LABELS = kinds("PERSON ORGANIZATION ADDRESS")
_FINGERPRINT = re.compile(r"(?<![0-9A-F])(?:[0-9A-F]{4} {1,2}){4,15}[0-9A-F]{4}(?![0-9A-F])")
_OF_PRODUCT = re.compile(
    r"(?<![A-Za-z])(?P<word>[A-Z][A-Za-z]{3,24}) v?\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])"
)
_KATAKANA = re.compile("[ァ-ヺー]{2,20}")
_HIRAGANA = re.compile("[ぁ-ゖー]{2,20}")
_HONOURED = re.compile(f"[御貴弊当][{HAN}](?![{HAN}])|[A-Za-z=_]+\\Z")  # 貴行, and a formula
_CALLED = re.compile("(?:さん|様|さま|氏|くん|君|ちゃん|先生|・)")
_WEIGHED = frozenset(
    {"spacy", "unknown_word", "lone_word", "name_said", "organisation", "firm",
     "listed_name", "said_again", "signature", "given_name", "url_in_prose", "handle",
     "handle_small", "said", "position", "literal", "declared", "keyed_name", "secret.named"}
)  # fmt: skip
_LABELLED = frozenset({"position", "declared", "said", "keyed_name"})
_GIVEN = words("names.toml", "given")
_NAMES = _GIVEN | words("names.toml", "ambiguous") | words("names.toml", "pinyin")
_WORDS_TOO = words("words.toml", "small_words_too")
_COUNTRIES = words("places.toml", "countries")
_PLACES = words("places.toml", "towns") | _COUNTRIES
_NAMED_WORDS = _NAMES | _PLACES  # joined once: each has thousands of words
_PLACES_OR_COMMON = _PLACES | COMMON
_THINGS = words("words.toml", "products") | words("words.toml", "trade") | COMMON
_DAYS = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"}) | {
    name.lower() for name in MONTH_ABBREVIATIONS
}
_LEGAL = re.compile(
    r"(?<![A-Za-z])(?:Inc|Incorporated|LLC|Ltd|Limited|Corp|Corporation|GmbH|AG|PLC|plc|LLP|Co"
    r"|S\.?A|S\.?L|Oy|A/S|AB|B\.?V|N\.?V|Pty|KG|KGaA|SARL|SAS|Sons|Bros)(?![A-Za-z-])"
)
_HEADS = words("words.toml", "organisation_heads") | words("words.toml", "institutions")
_NAMED = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
# Kinds that figures of a table may look like.
_NUMBERED = kinds("PHONE BANK_CARD BANK_ACCOUNT NATIONAL_ID PASSPORT")
_DECIMAL = re.compile(r"[+-]?\d{1,18}[.,]\d{1,6}")
_PLAIN = re.compile(r"[+-]?[\d .,]+")
_NUMBER = re.compile(r"(?<![\w.])[($€£+-]{0,2}\d[\d.,]*%?\)?(?!\w)")
_CELL = re.compile(r"[|\t;]| {2,}")
_ONLY_NUMBERS = re.compile(r"\s*(?:[A-Za-z]{1,20}[:=]?\s+)?[\d\s.,+|-]+")
_IN_ROW = 3  # numbers beside it on its line that make it a figure of a table
_LINE = 2_000  # characters of a line that are looked at
_WORD = re.compile(rf"[{LETTERS}]+(?:['’][{LETTERS}]+)?")
_WORD_OF_TEXT = re.compile(rf"(?<![{LETTERS}@#])([{LETTERS}]+)(?=(['’][{LETTERS}]+)?)")
_TITLED = re.compile(
    r"(?i)(?<![a-z])(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|herr|frau|monsieur|madame|señora?"
    r"|captain|colonel|president|senator|judge|rev|sgt|dear|hi|hey|hello)\.? \Z"
)
_BY = re.compile(
    r"(?i)(?<![a-z])(?:by|cc|attn|author|signed|call|ask|told|thanks|thank|contact|met|its|it's"
    r"|i am|i'm|this is|boss|colleague|sister|brother|husband|wife|mother|father|friend),?:? \Z"
)
# Inside a sentence, where only a name has a capital: behind a word in small letters that is no
# article, before another or a mark.
_INSIDE = re.compile(
    r"(?<![\w'’])(?!(?:each|every|any|no|this|that|new)[ ,])[a-z]{2,},? [\"“‘(]?\Z"
)
_GOES_ON = re.compile(r" ?['’] ?s(?![a-z])| [a-z]| ?[.,;:!?)\"”’](?!\w)|\s*\Z")
_WITH = re.compile(r"(?<![a-z])(?:with|and|or) \Z")
_SHOWN = re.compile(r"(?i)(?:display|screen)[ _-]?name\W{0,16}$")  # of things, too
_DASHES = (" — ", " – ", " | ")  # between a title and a subtitle
_RESOURCE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_MOST_PARTS, _LONGEST_LABEL, _MOST_IN_ACRONYM = 3, 40, 5
_AT = re.compile(r"(?i)(?<![a-z])(?:in|near|from|at|visit(?:ed|ing)?|to) \Z")
_BEHIND_DOT = re.compile(
    r"\.(?:id|name|local|example(?:\.(?:com|org|net))?)\Z|\Aexample\.(?:com|org|net)\Z",
    re.IGNORECASE,
)
_RUN, _RUN_OF_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+"), 3
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_CAPITAL_WORD = re.compile(r"(?<![\w'’-])[A-ZÀ-ÖØ-Þ][a-zß-ÿ]{2,24}(?![\w'’-])")
_SENDER = re.compile(r"(?i)(?<![a-z])(?:sender|from|reply-to)\W{1,3}\Z")
_IDENTIFIER = re.compile(r"[a-z]+(?:[_.][a-z]+)+")  # of a program, and no password
_CLASS = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)+\.[A-Z]\w*(?:@[0-9a-f]+)?")
_PARTICLES = words("words.toml", "name_particles")
_PARTICLE = re.compile(r"(?<![a-z])(?:van|von|van der|van den|von der|de la|della|bin|ibn) \Z")
_LONG = re.compile(r"[A-Za-z0-9_-]{20,200}")  # a part of an address that may be a token
_NO_URL = re.compile(r"://(?:[\w-]+\.){0,4}example(?:\.(?:com|org|net))?(?:[/:]|\Z)")


def weights(
    text: str, findings: Sequence[Finding], dictionary: frozenset[str]
) -> Iterator[tuple[Finding, Weight]]:
    """Each finding with what speaks for it; sure without a dictionary."""
    prints = [match.span() for match in _FINGERPRINT.finditer(text)]
    products = {match["word"] for match in _OF_PRODUCT.finditer(text)}
    years = _years_of_data(text, findings)
    weighed = [
        (
            finding,
            Weight.NONE
            if finding in years
            or any(start <= finding.start and finding.end <= end for start, end in prints)
            or _is_product(text, finding, products, dictionary)
            else _weight(text, finding, dictionary),
        )
        for finding in findings
    ]
    sure = {
        word
        for finding, weight in weighed
        if weight is Weight.SURE and finding.type is EntityType.PERSON
        for word in _WORD.findall(text[finding.start : finding.end])
        if is_only_name(text, word) or not _is_plain(word, dictionary)
    }
    listed = _beside_people(text, weighed)
    for finding, weight in weighed:
        weight = Weight.WEAK if finding in listed and weight is Weight.NONE else weight
        again = weight is not Weight.SURE and finding.type is EntityType.PERSON
        parts = _WORD.findall(text[finding.start : finding.end]) if again else ()
        yield finding, Weight.SURE if parts and sure.issuperset(parts) else weight


def names_again(
    text: str, weighed: list[tuple[Finding, Weight]], dictionary: frozenset[str]
) -> list[tuple[Finding, Weight]]:
    """With each further place of a name that is sure and means nothing else in the text: one
    person has one name, whatever a model takes it for in another line."""
    certain = [(f, text[f.start : f.end]) for f, weight in weighed if weight is Weight.SURE]
    people = [value for f, value in certain if f.type is EntityType.PERSON]
    said = Counter(word for value in people for word in _CAPITAL_WORD.findall(value))
    full = {word for value in people if " " in value for word in _CAPITAL_WORD.findall(value)}
    names = {
        word
        for word, times in said.items()
        if (times > 1 or word in full)
        and word not in COMMON
        and (word in _GIVEN or word in full & _NAMES or not _is_plain(word, dictionary))
        and text.count(word) > times
        and is_only_name(text, word, dictionary)
    }
    if not names or not dictionary:
        return weighed
    taken = {offset for finding, _ in certain for offset in range(finding.start, finding.end)}
    again = [
        Finding(*hit.span(), EntityType.PERSON, "said_again", 0.6)
        for hit in re.finditer(
            rf"(?<![\w@/.-])(?:{trie_pattern(sorted(names))})(?![\w@]|\.\w)", text
        )
        if hit.start() not in taken and hit.end() - 1 not in taken
    ]
    covered = {offset for finding in again for offset in range(finding.start, finding.end)}
    kept = [
        (finding, weight)
        for finding, weight in weighed
        if weight is Weight.SURE or covered.isdisjoint(range(finding.start, finding.end))
    ]
    return sorted([*kept, *((finding, Weight.SURE) for finding in again)])


def _years_of_data(text: str, findings: Sequence[Finding]) -> frozenset[Finding]:
    """Years that words show to be some, if others stand bare: those could not move with them."""
    said = [finding for finding in findings if finding.recognizer == "year_said"]
    if not said:
        return frozenset()
    dates = {
        start for f in findings if f.type is EntityType.DATE for start in range(f.start, f.end)
    }
    are_bare = any(match.start() not in dates for match in _YEAR.finditer(text))
    return frozenset(said if are_bare else ())


_BETWEEN = re.compile(r"(?:,|,? (?:and|&|or))\s")


def _beside_people(text: str, weighed: Sequence[tuple[Finding, Weight]]) -> set[Finding]:
    """Who is listed beside a person for whom something speaks: `Zorvexa, Graves and Reed`."""
    people = [pair for pair in weighed if pair[0].type is EntityType.PERSON]
    listed: set[Finding] = set()
    for row in (people, people[::-1]):
        for (former, weight), (latter, _) in pairwise(row):
            first, second = sorted((former, latter))
            is_named = weight is not Weight.NONE or former in listed
            if is_named and _BETWEEN.fullmatch(text, first.end, second.start):
                listed.add(latter)
    return listed


def _is_product(
    text: str, finding: Finding, products: set[str], dictionary: frozenset[str]
) -> bool:
    """Is it a thing that the text gives the version of, perhaps with further common words?"""
    if not products or finding.type not in _NAMED:
        return False
    parts = _WORD.findall(text[finding.start : finding.end])
    others = [part for part in parts if part not in products]
    return len(others) < len(parts) and all(_is_plain(part, dictionary) for part in others)


def _is_doubtful(text: str, finding: Finding, value: str) -> bool:
    """Is it a word in katakana that a model alone takes for a name?

    Loan words are most of what has katakana; a name is called by a title, or has parts with a dot.
    """
    if finding.recognizer != "sudachi" or finding.type not in _NAMED:
        return False
    edges = text[max(0, finding.start - 1) : finding.start] + text[finding.end : finding.end + 1]
    if any("ァ" <= char <= "ヺ" or char == "ー" for char in edges):
        return True  # a part of a longer word
    is_called = _CALLED.match(text, finding.end) or text[finding.start - 1 : finding.start] == "・"
    is_of_kana = _KATAKANA.fullmatch(value) or (
        finding.type is EntityType.LOCATION and _HIRAGANA.fullmatch(value)
    )
    return (is_of_kana is not None and not is_called) or _HONOURED.match(value) is not None


def _is_of_code(text: str, finding: Finding, value: str) -> bool:
    """Is it an identifier or a class, and no cell of a row?"""
    is_cell = text.startswith(_CELL_ENDS, finding.end) and text[finding.start - 1] == "'"
    return not is_cell and bool(_IDENTIFIER.fullmatch(value) or _CLASS.fullmatch(value))


def _weight(text: str, finding: Finding, dictionary: frozenset[str]) -> Weight:
    value = text[finding.start : finding.end]
    if finding.type in _NUMBERED and finding.recognizer != "declared":
        return Weight.NONE if _is_figure(text, finding, value) else Weight.SURE
    if is_public(text, finding, value):
        return Weight.NONE
    if finding.type is EntityType.PERSON and _is_label_or_measure(text, finding, value):
        return Weight.NONE
    if finding.type is EntityType.PERSON and is_in_help(text, finding.start, finding.end):
        return Weight.WEAK
    is_nobody = finding.type in _UNDER_LABELS and _is_nobody(text, finding, dictionary)
    if is_nobody or (finding.type is EntityType.AGE and of_population(text, finding.end)):
        return Weight.NONE
    if finding.type is EntityType.ACCOUNT and NO_LOGIN.search(value):
        return Weight.NONE
    if finding.recognizer == "sudachi" and len(value) == 1 and not _CALLED.match(text, finding.end):
        return Weight.NONE
    if _is_doubtful(text, finding, value):
        return Weight.WEAK
    if finding.recognizer not in _WEIGHED or not dictionary:
        return Weight.SURE
    if finding.type is EntityType.PERSON and has_own_address(text, finding.end, value):
        return Weight.SURE
    if finding.type is EntityType.URL:
        return _of_url(value)
    if finding.type is EntityType.ACCOUNT:
        return _of_login(text, finding, value, dictionary)
    if finding.type is EntityType.SECRET:
        return Weight.NONE if _is_of_code(text, finding, value) else Weight.SURE
    if finding.recognizer in _LABELLED:
        return _of_label(text, finding, value, dictionary)
    if has_han(value) or has_kana(value):
        is_named = finding.recognizer != "signature" or chinese_name(value)
        return Weight.SURE if is_named else Weight.NONE
    parts = _WORD.findall(value)
    if finding.recognizer == "signature" and _is_written_as_name(value, parts):
        return Weight.SURE
    if finding.type in _NAMED and _is_used_as_name(text, finding, parts):
        return max(Weight.WEAK, _by_kind(text, finding, parts, dictionary))
    return _by_kind(text, finding, parts, dictionary)


def _is_written_as_name(value: str, parts: Sequence[str]) -> bool:
    """Two or three words with capitals, none of them a thing or an institution?"""
    is_name = 1 < len(parts) <= _MOST_PARTS and "," not in value and all(map(str.istitle, parts))
    return is_name and not any(part in _THINGS or part in _HEADS for part in parts)


def _of_url(value: str) -> Weight:
    if _NO_URL.search(value):
        return Weight.NONE
    return Weight.SURE if any(map(_is_token, _LONG.findall(value))) else Weight.WEAK


def _is_used_as_name(text: str, finding: Finding, parts: Sequence[str]) -> bool:
    """Are words that the dictionary has a name here: with capitals, never small, and listed as a
    name, or with capitals in a sentence where a model sees somebody?"""
    is_capital = parts and all(map(str.istitle, parts)) and len(parts) <= _MOST_PARTS
    if not is_capital or any(part.lower() in _words_of(text) for part in parts):
        return False
    goes_on = _GOES_ON.match(text, finding.end) is not None
    if len(parts) == 1 and parts[0] in _NAMES and parts[0] not in _PLACES_OR_COMMON:
        return finding.type is EntityType.PERSON or goes_on
    return (
        finding.type is EntityType.PERSON
        and goes_on
        and not any(part in _THINGS or is_program_word(part) for part in parts)
        and _is_in_prose(text, finding)
    )


_ARTICLE = re.compile(r"(?i)(?<![a-z])(?:the|an?) \Z")
_SMALL_WORD, _FEWEST_SMALL = re.compile(r"(?<![\w./-])[a-z]{2,}(?![\w./(=-])"), 3


def _is_in_prose(text: str, finding: Finding) -> bool:
    """Does it stand behind a word in small letters, or in a line of such words?"""
    if _ARTICLE.search(text, max(0, finding.start - 6), finding.start):
        return False
    if _INSIDE.search(text, max(0, finding.start - 24), finding.start):
        return True
    start = max(text.rfind("\n", 0, finding.start) + 1, finding.start - _LINE)
    end = text.find("\n", finding.end)
    end = min(end if end >= 0 else len(text), finding.end + _LINE)
    is_label = text[finding.end :].lstrip().startswith(":")
    return not is_label and len(_SMALL_WORD.findall(text, start, end)) >= _FEWEST_SMALL


@lru_cache(maxsize=16)
def _words_of(text: str) -> frozenset[str]:
    """The words of a text as they stand there, also joined by an apostrophe; no handles or tags."""
    words = set[str]()
    for match in _WORD_OF_TEXT.finditer(text):
        words.add(match[1])
        words.add(match[1] + (match[2] or ""))
    return frozenset(words)


_OF_FIRM = re.compile(r"(?<![\w'’])(?:at|joined|became|left|for) \Z")


def _is_employer(text: str, finding: Finding, parts: Sequence[str]) -> bool:
    """Do two or three words with capitals stand inside a sentence where a firm does?"""
    parts = [part for part in parts if part != "and"]
    return (
        1 < len(parts) <= _MOST_PARTS
        and all(map(str.istitle, parts))
        and not any(part.lower() in _words_of(text) for part in parts)
        and _OF_FIRM.search(text, max(0, finding.start - 12), finding.start) is not None
        and _GOES_ON.match(text, finding.end) is not None
    )


def _by_kind(
    text: str, finding: Finding, parts: Sequence[str], dictionary: frozenset[str]
) -> Weight:
    if finding.type is EntityType.PERSON:
        return _of_person(text, finding, parts, dictionary)
    if finding.type is EntityType.ORGANIZATION:
        if _is_employer(text, finding, parts):
            return Weight.WEAK
        is_unknown = any(not _is_plain(part, dictionary) for part in parts)
        is_product = bool(parts) and parts[0] in _THINGS
        may_be_firm = 1 < len(parts) <= _MOST_PARTS and not is_product
        if may_be_firm and _is_expected(text, finding, is_unknown):
            return Weight.SURE
        return _of_firm(text[finding.start : finding.end], parts, dictionary)
    if finding.type is EntityType.LOCATION:
        return _of_place(text, finding, parts, dictionary)
    return Weight.SURE


def _of_label(text: str, finding: Finding, value: str, dictionary: frozenset[str]) -> Weight:
    """What stands under a label of people: a thing that is shown, the label again, or a name."""
    is_thing = _SHOWN.search(text, max(0, finding.start - 32), finding.start) is not None
    bare = _NUMBERED_SAMPLE.sub("", value)
    is_plain = _is_plain(bare, dictionary) or any(char in "()[]" for char in value)
    is_plain = is_plain or _RESOURCE.fullmatch(value) is not None
    if (is_thing and is_plain and value not in _NAMES) or _repeats_label(text, finding, value):
        return Weight.NONE
    is_titled = is_thing and value.isascii() and _NAMES.isdisjoint(_WORD.findall(value.title()))
    if finding.type is EntityType.PERSON and (is_titled or any(dash in value for dash in _DASHES)):
        return Weight.WEAK
    return Weight.WEAK if _is_phrase(text, finding, value, dictionary) else Weight.SURE


def _of_place(
    text: str, finding: Finding, parts: Sequence[str], dictionary: frozenset[str]
) -> Weight:
    value = text[finding.start : finding.end].title()
    if value in _PLACES:
        return Weight.SURE
    if value in _GIVEN and value.lower() not in _WORDS_TOO:
        return Weight.WEAK  # a model takes given names for towns
    unknown = [part for part in parts if not _is_plain(part, dictionary)]
    is_sure = len(unknown) == len(parts) and not all(map(str.isupper, parts))
    is_sure = is_sure and _AT.search(text[: finding.start][-12:]) is not None
    return Weight.SURE if is_sure else Weight.WEAK if unknown else Weight.NONE


def _is_nobody(text: str, finding: Finding, dictionary: frozenset[str]) -> bool:
    """Is it a title, a sample with a number, or words in small letters, and no name or place?"""
    number = _NUMBER_OF_SAMPLE.match(text, finding.end)
    value = text[finding.start : finding.end] + (number.group() if number else "")
    if _ABBREVIATED.fullmatch(value):
        return True
    plain = _NUMBERED_SAMPLE.sub("", value)
    are_words = plain.isascii() and bool(dictionary) and plain.title() not in _NAMED_WORDS
    are_words = are_words and all(part.isalpha() for part in plain.split())
    is_sample = plain != value or plain.islower()
    return is_sample and are_words and all(_is_plain(part, dictionary) for part in plain.split())


def _is_label_or_measure(text: str, finding: Finding, value: str) -> bool:
    """Is it the label of another value in a row of labels (代表者, `Jan Pay`), or what a number
    counts (万円)?"""
    if has_han(value):
        is_counted = (
            finding.recognizer == "lac" and text[finding.start - 1 : finding.start].isdigit()
        )
        return is_counted or (not chinese_name(value) and declared_kind(value) is not None)
    first, _, last = value.partition(" ")
    is_column = field_of(last) is not None or last.title() in COMMON
    return first.lower() in _DAYS and bool(last) and is_column


def _is_token(part: str) -> bool:
    """Capitals, small letters and digits in one part of an address, in no words: drawn."""
    part = max(part.replace("_", "-").split("-"), key=len)
    if len(part) >= _RUN_OF_WORD * len(_RUN.findall(part)):
        return False
    return all(any(map(test, part)) for test in (str.isupper, str.islower, str.isdigit))


def _of_person(
    text: str, finding: Finding, parts: Sequence[str], dictionary: frozenset[str]
) -> Weight:
    parts = [part for part in parts if part not in _PARTICLES] or parts
    unknown = [part for part in parts if not _is_plain(part, dictionary)]
    value = text[finding.start : finding.end]
    is_titled = _TITLED.search(text[max(0, finding.start - 12) : finding.start]) is not None
    if is_titled or names_itself(value, parts, frozenset(unknown), _THINGS, _GIVEN):
        return Weight.SURE
    capitals = [part.title() for part in parts]
    if 1 < len(parts) <= _MOST_PARTS and _is_expected(text, finding, bool(unknown)):
        return Weight.SURE
    things = [part for part in parts if part in _THINGS or (len(part) > 1 and part.isupper())]
    things = things if any(part not in things for part in parts if len(part) > 1) else []
    if len(parts) == 1:
        if _PARTICLE.search(text[max(0, finding.start - 12) : finding.start]):
            return Weight.SURE
        is_given = capitals[0] in _GIVEN and capitals[0].lower() not in _WORDS_TOO
        is_given = is_given or (
            parts[0] in _GIVEN
            and parts[0] not in _PLACES_OR_COMMON
            and _WITH.search(text[max(0, finding.start - 8) : finding.start]) is not None
        )
        return Weight.SURE if is_given else Weight.WEAK if unknown else Weight.NONE
    if any(is_participle(part, dictionary) for part in parts[1:]):  # `Hugo Predefined`
        return Weight.WEAK
    if not things and any(name in _NAMES for name in capitals):
        return Weight.SURE
    if len(unknown) == len(parts) > 1:
        return Weight.SURE
    is_initialled = bool(unknown) and all(len(part) == 1 for part in parts if part not in unknown)
    is_written_as_name = (  # it is all that a cell or attribute says
        value == text.strip()
        and not things
        and all(word.isalpha() and word[0].isupper() for word in value.split())
    )
    is_weak = bool(unknown) or is_written_as_name
    return Weight.SURE if is_initialled else Weight.WEAK if is_weak else Weight.NONE


def _is_expected(text: str, finding: Finding, is_unknown: bool) -> bool:
    """Does the line begin with a label of people, or is somebody named by the word before?"""
    start = text.rfind("\n", 0, finding.start) + 1
    label, colon, _ = text[start : finding.start].partition(":")
    label = label.strip("#*- \t") if colon and len(label) <= _LONGEST_LABEL else ""
    if label and EntityType.PERSON in (declared_kind(label), declared_kind(label.rstrip("s"))):
        return True
    return is_unknown and _BY.search(text[max(0, finding.start - 24) : finding.start]) is not None


def _of_firm(value: str, parts: Sequence[str], dictionary: frozenset[str]) -> Weight:
    own = [part for part in parts if part not in _HEADS and part not in _THINGS]
    unknown = [part for part in own if not _is_plain(part, dictionary)]
    if _LEGAL.search(value) and own:
        return Weight.SURE
    unknown = [part for part in unknown if part[0].isupper() and not is_known(part, dictionary)]
    if not unknown:
        return Weight.NONE
    is_headed = len(own) <= _MOST_PARTS and any(part in _HEADS for part in value.split())
    return Weight.SURE if is_headed else Weight.WEAK


def _of_login(text: str, finding: Finding, value: str, dictionary: frozenset[str]) -> Weight:
    if _BEHIND_DOT.search(value):
        return Weight.NONE
    is_shown = _SHOWN.search(text, max(0, finding.start - 32), finding.start) is not None
    if is_program_word(value.rstrip("0123456789")) or (is_shown and _RESOURCE.fullmatch(value)):
        return Weight.NONE
    if any(map(str.isdigit, value)) or finding.recognizer == "declared":
        return Weight.SURE
    parts = _HUMP.findall(value)
    if any(part.title() in _GIVEN for part in parts):
        return Weight.SURE
    if all(_is_plain(part, dictionary) or is_program_word(part) for part in parts):
        return Weight.NONE
    if finding.recognizer == "said" and is_joined(value, dictionary, _NAMES):
        return Weight.WEAK
    is_code = text[finding.start - 1 : finding.start] == "`"
    is_code = is_code and (text[finding.end :][:1] == " " or not value.isalpha())
    return Weight.NONE if is_code else Weight.SURE


def _is_figure(text: str, finding: Finding, value: str) -> bool:
    """Is it a decimal, or does it stand among the numbers of a table or grid?"""
    if _DECIMAL.fullmatch(value):
        return True
    if not _PLAIN.fullmatch(value) or (value[0] == "+" and " " in value):
        return False
    if _STATUS.search(text, max(0, finding.start - 16), finding.start):
        return True
    edges = text[finding.start - 1 : finding.start], text[finding.end : finding.end + 1]
    if edges in _QUOTES and len(value) >= _QUOTED_NUMBER:
        return False  # a text of code or of a database, where figures stand without quotes
    start = max(text.rfind("\n", 0, finding.start) + 1, finding.start - _LINE)
    end = text.find("\n", finding.end)
    end = min(end if end >= 0 else len(text), finding.end + _LINE)
    if _DECIMAL.fullmatch(value + text[finding.end : finding.end + 3].rstrip()):
        return True
    rest = f"{text[start : finding.start]}\0{text[finding.end : end]}"
    beside = len(_NUMBER.findall(rest))
    if _CELL.search(rest):
        return beside >= (1 if "|" in rest else _IN_ROW)
    is_grid = _ONLY_NUMBERS.fullmatch(text, start, end) is not None
    near = text[max(0, start - 200) : start].rstrip("\n").rpartition("\n")[2]
    near = near or text[end : end + 200].lstrip("\n").partition("\n")[0]
    return is_grid and bool(near) and _ONLY_NUMBERS.fullmatch(near) is not None


def _is_phrase(text: str, finding: Finding, value: str, dictionary: frozenset[str]) -> bool:
    """Are all words those of a dictionary, and written as a phrase or as the sender of notices?"""
    if finding.type is not EntityType.PERSON or not value.isascii():
        return False
    parts = _WORD.findall(value)
    if len(parts) == 1:
        humps = _HUMP.findall(value)
        is_brand = len(humps) > 1 and not value.isupper()
        return is_brand and all(in_dictionary(hump, dictionary) for hump in humps)
    if any(part.title() in _NAMES for part in parts):
        return False
    is_small = any(part.islower() and part not in _PARTICLES for part in parts[1:])
    is_sender = _SENDER.search(text[max(0, finding.start - 12) : finding.start]) is not None
    return (is_small or is_sender) and all(_is_plain(part, dictionary) for part in parts)


def _repeats_label(text: str, finding: Finding, value: str) -> bool:
    """Is the value the word of its label: `author="Author"`?"""
    before = text[max(0, finding.start - len(value) - 4) : finding.start]
    return value.casefold() in before.casefold()


def _is_plain(word: str, dictionary: frozenset[str]) -> bool:
    """Is it a word, a short form in capitals, or a thing's name?"""
    is_acronym = word.isupper() and word.isascii() and len(word) <= _MOST_IN_ACRONYM
    is_thing = word in _THINGS or word.lower() in _DAYS
    is_thing = is_thing or is_program_word(word)
    return is_acronym or is_thing or in_dictionary(word.partition("'")[0], dictionary)
