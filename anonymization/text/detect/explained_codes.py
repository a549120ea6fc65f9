"""Which numbers and codes explain themselves: quantities, dates, versions, standards, colours."""

from __future__ import annotations

import re

from anonymization.text.detect.wording import words

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
    r"|0x[0-9a-fA-F]{1,4}"
)
_CELLS = re.compile(r"[A-Z]{1,3}\d{1,3}(?:[-:][A-Z]{1,3}\d{1,5})?")
_QUARTER = re.compile(
    r"(?i)(?:(?:19|20)?\d\d[-_/]?)?(?:Q[1-4]|H[12]|FY|CY|W|WK)[-_/]?(?:(?:19|20)?\d\d)?"
)
_CODE = re.compile(r"(?=(?:[^\d]*\d){3})[A-Z]{1,6}\d*(?:[-/#.]?[A-Z0-9]{1,16}){0,5}")
_TAGGED = re.compile(r"[\w.]{2,32}#\d{4}|\d{3,}#\d{2,}")
_NUMBERED = re.compile(r"[A-Z]{2,5}-0\d{3,5}")  # no part of a text has such a number
_RUN = re.compile(r"\d+|[^\W\d_]+")
_HEX = re.compile(r"(?=.*\d.*\d)(?=.*[a-f])[0-9a-f]{8,}|(?=.*\d.*\d)(?=.*[A-F])[0-9A-F]{8,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_BETWEEN = re.compile(r"(?=.{5})[A-Za-z]+\d{2,}[A-Za-z]+")
_SEGMENTS = re.compile(r"(?=(?:\D*\d){6})(?=.*[A-Za-z])[0-9A-Za-z]{4,12}(?:-[0-9A-Za-z]{3,12}){3,}")
_WORDED = re.compile(r"[A-Z][a-z]+(?:[-_.][A-Z][a-z]+)+[-_.]?\d{2,4}")
_MACHINE = re.compile(r"[a-z]{3,}(?:-[a-z]{2,})*-[a-z]{2,}\d{1,3}")
_LONGEST = 256  # characters; what is longer is packed data, which is opened elsewhere
_RUNS, _LENGTH, _DIGITS = 4, 8, 4  # runs of letters and digits, and size, of an opaque code


# A booking or a voucher: letters and digits in turn, two digits at least; and what is chemistry.
_REFERENCE = re.compile(r"(?=(?:[^\d]*\d){2})(?=.*\d[A-Z]{1,4}\d|.*[A-Z]\d+[A-Z])[A-Z0-9]{6,10}")
_FORMULA = re.compile(r"(?:[HCNOSPFKI]\d{0,2})+")
_TWO = re.compile(r"(\d{1,6})([-/])(\d{1,6})")
_MONTHS, _DAYS = 12, 31


_THREE = re.compile(r"(\d{2})-(\d{2})-(\d{2})")


def _is_day(first: int, second: int, third: int) -> bool:
    """Can three numbers be a day, a month and a year in any usual order?"""
    orders = ((first, second), (second, first), (third, second))
    return any(0 < day <= _DAYS and 0 < month <= _MONTHS for day, month in orders)


def _is_range(first: str, mark: str, second: str) -> bool:
    """Are two numbers a range, a fraction, a score, a month or a season, and no number of a record?

    `10-25`, `2019/20` and `120/80` are; `70-4412`, `2204-17` and `417/2019` are not.
    """
    low, high = int(first), int(second)
    if max(len(first), len(second)) <= 2:
        return True
    if _YEAR.fullmatch(first):
        is_month = len(second) <= 2 and low > 0
        return is_month or (_YEAR.fullmatch(second) is not None)
    if _YEAR.fullmatch(second):
        return high > 0 and low <= _MONTHS
    if second.startswith("0") or (len(first), len(second)) == (3, 4):
        return False
    return low < high and len(second) - len(first) <= 1 if mark == "-" else len(first) < 4


_YEAR = re.compile(r"(?:19|20)\d\d")


def is_plain(chain: str) -> bool:
    """Is it a quantity, a date, a time, a version, a range or a time stamp?"""
    if (three := _THREE.fullmatch(chain)) and not _is_day(*map(int, three.groups())):
        return False
    if two := _TWO.fullmatch(chain):
        return _is_range(*two.groups())
    return _PLAIN.fullmatch(chain) is not None or _QUARTER.fullmatch(chain) is not None


def is_code(chain: str) -> bool:
    """Is it as a whole a number of somebody or something: `C-000981`, a UUID, `name#1234`?"""
    if len(chain) > _LONGEST or not chain.isascii():
        return False
    if _TWO.fullmatch(chain):
        return not is_plain(chain)
    if _THREE.fullmatch(chain):
        return not is_plain(chain)
    if any(form.fullmatch(chain) for form in (_UUID, _TAGGED, _SEGMENTS, _WORDED, _MACHINE)):
        return True
    if _REFERENCE.fullmatch(chain) and not _FORMULA.fullmatch(chain):
        return True
    if not _CODE.fullmatch(chain) or _CELLS.fullmatch(chain):
        return False
    lead = _RUN.match(chain)
    assert lead is not None
    return not is_known_lead(lead.group()) or _NUMBERED.fullmatch(chain) is not None


def is_known_lead(word: str) -> bool:
    """Does the word begin the name of a standard, a format, a model or a part of a text?"""
    return word.lower() in _STANDARDS


def is_opaque(atom: str) -> bool:
    """Does an atom of letters and digits mix them as keys and ids do?"""
    if len(atom) > _LONGEST or atom.isalpha():
        return False
    if _HEX.fullmatch(atom):
        return True
    runs = _RUN.findall(atom)
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
_CURRENCY = re.compile(r"(?:[$€£¥￥₩₹]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|HKD|KRW|INR)) ?$")
_UNIT = re.compile(
    r" ?(?:[万萬亿億]|元|円|圆|美元|欧元|日元|港元|条|條|吨|字节|毫秒|秒)"
    r"| ?(?:[个個件](?!人)|人(?![民员員事才]))"
    r"|(?i: (?:yuan|dollars?|euros?|yen|rupees?|rows?|bytes?|tokens?|entries|characters|inhabitants"
    r"|milliseconds?|ms|kwh|usd|eur|gbp|chf|jpy|cny|rmb|hkd|krw|inr)\b)"
)


def is_measured(text: str, start: int, end: int) -> bool:
    """Does a currency before a long number, or a unit behind it, say that it is an amount?"""
    before = text[max(0, start - 5) : start]
    return _CURRENCY.search(before) is not None or _UNIT.match(text, end) is not None


def is_amount(label: str) -> bool:
    """Do the words of a label say that a long number below it is an amount, a size or a time?"""
    small = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label).lower()
    if any(ord(word[0]) > 0x2E80 and word in small for word in _AMOUNTS):
        return True
    return any(
        word in _AMOUNTS or word.rstrip("s") in _AMOUNTS for word in re.split(r"[\W_]+", small)
    )
