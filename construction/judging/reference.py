"""What the inputs say of what a request asks: the values against which an answer is held.

Rows that the request names, the ends, sums and means of a column for which it asks, how often a
value that it names occurs, how many rows lie above a limit; of small tables, all of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from construction.grading.file_look import word_form
from construction.judging.columns import (
    asks,
    is_asked_of,
    is_measured,
    is_of_amounts,
    is_of_figures,
    named_columns,
    names_of,
    numbers,
)
from construction.judging.contracts import InputTable
from construction.judging.lexicon import table
from construction.judging.reading import read
from construction.judging.reference_pairs import of_pairs, of_rows
from data.text.scripts import has_han

_MOST = 3  # of a kind, for each table
_WHOLE_TABLE = 600  # characters of a table that is quoted whole
_SHORT_REQUEST, _BRIEF, _BRIEF_ZH = 400, 200, 60  # characters
_SHORT_NAME = 2  # Han characters; so short, a word is hardly the name of a value
_NARROW = 4  # columns of a table whose only figures need no name
_SHOWN, _TITLE = 60, 80  # characters of a cell; longer ones are known by their first 80
_ACRONYM = re.compile(r"(?<![A-Za-z\d])[A-Z]{2,6}\d{0,3}(?![A-Za-z\d])")
_FEW_VALUES = 12  # distinct ones in a column of kinds

Words = Mapping[str, str]


def of_table(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """What a table says of what the request asks."""
    if not sheet.cells or (len(sheet.columns) < 2 and sheet.rows > _FEW_VALUES):
        return
    rows = "; ".join(map(_row, (sheet.columns, *sheet.cells)))
    is_cut = any(len(" ".join(cell.split())) > _SHOWN for row in sheet.cells for cell in row)
    is_whole = len(rows) <= _WHOLE_TABLE and not is_cut
    named = list(_of_named(sheet, path, request, words))
    if is_whole:
        yield words["reference_text"].format(file=path, text=rows)
        yield from _of_kinds(sheet, path, request, words)
    else:
        yield from named
    if not named:
        yield from _of_columns(sheet, path, request, words)
    yield from of_pairs(sheet, path, request, words)
    yield from of_rows(sheet, path, request, words)


def _row(cells: Sequence[str]) -> str:
    return ", ".join(_cell(" ".join(cell.split())) for cell in cells)


def _cell(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…"


def _of_named(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """Rows of which the request names a cell, or how many they are where they are many."""
    lines: list[str] = []
    known = word_form(" ".join((path, sheet.name, *sheet.columns)))
    for number, column in enumerate(sheet.columns):
        counts, counted = Counter(row[number] for row in sheet.cells), list[str]()
        for value in _named_values(list(counts), request, known):
            if counts[value] <= _MOST:
                rows = "; ".join(_row(row) for row in sheet.cells if row[number] == value)
                lines.append(words["reference_rows"].format(file=path, name=value, rows=rows))
            elif len(counts) <= _FEW_VALUES and counts[value] < sheet.rows:
                counted.append(value)
        shown = ", ".join(f"{value or '–'} {number}" for value, number in counts.most_common())
        size = {"file": path, "rows": sheet.rows, "column": column}
        if len(counted) > 1:
            lines.append(words["reference_counts"].format(counts=shown, **size))
        elif counted:
            text, value = words["reference_count"], counted[0]
            having = [row for row in sheet.cells if row[number] == value]
            names = names_of(sheet, having) if number else ""
            lines.append(text.format(value=value, number=counts[value], names=names, **size))
    yield from list(dict.fromkeys(lines or _of_acronyms(sheet, path, request, words)))[:_MOST]


def _of_kinds(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """How many rows of a table that is quoted whole are of a kind that the request names.

    It names it as the table does, or beside the name of the column: "class 1".
    """
    form, known = map(word_form, (request, " ".join((path, sheet.name, *sheet.columns))))
    for number, column in enumerate(sheet.columns):
        counts = Counter(row[number] for row in sheet.cells)
        if not 1 < len(counts) <= min(_FEW_VALUES, sheet.rows - 1):
            continue
        named = _named_values(list(counts), request, known)
        beside = (kind for kind in counts if f" {word_form(f'{column} {kind}').strip()} " in form)
        for value in dict.fromkeys((*named, *beside)):
            having = [row for row in sheet.cells if row[number] == value]
            size = {"file": path, "rows": sheet.rows, "column": column, "number": len(having)}
            names = names_of(sheet, having) if number else ""
            yield words["reference_count"].format(value=value, names=names, **size)


def whole_table(sheets: Sequence[InputTable]) -> str:
    """A single small table as it is quoted whole; empty if it is long, or there are several."""
    known = [sheet for sheet in sheets if sheet.cells]
    text = "; ".join(map(_row, (known[0].columns, *known[0].cells))) if len(known) == 1 else ""
    return text if len(text) <= _WHOLE_TABLE else ""


def _of_acronyms(sheet: InputTable, path: str, request: str, words: Words) -> list[str]:
    """The few rows in which a title or a name holds an acronym of a brief request."""
    known = word_form(" ".join((path, sheet.name, *sheet.columns)))
    lines = []
    is_brief = len(request) <= (_BRIEF_ZH if has_han(request) else _BRIEF)
    for name in dict.fromkeys(_ACRONYM.findall(request) if is_brief else ()):
        by_title = _holding(sheet, name, _TITLE - 1)
        rows = by_title if 0 < len(by_title) <= _MOST else _holding(sheet, name, _TITLE)
        if 0 < len(rows) <= _MOST and len(rows) < sheet.rows and word_form(name) not in known:
            shown = "; ".join(map(_row, rows))
            lines.append(words["reference_rows"].format(file=path, name=name, rows=shown))
    return lines


def _holding(sheet: InputTable, name: str, most: int) -> list[tuple[str, ...]]:
    """The rows in which a cell of at most so many characters holds a name."""
    wanted = word_form(name)
    return [
        row
        for row in sheet.cells
        if any(len(cell) <= most and wanted in word_form(cell) for cell in row)
    ]


def _named_values(values: Sequence[str], request: str, known: str) -> list[str]:
    """The values that a request names: whole, or else a person's by the first name.

    It names a value where it writes it as the table does; a word in small letters only where the
    request is brief. The words of the table's own file and columns (`known`) name no value.
    """
    form = word_form(request)
    telling = [
        value
        for value in values
        if len(word_form(value).strip()) > 2
        and any(map(str.isalpha, value))
        and not _common().issuperset(word_form(value).split())
        and word_form(value) not in known
    ]
    is_brief = len(request) <= (_BRIEF_ZH if has_han(request) else _BRIEF)
    whole = [
        value
        for value in telling
        if word_form(value) in form and (is_brief or (value in request and _is_name(value)))
    ]
    people = [value for value in telling if value.istitle() and len(value.split()) == 2]
    first = [value for value in people if re.search(rf"\b{re.escape(value.split()[0])}\b", request)]
    return whole or (first if len(first) == 1 else [])


def _is_name(value: str) -> bool:
    """Is it written as names are, with capitals, or in Chinese with more than two characters?"""
    return value != value.lower() or (has_han(value) and len(value) > _SHORT_NAME)


@cache
def _common() -> frozenset[str]:
    return frozenset(table("grading")["terms"]["common"])


def _of_columns(sheet: InputTable, path: str, request: str, words: Words) -> Iterator[str]:
    """What is asked of the columns of figures that a request names, or of a narrow table's only.

    Each is wanted in the sentences that name the column.
    """
    numeric = [number for number in range(len(sheet.columns)) if is_of_figures(sheet, number)]
    is_plain = len(numeric) == 1 and len(sheet.columns) <= _NARROW
    is_short = len(request) <= _SHORT_REQUEST
    sentences = [item.text for item in read(request)]
    for number in numeric:
        naming = [text for text in sentences if number in named_columns(sheet, text)]
        wanted = " ".join(naming) or (request if is_plain and is_short else "")
        if wanted:
            yield from _of_groups(sheet, number, path, wanted, words)
            yield from _of_column(sheet, number, path, wanted.lower(), words)


def _of_groups(
    sheet: InputTable, number: int, path: str, wanted: str, words: Words
) -> Iterator[str]:
    """The sums of a column for each value of another one: "sales by region", "per store"."""
    for other in named_columns(sheet, wanted):
        name = re.escape(sheet.columns[other].replace("_", " ").lower().removesuffix("s"))
        by = re.compile(_words_by().format(name=name))
        kinds = list(dict.fromkeys(row[other] for row in sheet.cells))
        is_kind = other != number and 1 < len(kinds) <= min(_FEW_VALUES, sheet.rows - 1)
        if not (is_kind and by.search(wanted.lower())):
            continue
        if not is_of_amounts(sheet, number) or not asks("grouped").search(wanted.lower()):
            continue
        sums = [
            (kind, sum(numbers([row[number] for row in sheet.cells if row[other] == kind])))
            for kind in kinds
        ]
        shown = "; ".join(f"{kind} {_shown(total)}" for kind, total in sums)
        columns = {"column": sheet.columns[number], "by": sheet.columns[other]}
        yield words["reference_groups"].format(file=path, sums=shown, **columns)


def _of_column(
    sheet: InputTable, number: int, path: str, wanted: str, words: Words
) -> Iterator[str]:
    """The ends, the sum, the mean and the first few of a column, and its rows beyond a limit."""
    pairs = [(value, row[0]) for row in sheet.cells for value in numbers([row[number]])]
    values = [value for value, _ in pairs]
    size = {"file": path, "column": sheet.columns[number], "rows": len(values)}
    if not values or not is_measured(sheet, number):
        return
    is_wanted = partial(is_asked_of, wanted=wanted, column=sheet.columns[number], sheet=sheet)
    if is_wanted("ends"):
        low, high = min(values), max(values)
        ends = [", ".join(name for value, name in pairs if value == end) for end in (low, high)]
        key = "reference_ends_apart" if asks("apart").search(wanted) else "reference_ends"
        yield words[key].format(
            **size,
            low=_shown(low, ends[0] if number else ""),
            high=_shown(high, ends[1] if number else ""),
            apart=_shown(high - low),
        )
    for key, value in (("sum", sum(values)), ("mean", sum(values) / len(values))):
        if is_wanted(key) and (key == "mean" or is_of_amounts(sheet, number)):
            yield words[f"reference_{key}"].format(**size, **{key: _shown(value)})
    for limit in _limits(wanted):
        above, below = (sum(map(test, values)) for test in (limit.__lt__, limit.__gt__))
        if above and below:
            text = words["reference_limit"]
            yield text.format(**size, limit=_shown(limit), above=above, below=below)


def _limits(request: str) -> list[float]:
    matches = asks("limits").finditer(request)
    return [value for match in matches for value in numbers([match["limit"]])][:_MOST]


@cache
def _words_by() -> str:
    pattern: str = table("grading")["reference"]["by"]
    return pattern


def _shown(value: float, of: str = "") -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{text} ({of})" if 0 < len(of) <= _SHOWN else text
