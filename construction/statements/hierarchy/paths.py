"""Turns the sections of a statement into the path of each of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from construction.statements.hierarchy.stack import Item, Row, Stack
from construction.statements.hierarchy.tree import Names, Node, Role, Trees, plain_label
from construction.statements.model import HierarchyMethod


class Located(NamedTuple):
    """The sections above a row, in English and as filed, and how they were determined."""

    path: Names
    local: Names
    method: HierarchyMethod


NOWHERE = Located((), (), HierarchyMethod.FLAT)


def located(node: Node | None, method: HierarchyMethod) -> Located:
    return Located(node.path, node.local, method) if node else Located((), (), method)


def locate_rows(
    statement: str, rows: Sequence[Row], trees: Trees, *, check_sums: bool
) -> list[Located]:
    """The sections of each row of one statement of one filing, in the order of the rows."""
    locations = [NOWHERE] * len(rows)
    top = Stack(statement, trees, check_sums=check_sums).build(rows)
    _Walk(statement, trees, locations).walk(top, NOWHERE)
    return locations


def locate_alone(statement: str, concept: str, label: str, trees: Trees) -> Located:
    """The sections of a row that no statement shows, by the standard tree alone."""
    placement = trees.placement(statement, concept, label)
    if placement.role is Role.UNKNOWN:
        return NOWHERE
    if placement.role in (Role.CLOSER, Role.NET) and placement.node is not None:
        return _above(placement.node, HierarchyMethod.TREE)
    return located(placement.node, HierarchyMethod.TREE)


def _above(node: Node, method: HierarchyMethod) -> Located:
    """A total belongs beside the section that it closes, not inside."""
    return Located(node.path[:-1], node.local[:-1], method)


def _same_title(first: str, second: str) -> bool:
    """Whether two titles name one section: Property, plant, and equipment, gross too."""
    words = [{*plain_label(title).split()} - {"gross", "net"} for title in (first, second)]
    return words[0] == words[1]


@dataclass(frozen=True, slots=True)
class _Walk:
    statement: str
    trees: Trees
    locations: list[Located]

    def walk(self, items: Sequence[Item], above: Located) -> None:
        closed = {item.node.path for item in items if item.section and item.node}
        beside = self.trees.remainder(self.statement, above.path, closed)
        for position, item in enumerate(items):
            if item.section:
                self._section(item, above, beside)
            elif above.path:
                self.locations[item.row] = self._inside(item, above, beside)
            else:
                self.locations[item.row] = self._outside(items, position)

    def _section(self, item: Item, above: Located, beside: Node | None) -> None:
        """A total and the rows under it. Standard sections keep their position in the tree, unless
        their path needs a section that this statement does not have."""
        node = item.node
        method = HierarchyMethod.TOTALS if item.children else HierarchyMethod.TREE
        if node is not None and self._reaches(node, above.path, beside):
            self.locations[item.row] = _above(node, method)
            self.walk(item.children, located(node, method))
            return
        title, local = (node.path[-1], node.local[-1]) if node else (item.title, item.title)
        named = above.path and _same_title(title, above.path[-1])
        inner = ((*above.path, title), (*above.local, local)) if not named else above[:2]
        self.locations[item.row] = Located(above.path, above.local, method)
        self.walk(item.children, Located(*inner, method))

    def _reaches(self, node: Node, path: Names, beside: Node | None) -> bool:
        parent = self.trees.nodes[self.statement].get(node.path[:-1])
        is_root = not path or len(node.path) <= 1 or node.path[: len(path)] != path
        return (
            is_root or parent is None or node.path[:-1] == path or self._opens(parent, path, beside)
        )

    def _inside(self, item: Item, above: Located, beside: Node | None) -> Located:
        """A row of a closed section, moved into an open section below it if it belongs there."""
        home, method = item.node, HierarchyMethod.TOTALS
        if home is not None:
            if item.placement.role in (Role.CLOSER, Role.NET):
                return _above(home, method)
            if item.placement.explicit or self._opens(home, above.path, beside):
                return located(home, method)
        return located(beside, method) if beside else above

    def _opens(self, home: Node, path: Names, beside: Node | None) -> bool:
        """Whether every section between `path` and the home of a row is open."""
        nodes = self.trees.nodes[self.statement]
        steps = [home.path[:depth] for depth in range(len(path) + 1, len(home.path) + 1)]
        if not steps or home.path[: len(path)] != path:
            return False
        return all(nodes[step].open or nodes[step] is beside for step in steps)

    def _outside(self, items: Sequence[Item], position: int) -> Located:
        """A row outside of closed sections: its home, else the sections its neighbours share."""
        item, tree = items[position], HierarchyMethod.TREE
        if item.node is not None:
            if item.placement.role in (Role.CLOSER, Role.NET):
                return _above(item.node, tree)
            return located(item.node, tree)
        if item.placement.role is Role.RESULT:
            return Located((), (), tree)
        before = next((i for i in reversed(items[:position]) if _speaks(i)), None)
        after = next((i for i in items[position + 1 :] if _speaks(i)), None)
        if before is None or after is None or before.node is None or after.node is None:
            return NOWHERE
        shared = 0
        for name, other_name in zip(before.node.path, after.node.path, strict=False):
            if name != other_name:
                break
            shared += 1
        if not shared:
            return NOWHERE
        return Located(before.node.path[:shared], before.node.local[:shared], tree)


def _speaks(item: Item) -> bool:
    return item.node is not None or item.placement.role is Role.RESULT
