"""Which rows of a table a brief request wants gone, where it says so by a value or a position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from construction.grading.file_look import word_form
from construction.judging.contracts import InputFile, InputTable
from construction.judging.request_bounds import changes
from data.text.lexicon import alternatives
from data.text.numerals import NUMBER_WORDS, read_integer

_BRIEF = 200  # characters; a longer request says more than which rows go
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_RUN = re.compile(rf"\b(?P<end>first|last) (?P<number>\d{{1,2}}|{alternatives(NUMBER_WORDS)})\b")
_ROW = re.compile(rf"\b(?P<nth>{'|'.join(_ORDINALS)}|last)\b(?! \d)")
_OF_COLUMNS = re.compile(
    r"\b(?:columns?|headers?|fields?|duplicates?|blank|empty)\b|[列表头重复空]"
)
_LIMIT = re.compile(
    r"\b(?:except|other than|only|keep|all|above|below|than|over|under|before|after|if|where|whose"
    r"|between|not in|without|or)\b|除|只|保留|所有|全部|大于|小于|超过|低于"
)


def removals_of(
    edited: Mapping[str, InputFile], request: str, words: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Which rows of the files that are changed are to go, each text with its file."""
    for path, known in edited.items():
        sheet = max(known.tables, key=lambda entry: entry.rows, default=None)
        gone = removed_rows(sheet, request) if sheet is not None else ()
        if sheet is not None and gone:
            rest = sheet.rows - len(gone)
            text = words["reference_removed"].format(file=path, rows=_shown(sheet, gone), rest=rest)
            yield text, (path,)


def removed_rows(sheet: InputTable, request: str) -> tuple[int, ...]:
    """The positions of the rows that go, from 0; none where it is not clear which."""
    lowered = " ".join(request.lower().split())
    is_clear = len(request) <= _BRIEF and not (
        _OF_COLUMNS.search(lowered) or _LIMIT.search(lowered)
    )
    if not (is_clear and sheet.cells and changes(request, "removes")):
        return ()
    chosen = _by_value(sheet, word_form(request)) or _by_position(sheet.rows, lowered)
    return chosen if len(chosen) < sheet.rows == len(sheet.cells) else ()


def _by_value(sheet: InputTable, form: str) -> tuple[int, ...]:
    """The rows whose first cell, or another text of a few words, the request names alone."""
    chosen: set[int] = set()
    columns = word_form(" ".join(sheet.columns)).split()
    for number in range(len(sheet.columns)):
        for position, row in enumerate(sheet.cells):
            value = word_form(row[number]).strip()
            is_text = any(map(str.isalpha, value)) and len(value) > 1 and value not in columns
            if is_text and re.search(rf"\b{re.escape(value)}s?\b", form):
                chosen.add(position)
        if chosen:
            break
    return tuple(sorted(chosen))


def _by_position(rows: int, lowered: str) -> tuple[int, ...]:
    run, single = _RUN.search(lowered), _ROW.search(lowered)
    if run is not None:
        count = min(rows, NUMBER_WORDS.get(run["number"]) or read_integer(run["number"]) or 0)
        start = 0 if run["end"] == "first" else rows - count
        return tuple(range(start, start + count))
    if single is None:
        return ()
    position = rows - 1 if single["nth"] == "last" else _ORDINALS.index(single["nth"])
    return (position,) if position < rows else ()


def _shown(sheet: InputTable, chosen: Sequence[int]) -> str:
    return "; ".join(", ".join(" ".join(cell.split()) for cell in sheet.cells[at]) for at in chosen)
