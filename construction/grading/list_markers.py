"""The marks that make a text a list: numbers, ranks and bullets before items, and table columns.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re

from construction.statements.answers.markup import take_tables
from data.text.folding import fold_width
from data.text.numerals import read_integer

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_MOST_MARKS = 500
_LETTERS = "abcdefghijklmnopqrst"
_HAN = "一二三四五六七八九十"
_RANKED = (
    rf"[(（](?P<inner>[0-9]{{1,2}}|[{_HAN}]{{1,2}}|[a-t])[)）]"
    r"|(?P<nth>[0-9]{1,2})(?:st|nd|rd|th|位|番目)\s*(?:[.):：、．-]|(?=\s))"
    rf"|第(?P<di>[{_HAN}]{{1,2}}|[0-9]{{1,2}})(?:位|名|大)?(?:\s*[:：、,，]|(?<=位)\s+)"
    r"|(?:no\.?|#)\s?(?P<no>[0-9]{1,2})\s*[:：.)]?"
    rf"|(?P<plain>[0-9]{{1,2}}|[{_HAN}]{{1,2}}|[a-t])(?:[.)．）](?![0-9])|[、:：](?=\s|[^\s0-9]))"
)
_MARK = re.compile(rf"(?:(?<=^)|(?<=[\s,;、；，:：。]))(?:{_RANKED})\s*", re.I | re.M)
_CIRCLED_MARK = re.compile(rf"(?P<circled>[{_CIRCLED}])\s*")
_LINE_NUMBER = re.compile(r"^[ \t>]*([0-9]{1,2})[.)．）][ \t]*(?=[^\s0-9])", re.M)
BULLET = re.compile(rf"^\s*(?:[-*•·・▪◦–]\s+|・|(?:{_RANKED})\s*)", re.I)
RANK_NOTE = re.compile(
    r"\s*(?:[(（](?=[^()（）]*[0-9])[^()（）]{1,40}[)）]"
    r"|(?:\s[–—-]|[:：])\s*[$€£¥]?[0-9][0-9.,]*\s?[^\W\d_]{0,12}%?)\s*\Z"
)
_BARE_FIGURE = re.compile(r"[-+(]?[$€£¥]?\s?[0-9][0-9,.\s]*[)%]?[^\W\d_]{0,8}\.?")


def with_plain_marks(text: str) -> str:
    """Circled numbers, and those at the start of lines, as (1): the form that cleaning keeps."""
    text = _CIRCLED_MARK.sub(lambda mark: f" ({_CIRCLED.index(mark['circled']) + 1}) ", text)
    return _LINE_NUMBER.sub(r"(\1) ", text)


def numbered_items(text: str) -> list[str]:
    """The items behind the marks 1 to n, at least two, in the order of their numbers.

    Empty if the text is not numbered throughout: what stands before the first mark has to end with
    a colon or a line.
    """
    marks = list(_MARK.finditer(text))[:_MOST_MARKS]
    numbers = [_number(mark) for mark in marks]
    if len(marks) < 2 or sorted(numbers) != list(range(1, len(marks) + 1)):
        return []
    before = text[: marks[0].start()].strip(" ")
    if before and before[-1] not in ":：\n":
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    items = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
    return [items[numbers.index(number)] for number in sorted(numbers)]


def _number(mark: re.Match[str]) -> int:
    written = next(group for group in mark.groupdict().values() if group)
    if written.lower() in _LETTERS:
        return _LETTERS.index(written.lower()) + 1
    return read_integer(fold_width(written)) or 0


def column(text: str) -> list[str]:
    """The only column of a text's only table that holds words, in the order of the rank column.

    Empty if there is no such table, or other text beside it than a title.
    """
    rest, tables = take_tables(text)
    if len(tables) != 1 or "\n" in rest.strip():
        return []
    rows = [row for row in tables[0].rows[1:] if row]
    width = min((len(row) for row in rows), default=0)
    columns = [[row[at].strip() for row in rows] for at in range(width)]
    worded = [cells for cells in columns if not all(map(_BARE_FIGURE.fullmatch, cells))]
    if len(worded) != 1:
        return []
    ranks = next((cells for cells in columns if _are_ranks(cells)), None)
    if ranks is None:
        return worded[0]
    return [cell for _, cell in sorted(zip(map(int, ranks), worded[0], strict=True))]


def _are_ranks(cells: list[str]) -> bool:
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit()]
    return len(numbers) == len(cells) and sorted(numbers) == list(range(1, len(cells) + 1))
