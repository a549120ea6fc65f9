"""What a table says as a whole, where a request asks of it and names no value: its entries, or the
ranges and kinds of its columns.

A short table is quoted entry by entry, by its telling columns. Of a longer one the columns are
described: from the lowest to the highest, or how often each kind occurs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from construction.judging.columns import is_measured, named_columns, numbers
from construction.judging.contracts import InputFile, InputTable

_FEW_ROWS, _FEW_VALUES, _FEW_COLUMNS = 25, 8, 6
_SHORT, _TITLE = 60, 75  # characters of a cell that is shown, and on average of what names a row
_MOST = 900  # characters of a quotation
_FULL = 0.8  # of the cells of a column that is described are figures, at least
_LEAST_COLUMNS = 2
_CALLED = re.compile(
    r"\b(?:subject|title|name|headline|product|customer|company)\b|标题|名称|主题|姓名"
)
_STANDS = re.compile(
    r"status|priority|amount|price|date|due|deadline|assignee|owner|tier|stock|rate|total|quantity"
    r"|state|score|from|sender|状态|优先|金额|日期|截止|负责|等级|库存"
)
_IDENTIFIES = re.compile(r"\bid\b|_id$|^no\.?$|编号|序号")
_NAMELESS = ("id", "_at", "date", "time", "views", "count")
_FOR_PROGRAMS = re.compile(r"[\[{=]|https?:|(?i:true|false)$|[\d*/,-]+(?: [\d*/,-]+){4}$")


def profiles_of(
    known: InputFile, path: str, request: str, words: Mapping[str, str]
) -> Iterator[str]:
    """What the largest table of a file says as a whole; nothing where its cells are not known."""
    sheet = _largest(known)
    if sheet is None:
        return
    shown = _entries(sheet, request)
    if shown:
        text = words["reference_entries"]
        yield text.format(file=path, rows=sheet.rows, entries=shown)
        return
    described = list(_described(sheet, request))
    if described:
        text = words["reference_profile"]
        yield text.format(file=path, rows=sheet.rows, columns="; ".join(described))


def has_entries(known: InputFile, request: str) -> bool:
    """Can the largest table of a file be quoted entry by entry?"""
    sheet = _largest(known)
    return sheet is not None and bool(_entries(sheet, request))


def _largest(known: InputFile) -> InputTable | None:
    sheets = [sheet for sheet in known.tables if sheet.cells and len(sheet.columns) > 1]
    return max(sheets, key=lambda entry: entry.rows * len(entry.columns), default=None)


def _entries(sheet: InputTable, request: str) -> str:
    """The rows by as many of their telling columns as can be quoted; empty if these are too few."""
    if sheet.rows > _FEW_ROWS:
        return ""
    named = set(named_columns(sheet, request))
    columns = [number for number in range(len(sheet.columns)) if _is_shown(sheet, number)]
    order = sorted(columns, key=lambda number: (_rank(sheet, number, named), number))
    chosen: list[int] = []
    for number in order:
        if len(chosen) < _FEW_COLUMNS and len(_quoted(sheet, [*chosen, number])) <= _MOST:
            chosen.append(number)
    telling = any(not sheet.columns[number].lower().endswith(_NAMELESS) for number in chosen)
    return _quoted(sheet, chosen) if len(chosen) >= _LEAST_COLUMNS and telling else ""


def _quoted(sheet: InputTable, chosen: Sequence[int]) -> str:
    shown = sorted(chosen)
    head = ", ".join(sheet.columns[number] for number in shown)
    rows = [", ".join(_cell(row[number]) for number in shown if row[number]) for row in sheet.cells]
    return f"({head}) {'; '.join(rows)}"


def _cell(text: str) -> str:
    plain = " ".join(text.split()).removesuffix(" 00:00:00")
    return plain if len(plain) <= _SHORT else f"{plain[: _SHORT - 1].rstrip()}…"


def _rank(sheet: InputTable, number: int, named: Collection[int]) -> int:
    """What is quoted first: what an entry is called by, what the request names, how it stands."""
    name = sheet.columns[number].lower()
    if number == 0 or _CALLED.search(name):
        return 0
    return 1 if number in named else 2 if _STANDS.search(name) else 3


def _is_shown(sheet: InputTable, number: int) -> bool:
    """Is a column varied, short, and for a reader? Lists, addresses and marks for programs are not.

    What an entry is called by may be longer: it is cut.
    """
    cells = [row[number].strip() for row in sheet.cells]
    is_same = any(cells == [row[other].strip() for row in sheet.cells] for other in range(number))
    is_varied = (len(set(cells)) > 1 or sheet.rows == 1) and not is_same
    mean = sum(map(len, cells)) / len(cells)
    is_short = 0 < mean <= (_TITLE if _CALLED.search(sheet.columns[number].lower()) else _SHORT / 2)
    return is_varied and is_short and not any(map(_FOR_PROGRAMS.match, cells))


def _described(sheet: InputTable, request: str) -> Iterator[str]:
    """The columns that a request names, or the first ones, each with its range or its kinds."""
    named = set(named_columns(sheet, request))
    order = sorted(range(len(sheet.columns)), key=lambda number: (number not in named, number))
    texts = [text for number in order if (text := _column(sheet, number))]
    yield from texts[:_FEW_COLUMNS]


def _column(sheet: InputTable, number: int) -> str:
    cells = [row[number] for row in sheet.cells if row[number].strip()]
    kinds, figures, name = Counter(cells), numbers(cells), sheet.columns[number]
    if 1 < len(kinds) <= _FEW_VALUES and 2 * len(kinds) <= len(cells):
        return f"{name}: {', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}"
    if _IDENTIFIES.search(name.lower()):
        return ""
    if cells and len(figures) >= _FULL * len(cells) and len(set(figures)) > 1:
        mean = (
            f", mean {_figure(sum(figures) / len(figures))}" if is_measured(sheet, number) else ""
        )
        return f"{name}: {_figure(min(figures))} to {_figure(max(figures))}{mean}"
    return ""


def _figure(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
