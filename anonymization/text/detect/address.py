"""Street addresses in English text: number, street, flat, town, country, in any of many orders.

A run of numbers and capitalised words is an address if there is evidence: a street suffix or type
after or before a number, a flat, a number on both sides, or the words before it. Street suffixes
and types are those of postal handbooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import COMMON, words
from data.text.dates import MONTH_NAME
from data.text.screened import Screened
from data.text.scripts import AFTER, BEFORE, CAPITALS, LETTERS

NAME = "street_address"
_SCORE = 0.9
_SUFFIX = "|".join(sorted(words("streets.toml", "suffixes"), key=len, reverse=True))
_TYPE = "|".join(map(re.escape, sorted(words("streets.toml", "types"), key=len, reverse=True)))
_ENDING = "|".join(sorted(words("streets.toml", "endings"), key=len, reverse=True))
_PARTICLE = "|".join(words("streets.toml", "particles"))
_LOWER = "|".join(words("streets.toml", "lower"))
_KINDS = "|".join(sorted(words("streets.toml", "kinds"), key=len, reverse=True))
_STREET_WORDS = (
    frozenset(word for key in ("suffixes", "types", "units") for word in words("streets.toml", key))
    | {word for name in words("places.toml", "countries") for word in name.split()}
    | {"North", "South", "East", "West", "Upper", "Lower", "Central"}
)

_W = f"[{LETTERS}0-9]"
_NUMBER = rf"\d{{1,6}}(?:-\d{{3,4}})?[A-Za-z]?{AFTER}"
_POSTCODE = rf"[A-Z]{{1,2}}\d[A-Z\d]? \d[A-Z]{{2}}{AFTER}"  # of the Royal Mail
_WORD = rf"(?:[dl]')?[{CAPITALS}](?:{_W}|['∆/](?={_W})|-(?={_W})|\.(?={_W})){{0,24}}\.?"
_RUN_WORD = rf"{_WORD}|(?:{_LOWER})\b\.?|C/|#|\([{CAPITALS}]{_W}{{1,20}}\)"
_TOKEN = rf"(?:{_POSTCODE}|{_NUMBER}\.?|(?:(?:{_PARTICLE}) ){{0,2}}(?:{_RUN_WORD}))"
_BULLET = r"[?>*#|-]{1,3} ?"
_GAP = rf"(?:[ ,]{{0,3}}\n{{1,2}}(?:{_BULLET})?[ ,]{{0,4}}|[ ,]{{1,3}})"
_RUN = re.compile(rf"(?<![.,:/-]){BEFORE}{_TOKEN}(?:{_GAP}{_TOKEN}){{0,24}}")
_HUNGARIAN = r"(?:utca|útja|út|u\.|tér|tere|kapu|köz|rkp\.|körút)"
_NUMBERS = rf"(?:{_NUMBER} ){{0,2}}"
_SPACED = rf"(?:(?:(?:{_PARTICLE}) ){{0,2}}{_WORD} )"
_EVIDENCE = tuple(
    re.compile(rf"(?<!\w\.){BEFORE}{pattern}")  # `sales.88 Aim 3`: the number of a note
    for pattern in (
        rf"(?:{_NUMBER} ){{1,2}}{_SPACED}{{1,5}}?(?:{_SUFFIX}){AFTER}",
        rf"(?:{_NUMBER} ){{1,2}}{_SPACED}{{1,5}}(?:{_HUNGARIAN} ?)?{_NUMBER}",
        rf"{_NUMBERS}(?:{_TYPE}) (?:{_SPACED}{{1,5}}{_NUMBER}|{_NUMBER})",
        rf"{_NUMBERS}(?:{_TYPE}) {_SPACED}{{0,3}}(?:(?:{_PARTICLE}) ){{0,2}}{_WORD}",
        rf"{_NUMBERS}{_SPACED}{{0,3}}(?:{_W}{{1,20}}|(?=u))(?:{_ENDING})\.? {_NUMBER}",
        rf"{_NUMBER} {_SPACED}{{1,3}}(?:{_KINDS}){AFTER}",
        rf"{_NUMBERS}{_SPACED}{{1,4}}{_NUMBER}[ ,\n]{{1,4}}(?:Suite|Apt|Flat|Unit|Floor)\b",
        rf"{_NUMBERS}{_SPACED}{{1,4}}(?:{_SUFFIX})[ ,\n]{{1,4}}(?:Suite|Apt|Flat|Unit|Floor)\b",
    )
)
_CERTAIN = re.compile(
    rf"{BEFORE}{_NUMBER} {_SPACED}{{1,3}}?"
    rf"(?:Street|Road|Avenue|Lane|Boulevard|Crescent|Terrace|Square){AFTER}"
)
_NO_TYPE, _CODE = 1, re.compile(rf"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{{4,6}}|{_HUNGARIAN}")
_BARE_TYPE = 3  # the index of the pattern that may match without a number
_FLATS = ("Suite", "Apt", "Flat", "Unit", "Floor")
# `in 2002 the Regional Court`: a year and a court, where a number and a street would be.
_YEAR_AND_COURT = re.compile(r"(?:19|20)\d\d,? the (?:[^\s,]+ ){0,4}Court(?!\w)")
_LEAD = re.compile(
    r"(?:address(?:es)?(?: is| of| with|:)?|here they are:|live[sd]? on|living at|resid\w{2,4} at"
    r"|meet (?:you|me|us|him|her|them)? ?at|taxi to|sent to(?:\? user:)?|return to|ship(?:ped)? to"
    r"|deliver(?:ed)? to|send .{0,16} to|(?:office|restaurant|shop|house|store|hotel) is (?:at|on)"
    r"|located (?:at|on)|enter on|you off at|side of|it is|it's (?:in|at)|refers to|shows on"
    r"|station is on)\s{1,3}$",
    re.IGNORECASE,
)
_CORNER = Screened(
    rf"(?:the )?corner of {_TOKEN}(?: {_TOKEN}){{0,5}} and {_TOKEN}(?: {_TOKEN}){{0,5}}"
)
_AND = re.compile(rf"(?:{_WORD} ){{1,3}}and $")
_STATE = r"(?:[A-Z]{2}|nan|\d{2})\b"  # nan: how tables write a missing state
_MORE = re.compile(
    rf"\n(?!(?:{_BULLET})?(?:{_WORD} ?){{1,3}}:)"  # a label, with what is behind it
    rf"(?: {{1,4}}|, |\n (?=\S)|{_BULLET}|(?=(?:{_WORD} ?){{1,4}}\n,)"
    rf"|(?=(?:{_WORD} ?){{1,4}}(?:, {_STATE}| \d{{4,6}}\b)))"
)
# `St.` after a street that already has a type or number is not part of its name.
_TWICE = re.compile(
    rf"(?:(?: (?:{_SUFFIX})\.?)|\d\.?|(?:{BEFORE}(?:{_TYPE}) [^\n,]{{2,40}}))"
    r"( (?:St\.?|str|street))$"
)
# In Hungarian a full stop belongs to the house number.
_POINTED = re.compile(rf"{_HUNGARIAN} \d{{1,4}}$")
# A town, a state and a post code on the line below the street, without commas.
_CITY_LINE = re.compile(
    rf"\n(?P<town>(?:{_WORD} ){{0,3}}{_WORD}) (?P<state>[A-Z]{{2,3}}|nan) "
    r"(?P<code>\d{3} ?\d{1,3})$"
)
_UNIT = re.compile(r"(?:Apt|Suite|Flat|Unit|Floor)\.? (?:\d{1,5}[A-Z]?,? )?$")
_UNIT_FIRST = re.compile(rf"((?:Apt|Suite|Flat|Unit|Floor)\.? \d{{1,5}}[A-Z]?),? (?={_NUMBER} )")
_TAIL = re.compile(r"(?:(?<=\d)\.? St\.?)?[ ,\n]*(?:(?<=\d{4}|\w{4})\.)?[ ,\n]*$")
_SET_APART = re.compile(r"\n\s*\n|\n[ ]{2,}")
_BULLETED = re.compile(rf"\n{_BULLET}$")
_SMALL = rf"(?:(?:{_PARTICLE}) ){{0,2}}"
_HOUSE = re.compile(
    rf"\W{{0,6}}(\d{{1,6}}) ((?:(?:{_LOWER})\b\.? )?{_SPACED}{{0,4}}{_SMALL}[^\s,]{{2,30}}"
    rf" {_NUMBER}\.?"
    r"|\d{1,5} (?:(?!Suite|Apt)[^\n,]){3,60}|(?:P\.O\. Box|Postbox) \d+)"
)
_TOWN = re.compile(
    rf"(?:(?P<house>\d{{1,6}}) )?"
    rf"(?P<street>(?:{_NUMBER} )?{_SPACED}{{0,4}}(?:{_SMALL}\S{{1,30}} {_NUMBER}|(?:{_SUFFIX})\.?"
    rf"|(?:{_TYPE}) {_SPACED}{{0,4}}{_SMALL}{_WORD}))"
    rf", (?P<town>{_SPACED}{{0,3}}{_SMALL}{_WORD})"
)
_FLAT_LAST = re.compile(
    r"(?P<street>.*[^\s,])[ ,\n]{1,3}(?P<flat>(?:Apt|Suite|Flat|Unit|Floor)\.? \d{1,5}[A-Z]?)\W*",
    re.DOTALL,
)
_COUNTRY_ZIP = re.compile(rf"\W{{0,6}}((?:{_WORD} ?){{1,4}}(?:\({_WORD}\))?)(?<! ) (\d{{4,6}})")
_PARTS = re.compile(r"[^\n]+")


def find_addresses(folded: str, lines: MachineLines) -> Iterator[Finding]:
    """Addresses in folded text, outside code; a separate postal block gives one per line."""
    if not any(char.isdigit() for char in folded) and "corner of" not in folded:
        return
    for match in _CORNER.finditer(folded):
        yield _finding(match.start(), _end(folded, *match.span()))
    for match in _RUN.finditer(folded):
        run = match.group()
        if not any(char.isdigit() for char in run):
            continue
        for start, end in _pieces(run):
            span = _address(folded, match.start() + start, match.start() + end)
            if span is not None and not lines.machine_at(span[0]):
                yield from _blocks(folded, *span)


def _pieces(run: str) -> Iterator[tuple[int, int]]:
    """The run cut at everyday words: months, section words, product names.

    It is never cut inside `28 Queen's Road`.
    """
    start = 0
    certain = [street.span() for street in _CERTAIN.finditer(run)]
    for word in re.finditer(r"[^\W\d_]+", run):
        common = word.group() in COMMON and word.group() not in _STREET_WORDS
        if any(first < word.start() < last for first, last in certain):
            continue
        if common and not (word.group().isupper() and len(word.group()) == 2):
            yield start, word.start()
            start = word.end()
    yield start, len(run)


def _address(text: str, start: int, end: int) -> tuple[int, int] | None:
    run = text[start:end]
    if not any(map(str.isdecimal, run)) and not any(flat in run for flat in _FLATS):
        return None  # most runs: none of the evidence can be in them
    begins = [
        match.start()
        for number, pattern in enumerate(_EVIDENCE)
        if (match := pattern.search(run))
        and (number != _BARE_TYPE or any(map(str.isdecimal, match.group())))
        and not _YEAR_AND_COURT.match(match.group())
        and not (number == _NO_TYPE and not _has_code(match.group()))
    ]
    lead = _LEAD.search(text, max(0, start - 40), start)
    if lead and any(char.isdigit() for char in run) and any(char.isalpha() for char in run):
        begins.append(0)
    if not begins:
        return None
    begin = start + min(begins)
    for pattern in (_AND, _UNIT):
        before = pattern.search(text, max(0, begin - 40), begin)
        if before:
            begin = before.start()
    end = _end(text, begin, end)
    if _COUNTED.fullmatch(text, begin, end):
        return None
    if _UNIT_BEHIND.match(text, end):  # `Temperatur 1420 °C`
        return None
    if _NO_HOUSE.fullmatch(text, begin, end) or _VERSION.match(text, end - (text[end - 1] == ".")):
        return None
    return (begin, end) if end - begin >= 6 else None


# `14 Aug 2025 09`, `14 AUG 95 09`, `2024 versus 2025`, and a version: `1 Standout 2` before `.0`.
_NO_HOUSE = re.compile(
    rf"(?i)\d{{1,2}},? {MONTH_NAME}\.?,? (?:19|20)?\d\d(?:,? \d{{1,4}})?"
    r"|(?:19|20)\d\d[^\d\n]{1,30}(?:19|20)\d\d"
)
# What counts on, where a number of a house would be: `Park Service Term 3`.
_COUNTED = re.compile(
    r"\D*\b(?:Term|Week|Chapter|Session|Season|Sprint|Lesson|Module|Version|Figure|Table|Grade|Round)"
    r" \d{1,3}\b\D*"
    r"|.*\b(?P<n>\d{1,3}) (?:Under|Over|By|x|vs\.?) (?P=n)\b.*"  # `30 Under 30`
)
_UNIT_BEHIND = re.compile(
    r" ?(?:°|[%‰Ωµ]|(?:bar|[kM]?Pa|mm|cm|k[gWmV]|kWh|Hz|rpm|ppm|mbar|Nm|ml|dB|Stück|pcs)(?!\w))"
)
_SENTENCE_ENDS = re.compile(r"(?:\d[A-Za-z]?|[a-z]{4})(?=\.[ \n])")
_VERSION = re.compile(r"\.\d+(?![\d.]*[a-z]{2})")


def _has_code(run: str) -> bool:
    """Is there a post code, or a street type? `Team 3 Trip 1` has none."""
    return _CODE.search(run) is not None


def _end(text: str, start: int, end: int) -> int:
    """The end of the address: a new line continues it only if it is indented or like a town."""
    newline = text.find("\n", start, end)
    while newline >= 0:
        if not _MORE.match(text, newline):
            end = newline
            break
        newline = text.find("\n", newline + 1, end)
    for number in _SENTENCE_ENDS.finditer(text, start, end):
        if not _POINTED.search(text, start, number.end()):
            end = number.end()
            break
    tail = _TAIL.search(text, start, end)
    end = tail.start() if tail else end
    twice = _TWICE.search(text, start, end)
    if twice:
        end = twice.start(1)
    if text[end : end + 1] == "." and _POINTED.search(text, start, end):
        end += 1
    return end


def _blocks(text: str, start: int, end: int) -> Iterator[Finding]:
    """The address as one finding, or as one per part if the parts are separated.

    A number before a street that has its own number is the house number. A separate block of lines
    (at the start, after a blank line, indented or with bullets) is reported line by line.
    """
    value = text[start:end]
    block = "\n" in value and (
        start == 0
        or text[max(0, start - 2) : start] == "\n\n"
        or _SET_APART.search(value)
        or _BULLETED.search(text, 0, start)
    )
    unit = _UNIT_FIRST.match(value)
    if unit:
        yield _finding(start, start + unit.end(1))
        yield from _blocks(text, start + unit.end(), end)
        return
    city = _CITY_LINE.search(value)
    if city and "\n" not in value[: city.start()]:
        yield from _blocks(text, start, start + city.start())
        for name in ("town", "state", "code"):
            yield _finding(start + city.start(name), start + city.end(name))
        return
    if not block:
        town = _TOWN.fullmatch(value)
        if town:
            for name in town.groupdict(""):
                if town[name]:
                    yield _finding(start + town.start(name), start + town.end(name))
        else:
            yield from _street(value, start)
        return
    for part in _PARTS.finditer(text, start, end):
        yield from _line(part.group(), part.start())


def _line(line: str, start: int) -> Iterator[Finding]:
    """The findings of one line of a block: country and post code are two."""
    both = _COUNTRY_ZIP.fullmatch(line.rstrip(" ,."))
    if both:
        yield _finding(start + both.start(1), start + both.end(1))
        yield _finding(start + both.start(2), start + both.end(2))
        return
    cut = len(line) - len(line.lstrip(" ,?>*#|-"))
    yield from _street(line[cut:], start + cut)


def _street(value: str, start: int) -> Iterator[Finding]:
    """A house number, a street that has its own number, and a flat apart; anything else as one."""
    flat = _FLAT_LAST.fullmatch(value)
    house = _HOUSE.fullmatch(flat["street"] if flat else _bare(value))
    if house is None:
        yield _finding(start, start + (flat.end("flat") if flat else len(value)))
        return
    yield _finding(start + house.start(1), start + house.end(1))
    yield _finding(start + house.start(2), start + house.end(2))
    if flat:
        yield _finding(start + flat.start("flat"), start + flat.end("flat"))


def _bare(value: str) -> str:
    """Without the marks at its end, but for the full stop of a house number."""
    bare = value.rstrip(" ,.")
    return value[: len(bare) + 1] if _POINTED.search(bare) else bare


def _finding(start: int, end: int) -> Finding:
    return Finding(start, end, EntityType.ADDRESS, NAME, _SCORE)
