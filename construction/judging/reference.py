"""What the inputs say of what a request asks: the values against which an answer is held.

Rows that the request names, the ends and the sum of a column that it asks for, how often a value
that it names occurs, how many rows lie above a limit; of small tables and short texts, all of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import dropwhile

from construction.grading.file_look import word_form
from construction.grading.file_types import extension_of, type_of
from construction.judging.contracts import InputTable
from construction.judging.lexicon import table

_MOST = 3  # of a kind, for each table
_WHOLE_TABLE, _WHOLE_TEXT = 600, 320  # characters of a table and a text that are quoted whole
_WORDLESS = 8  # letters and digits
_SHORT_REQUEST = 400  # characters
_NARROW = 4  # columns of a table whose only figures need no name
_TWICE = re.compile(r"(?<!\S)(\S.{0,80}?) \1(?!\S)")
_SORTS = re.compile(
    r"(?i)\b(?:sort|order|arrange|rank|reorder)\w*\b[^.;]*|[^。；]*(?:排序|排列|升序|降序)[^。；]*"
)
_FALLS = re.compile(
    r"(?i)\bdesc|high(?:est)? (?:to|first)|large\w* (?:to|first)|newest first|降序|从[高大]"
)
_RISES = re.compile(
    r"(?i)\basc|low(?:est)? (?:to|first)|small\w* (?:to|first)|oldest first|alphabet|升序|从[低小]"
)
_NO_FIGURES = re.compile(
    r"(?i)phone|tel\b|mobile|\bid\b|_id\b|year|date|zip|code|电话|手机|编号|年"
)
_SHOWN = 60  # characters of a cell
_FEW_VALUES = 12  # distinct ones in a column of kinds
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_MONEY = " $€£¥%"

Words = Mapping[str, str]


def of_text(text: str, path: str, words: Words) -> Iterator[str]:
    """A short text, whole; pictures have none, and of mails the names of files are left out."""
    plain = " ".join(text.split())
    if extension_of(path) == "eml":
        plain = _TWICE.sub(r"\1", plain)
        names = set(re.split(r"[/.]", path))
        plain = " ".join(dropwhile(names.__contains__, plain.split()))
    kind = type_of(path)
    says_something = sum(map(str.isalnum, plain)) > _WORDLESS
    if kind is not None and kind.kind != "image" and says_something and len(plain) <= _WHOLE_TEXT:
        yield words["reference_text"].format(file=path, text=plain)


def of_table(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """What a table says of what the request asks."""
    if not sheet.cells or (len(sheet.columns) < 2 and sheet.rows > _FEW_VALUES):
        return
    rows = "; ".join(map(_row, (sheet.columns, *sheet.cells)))
    named: list[str] = []
    if len(rows) <= _WHOLE_TABLE:
        yield words["reference_text"].format(file=path, text=rows)
    else:
        named = list(_of_named(sheet, path, request, words))
        yield from named
    if not named:
        yield from _of_columns(sheet, path, request, words)


def is_in_order(request: str, sheets: Sequence[InputTable]) -> bool:
    """Is a table to be sorted in which the rows stand in that order already?"""
    match = _SORTS.search(request) if len(request) <= _SHORT_REQUEST else None
    for sheet in sheets if match is not None else ():
        clause = "" if match is None else match.group().partition(" by ")[2] or match.group()
        named = {sheet.columns[number] for number in named_columns(sheet, clause)}
        if not (named or set(sheet.columns)).isdisjoint(_sorted_columns(sheet, clause)):
            return True
    return False


def _sorted_columns(sheet: InputTable, clause: str) -> Iterator[str]:
    """The columns by which the rows stand in the order of a clause already, else in any."""
    falls, rises = _FALLS.search(clause) is not None, _RISES.search(clause) is not None
    for number, name in enumerate(sheet.columns):
        cells = [row[number] for row in sheet.cells]
        values = numbers(cells)
        keys: Sequence[float | str] = values if len(values) == len(cells) else cells
        up = sorted(keys)
        down = sorted(keys, reverse=True)
        is_up, is_down = list(keys) == up and not falls, list(keys) == down and not rises
        if len(cells) > 1 and (is_up or is_down):
            yield name


def numbers(cells: Sequence[str]) -> list[float]:
    """The numbers among some cells."""
    matched = (_NUMBER.fullmatch(cell.strip(_MONEY)) for cell in cells)
    return [float(match[0].replace(",", "")) for match in matched if match is not None]


def named_columns(sheet: InputTable, request: str) -> list[int]:
    """Which columns a request names: "midterm 1" is `midterm1`, "salaries" is no `Salary`."""
    run = word_form(request).replace(" ", "")
    forms = [
        word_form(name.partition("(")[0].replace("_", " ")).replace(" ", "")
        for name in sheet.columns
    ]
    return [
        number
        for number, form in enumerate(forms)
        if len(form) > 2 and form.removesuffix("s") in run
    ]


def _row(cells: Sequence[str]) -> str:
    return ", ".join(" ".join(cell.split())[:_SHOWN] for cell in cells)


def _of_named(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """Rows of which the request names a cell, or how many they are where they are many."""
    lines: list[str] = []
    for number, column in enumerate(sheet.columns):
        counts = Counter(row[number] for row in sheet.cells)
        for value in _named_values(list(counts), request):
            if counts[value] <= _MOST:
                rows = "; ".join(_row(row) for row in sheet.cells if row[number] == value)
                lines.append(words["reference_rows"].format(file=path, name=value, rows=rows))
            elif len(counts) <= _FEW_VALUES and counts[value] < sheet.rows:
                text = words["reference_count"]
                size = {"number": counts[value], "rows": sheet.rows}
                lines.append(text.format(file=path, value=value, column=column, **size))
    yield from list(dict.fromkeys(lines))[:_MOST]


def _named_values(values: Sequence[str], request: str) -> list[str]:
    """The values that a request names: whole, or else a person's by the first name.

    In a long request a word in small letters is hardly the name of a value.
    """
    form, is_long = word_form(request), len(request) > _SHORT_REQUEST
    telling = [
        value
        for value in values
        if len(word_form(value).strip()) > 2
        and any(map(str.isalpha, value))
        and not _common().issuperset(word_form(value).split())
        and not (is_long and value.islower() and value.isascii())
    ]
    whole = [value for value in telling if word_form(value) in form]
    people = [value for value in telling if value.istitle() and len(value.split()) == 2]
    first = [value for value in people if f" {value.split()[0].lower()} " in form]
    return whole or (first if len(first) == 1 else [])


@cache
def _common() -> frozenset[str]:
    return frozenset(table("grading")["terms"]["common"])


def _of_columns(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """The columns of figures that a request asks for, or the only one of a narrow table."""
    numeric = [
        number
        for number, column in enumerate(sheet.columns)
        if len(numbers([row[number] for row in sheet.cells])) >= max(2, 0.8 * sheet.rows)
        and not _NO_FIGURES.search(column)
    ]
    is_plain = len(numeric) == 1 and len(sheet.columns) <= _NARROW
    named = [number for number in named_columns(sheet, request) if number in numeric]
    for number in (named or (numeric if is_plain else []))[:_MOST]:
        yield from _of_column(sheet, number, path, request.lower(), words)


def _of_column(
    sheet: InputTable, number: int, path: str, request: str, words: Words
) -> Iterator[str]:
    """The ends, the sum and the mean of a column, and its rows beyond a limit, if asked for."""
    pairs = [(value, row[0]) for row in sheet.cells for value in numbers([row[number]])]
    values = [value for value, _ in pairs]
    size = {"file": path, "column": sheet.columns[number], "rows": len(values)}
    if _asks("statistics").search(request):
        low, high = min(values), max(values)
        ends = [", ".join(name for value, name in pairs if value == end) for end in (low, high)]
        yield words["reference_column"].format(
            **size,
            low=_shown(low, ends[0] if number else ""),
            high=_shown(high, ends[1] if number else ""),
            sum=_shown(sum(values)),
            mean=_shown(sum(values) / len(values)),
        )
    for limit in _limits(request):
        above, below = (sum(map(test, values)) for test in (limit.__lt__, limit.__gt__))
        if above and below:
            text = words["reference_limit"]
            yield text.format(**size, limit=_shown(limit), above=above, below=below)


def _limits(request: str) -> list[float]:
    matches = _asks("limits").finditer(request)
    return [value for match in matches for value in numbers([match["limit"]])][:_MOST]


@cache
def _asks(key: str) -> re.Pattern[str]:
    return re.compile("|".join(table("grading")["reference"][key]))


def _shown(value: float, of: str = "") -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{text} ({of})" if 0 < len(of) <= _SHOWN else text
