"""Surrogates of numbers with rules (phones, cards, accounts, identity numbers) and of secrets.

A surrogate passes the same checks as the value. Where a range exists that is assigned to nobody
(fictional phone numbers, test cards, regions and area numbers that were never assigned), the
surrogate is taken from it. The digits are drawn for the number without its separators and then
written in the form of the value, so that one number in several forms stays one number. Surrogates
of secrets keep alphabet, length and prefix.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from functools import cache

from numpy.random import Generator

from anonymization.text.identity_numbers import (
    CODE_ALPHABET,
    DRAWN_FORMS,
    ID_CHECK,
    ID_WEIGHTS,
)
from anonymization.text.surrogates.assignment import (
    SurrogateTable,
    counting_number,
    digits,
    filled,
    pick,
    same_shape,
)
from data.text.dates import YEAR
from data.text.folding import alnum_form
from data.text.lexicon import load_table

_DrawNumber = Callable[[str, Generator], str]  # a number by one of its form
_NO_REGION = "99"  # GB/T 2260 ends at 91
_EXTENSION = re.compile(
    r"(?P<mark>[ ,;]{0,3}(?:x|ext\.?|extn\.?|extension|#|内线|分机|内線)[ .:：]{0,3})"
    r"(?P<inner>\d[\d,]{0,6})?\Z",
    re.IGNORECASE,
)
_FEWEST_DIGITS = 7  # of a number before its extension
_LONGEST_NATIONAL = 10  # digits; with fewer behind it, 00 is no code of another country
# Plans in which a number may be known that is written with another country code, or none.
_ONE_NUMBER = {
    "cn": ("cn", "other", "uk"),
    "other": ("other", "cn"),
    "uk": ("uk", "cn"),
}
# Country codes of two digits; those of one are 1 and 7, all others have three.
_TWO_DIGITS = re.compile(r"2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]")
_CHINESE_MOBILE, _LONGEST_AREA = 11, 3  # digits, without a trunk zero
_JAPANESE, _MOBILE = 10, frozenset({"70", "80", "90"})  # mobiles in Japan, without the trunk zero
_FICTION = 120  # attempts within a range of fictional numbers, before any number will do
_TEST_CARDS = {
    "4": "400000", "5": "555555", "2": "222300", "34": "378282", "37": "378282",
    "62": "620000", "60": "601111", "35": "356600", "36": "360070", "38": "385200", "30": "305693",
}  # fmt: skip
_YEARS = (1990, 2026)
_FEW_LETTERS = 2
_COUNTRY = 2  # letters that begin a VAT number
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}")


def phone(table: SurrogateTable, value: str, salt: str) -> str:
    """A number of the same plan; country code, separators and extension marks stay.

    A number written with and without its country code is one number.
    """
    extension = _EXTENSION.search(value)
    if extension is not None and _digits_in(value[: extension.start()]) >= _FEWEST_DIGITS:
        main, mark, inner = value[: extension.start()], extension["mark"], extension["inner"] or ""
        inner = _drawn(table, "extension", inner, salt, _inner) if inner else ""
        return phone(table, main, salt) + mark + inner
    plan, number = planned(value)
    known = (other for other in _ONE_NUMBER.get(plan, ()) if table.knows(f"phone.{other}", number))
    plan = next(known, plan)
    area = _area(value, number)
    new = table.token(
        f"phone.{plan}", number, lambda rng, n: _dial(plan, number, area, rng, n), salt, fresh=False
    )
    return filled(value, new)


def _digits_in(value: str) -> int:
    """How many digits a text has."""
    return sum(map(str.isdigit, value))


def _inner(number: str, rng: Generator) -> str:
    return counting_number(rng, len(number))


def planned(value: str) -> tuple[str, str]:
    """The numbering plan and the number within it, without a trunk zero."""
    number = "".join(char for char in alnum_form(value) if char.isdigit())
    abroad = value.lstrip("(（ ").startswith(("+", "＋"))
    if number.startswith("00") and (abroad or len(number) > _LONGEST_NATIONAL + 2):
        abroad, number = True, number.removeprefix("00")
    for code, plan in (("86", "cn"), ("1", "us"), ("44", "uk")):
        if abroad and number.startswith(code):
            return plan, number[len(code) :].lstrip("0")
    if abroad:
        return "other", number[_code_length(number) :].lstrip("0")
    trunk, national = number.startswith("0"), number.lstrip("0")
    if re.fullmatch(r"1[3-9]\d{9}", number) and not re.match(r"1\D", value):
        return "cn", number
    # 070 is a mobile in Japan
    if trunk and len(number) == 11 and "71" <= national[:2] <= "79":
        return "uk", national
    if trunk:
        return "cn", national
    if len(number) == 11 and number.startswith("1"):
        return "us", number[1:]
    return ("us" if len(number) >= 10 else "other"), number


def _code_length(number: str) -> int:
    """The length of the country code that an international number begins with (ITU-T E.164)."""
    return 1 if number[0] in "17" else 2 if _TWO_DIGITS.match(number) else 3


def _area(value: str, number: str) -> str:
    """The area or operator that a number begins with, as far as its form shows it: checks of forms
    ask for one that exists, and the town beside it shows as much."""
    if len(number) == _CHINESE_MOBILE and number[0] == "1":
        return number[:3]
    groups: list[str] = re.findall(r"\d+", value)
    for first in (group.lstrip("0") for group in groups[:-1][:2]):  # of abroad behind its code
        is_area = len(first) <= _LONGEST_AREA and len(number) - len(first) >= _FEWEST_DIGITS - 1
        if first and is_area and number.startswith(first):
            return first
    kept = 2 if len(number) == _JAPANESE and number[:2] in _MOBILE else 1
    return number[: 2 if len(number) >= _JAPANESE and number[0] in "12" else kept]


def _dial(plan: str, number: str, area: str, rng: Generator, attempt: int) -> str:
    size, fiction = len(number), attempt < _FICTION
    if plan == "us" and size >= 10:
        return _american(number, rng, "01" if fiction else "")
    if plan == "uk" and size == 10 and fiction:  # Ofcom's numbers for drama
        return ("7700900" if number.startswith("7") else "1632960") + digits(rng, 3)
    return area + digits(rng, size - len(area))


def _american(number: str, rng: Generator, line: str) -> str:
    """A number for fiction (555-0100 to 555-0199) in its area, which the town beside it shows too;
    what no area or exchange has, stays so."""
    area, own = number[:3], number[3] in "01"
    exchange = number[3] + digits(rng, 2) if own else "555"
    line = "" if own else line
    return area + exchange + line + digits(rng, len(number) - len(area + exchange + line))


def _card(number: str, rng: Generator) -> str:
    """A number that passes Luhn, in the range that its network uses for tests."""
    if not number.isdigit():  # a card of a club, say
        return same_shape(number, rng)
    known = _TEST_CARDS.get(number[:2]) or _TEST_CARDS.get(number[:1])
    start = (known or number[:2] + "0000")[: max(0, len(number) - 2)]
    body = start + digits(rng, len(number) - len(start) - 1)
    return body + _luhn_digit(body)


def _luhn_digit(body: str) -> str:
    total = 0
    for index, digit in enumerate(reversed(body)):
        doubled = int(digit) * (2 if index % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return str(-total % 10)


def _identity(number: str, rng: Generator, days: int) -> str:
    """A resident id with a region that does not exist, or a US number of an unassigned area."""
    if re.fullmatch(r"\d{17}[\dX]", number):
        birth = _moved_birth(number[6:14], days) or _birth(rng)
        sex = str(2 * int(rng.integers(5)) + int(number[16]) % 2)
        body = _NO_REGION + digits(rng, 4) + birth.strftime("%Y%m%d") + digits(rng, 2) + sex
        total = sum(int(d) * weight for d, weight in zip(body, ID_WEIGHTS, strict=True))
        return body + ID_CHECK[total % 11]
    if re.fullmatch(r"\d{15}", number):
        return _NO_REGION + digits(rng, 4) + _birth(rng).strftime("%y%m%d") + digits(rng, 3)
    if re.fullmatch(r"\d{9}", number):  # 9xx is not an area, groups below 50 are not taxpayers'
        group = f"{int(rng.integers(1, 50)):02d}"
        return "9" + digits(rng, 2) + group + f"{int(rng.integers(1, 10_000)):04d}"
    return _checked(number, rng)


_MOST_DRAWS = 3_000  # of a number whose check one in a hundred passes


def _checked(number: str, rng: Generator) -> str:
    """Digits for digits; where a check is known that the number passes, the new one passes too."""
    plain = number.upper()
    for form, check in DRAWN_FORMS:
        if form.fullmatch(plain) and check(plain):
            for _ in range(_MOST_DRAWS):
                new = plain[:_COUNTRY] if plain[:_COUNTRY].isalpha() else ""
                new += same_shape(plain[len(new) :], rng)
                if new != plain and form.fullmatch(new) and check(new):
                    return new
    country = plain[:_COUNTRY] if plain[:_COUNTRY].isalpha() and plain[_COUNTRY:].isdigit() else ""
    return country + same_shape(number[len(country) :], rng)


def _moved_birth(written: str, days: int) -> date | None:
    """The day in digits, moved; None if it is none, or if it would stay."""
    try:
        return date.fromisoformat(written) + timedelta(days=days) if days else None
    except (ValueError, OverflowError):
        return None


def _birth(rng: Generator) -> date:
    return date(1955, 1, 1) + timedelta(days=int(rng.integers(0, 18_000)))


def _credit_code(number: str, rng: Generator) -> str:
    """A social credit code with a valid check character and a region that does not exist."""
    if len(number) != 18:
        return _checked(number, rng)
    while True:
        body = number[:2] + _NO_REGION + digits(rng, 4) + digits(rng, 9)
        total = sum(CODE_ALPHABET.find(char) * pow(3, i, 31) for i, char in enumerate(body))
        code = body + CODE_ALPHABET[(31 - total % 31) % 31]
        if code.isdigit() or not number.isdigit():  # a column of numbers stays one
            return code


def _account(number: str, rng: Generator) -> str:
    """An IBAN with valid check digits, or digits for digits."""
    if not _IBAN.fullmatch(number):
        return same_shape(number, rng)
    body = same_shape(number[4:], rng)
    as_digits = "".join(str(int(char, 36)) for char in body + number[:2])
    return number[:2] + f"{98 - int(as_digits + '00') % 97:02d}" + body


def coded(table: SurrogateTable, value: str, salt: str) -> str:
    """A passport or plate number: digits are replaced, letters in words stay."""
    letters = sum(char.isalpha() for char in value)
    if any(map(str.isdigit, value)) and not (letters and letters <= _FEW_LETTERS):
        return _in_parts(table, "coded", value, salt, _counted)
    return _drawn(table, "coded", value, salt, same_shape)


def numbered(table: SurrogateTable, value: str, salt: str) -> str:
    """A case, employee or customer number: its digits are replaced, and its prefix stays."""
    if not any(map(str.isdigit, value)):
        return coded(table, value, salt)
    for name, new in table.tokens("zh.company").items():  # whose register it is
        value = value.replace(name, new) if len(name) > 1 else value
    if _OF_STUDENT.fullmatch(value):
        return value[0] + national_id(table, value[1:], salt)
    if _LETTER_O.search(value):
        return _mistyped(table, value, salt)
    is_plain = value.isdecimal() and not YEAR.fullmatch(value)  # 75 is no other than 075
    lead = _SERIES.match(value)  # of a year or an office, by which a register is sorted
    start = lead.end() if lead else 0
    parts, done = [value[:start]], start
    runs = list(re.finditer(r"\d+", value[start:]))
    for run in runs:
        at, end = start + run.start(), start + run.end()
        is_last = run is runs[-1]
        kept = _dated(table, value, at, is_last=is_last)
        rest = value[at + len(kept[0]) : end]
        parts += [value[done:at], kept[1]]
        in_series = "" if salt or not is_last else _of_series(table, value[: end - len(rest)], rest)
        parts.append(
            in_series or _in_parts(table, "coded", rest, salt, _paid if is_plain else _counted)
        )
        done = end
    return "".join(parts) + value[done:]


def _mistyped(table: SurrogateTable, value: str, salt: str) -> str:
    """V2O41, typed for V2041, becomes what that becomes, with the letter."""
    zeros = {at.start() for at in _LETTER_O.finditer(value)}
    typed = numbered(table, _LETTER_O.sub("0", value), salt)
    is_like = len(typed) == len(value)
    return "".join("O" if at in zeros and is_like else char for at, char in enumerate(typed))


_LETTER_O = re.compile(r"(?<=\d)O(?=\d)")
_DAY_LEAD = re.compile(r"(?P<y>20\d\d|\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])")


def _dated(table: SurrogateTable, value: str, at: int, *, is_last: bool) -> tuple[str, str]:
    """The year or the day that a run of digits begins with, as registers number by them, and what
    it becomes: it moves with the dates of the file, or stays as they do."""
    run = re.match(r"\d+", value[at:])
    digits_of = run.group() if run else ""
    moves = value not in table.still
    day = _DAY_LEAD.match(digits_of)
    rest = len(digits_of) - day.end() if day else 0
    if day and (rest > 1 or not is_last) and table.has_year(day["y"]):
        return day.group(), table.day(day["y"], day["m"], day["d"]) if moves else day.group()
    if is_last:
        return "", ""
    if YEAR.fullmatch(digits_of):
        return digits_of, table.year(digits_of) if moves else digits_of
    if (
        len(digits_of) == 2
        and table.has_year(digits_of)
        and value[max(0, at - 1) : at] in _BEFORE_YEAR
    ):
        return digits_of, table.year("20" + digits_of)[2:] if moves else digits_of
    is_month = len(digits_of) == 4 and 1 <= int(digits_of[2:]) <= 12
    if is_month and table.has_year(digits_of[:2]):  # a batch of 2309, which texts name too
        return digits_of, digits_of
    return "", ""


_BEFORE_YEAR = frozenset("-/ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FEWEST_IN_SERIES, _GAP, _LONGEST_RUNNING = 3, 50, 3  # numbers, apart at most, digits


def learn_series(table: SurrogateTable, numbers: Iterable[str]) -> None:
    """Let running numbers (D-001 to D-007) become running numbers: what stands before them is the
    same, and they are close. Longer numbers, which people and customers have, are drawn one by one:
    of a run, one known pair gives away the others."""
    series: dict[tuple[str, int], set[int]] = {}
    for number in numbers:
        match = _RUNNING.fullmatch(number)
        if match is None:
            continue
        lead = match["lead"] + _dated(table, number, match.start("run"), is_last=True)[0]
        rest = number[len(lead) :]
        if 0 < len(rest) <= _LONGEST_RUNNING and any(map(str.isalpha, lead)):
            series.setdefault((lead, len(rest)), set()).add(int(rest))
    for (lead, size), members in sorted(series.items()):
        rng = table.generator("series", f"{lead}{size}")
        for first, last in _close(members):
            low = 10 ** (len(str(first)) - 1) if first >= 10 else 0
            for _ in range(_MOST_DRAWS):
                start = int(rng.integers(low, max(low + 1, 10**size - last + first)))
                new = range(start, start + last - first + 1)
                is_free = start != first and not any(table.says(f"{each:0{size}d}") for each in new)
                if is_free and table.begin_series((lead, size), (first, last, start)):
                    break


def _close(members: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and last of running numbers, where at least three are close to each other."""
    run: list[int] = []
    for number in [*sorted(members), None]:
        if run and (number is None or number - run[-1] > _GAP):
            if len(run) >= _FEWEST_IN_SERIES:
                yield run[0], run[-1]
            run = []
        if number is not None:
            run.append(number)


