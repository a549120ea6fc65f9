"""What is a thing of nobody: quantities, dates, versions, methods, standards, and keys.

Evidence read here: the form of a number or code; the word before a number (`version`, `commit`,
件数); and lists of names that look like people's and are methods, type faces, products or laws.
What remains of a finding beside them stays a finding. Numbers of accounts, orders, tickets and
records are never explained, since each of them is somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding, kinds, trimmed, uncovered
from anonymization.text.detect.capitals import is_plain_capital
from anonymization.text.detect.declared import normalised
from anonymization.text.detect.wording import words
from data.text.dates import YEAR
from data.text.lexicon import trie_pattern
from data.text.scripts import RUNS

_STANDARDS = words("known_words.toml", "standards")
_AMOUNTS = words("known_words.toml", "amounts")
_PLAIN = re.compile(
    r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # thousands
    r"|[+-]?\d{1,12}\.\d+(?:[eE][+-]?\d+)?|\d[eE][+-]?\d+"  # decimals
    r"|v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[-.+]?(?:rc|beta|alpha|dev|post|pre|a|b|final)?[-.]?\d{0,3})?"
    r"|(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:T\d{2}(?::?\d{2}){0,2}(?:\.\d+)?)?"
    r"(?:Z|[+-]\d\d:?\d\d)?|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|(?:19|20)\d\d)|\d{1,2}[-/]\d{1,2}"
    r"|\d{1,2}(?::\d{2}){1,2}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:[ap]m)?"
    r"|(?:19|20)\d\d(?:[-/](?:19|20)?\d\d)?|(?:19|20)\d{2}[01]\d[0-3]\d(?:[T_-]?\d{4,6}Z?)?"
    r"|\d{1,6}|\d{1,4}[-/:]\d{1,4}|\d+0{4,}|1[4-7]\d{8}(?:\d{3}){0,3}"
    r"|0x[0-9a-fA-F]{1,8}"
)
_CELLS = re.compile(r"[A-Z]{1,3}\d{1,3}(?:[-:][A-Z]{1,3}\d{1,5})?")
_QUARTER = re.compile(
    r"(?i)(?:(?:19|20)?\d\d[-_/]?)?(?:Q[1-4]|H[12]|FY|CY|W|WK)[-_/]?(?:(?:19|20)?\d\d)?"
)
_CODE = re.compile(r"(?=(?:[^\d]*\d){3})[A-Z]{1,6}\d*(?:[-/#.]?[A-Z0-9]{1,16}){0,5}")
_HEX = re.compile(r"(?=.*\d.*\d)(?=.*[a-f])[0-9a-f]{8,}|(?=.*\d.*\d)(?=.*[A-F])[0-9A-F]{8,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_BETWEEN = re.compile(r"(?=.{5})[A-Za-z]+\d{2,}[A-Za-z]+")
_SEGMENTS = re.compile(r"(?=(?:\D*\d){6})(?=.*[A-Za-z])[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{3,12}){3,}")
_LONGEST = 256  # characters; what is longer is packed data, which is opened elsewhere
_RUNS, _LENGTH, _DIGITS = 4, 8, 4  # runs of letters and digits, and size, of an opaque code


# A booking or a voucher: letters and digits in turn, two digits at least.
_REFERENCE = re.compile(r"(?=(?:[^\d]*\d){2})(?=.*\d[A-Z]{1,4}\d|.*[A-Z]\d+[A-Z])[A-Z0-9]{6,10}")
_TWO_NUMBERS = re.compile(r"(\d{1,6})([-/])(\d{1,6})")
_MONTHS = 12


def _is_range(first: str, mark: str, second: str) -> bool:
    """Are two numbers a range, a fraction, a score, a month or a season, and no number of a record?

    `10-25`, `2019/20` and `120/80` are; `70-4412`, `2204-17` and `417/2019` are not.
    """
    low, high = int(first), int(second)
    if max(len(first), len(second)) <= 2:
        return True
    if YEAR.fullmatch(first):
        is_month = len(second) <= 2 and low > 0
        return is_month or (YEAR.fullmatch(second) is not None)
    if YEAR.fullmatch(second):
        return high > 0 and low <= _MONTHS
    if second.startswith("0") or (len(first), len(second)) == (3, 4):
        return False
    return low < high and len(second) - len(first) <= 1 if mark == "-" else len(first) < 4


def is_plain(chain: str) -> bool:
    """Is it a quantity, a date, a time, a version, a range or a time stamp?"""
    if two := _TWO_NUMBERS.fullmatch(chain):
        return _is_range(*two.groups())
    return _PLAIN.fullmatch(chain) is not None or _QUARTER.fullmatch(chain) is not None


def is_code(chain: str) -> bool:
    """Is it as a whole a number of somebody or something: `C-000981`, a UUID?"""
    if len(chain) > _LONGEST or not chain.isascii():
        return False
    if _TWO_NUMBERS.fullmatch(chain):
        return not is_plain(chain)
    if any(form.fullmatch(chain) for form in (_UUID, _SEGMENTS, _REFERENCE)):
        return True
    if not _CODE.fullmatch(chain) or _CELLS.fullmatch(chain):
        return False
    lead = RUNS.match(chain)
    assert lead is not None
    return not is_known_lead(lead.group())


def is_known_lead(word: str) -> bool:
    """Does the word begin the name of a standard, a format, a model or a part of a text?"""
    return word.lower() in _STANDARDS


def is_opaque(atom: str) -> bool:
    """Does an atom of letters and digits mix them as keys and ids do?"""
    if len(atom) > _LONGEST or atom.isalpha():
        return False
    if _HEX.fullmatch(atom):
        return True
    runs = RUNS.findall(atom)
    digits = max((len(run) for run in runs if run.isdigit()), default=0)
    if len(runs) > 1 and digits > _DIGITS:
        return True
    if _BETWEEN.fullmatch(atom) and min(len(run) for run in runs if run.isalpha()) <= 2:
        return True
    is_token = len(runs) > _RUNS and len(atom) > _RUNS and not is_known_lead(runs[0])
    if is_token and atom.islower() and sum(map(str.isdigit, atom)) > 1:
        return True
    return len(atom) >= _LENGTH and len(runs) >= _RUNS and sum(map(str.isdigit, atom)) > 2


# What makes a long number an amount or a count: a currency before it, a unit behind it. Words that
# are verbs too ("records", "shares") do not: "customer 20481756 records a loss".
_CURRENCIES = ("$", "€", "£", "¥", "￥", "₩", "₹")
_UNIT = re.compile(
    r" ?(?:[万萬亿億]|元|円|圆|美元|欧元|日元|港元|条|條|吨|字节|毫秒|秒)"
    r"| ?(?:[个個件](?!人)|人(?![民员員事才]))"
    r"|(?i: (?:yuan|dollars?|euros?|yen|rupees?|rows?|bytes?|tokens?|entries|characters|inhabitants"
    r"|milliseconds?|ms|kwh|usd|eur|gbp|chf|jpy|cny|rmb|hkd|krw|inr)\b)"
)


def is_measured(text: str, start: int, end: int) -> bool:
    """Does a currency before a long number, or a unit behind it, say that it is an amount?"""
    is_money = text[max(0, start - 2) : start].rstrip().endswith(_CURRENCIES)
    return is_money or _UNIT.match(text, end) is not None


def is_amount(label: str) -> bool:
    """Do the words of a label say that a long number below it is an amount, a size or a time?"""
    small = normalised(label)
    if any(ord(word[0]) > 0x2E80 and word in small for word in _AMOUNTS):
        return True
    return any(
        word in _AMOUNTS or word.removesuffix("s") in _AMOUNTS for word in RUNS.findall(small)
    )


_TABLE = "known_words.toml"
_JOINED = trie_pattern(
    name.replace("-", dash) for name in words(_TABLE, "methods") for dash in "-–"
)
_IN_FULL = trie_pattern(words(_TABLE, "methods_in_full"))
_METHOD_NAMES = trie_pattern(words(_TABLE, "methods_with_kind"))
_METHOD_KINDS = trie_pattern(words(_TABLE, "method_kinds"))
_METHOD = re.compile(
    rf"(?<![\w.-])(?:(?:{_JOINED})(?![\w-]|['’]s? [A-Z])|(?:{_IN_FULL})(?![\w-])"
    rf"|(?:{_METHOD_NAMES})(?=(?:['’]s)? (?:[a-z]{{3,12}} )?(?:{_METHOD_KINDS})(?![\w-])))"
)
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "lady"})
_WORD_BEFORE = re.compile(r"(?P<word>[A-Z][\w’']*)\.? $")
_REACH = 24  # characters in which the word before stands


def _find_methods(text: str) -> Iterator[tuple[int, int]]:
    """The spans of their names, sorted; a kind of method behind a name is outside, or inside."""
    for match in _METHOD.finditer(text):
        before = _WORD_BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        if before is None or _is_plain(before["word"]):
            yield match.span()


def _is_plain(word: str) -> bool:
    return word.lower() not in _TITLES and is_plain_capital(word)


_NAMED = kinds("PERSON ORGANIZATION LOCATION URL ACCOUNT TITLE")
_KEYED = _NAMED | {EntityType.ADDRESS, EntityType.UNEXPLAINED}
# Sayings, type faces, and products with their number or model: `Raspberry Pi 4 Model B`.
_PHRASE = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:{trie_pattern(words('known_words.toml', 'phrases'))})"
    r"(?: \d{1,4}(?:\.\d{1,3}){0,2}(?!\w))?(?: (?:Model|Pro|Max|Plus|Mini|LTS)(?: [A-Z](?!\w))?)?"
    r"(?![A-Za-z0-9_-])"
)
_PUBLIC = re.compile(
    r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][A-Za-z_]+"
    r"(?:/[A-Z][A-Za-z_]+)?(?![\w/])"
    r"|(?<![A-Za-z-])(?:RFC|ISO|IEC|IEEE|DIN|EN|GB/T|JIS|RAL|NF|PEP|WCAG|Pantone)"
    r"(?: (?:EN|ISO|IEC|[A-Z]))? \d[\d.:/-]{0,12}(?: [CU](?!\w))?(?!\w)"
    r"|(?<!\w)(?:Articles?|Art\.|Sections?|§§?) ?(?:[A-Z]\. ?)?\d[\d./-]{0,8}"
    r"(?: §§? ?\d{1,3})?(?!\w)"
)


def _fixed(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_PHRASE, _PUBLIC):
        yield from (match.span() for match in pattern.finditer(text))
    yield from _find_methods(text)


# What stands directly before a mark of assignment is a key: `buyer=Ann Lee phone=…`.
_ASSIGNED = re.compile(r"[ \t]{0,2}(?:=(?![=>])|[:：](?![:/\\]))")
_LAST_WORD = re.compile(r"[ \t\u3000]+(?P<key>[^\s=:：\"']{1,40})\Z")
_VALUE = re.compile(r"[=:：][ \t]{0,2}[\"'「]?\Z")


def without_keys(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without the key of the next pair: it was taken for the end of a name."""
    for finding in findings:
        mark = _ASSIGNED.match(text, finding.end) if finding.type in _KEYED else None
        if mark is None:
            yield finding
            continue
        key = _LAST_WORD.search(text, finding.start, finding.end)
        is_assigned = mark.group().strip() == "="
        is_value = _VALUE.search(text, max(0, finding.start - 4), finding.start) is not None
        if key is not None and (is_assigned or is_value):
            yield replace(finding, end=key.start())
        else:
            yield finding


