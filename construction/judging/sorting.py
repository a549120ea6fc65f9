"""Is a table that is to be sorted in that order already, so that a copy of it is the work?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from construction.judging.columns import named_columns, numbers
from construction.judging.contracts import InputTable

_SHORT_REQUEST = 400  # characters
# The verb, and no "orders", "order number" or "in order to"; then what is said of the order.
_SORTS = re.compile(
    r"(?i)(?:(?:^|[.,;:!?]\s+|\b(?:and|then|please|to|you|must|should|now|also)\s+)"
    r"(?:sort|(?:re)?order|arrange|rank)\b(?! (?:\d|number|id|date|form|status|lunch|for|from)\b)"
    r"|\b(?:sorted|ordered|arranged|ranked)\b)(?:(?!\.\s)[^;\n])*|[^。；]*(?:排序|排列|升序|降序)[^。；]*"
)
_FALLS = re.compile(
    r"(?i)\bdesc|\b(?:high|larg|great|big|heav|long|tall|new|lat|most|expensive)\w*(?: \w+)?"
    r" (?:to|first)\b|\bz(?: to |-)a\b|\brevers|降序|倒序|逆序|从[高大多]"
)
_RISES = re.compile(
    r"(?i)\basc|\b(?:low|small|old|earl|light|short|cheap|least|few)\w*(?: \w+)? (?:to|first)\b"
    r"|\ba(?: to |-)z\b|alphabet|升序|正序|从[低小少]"
)


def is_in_order(request: str, sheets: Sequence[InputTable]) -> bool:
    """Is a table to be sorted in which the rows stand in that order already?

    By a column that the table does not name, nothing is known of that.
    """
    match = _SORTS.search(request) if len(request) <= _SHORT_REQUEST else None
    if match is None:
        return False
    _, by, key = match.group().partition(" by ")
    for sheet in sheets:
        named = {sheet.columns[number] for number in named_columns(sheet, key or match.group())}
        sought = named or (set() if by else set(sheet.columns))
        if not sought.isdisjoint(_sorted_columns(sheet, match.group())):
            return True
    return False


def _sorted_columns(sheet: InputTable, clause: str) -> Iterator[str]:
    """The columns by which the rows stand in the order of a clause already, else in any."""
    falls, rises = _FALLS.search(clause) is not None, _RISES.search(clause) is not None
    for number, name in enumerate(sheet.columns):
        cells = [row[number] for row in sheet.cells]
        values = numbers(cells)
        if len(values) != len(cells):
            ranks = {cell: float(rank) for rank, cell in enumerate(sorted(set(cells)))}
            values = [ranks[cell] for cell in cells]
        is_up = not falls and all(first <= second for first, second in pairwise(values))
        is_down = not rises and all(first >= second for first, second in pairwise(values))
        if len(cells) > 1 and (is_up or is_down):
            yield name