_RUNNING = re.compile(r"(?P<lead>[A-Za-z][\w/.-]{0,30}?)(?P<run>\d{2,14})")


def _of_series(table: SurrogateTable, lead: str, rest: str) -> str:
    for first, last, start in table.series.get((lead, len(rest)), ()):
        if first <= int(rest) <= last:
            new = f"{int(rest) - first + start:0{len(rest)}d}"
            table.agree(f"coded{len(rest)}", rest, new)
            return new
    return ""


_OF_STUDENT = re.compile(r"G\d{17}[\dX]")  # in China: G and the number of the identity card
_SERIES = re.compile(r"\d{2}-(?=\d{3,6}-[A-Z])")


def amount(table: SurrogateTable, value: str, salt: str) -> str:
    """Somebody's pay or balance: digits are replaced, and a number that may stand in a spreadsheet
    or in JSON, because no 0 comes first, still may.
    """
    return _in_parts(table, "amount", value, salt, _paid)


def _in_parts(table: SurrogateTable, space: str, value: str, salt: str, draw: _DrawNumber) -> str:
    """Each run of digits by itself; what is between them stays, and what its series shares."""
    parts = []
    for part in re.split(r"(\d+)", value):
        lead = table.leads.get(part, 0) if space == "coded" else 0
        rest = _drawn(table, space, part[lead:], salt, draw) if part.isdigit() else part
        parts.append(part[:lead] + rest)
    return "".join(parts)


