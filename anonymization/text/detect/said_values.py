"""Numbers behind the words that announce them, and what stands between words and value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import words


@dataclass(frozen=True, slots=True)
class Link:
    """What stands between the words and a value: `bare`, `verb` or the mark itself ("" for none).

    `dictionary` holds English words, in small letters.
    """

    strength: str
    words: str
    dictionary: frozenset[str]
    is_eastern: bool = False

    @property
    def is_strong(self) -> bool:
        """Is there a mark or a verb?"""
        return self.strength not in ("bare", "comma", "")


_CHUNK = re.compile(r"[#+]?[A-Za-z0-9]{1,32}")
_BETWEEN = re.compile(r"\)[ -]?|[ ](?:[-/(])?[ ]?|[-/.·・_]")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|kg|g|mm|cm|km|m|h|min|s|ms|px|gb|mb|kb|tb|k|bn|years?|days?)", re.I
)
_DATE = re.compile(
    r"(?:19|20)\d\d[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d"
)
_AMOUNT = re.compile(r"\d+(?:\.\d+)?|(?:19|20)\d\d")
_COUNTED = re.compile(
    r" ?%|[A-Za-z_=<>\[{]|\.\d|,\d{3}|[万亿億千百個个名人件行年月日歳岁元円位文桁]"
    r"| (?:people|persons|users|rows|items|records|lines|times|characters|digits|employees|members"
    r"|customers|accounts|units|hours|days|weeks|months|years|points|or more|to \d)\b"
)
_NO_TAIL = words("words.toml", "no_tails")
_FEWEST = {
    EntityType.PHONE: 5,
    EntityType.BANK_ACCOUNT: 6,
    EntityType.NATIONAL_ID: 5,
    EntityType.PASSPORT: 5,
    EntityType.PLATE: 2,
}
_FEW, _FIVE, _SIX, _MANY = 3, 5, 6, 99
_MOST_OF_PHONE, _MOST = 16, 26  # digits
_WITH_LETTERS = frozenset({EntityType.NATIONAL_ID, EntityType.PASSPORT})
_PEOPLE = words("words.toml", "numbered_people")
_ACCOUNTS, _LONG_ACCOUNT = frozenset({"account", "acc", "acct"}), 8
_PERIOD = re.compile(r"(?:Q[1-4]|H[12]|FY)[ -]?\d*(?:[ -]?\d{2,4})?")
_FLOAT = re.compile(r"\d{7,16}\.0")
_ROUND = re.compile(r"\d{1,3}0{4,}")  # an amount: 200000
_YEAR = re.compile(r"(?:19|20)\d\d")
_SINGLE = 1


def number(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A number in any grouping, with capitals in it: `LX 55 812 07`, `44-871-2`, `7719*`."""
    end, digits = _chunks(text, start, kind)
    value = text[start:end]
    if end < len(text) and text[end] in "#*" and kind is EntityType.SECRET:
        end += 1
    if _FLOAT.fullmatch(value):  # a number that a table kept as a float
        return end - 2
    most = _MOST_OF_PHONE if kind is EntityType.PHONE else _MOST
    if link.strength == "bare" and link.words in _ACCOUNTS and digits < _LONG_ACCOUNT:
        return start
    if (
        not _fewest(kind, value, link) <= digits <= most
        or _DATE.fullmatch(value)
        or _COUNTED.match(text, end)
    ):
        return start
    if kind is EntityType.BANK_ACCOUNT and _ROUND.fullmatch(value) and not _calls_it_number(link):
        return start
    if _PERIOD.fullmatch(value) or (link.strength == "bare" and _YEAR.fullmatch(value)):
        return start
    if not link.is_eastern and len(link.words) == _SINGLE and value[:1] not in "+0(":
        return start
    is_amount = _AMOUNT.fullmatch(value) is not None
    if is_amount and ("." in value or (digits < _FIVE and kind is EntityType.PERSON_NUMBER)):
        # A short plain number is one only where the words call it a number.
        return end if "." not in value and _calls_it_number(link) else start
    return end


def _fewest(kind: EntityType, value: str, link: Link) -> int:
    """How many digits a number needs; fewer, if capitals or marks in it make it a code."""
    is_code = any(map(str.isupper, value)) or any(char in "-/" for char in value)
    fewest = _FEWEST.get(kind, _FEW)
    if kind in _WITH_LETTERS:
        return _FEW if is_code and len(value) >= _SIX else fewest
    if link.strength != "bare" or kind in _FEWEST:
        return fewest
    if link.words in _PEOPLE:
        return _FEW if any(map(str.isupper, value)) and len(value) >= _FIVE else _MANY
    return _FEW if is_code else _FEW + 1


def is_code(value: str) -> bool:
    """Are there capitals among three digits or more, or six digits in groups, but no period?"""
    digits = sum(map(str.isdigit, value))
    has_capital = any(map(str.isupper, value)) and digits >= _FEW
    in_groups = digits >= _SIX and any(char in " -/." for char in value)
    return (has_capital or in_groups) and not _PERIOD.match(value) and not _YEAR.match(value)


def _calls_it_number(link: Link) -> bool:
    return (
        link.is_eastern
        or re.search(r"(?:no|number|id|code|ext|extension|pin)$", link.words) is not None
    )


def _chunks(text: str, start: int, kind: EntityType) -> tuple[int, int]:
    """The end of the chunks with digits or capitals from `start`, and how many digits they have."""
    at, end, digits = start, start, 0
    while (chunk := _CHUNK.match(text, at)) is not None:
        word = chunk.group()
        count = sum(map(str.isdigit, word))
        if kind is EntityType.PHONE and count < len(word.lstrip("+")):
            break
        is_tail_word = digits > 0 and word in _NO_TAIL
        if count == 0 and not (word.isupper() and len(word) <= 6 and not is_tail_word):
            break
        if _MEASURE.fullmatch(word) or (count and text[chunk.end() : chunk.end() + 1] == ":"):
            break
        digits += count
        is_tail = digits > 0 and len(word) <= 3 and kind is not EntityType.PHONE
        if count or is_tail:
            end = chunk.end()
        between = _BETWEEN.match(text, chunk.end())
        if between is None:
            break
        at = between.end()
    return end, digits
