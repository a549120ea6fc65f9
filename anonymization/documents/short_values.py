"""Short private values that only their place gives away: initials, PINs, places, logins, dates.

No word of them is odd. What is listed depends on the signs and words around it, and on the file:
the names whose letters initials may be, and the columns that are full of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anonymization.documents.text_forms import names_people
from anonymization.documents.worth_a_look import Sighting, whole_sighting
from anonymization.text.contracts import DetectionConfig, Edit, EntityType
from anonymization.text.detect.explained import is_amount, is_known_lead, is_plain
from anonymization.text.detect.wording import words
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.words_review import Why
from data.text.dates import MONTH_NAME, YEAR, find_dates
from data.text.lexicon import load_table

_SMALL = words("words.toml", "function_words")
_POINTED_WORDS = frozenset(load_table(__package__, "everyday.toml")["pointed"].split())
# "Ada van Holt", whose initials are looked for in the file.
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:[ -](?:[a-z]{1,3} )?[A-Z][^\W\d_]+){1,3}")
_CAPITAL = re.compile(r"(?<![^\W_])[A-Z]")
_INITIALS = re.compile(r"(?<![\w.&-])[A-Z]{2,4}(?![\w&-])")
# "o.h.", "J. S."
_POINTED = re.compile(r"(?<![\w.])[A-Za-z]\.(?:[ -]?[A-Za-z]\.){1,3}(?!\w)")
_NUMBER = re.compile(r"\d{3,4}")
_QUOTED = re.compile(r"[\"“'‘](\d{3,4})[\"”'’]")
# "pin=4711", and neither "at: 12:30" nor "x=2.5".
_SET = re.compile(r"(?<!\d)[=:：] ?[\"“'‘]?(\d{2,4})(?![.,:/%°-]*\w| ?\*)")
# "#A7", "(K-9)", "B-12" alone.
_SIGNED = re.compile(
    r"#([A-Za-z]{1,3}-?\d{1,4})(?!\w)"
    r"|(?<!\w)[(\[\"“'‘]([A-Za-z]{1,3}-?\d{1,4}|\d{1,4}-?[A-Za-z]{1,3})[)\]\"”'’]"
    r"|(?<![\w./-])([A-Z]{1,3}-\d{1,2})(?![\w./-])"
)
_OF_PEOPLE = re.compile(
    r"(?i:\b(?:his|her|hers|my|our|your|their|he|she|mr|mrs|ms|dr|mother|father|mum|mom|dad|sister|brother|wife"
    r"|husband|son|daughter|uncle|aunt|friend|colleague|boss|neighbou?r|doctor|nurse|teacher|pin"
    r"|locker|badge|safe|birthday|born|phone|mobile|extension|room)\b)|[他她你我]的?|本人|分机|门禁"
)
_NEAR = 40  # characters on both sides of a number, in which a word of persons may stand
_DECIMAL = r"[-+]?\d{1,3}\.\d{3,8}"
# "47.1234, 8.5678", and no row of three numbers.
_PAIR = re.compile(
    rf"(?<![\w.,;-])(?<!\d[,; ] )(?<!\d[,; ])({_DECIMAL})"
    rf"(?:[,;/] {{0,2}}| {{1,2}}|(?=[-+]))({_DECIMAL})"
    r"(?![\d.])(?![,;]? ?-?\d)"
)
# One decimal, or "47°22′N".
_PLACED = re.compile(
    rf"(?<![\w.-]){_DECIMAL}(?![\w.]*\w)"
    r"|\d{1,3}° ?\d{1,2}[′'’](?: ?[\d.]{1,6}[″\"”])? ?[NSEWO]\b"
)
_OF_PLACES = re.compile(
    r"(?i:\b(?:lat|lon|lng|long|latitude|longitude|geo|gps|coord\w{0,8}|position|location)\b)"
    r"|纬度|经度|坐标|定位|緯度|経度|座標"
)
_PRECISE = re.compile(r"-?(?:[1-9]\d?|1[0-7]\d)\.\d{4,7}")
_LOGIN = r"[A-Za-z]{1,2}"
_LOGIN_WORDS = (
    r"login|log-in|user|user ?name|user_?id|account|handle|nick(?:name)?|alias|uid|owner|author"
    r"|assignee"
)
# "user: jk", "ssh jk", "/home/jk", "@jk", "jk@host", "~jk".
_LOGINS = re.compile(
    rf"(?i:\b(?:{_LOGIN_WORDS})\b)[\"']?(?: is)? ?[=:：] ?[\"'@]?({_LOGIN})(?![\w.'’-])"
    rf"|(?i:\b(?:login|username|handle|ssh|su|sudo -u|as user)) ({_LOGIN})(?![\w.'’-])"
    rf"|[/\\](?:home|Users|users|Benutzer)[/\\]({_LOGIN})(?![\w.-])"
    rf"|(?<![\w.@])@({_LOGIN})(?![\w.'’-])|(?<![\w.@/])({_LOGIN})@(?=\w)|(?<!\S)~({_LOGIN})(?![\w.-])"
    rf"|(?:用户名?|账号|登录名?|帐号)(?:是|为)?[:：= ]?({_LOGIN})(?!\w)"
)
_OF_LOGINS = re.compile(rf"(?i:(?:\b|_)(?:{_LOGIN_WORDS}|by)s?\b)|用户|账号|登录")
_DASHED = re.compile(r"\d{1,2}-\d{1,2}-(?:19|20)\d\d")  # prose has ranges in this form
_ORDINAL = re.compile(rf"\d{{1,2}}\. {MONTH_NAME}\.? (?:19|20)\d\d", re.IGNORECASE)
_PART_BEFORE, _PART_BEHIND = re.compile(r"[\w.-]"), re.compile(r"[\w-]")  # of a longer code
_FEWEST = 3  # distinct numbers under one label, from which they are a column of numbers
_MOST_LATITUDE, _MOST_LONGITUDE = 90, 180


@dataclass(frozen=True, slots=True)
class Around:
    """What the rest of a file says about its short values."""

    initials: frozenset[str]  # of the names in it, in capitals
    numeric: frozenset[str]  # labels of columns that hold numbers
    has_open_dates: bool  # masking looks for dates only where words say whose they are

    def is_cell(self, piece: Piece) -> bool:
        """Does a value stand under a label, and not in a column of numbers?"""
        return piece.lead > 0 and piece.label not in self.numeric


def around(looked: Iterable[tuple[Piece, Sequence[Edit]]], detection: DetectionConfig) -> Around:
    """What the texts of a file say, each given with what masking changes in it."""
    names: set[str] = set()
    numbers: dict[str, set[str]] = {}
    for piece, edits in looked:
        names |= {piece.value[edit.start : edit.end].strip() for edit in edits}
        if piece.lead and _is_number(piece.value):
            numbers.setdefault(piece.label, set()).add(piece.value)
    return Around(
        frozenset("".join(_CAPITAL.findall(name)) for name in names if _NAME.fullmatch(name)),
        frozenset(label for label, values in numbers.items() if len(values) >= _FEWEST),
        EntityType.UNEXPLAINED not in detection.entities,
    )


def short_sightings(piece: Piece, rest: str, context: Around) -> Iterator[Sighting]:
    """The short values in `rest`, what masking left of a piece, that are worth a look."""
    if piece.accepts is FindingFilter.PROVEN:
        return
    yield from _initials(rest, context)
    yield from _logins(piece, rest)
    yield from _places(piece, rest, context)
    if piece.accepts is FindingFilter.ALL:
        yield from _codes(rest)
        yield from _numbers(piece, rest, context)
    if context.has_open_dates:
        yield from _dates(rest)


def _initials(rest: str, context: Around) -> Iterator[Sighting]:
    for match in _POINTED.finditer(rest):
        if match.group().lower().replace(" ", "") not in _POINTED_WORDS:
            yield Sighting(match.group(), *match.span(), Why.NAME)
    for match in _INITIALS.finditer(rest) if context.initials else ():
        if match.group() in context.initials:
            yield Sighting(match.group(), *match.span(), Why.NAME)


def _logins(piece: Piece, rest: str) -> Iterator[Sighting]:
    value = rest.strip()
    if len(value) <= 2 and value.isalpha() and value.isascii() and _OF_LOGINS.search(piece.label):
        yield whole_sighting(rest, Why.FIELD)
    for match in _LOGINS.finditer(rest):
        group = match.lastindex or 0
        if match[group].lower() not in _SMALL:
            yield Sighting(match[group], *match.span(group), Why.FIELD)


def _codes(rest: str) -> Iterator[Sighting]:
    for match in _SIGNED.finditer(rest):
        group = match.lastindex or 0
        code = match[group]
        lead = code.rstrip("0123456789-")
        if not is_plain(code) and not (lead and is_known_lead(lead)):
            yield Sighting(code, *match.span(group), Why.CODE)


def _numbers(piece: Piece, rest: str, context: Around) -> Iterator[Sighting]:
    value = rest.strip()
    is_number = _NUMBER.fullmatch(value) is not None and not YEAR.fullmatch(value)
    if context.is_cell(piece) and is_number and not is_amount(piece.label):
        yield whole_sighting(rest, Why.CODE)
    for match in _QUOTED.finditer(rest):
        if not YEAR.fullmatch(match[1]):
            yield Sighting(match[1], *match.span(1), Why.CODE)
    for match in _SET.finditer(rest):
        near = rest[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        if _OF_PEOPLE.search(near) or names_people(near):
            yield Sighting(match[1], *match.span(1), Why.CODE)


def _places(piece: Piece, rest: str, context: Around) -> Iterator[Sighting]:
    """Two decimals side by side that can be degrees, one near a word of places, and a precise one
    in a cell."""
    paired: set[int] = set()
    for match in _PAIR.finditer(rest):
        degrees = sorted(abs(float(part)) for part in match.groups())
        if degrees[0] <= _MOST_LATITUDE and degrees[1] <= _MOST_LONGITUDE:
            paired.update(range(*match.span()))
            yield Sighting(match.group(), *match.span(), Why.CODE)
    is_precise = _PRECISE.fullmatch(rest.strip()) is not None
    is_value = context.is_cell(piece) and is_precise and not is_amount(piece.label)
    for match in _PLACED.finditer(rest):
        near = f"{piece.label} {rest[max(0, match.start() - _NEAR) : match.start()]}"
        is_placed = is_value or "°" in match.group() or _OF_PLACES.search(near.replace("_", " "))
        if is_placed and match.start() not in paired:
            yield Sighting(match.group(), *match.span(), Why.CODE)


def _dates(rest: str) -> Iterator[Sighting]:
    """Dates with year, month and day that are no part of a longer code."""
    days = [(start, end) for start, end, moment in find_dates(rest) if moment.is_day]
    written = (match.span() for form in (_DASHED, _ORDINAL) for match in form.finditer(rest))
    for start, end in sorted({*days, *written}):
        is_part = _PART_BEFORE.match(rest[start - 1 : start]) or _PART_BEHIND.match(rest, end)
        if not is_part:
            yield Sighting(rest[start:end], start, end, Why.CODE)


def _is_number(value: str) -> bool:
    return value.strip().lstrip("+-").replace(".", "").replace(",", "").isdigit()
