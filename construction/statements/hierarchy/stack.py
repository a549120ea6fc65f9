"""Sections of one statement of one filing: a stack of open rows that totals close.

The rows come in filing order without their headings. A total takes rows off the stack and replaces
them by a section, which a later total can take in turn: that nests subtotals. How many rows a total
takes is decided, in this order, by arithmetic (it equals the sum of the last k rows and sections),
by the section that it is known to close, and by where the last section or result ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from construction.statements.hierarchy.naming import section_title
from construction.statements.hierarchy.tree import Node, Placement, Role, Trees

_TOTAL = re.compile(r"(?:sub-?)?total\b|.*(?:, (?:sub)?total|合計|小計)$", re.I)
_MIN_DIGITS = 100  # below this many units of the last digit, a matching sum may be coincidence
# Statements with their own sections, and those whose rows add up as printed, so that a sum
# without "total" in its label makes a section
_SECTIONED = frozenset({"Balance sheet", "Income statement", "Cash flow statement"})
_ADDITIVE = frozenset({"Balance sheet", "Income statement"})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the statement; `value` as printed, in any one period of the filing."""

    concept: str
    label: str
    value: float | None


@dataclass(slots=True)
class Item:
    """A row, or a section with the total that closed it (`row`) and the items it took."""

    row: int
    placement: Placement
    value: float | None
    section: bool = False
    title: str = ""
    children: list[Item] = field(default_factory=list)

    @property
    def node(self) -> Node | None:
        return self.placement.node


class Stack:
    """Builds the sections of one statement, row by row."""

    def __init__(self, statement: str, trees: Trees, *, check_sums: bool) -> None:
        self.statement, self.trees, self.check_sums = statement, trees, check_sums
        self.items: list[Item] = []
        self.unit = 1.0

    def build(self, rows: Sequence[Row]) -> list[Item]:
        """The top of the hierarchy; every row is in it exactly once."""
        self.unit = _unit([row.value for row in rows])
        for number, row in enumerate(rows):
            self._add(number, row)
        return self.items

    def _add(self, number: int, row: Row) -> None:
        placement = self.trees.placement(self.statement, row.concept, row.label)
        item = Item(number, placement, row.value)
        if placement.role is Role.CLOSER:
            self._close(item, self._start_of(item))
        elif placement.role is Role.NET:
            self._close(item, self._start_of_net(item))
        elif placement.role is Role.RESULT:
            self.items.append(item)
        else:
            self._add_unknown(item, row.label)

    def _add_unknown(self, item: Item, label: str) -> None:
        """A row that is a leaf of the tree or unknown to it: a total by its words or its sum."""
        start = self._start_of_unknown(item, label)
        title = "" if start is None else section_title(label)
        if start is None or not title or len(self.items) - start < 2:
            self.items.append(item)
            return
        item.placement, item.title = Placement(Role.UNKNOWN), title
        self._close(item, start)

    def _start_of_unknown(self, item: Item, label: str) -> int | None:
        # Per-share data and share counts are in open sections and never close one of their own.
        if item.node is not None and item.node.open:
            return None
        if self.statement in _SECTIONED and _TOTAL.match(label):
            exact = self._sum_start(item.value)
            return self._last_end() if exact is None else exact
        if self.statement in _ADDITIVE and self._is_large(item.value):
            return self._sum_start(item.value, plain=True)
        return None

    def _close(self, total: Item, start: int) -> None:
        """Replace the items from `start` by a section."""
        taken = self.items[start:]
        for item in taken:
            # Equity without and with minority interests: two totals of one section.
            if item.section and item.node is not None and item.node is total.node:
                total.children += [*item.children, Item(item.row, item.placement, item.value)]
            else:
                total.children.append(item)
        total.section = True
        self.items[start:] = [total]

    def _start_of(self, total: Item) -> int:
        """The start of the known section that `total` closes."""
        start = len(self.items)
        while start and self._belongs(self.items[start - 1], total):
            start -= 1
        if self._sums_to(start, total.value):
            return start
        exact = self._sum_start(total.value, inside=total.node)
        return start if exact is None else exact

    def _belongs(self, item: Item, total: Item) -> bool:
        if item.placement.role is Role.RESULT:
            return False
        node = total.node
        if node is None or item.node is None:
            return True
        if item.section:
            return node.holds(item.node)
        return not node.bounded or node.holds(item.node) or item.node.holds(node)

    def _start_of_net(self, total: Item) -> int:
        exact = self._sum_start(total.value, plain=True)
        if exact is not None:
            return exact
        start = len(self.items)
        while start and total.node is not None and self.items[start - 1].node is total.node:
            start -= 1
        return start

    def _last_end(self) -> int:
        """The position after the last known section or result."""
        for position in range(len(self.items), 0, -1):
            item = self.items[position - 1]
            if item.placement.role is Role.RESULT or (item.section and item.node is not None):
                return position
        return 0

    def _is_large(self, value: float | None) -> bool:
        return value is not None and abs(value) >= _MIN_DIGITS * self.unit

    def _sums_to(self, start: int, value: float | None) -> bool:
        values = [item.value for item in self.items[start:]]
        if value is None or not self.check_sums or len(values) < 2:
            return False
        return abs(sum(v or 0.0 for v in values) - value) <= self._tolerance(len(values))

    def _sum_start(
        self, value: float | None, *, plain: bool = False, inside: Node | None = None
    ) -> int | None:
        """The nearest start from which two or more values add up to `value`; None if none.

        `plain` stops at results and known sections, `inside` at sections outside of that one.
        """
        if value is None or not value or not self.check_sums:
            return None
        total, count = 0.0, 0
        for start in range(len(self.items) - 1, -1, -1):
            item = self.items[start]
            known = item.section and item.node is not None
            if plain and (known or item.placement.role is Role.RESULT):
                return None
            if inside and known and item.node is not None and not inside.holds(item.node):
                return None
            total += item.value or 0.0
            count += bool(item.value)
            if count >= 2 and abs(total - value) <= self._tolerance(count):
                return start
        return None

    def _tolerance(self, count: int) -> float:
        """Each rounded figure may be half a unit off."""
        return self.unit * (count + 1) / 2 + 1e-6 if count > 2 else self.unit + 1e-6


def _unit(values: Sequence[float | None]) -> float:
    """The largest power of ten that divides all whole values: the unit of the statement."""
    whole = [abs(int(v)) for v in values if v and v == int(v)]
    unit = 1
    while unit < 10**9 and whole and all(value % (unit * 10) == 0 for value in whole):
        unit *= 10
    return float(unit)
