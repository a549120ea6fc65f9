"""What is public whatever calls it a name: versions, well-known sites and firms, dates of software
and of statutes, what the state founds."""

from __future__ import annotations

import re

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import (
    CHINESE_ROLES,
    is_known_firm,
    is_program_word,
    private_site,
    words,
)
from data.text.scripts import HAN

_NAMED = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
_CALLED_LIKE_PEOPLE = frozenset({EntityType.PERSON, EntityType.ACCOUNT})
_COUNTRIES = words("places.toml", "countries")
_MACHINE_MAIL = tuple(words("words.toml", "machine_mail"))
_VERSION = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2}")
_VERSIONED = re.compile(
    r"(?i)(?:version|release|ver|v)\W{0,4}\Z|(?<![a-z])(?P<word>[a-z]+)[ =:-]\Z"
)
_QUARTER = re.compile(r"Q[1-4][ -]?20\d\d|20\d\d[ -]?Q[1-4]")
_EPOCH_BEGIN = re.compile(r"1970-?01-?01(?:[T ].*)?")
_FISCAL = re.compile(
    r"(?i)fiscal year(?: (?:runs|is|from|goes))*\s{1,3}"
    r"(?:[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?(?: (?:to|until|-)) )?\Z"
)
_STATUTE = re.compile(r"(?:Act|Code|Law|Convention|Treaty|Constitution|Ordinance) of\s{1,4}\Z")
# Of a build, and of a package in a log of TeX: `article.cls 1994/06/02`.
_BUILT = re.compile(
    r"(?i)(?<![a-z])(?:built|compiled|released)(?: on| at)?[:,]?\s{1,20}\Z|tex\w{0,4} ?<\Z"
    r"|(?:^|\n|\()(?:file|package|document (?:class|style))\W{1,2}[\w.-]{1,40},? \Z"
)
_NUMBERED_VERSION = re.compile(
    r"[ >]{1,2}(?:v|ver\.? ?|version |revision |rev\.? ?|patchlevel |build )\d"
)
_HAN_FIRM = re.compile(f"[{HAN}](?:公司|集团|会社|企業|企业)\\Z")
_SITE = re.compile(r"(?i)(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}")
_UNIT = re.compile(f"[{HAN}]{{1,8}}[部課课科室局处處组係]")
_NAME_BEHIND = re.compile(f"[ \u3000][{HAN}]{{2}}")
# What the state founds in a town or province, and names after it.
_OF_PLACE = re.compile("(?:理工|师范|科技|工业|农业|医科|财经|外国语)?大学\\Z")
_HAN_PLACES = words("places.toml", "chinese")
# What firms do, and the name of none: `AI公司`.
_TRADE_FIRM = re.compile("(?:AI|IT|VR|AR|IoT|SaaS|IC)(?:公司|集团|会社|企業|企业)")
_GIVEN = words("names.toml", "given")
_PORT = re.compile(r"(?:[Pp]ort|[Ll]ine|[Pp]age) \d{1,5}")
# Assistants that are called like people, and what in a text shows that they are meant.
_ASSISTANTS = {
    "claude": re.compile(r"(?i)anthropic|claude[ -]code|claude-\w|\bsonnet\b|\bopus\b"),
    "devin": re.compile(r"(?i)devin-ai|devin\.ai|cognition labs"),
    "jules": re.compile(r"(?i)google-labs-jules|jules\.google"),
}
_OF_ASSISTANTS = frozenset(
    ["code", "ai", "agent", "bot", "cli", "sonnet", "opus", "haiku", "desktop", "api"]
)


