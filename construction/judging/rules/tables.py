"""The tables of the inputs: the longest of each file, its gaps and its repeated rows."""

from __future__ import annotations

from collections.abc import Iterator

from construction.judging.columns import named_columns
from construction.judging.contracts import InputFile, InputTable


def largest(inputs: dict[str, InputFile]) -> Iterator[tuple[str, InputTable]]:
    """The longest table of each file that has one."""
    for path, known in inputs.items():
        if known.tables:
            yield path, max(known.tables, key=lambda sheet: sheet.rows * len(sheet.columns))


def gaps_of(inputs: dict[str, InputFile], request: str) -> Iterator[tuple[str, dict[str, int]]]:
    """The empty cells of columns that the request names."""
    for path, sheet in largest(inputs):
        named = {sheet.columns[number] for number in named_columns(sheet, request)}
        few = {
            column: number
            for column, number in sheet.blanks.items()
            if 2 * number < sheet.rows and column in named
        }
        if few:
            yield path, few


def repeats_of(inputs: dict[str, InputFile]) -> Iterator[tuple[str, int]]:
    yield from ((path, sheet.repeats) for path, sheet in largest(inputs) if sheet.repeats)