_SERIAL = re.compile(r"[A-Za-z]{0,6}[-_]?(\d{6,16})")
_FEWEST_ALIKE, _DRAWN, _SHORTEST_LEAD = 4, 4, 2  # numbers, and digits that are drawn or shared


def shared_leads(numbers: Iterable[str]) -> dict[str, int]:
    """How many digits the numbers of a series begin with in common, by their digits: `0037` of
    staff E0037006819, E0037004188, … The last four digits are always drawn, and more of a long
    series."""
    series: dict[int, set[str]] = {}
    for serial in filter(None, map(_SERIAL.fullmatch, numbers)):
        series.setdefault(len(serial[1]), set()).add(serial[1])
    leads = {}
    for size, members in series.items():
        fewest = max(_FEWEST_ALIKE, len(members) // 4)
        longest = size - max(_DRAWN, len(str(len(members))) + 2)
        ends = range(longest, _SHORTEST_LEAD - 1, -1)
        times = Counter(number[:end] for number in members for end in ends)
        for number in members:
            leads[number] = next((end for end in ends if times[number[:end]] >= fewest), 0)
    return leads


def _counted(number: str, rng: Generator) -> str:
    if YEAR.fullmatch(number):
        return str(int(rng.integers(*_YEARS)))
    new = digits(rng, len(number))
    if len(new) > 1 and new[0] == "0" != number[0]:  # EMP-02 would be read as EMP-2
        return pick(rng, "123456789") + new[1:]
    return new


def _paid(number: str, rng: Generator) -> str:
    return digits(rng, len(number)) if number[0] == "0" else counting_number(rng, len(number))


def _drawn(table: SurrogateTable, space: str, value: str, salt: str, draw: _DrawNumber) -> str:
    number = alnum_form(value)
    space = f"{space}{len(number)}"
    new = table.token(space, number, lambda rng, _: draw(number, rng), salt, fresh=False)
    return filled(value, new)


def _with_rules(space: str, draw: _DrawNumber) -> Callable[[SurrogateTable, str, str], str]:
    return lambda table, value, salt: _drawn(table, space, value, salt, draw)


_SHORT_ENDS = range(3, 7)  # digits of a number that name it beside the whole one


def last_digits(table: SurrogateTable, value: str) -> str:
    """The end of the new number whose own end the value is; empty if there is none, or several."""
    if not (value.isdecimal() and value.isascii() and len(value) in _SHORT_ENDS):
        return ""
    ends = table.endings("card", value) | table.endings("account", value)
    return ends.pop() if len(ends) == 1 else ""


def national_id(table: SurrogateTable, value: str, salt: str) -> str:
    """A number that passes its check; a birth in it moves as dates do."""
    draw: _DrawNumber = lambda number, rng: _identity(number, rng, table.days)  # noqa: E731
    return _drawn(table, "id", value, salt, draw)


bank_card = _with_rules("card", _card)
company_code = _with_rules("company_code", _credit_code)
bank_account = _with_rules("account", _account)


_ARMOUR = re.compile(r"-----[A-Z ]{1,60}-----|\\[nrt]")
_PREFIX = re.compile(
    r"(?:[A-Za-z]{1,12}[0-9]?[-_.]){1,4}(?=[A-Za-z0-9])|(?:AKIA|ASIA|AKID|LTAI|AIza|eyJ|EAA|ya29)"
    r"|(?:AC|SK)(?=[0-9a-f]{16,32}(?![0-9a-f]))|SEC(?=[0-9a-f]{32,64}(?![0-9a-f]))"
)
_LONG = 12
_HASH_OF = re.compile(
    r"\$(?:2[abxy]?\$\d\d|[156y]|apr1|argon2(?:id|i|d)(?:\$v=\d+)?\$[a-z0-9=,]{1,40}"
    r"|pbkdf2(?:-sha\d{1,3})?\$\d{1,7})\$"
)
# How a directory writes the hash of a password, and base64 with what fills it up.
_HASH_SCHEME = re.compile(r"(?:\{[A-Z][A-Z0-9-]{1,20}\})+")
_PADDED, _QUAD = re.compile(r"e[01][A-Za-z0-9+/]{14,400}={0,2}|[A-Za-z0-9+/]{22,400}={1,2}"), 4
_SERVICE = re.compile(r"https?://(?:[a-z0-9-]+\.){0,3}([a-z0-9-]+)\.[a-z]{2,6}/(?:[a-z]+/){0,4}")
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20}://)")