def is_public(text: str, finding: Finding, value: str) -> bool:
    """Is it a version, a well-known site, an assistant, or an account by the name of its site?"""
    before = text[max(0, finding.start - 24) : finding.start]
    if finding.type is EntityType.EMAIL:
        return value.lower().endswith(_MACHINE_MAIL)
    if finding.type in _CALLED_LIKE_PEOPLE and value[:6].lower().startswith(tuple(_ASSISTANTS)):
        return _is_assistant(text, value)
    if finding.type is EntityType.DATE and _VERSION.fullmatch(value):
        named = _VERSIONED.search(before)
        is_named = named is not None and (not named["word"] or is_program_word(named["word"]))
        return is_named or value == text.strip()
    if finding.type is EntityType.DATE and _QUARTER.fullmatch(value):  # what a release is called
        named = _VERSIONED.search(before)
        return named is not None and not named["word"]
    if value in CHINESE_ROLES:
        return finding.type in _NAMED
    if value.startswith(("国立", "国家", "全国", "中华人民共和国")):
        return finding.type in _NAMED
    if finding.type is EntityType.ORGANIZATION:
        is_of_place = _OF_PLACE.sub("", value) in _HAN_PLACES
        is_open = _TRADE_FIRM.fullmatch(value) is not None or is_known_firm(value)
        return value.title() in _COUNTRIES or is_of_place or is_open
    if finding.type is EntityType.ADDRESS and _PORT.fullmatch(value):
        return True
    if finding.type is EntityType.DATE and _is_constant(text, finding, value):
        return True
    if finding.type is EntityType.PERSON and is_known_firm(value):
        return True
    if finding.type is EntityType.PERSON and _is_eponym(text, finding, value):
        return True
    if finding.type is EntityType.PERSON and _HAN_FIRM.search(value):
        return True
    if finding.type is EntityType.PERSON and _UNIT.fullmatch(value):
        return _NAME_BEHIND.match(text, finding.end) is not None
    if finding.type in (EntityType.ACCOUNT, EntityType.URL):
        is_site = _SITE.fullmatch(value) is not None and not private_site(value)
        return is_site or before.lower().endswith(f"{value.lower()}.com/")
    return False


_ILLNESS = r"(?:disease|syndrome|disorder|dystrophy|lymphoma|sarcoma|palsy|contracture|atrophy)"
_CALLED_AFTER = re.compile(
    rf"(?:-[A-Z]\w{{1,20}}){{0,2}} (?:[a-z]{{3,14}} )?(?:{_ILLNESS}|test|scale|score|index|criteria"
    r"|staging|theorem|algorithm|coefficient|estimator|transform)s?(?!\w)"
)
_ILLNESS_OF = re.compile(rf"['’]s? {_ILLNESS}s?(?!\w)")


def _is_eponym(text: str, finding: Finding, value: str) -> bool:
    """Is something called after somebody: an illness or a measure, and no given name's?"""
    is_given = not _GIVEN.isdisjoint(re.findall(r"[^\W\d_]+", value))
    called = _CALLED_AFTER.match(text, finding.end) or _ILLNESS_OF.match(text, finding.end)
    return called is not None and not is_given


def _is_assistant(text: str, value: str) -> bool:
    """Is it the name of an assistant, alone or with its kind and version ("Claude Opus 4.5")?"""
    first, *others = value.lower().split()
    named = _ASSISTANTS.get(first)
    rest = (word for word in others if word.strip("()").isalpha())
    return (
        named is not None
        and all(word.strip("()") in _OF_ASSISTANTS for word in rest)
        and named.search(text) is not None
    )


def _is_constant(text: str, finding: Finding, value: str) -> bool:
    """Is it a date of software: of its build, of a rule for zones, the first second of an epoch, or
    the day on which each fiscal year begins?"""
    start = finding.start
    is_rule = text.rfind("BEGIN:VTIMEZONE", 0, start) > text.rfind("END:VTIMEZONE", 0, start)
    if is_rule or _EPOCH_BEGIN.fullmatch(value):
        return True
    before = text[max(0, start - 40) : start]
    is_named = any(rule.search(before) for rule in (_BUILT, _FISCAL, _STATUTE))
    return is_named or _NUMBERED_VERSION.match(text, finding.end) is not None


_PLACES = (
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "chinese")
    | words("japanese.toml", "public")
)
_KIND_OF_REGION = "(?:省|市|都|府|県|州|地方|(?:回族|维吾尔|壮族)?自治区|特别行政区)"
_SUFFIX = re.compile(f"{_KIND_OF_REGION}$")
_REGION = re.compile(
    rf"(?:(?:北京|上海|天津|重庆)市|北海道|[{HAN}]{{2,3}}?{_KIND_OF_REGION})[ \u3000]?"
)


def is_public_place(value: str) -> bool:
    """Is it a country, a region or a town that everybody knows?"""
    is_listed = value in _PLACES or (value.isupper() and value.title() in _PLACES)
    return is_listed or _SUFFIX.sub("", value) in _PLACES


def region_end(text: str, start: int, end: int) -> int:
    """Where a region in Han characters ends that `text[start:end]` begins with: 四川省成都市…; at
    `start` if it begins with none that everybody knows."""
    region = _REGION.match(text, start, end)
    is_known = region is not None and _SUFFIX.sub("", region.group().rstrip()) in _PLACES
    return region.end() if region and is_known else start