def without_fixed_words(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, names among them cut to what is beside fixed words."""
    listed = list(findings)
    if not any(finding.type in _NAMED for finding in listed):
        return listed
    spans = sorted(_fixed(text))
    starts = [start for start, _ in spans]
    kept: list[Finding] = []
    for finding in listed:
        if finding.type not in _NAMED:
            kept.append(finding)
            continue
        first = max(0, bisect_left(starts, finding.start) - 1)
        kept += _cut(text, finding, spans[first : bisect_left(starts, finding.end)])
    return kept


def _cut(text: str, finding: Finding, spans: Iterable[tuple[int, int]]) -> Iterator[Finding]:
    for rest in uncovered(finding.start, finding.end, spans):
        if rest == (finding.start, finding.end):
            yield finding
            continue
        start, end = trimmed(text, *rest)
        value = text[start:end]
        is_small = value.isascii() and value.islower() and value.isalpha()
        if len(value) >= 2 and not is_small:
            yield replace(finding, start=start, end=end)


# What a word goes on with: a part of it is not explained, if the rest is not.
_END = r"(?![A-Za-z0-9_-]|[./:#@+][A-Za-z0-9_])"
# A number, a version or a digest behind the word that says that it is one.
_SAID = re.compile(
    rf"(?i)(?:(?<![a-z])|(?=[^\x00-\x7f]))(?:{trie_pattern(words(_TABLE, 'numbered_things'))})"
    r"(?:[ _-]?(?:sums?|digest|checksum|hash|id|number|code|no\.?))?"
    r"(?:校验)?(?:值|和)?(?:更新)?(?: is| was|为|是|は|が|到|至|约|达到?|共计?|超过?)?"
    r"[ :：=#\"'`(]{0,4}(?P<v>[a-z]{0,3}\d[\w.-]{0,127}|[0-9a-f]{7,128})"
    rf"{_END}"
)
# What is hashed there is a value of somebody, and few values can be tried.
_HASHED = re.compile(
    r"(?i)pass|pwd|user|login|mail|phone|mobile|name|card|account|ssn|salt|identit|customer|patient"
    r"|client|密码|口令|用户|邮箱|手机|电话|姓名|账号|身份|客户"
)
_DIGEST, _BEFORE = 32, 40  # characters of the shortest digest, and before it
_ONE_DIGIT = re.compile(r"\d")


def find_explained(text: str) -> Iterator[tuple[int, int]]:
    """The spans of such things, in no order."""
    if " " in text or "-" in text:  # a screen: most strings of sessions are single words
        yield from _find_methods(text)
        yield from (match.span() for match in _PHRASE.finditer(text))
    if _ONE_DIGIT.search(text):
        for match in _SAID.finditer(text):
            before = text[max(0, match.start() - _BEFORE) : match.start()].rpartition("\n")[2]
            if len(match["v"]) < _DIGEST or not _HASHED.search(before):
                yield match.span("v")
