"""Columns of tables: which a request names, what it asks of them, and of which that has a meaning.

Years, codes and places are numbers that name something: they have no ends and no mean. Rates,
prices of a unit and shares have both, but no sum.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from construction.grading.file_look import word_form
from construction.judging.contracts import InputTable
from construction.judging.lexicon import table
from data.text.scripts import has_han

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_NO_FIGURES = re.compile(
    r"(?i)phone|tel\b|mobile|\bid\b|_id\b|year|date|zip|code|电话|手机|编号|年"
)
_CALLED = re.compile(
    r"\b(?:name|title|subject|product|item|customer|company)\b|名称|姓名|标题|主题"
)
_SHOWN, _MOST_NAMES = 60, 12  # characters of a cell; rows that are named one by one
_MONEY = " $€£¥%"
_CLAUSE = re.compile(r"[;:.。；：，](?=\s|[^\d\s]|$)|,(?=\s)")
_REACH = 4  # words between a column and what is asked of it
_FEW_UP = 3  # numbers that follow each other by chance
_YEARS = (1900, 2100)
_COUNTS = re.compile(r"(?i)^(?:total )?(?:number|no\.?|num) of ")


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
        if len(form) > (1 if has_han(form) else 2) and form.removesuffix("s") in run
    ]


def is_asked_of(key: str, *, wanted: str, column: str, sheet: InputTable) -> bool:
    """Is it asked of the column itself: do the words stand beside its name, in one clause?

    Of a column that is not named, being the only one of figures, anywhere in the request.
    """
    words = _plain(column.partition("(")[0])
    spaced = re.sub(r"(?<=[a-z])(?=\d)", " ?", re.escape(words.removesuffix("s")))
    pattern = re.compile(rf"{spaced}s?")
    clauses = [_plain(clause) for clause in _CLAUSE.split(wanted)]
    naming = [clause for clause in clauses if words and pattern.search(clause)]
    if not naming:
        return not named_columns(sheet, wanted) and asks(key).search(wanted) is not None
    return any(_beside(asks(key), pattern, clause) for clause in naming)


def _plain(text: str) -> str:
    return " ".join(re.split(r"[\W_]+", text.lower())).strip()


def _beside(wanted: re.Pattern[str], named: re.Pattern[str], clause: str) -> bool:
    """Does a word of `wanted` stand few words from the name, and not within it?"""
    without = named.sub("\0", clause)
    places = [mark.start() for mark in re.finditer("\0", without)]
    return any(
        len(without[min(word.end(), place) : max(word.start(), place)].split()) <= _REACH + 1
        for word in wanted.finditer(without)
        for place in places
    )


def is_measured(sheet: InputTable, number: int) -> bool:
    """Do the ends and the mean of a column mean something? Those of numbers that name do not."""
    values = numbers([row[number] for row in sheet.cells])
    is_count_up = len(values) > _FEW_UP and all(
        after - before == 1 for before, after in pairwise(values)
    )
    are_years = bool(values) and all(_YEARS[0] <= value <= _YEARS[1] for value in values)
    is_whole = all(value == int(value) for value in values)
    is_constant = len(values) > 1 and len(set(values)) == 1
    names = _parts_of_name(sheet.columns[number])
    return not (is_count_up or is_constant or (are_years and is_whole)) and _words_of(
        "naming"
    ).isdisjoint(names)


def is_of_amounts(sheet: InputTable, number: int) -> bool:
    """Can a column be summed? Rates, prices of a unit, shares and scales cannot."""
    name = sheet.columns[number].lower()
    are_shares = any("%" in row[number] for row in sheet.cells)
    names = _parts_of_name(sheet.columns[number])
    is_rate = not _words_of("rates").isdisjoint(names)
    is_said = is_rate or re.search("|".join(table("grading")["columns"]["rate_signs"]), name)
    return is_measured(sheet, number) and not (are_shares or is_said)


def _parts_of_name(column: str) -> frozenset[str]:
    """The words of a name; "number of visits" counts, as "invoice number" does not."""
    spaced = _COUNTS.sub("", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).replace("_", " "))
    return frozenset(re.split(r"[\W_]+", spaced.lower()))


@cache
def _words_of(key: str) -> frozenset[str]:
    return frozenset(table("grading")["columns"][key])


@cache
def asks(key: str) -> re.Pattern[str]:
    """What asks for a sum, the ends and the like, in lower case."""
    return re.compile("|".join(table("grading")["reference"][key]))


def is_of_figures(sheet: InputTable, number: int) -> bool:
    """Does a column hold figures that can be compared, almost everywhere?"""
    figures = numbers([row[number] for row in sheet.cells])
    is_full = len(figures) >= max(2, 0.8 * sheet.rows)
    return is_full and not _NO_FIGURES.search(sheet.columns[number])


def names_of(sheet: InputTable, rows: Sequence[Sequence[str]]) -> str:
    """What a few rows are called, in brackets: by the first column that says it, or the first."""
    called = [number for number, name in enumerate(sheet.columns) if _CALLED.search(name.lower())]
    number = called[0] if called else 0
    shown = ", ".join(" ".join(row[number].split())[:_SHOWN] for row in rows)
    return f" ({shown})" if 0 < len(rows) <= _MOST_NAMES else ""
