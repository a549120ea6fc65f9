"""Values behind the words of a sentence that say what they are: `her login is mtolg`, 分机60217.

The words decide, not a check digit or a usual grouping. They are in `data/said.toml`, sorted by
what a value behind them looks like: a number, a login, a machine or a password.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.declared import declared_kind, normalised
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.said_values import Link, is_code, number
from anonymization.text.detect.said_words import ROUTE, login, machine, password
from data.text.folding import lower_in_place
from data.text.lexicon import load_table, trie_pattern
from data.text.scripts import HAN

NAME = "said"
_SCORE = 0.8
_TABLE = "said.toml"
_READERS = {"password": password, "number": number, "login": login, "host": machine}
Reader = Callable[[str, int, EntityType, Link], int]

_WESTERN_LINK = (
    r"(?![a-z])[\"'`\])*_]{0,3}"
    r"(?:(?P<between> (?:for|to|on|at|of|in|there|here)(?: [a-z'-]{1,16}){0,3}?)?"
    r"(?:\??[ \t]{0,3}(?P<mark>[:=#(]|->|=>|(?<=\s)[\t|])[ \t]{0,3}"
    r"|\??(?P<verb>'s| (?:it's|that's|is|was|are|as|will be|called|stays|remains)"
    r"(?: now| still| just)?)[ \t:]{1,3})"
    r"|(?P<quoted> (?=[\"'`]))"
    r"|(?: (?:of|for) (?:my|his|her|their|our|your|the)(?: [a-z]{1,16}){1,2})?"
    r"(?P<bare>[ .,\t\\]{1,3}))[\"'`*(_“]{0,3}"
)
_EASTERN_LINK = (
    r"[\"'`\])*_」』】]{0,3}\.?[ \t]{0,2}"
    r"(?P<mark>(?:は|が|も|是|为|為|叫|就是|还是|改成|改为|変更後は|[:=#|(>])?[:=]?)"
    r"[ \t]{0,2}[\"'`「『【(*]{0,2}"
)
# A page about a user: the part of the path behind `users`.
_ROUTE = re.compile(r"/(?:u|users?|members?|people|profiles?|accounts?)/(?=[A-Za-z])")
_MORE = re.compile(r"(?:, | and | or |、|和|と|及び| / )[\"'`]{0,2}")
_MOST_MORE = 12
# Any other number with a name in front of it, unless it is one of goods, papers or programs.
_OTHER_NUMBER = re.compile(
    r"(?<![a-z])(?P<of>[a-z'-]{2,16})[ _-](?P<words>ref|reference|card|fob|tag|code|number|no|id"
    r"|serial|account|acc|chip|microchip|permit|pass|registration)(?: number| no)?\.?"
    r"(?P<close>[\"'`\])*_]{0,3})(?:[ \t]{0,3}(?P<mark>[:=#])[ \t]{0,3}"
    r"|(?P<verb> (?:is|was|reads|are)) {1,2})[\"'`*(_]{0,3}"
)
_OTHER_EASTERN = re.compile(
    rf"(?P<of>[{HAN}]{{1,4}}?)(?P<words>编号|卡号|账号|证号|号码|籍号|车位|番号|手帳|員証|コード|id)"
    r"(?P<mark>は|が|是|为|[:=#])?[ \t]{0,2}[\"'`「]{0,2}"
)
_VARIANTS = ("_", "-", "")


@dataclass(frozen=True, slots=True)
class _Announced:
    """What words announce: the class of the value, its kind, and whether it may stand close."""

    reader: str
    kind: EntityType
    near: bool


@cache
def _announcements() -> tuple[dict[str, list[_Announced]], dict[str, list[_Announced]]]:
    """The words of Western and of Eastern languages, each with what they announce."""
    western: dict[str, list[_Announced]] = {}
    eastern: dict[str, list[_Announced]] = {}
    table = load_table(__package__, "data", _TABLE)
    for reader in _READERS:
        for kind, lists in table[reader].items():
            for key in ("near", "linked"):
                announced = _Announced(reader, EntityType(kind), key == "near")
                for words in filter(None, lists[key].split("|")):
                    for written in (words, *(words.replace(" ", mark) for mark in _VARIANTS)):
                        if announced not in western.setdefault(written, []):
                            western[written].append(announced)
            for words in filter(None, lists["cjk"].split("|")):
                eastern.setdefault(words, []).append(_Announced(reader, EntityType(kind), True))
    return western, eastern


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    western, eastern = _announcements()
    return (
        re.compile(
            rf"(?:(?<![a-z0-9.])|(?<=\\[nrt]))(?P<words>{trie_pattern(western)}){_WESTERN_LINK}"
        ),
        re.compile(
            r"(?:(?<![a-z0-9_])|(?=[^\x00-\x7f]))"
            rf"(?P<words>{trie_pattern(eastern)})(?:(?<=[^\x00-\x7f])|(?![a-z0-9_])){_EASTERN_LINK}"
        ),
    )


def find_said(folded: str, lines: MachineLines, dictionary: frozenset[str]) -> Iterator[Finding]:
    """The values that words announce, in no order; `dictionary` holds English words."""
    lowered = lower_in_place(folded)
    western, eastern = _announcements()
    in_western, in_eastern = _patterns()
    for match in in_western.finditer(lowered):
        before = lowered[max(0, match.start("words") - 1) : match.start("words")]
        if before == "$" or (before == "=" and match["words"] == "pass"):
            continue  # a variable, or how a check went: `dkim=pass`
        link = Link(_strength(match), match["words"], dictionary)
        yield from _read(folded, match.end(), western[match["words"]], link)
    if not folded.isascii():
        for match in in_eastern.finditer(lowered):
            link = Link(match["mark"], match["words"], dictionary, is_eastern=True)
            yield from _read(folded, match.end(), eastern[match["words"]], link)
    yield from _other_numbers(folded, lowered, lines, dictionary)
    for route in _ROUTE.finditer(folded):
        end = login(folded, route.end(), EntityType.ACCOUNT, Link("", ROUTE, dictionary))
        if end > route.end():
            yield Finding(route.end(), end, EntityType.ACCOUNT, NAME, _SCORE)


def _strength(link: re.Match[str]) -> str:
    """What stands between Western words and a value, as `Link` names it."""
    if link["bare"]:
        return "comma" if "," in link["bare"] else "bare"
    return "verb" if link["quoted"] or link["verb"] else link["mark"]


_OF_THINGS = re.compile(load_table(__package__, "data", _TABLE)["things"]["words"])


def is_label_of_value(label: str) -> bool:
    """Does the name of a column, key or field say what private value stands in it?"""
    western, eastern = _announcements()
    plain = normalised(label)
    return declared_kind(label) is not None or plain in western or plain in eastern


def _other_numbers(
    folded: str, lowered: str, lines: MachineLines, dictionary: frozenset[str]
) -> Iterator[Finding]:
    """Codes of somebody behind words of no list: `payroll ref: PX/4471`, 水表编号88120-3."""
    for pattern, is_eastern in ((_OTHER_NUMBER, False), (_OTHER_EASTERN, True)):
        if is_eastern and folded.isascii():
            continue
        for match in pattern.finditer(lowered):
            named = match["of"] + match["words"] if is_eastern else match["of"]
            if _OF_THINGS.search(named) or lines.machine_at(match.start()):
                continue
            link = Link("verb", match["words"], dictionary, is_eastern)
            end = number(folded, match.end(), EntityType.PERSON_NUMBER, link)
            if is_code(folded[match.end() : end]):
                yield Finding(match.end(), end, EntityType.PERSON_NUMBER, NAME, _SCORE)


def _read(text: str, start: int, announced: list[_Announced], link: Link) -> Iterator[Finding]:
    for choice in announced:
        if link.strength in ("bare", "comma") and not choice.near:
            continue
        if link.strength == "comma" and choice.kind is not EntityType.PHONE:
            continue
        end = _READERS[choice.reader](text, start, choice.kind, link)
        if end > start:
            yield Finding(start, end, choice.kind, NAME, _SCORE)
            yield from _more(text, (start, end), choice.kind)
            return


def _more(text: str, span: tuple[int, int], kind: EntityType) -> Iterator[Finding]:
    """Values of the same shape that follow in a list: `codes: 8841-2207, 6610-9183`."""
    start, end = span
    value = text[start:end]
    if not any(map(str.isdigit, value)):
        return
    shape = re.compile("".join(map(_same_kind, value)) + r"(?![\w-])")
    for _ in range(_MOST_MORE):
        between = _MORE.match(text, end)
        again = shape.match(text, between.end()) if between else None
        if again is None:
            return
        end = again.end()
        yield Finding(*again.span(), kind, NAME, _SCORE)


def _same_kind(char: str) -> str:
    if char.isdigit():
        return "[0-9]"
    return "[A-Z]" if char.isupper() else re.escape(char)