def secret(table: SurrogateTable, value: str, salt: str) -> str:
    """A secret of the same form that gives access to nothing. The frame of a private key stays."""

    def draw(rng: Generator, _: int) -> str:
        parts, done = [], 0
        for match in _ARMOUR.finditer(value):
            parts += [same_shape(value[done : match.start()], rng), match.group()]
            done = match.end()
        if parts:
            return "".join(parts) + same_shape(value[done:], rng)
        return _token(value, rng)

    return table.token("secret", value, draw, salt)


def _of_service(value: str) -> re.Match[str] | None:
    """The site and first words of an address at a service that everybody knows; they stay."""
    match = _SERVICE.match(value)
    return match if match and match[1] in known_services() else None


@cache
def known_services() -> frozenset[str]:
    """The names of sites that everybody knows."""
    listed = load_table("anonymization.text.detect", "data", "words.toml")["services"]
    return frozenset(listed.split())


def _token(value: str, rng: Generator) -> str:
    hashed = _HASH_OF.match(value)
    if hashed:  # its method and cost say how it was made
        return hashed.group() + same_shape(value[hashed.end() :], rng)
    scheme = _HASH_SCHEME.match(value)
    if scheme:
        return scheme.group() + _token(value[scheme.end() :], rng)
    if _PADDED.fullmatch(value) and len(value) % _QUAD == 0:
        held = b64decode(value)
        text = held.decode() if held.isascii() else ""
        new = _token(text, rng).encode() if _HASH_SCHEME.match(text) else rng.bytes(len(held))
        return b64encode(new).decode()
    lead = _of_service(value) or _SCHEME.match(value) or _PREFIX.match(value)
    start = lead.end() if lead and len(value) - lead.end() >= _LONG else 0
    return value[:start] + same_shape(value[start:], rng)
