"""Standard sections of statements, from an editable table: which rows close or belong to them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from data.errors import InputError
from data.text.scripts import HAN_KANA

_NOT_WORD = re.compile(f"[^0-9a-z{HAN_KANA}]+")
_CJK = re.compile(f"[{HAN_KANA}]")
_LISTS = ("closers", "nets", "totals", "leaves", "labels", "contains")
_KEYS = frozenset((*_LISTS, "section", "parent", "open", "bounded", "remainder_of", "local"))
Names = tuple[str, ...]


class Role(StrEnum):
    """What a row is in its statement, as far as its concept or label says."""

    CLOSER = "closer"  # closes a section and takes all rows since the last one
    NET = "net"  # closes a section, but takes only rows that belong to it
    LEAF = "leaf"
    RESULT = "result"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Node:
    """One section. `path` are the names from the statement down, `local` the same as filed."""

    path: Names
    local: Names
    open: bool
    bounded: bool
    remainder_of: Names | None

    def holds(self, other: Node) -> bool:
        """Whether `other` is this section or inside it."""
        return other.path[: len(self.path)] == self.path


@dataclass(frozen=True, slots=True)
class Placement:
    """The role of a row, and the section it closes or belongs to."""

    role: Role
    node: Node | None = None
    explicit: bool = False  # the item's own name says so, as in その他、流動資産


_UNKNOWN = Placement(Role.UNKNOWN)


@dataclass(slots=True)
class Trees:
    """All standard trees. `placement` classifies a row and caches the answer."""

    nodes: Mapping[str, Mapping[Names, Node]]
    patterns: Mapping[str, Sequence[tuple[str, Placement]]]  # longest first
    labels: Mapping[str, Mapping[str, Placement]]
    contains: Mapping[str, Sequence[tuple[str, Placement]]]
    known: dict[tuple[str, str, str], Placement] = field(default_factory=dict)

    def placement(self, statement: str, concept: str, label: str) -> Placement:
        """The role of a row with this concept and label in this statement."""
        key = (statement, concept, label)
        if key not in self.known:
            self.known[key] = self._placement_of(*key)
        return self.known[key]

    def _placement_of(self, statement: str, concept: str, label: str) -> Placement:
        patterns = self.patterns.get(statement, ())
        for pattern, placement in patterns:
            if fnmatchcase(concept, pattern):
                return placement
        for part in reversed(concept.split("、")[1:]):
            for pattern, placement in patterns:
                if placement.role is Role.CLOSER and part == pattern:
                    return Placement(Role.LEAF, placement.node, explicit=True)
        plain = plain_label(label)
        named = self.labels.get(statement, {}).get(plain)
        if named is not None:
            return named
        for part, placement in self.contains.get(statement, ()):
            if part in plain:
                return placement
        return _UNKNOWN

    def remainder(self, statement: str, parent: Names, closed: set[Names]) -> Node | None:
        """The section for rows of `parent` that are in none of the `closed` sections, if there is
        one."""
        for node in self.nodes.get(statement, {}).values():
            if node.path[:-1] == parent and node.remainder_of in closed:
                return node
        return None


def plain_label(label: str) -> str:
    """Lower-case words without punctuation, for comparing labels."""
    return _NOT_WORD.sub(" ", label.casefold().replace("'", "").replace("’", "")).strip()


def _local(entry: Mapping[str, Any]) -> str:
    if "local" in entry:
        return str(entry["local"])
    japanese = (w for key in ("closers", "nets") for w in entry.get(key, ()) if _CJK.search(w))
    return str(next(japanese, entry["section"])).rstrip("*").removesuffix("合計")


def _nodes(statement: str, entries: Sequence[Mapping[str, Any]], path: str) -> dict[str, Node]:
    """The sections of one statement by name; a parent must precede its children."""
    nodes: dict[str, Node] = {}
    for entry in entries:
        strange = entry.keys() - _KEYS
        parent = nodes.get(entry.get("parent", ""))
        if strange or "section" not in entry or ("parent" in entry and parent is None):
            raise InputError(
                path,
                f"a section of {statement} with the keys {', '.join(sorted(entry))}",
                "section, and a parent that precedes it",
                "Correct the table of standard trees.",
            )
        above, above_local = (parent.path, parent.local) if parent else ((), ())
        name = entry["section"]
        beside = entry.get("remainder_of")
        nodes[name] = Node(
            (*above, name) if name else (),
            (*above_local, _local(entry)) if name else (),
            bool(entry.get("open", False)),
            bool(entry.get("bounded", False)),
            (*above, beside) if beside else None,
        )
    return nodes


def _patterns(
    entries: Sequence[Mapping[str, Any]], nodes: Mapping[str, Node]
) -> list[tuple[str, Placement]]:
    roles = (("closers", Role.CLOSER), ("nets", Role.NET), ("leaves", Role.LEAF))
    return [
        (pattern, Placement(role, nodes[entry["section"]]))
        for entry in entries
        for key, role in roles
        for pattern in entry.get(key, ())
    ]


def _by_weight(patterns: Sequence[tuple[str, Placement]]) -> list[tuple[str, Placement]]:
    """Whole names first, then the longest pattern, so that the most specific one decides."""
    return sorted(patterns, key=lambda p: ("*" in p[0], -len(p[0].replace("*", "")), p[0]))


def parse_trees(text: str, path: str) -> Trees:
    """Standard trees from TOML. Errors: `InputError` if the text is not such a table."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, "no valid TOML", "a table of sections", str(error)) from None
    results: Mapping[str, Sequence[str]] = table.pop("results", {})
    result_labels: Mapping[str, Sequence[str]] = table.pop("result_labels", {})
    trees = Trees({}, {}, {}, {})
    result = Placement(Role.RESULT)
    all_nodes, all_patterns, all_labels, all_contains = {}, {}, {}, {}
    for statement, entries in table.items():
        nodes = _nodes(statement, entries, path)
        own = _patterns(entries, nodes) + [(name, result) for name in results.get(statement, ())]
        labels = dict.fromkeys(result_labels.get(statement, ()), result)
        contains = []
        for entry in entries:
            node = nodes[entry["section"]]
            labels |= dict.fromkeys(entry.get("labels", ()), Placement(Role.LEAF, node))
            labels |= dict.fromkeys(entry.get("totals", ()), Placement(Role.CLOSER, node))
            contains += [(part, Placement(Role.LEAF, node)) for part in entry.get("contains", ())]
        all_nodes[statement] = {node.path: node for node in nodes.values()}
        all_patterns[statement] = _by_weight(own)
        all_labels[statement], all_contains[statement] = labels, _by_weight(contains)
    trees.nodes, trees.patterns = all_nodes, all_patterns
    trees.labels, trees.contains = all_labels, all_contains
    return trees


@lru_cache(maxsize=1)
def default_trees() -> Trees:
    """The table that ships with the project."""
    source = files(__package__).joinpath("trees.toml")
    return parse_trees(source.read_text(encoding="utf-8"), "trees.toml")
