"""Sections of statements: the standard ones, from an editable table, and those totals close."""

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

import polars as pl

from construction.statements.model import SEPARATOR
from data.errors import InputError
from data.text.scripts import HAN_KANA

# Standard sections of statements, from an editable table: which rows close or belong to them.

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
class _Placement:
    """The role of a row, and the section it closes or belongs to."""

    role: Role
    node: Node | None = None
    explicit: bool = False  # the item's own name says so, as in その他、流動資産


_UNKNOWN = _Placement(Role.UNKNOWN)


@dataclass(slots=True)
class Trees:
    """All standard trees. `placement` classifies a row and caches the answer."""

    nodes: Mapping[str, Mapping[Names, Node]]
    patterns: Mapping[str, Sequence[tuple[str, _Placement]]]  # longest first
    labels: Mapping[str, Mapping[str, _Placement]]
    contains: Mapping[str, Sequence[tuple[str, _Placement]]]
    known: dict[tuple[str, str, str], _Placement] = field(default_factory=dict)

    def placement(self, statement: str, concept: str, label: str) -> _Placement:
        """The role of a row with this concept and label in this statement."""
        key = (statement, concept, label)
        if key not in self.known:
            self.known[key] = self._placement_of(*key)
        return self.known[key]

    def _placement_of(self, statement: str, concept: str, label: str) -> _Placement:
        patterns = self.patterns.get(statement, ())
        for pattern, placement in patterns:
            if fnmatchcase(concept, pattern):
                return placement
        for part in reversed(concept.split("、")[1:]):
            for pattern, placement in patterns:
                if placement.role is Role.CLOSER and part == pattern:
                    return _Placement(Role.LEAF, placement.node, explicit=True)
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
) -> list[tuple[str, _Placement]]:
    roles = (("closers", Role.CLOSER), ("nets", Role.NET), ("leaves", Role.LEAF))
    return [
        (pattern, _Placement(role, nodes[entry["section"]]))
        for entry in entries
        for key, role in roles
        for pattern in entry.get(key, ())
    ]


def _by_weight(patterns: Sequence[tuple[str, _Placement]]) -> list[tuple[str, _Placement]]:
    """Whole names first, then the longest pattern, so that the most specific one decides."""
    return sorted(patterns, key=lambda p: ("*" in p[0], -len(p[0].replace("*", "")), p[0]))


def _parse_trees(text: str, path: str) -> Trees:
    """Standard trees from TOML. Errors: `InputError` if the text is not such a table."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, "no valid TOML", "a table of sections", str(error)) from None
    results: Mapping[str, Sequence[str]] = table.pop("results", {})
    result_labels: Mapping[str, Sequence[str]] = table.pop("result_labels", {})
    trees = Trees({}, {}, {}, {})
    result = _Placement(Role.RESULT)
    all_nodes, all_patterns, all_labels, all_contains = {}, {}, {}, {}
    for statement, entries in table.items():
        nodes = _nodes(statement, entries, path)
        own = _patterns(entries, nodes) + [(name, result) for name in results.get(statement, ())]
        labels = dict.fromkeys(result_labels.get(statement, ()), result)
        contains = []
        for entry in entries:
            node = nodes[entry["section"]]
            labels |= dict.fromkeys(entry.get("labels", ()), _Placement(Role.LEAF, node))
            labels |= dict.fromkeys(entry.get("totals", ()), _Placement(Role.CLOSER, node))
            contains += [(part, _Placement(Role.LEAF, node)) for part in entry.get("contains", ())]
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
    return _parse_trees(source.read_text(encoding="utf-8"), "trees.toml")


# Sections of one statement of one filing: a stack of open rows that totals close.
#
# The rows come in filing order without their headings. A total takes rows off the stack and
# replaces them by a section, which a later total can take in turn: that nests subtotals. How many
# rows a total takes is decided, in this order, by arithmetic (it equals the sum of the last k rows
# and sections), by the section that it is known to close, and by where the last section or result
# ended.
#
# The words of hierarchical names come first: section titles, components, axes and members.

_LOOSE_TOTAL = re.compile(
    r"^(?:sub-?)?total(?: of)?\b[ ,:-]*|,? *(?:sub-?)?total$|合計$|小計$", re.I
)
_BRACKETS = re.compile(r"\([^()]{0,300}\)|\[[^\[\]]{0,300}\]")
_TAIL = re.compile(r"[,;:—–-]? *(?:(?:less|net of|including|at cost|net)\b[^|]*|[0-9$].*)$", re.I)
_SMALL = frozenset(["and", "of", "the", "in", "for", "to", "on", "or", "by", "at", "with", "from"])
_MAX_TITLE = 60
_WORDS = re.compile(
    r"[A-Z]{2,}(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+|[^\W_A-Za-z0-9]+"
)
_KEY = ("company_id", "name")


def component(text: str) -> str:
    """A label as one component: no separator inside, single spaces."""
    return " ".join(text.replace("|", "/").split())


def join(*parts: str) -> str:
    return SEPARATOR.join(parts)


def _section_title(label: str) -> str:
    """The title of the section that a row closes; empty if the label says only "Total"."""
    title = _BRACKETS.sub("", component(label))
    title = _LOOSE_TOTAL.sub("", title.strip()).strip(" ,:;-")
    title = component(_TAIL.sub("", title)).strip(" ,:;-")
    if len(title) > _MAX_TITLE or not any(map(str.isalpha, title)):
        return ""
    return _sentence_case(title)


def _sentence_case(title: str) -> str:
    """Capitalise the first letter, lower other Title Case or upper-case words; keep IBM, LIFO."""
    words = title.split(" ")
    if title.isupper():
        words = [word.lower() for word in words]
    elif sum(word[:1].isupper() for word in words) * 2 > len(words):
        words = [w.lower() if w[:1].isupper() and w[1:].islower() else w for w in words]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def spaced(name: str) -> str:
    """CamelCase as words: RestOfAsiaPacificSegment -> Rest of Asia Pacific Segment."""
    words = [word for part in name.split("_") for word in _WORDS.findall(part)]
    joined: list[str] = []
    for word in words:
        # A single capital belongs to the next word: IPhone, not I Phone.
        if joined and len(joined[-1]) == 1 and joined[-1].isupper() and joined[-1] != "A":
            joined[-1] += word
        elif joined and word.casefold() in _SMALL:
            joined.append(word.casefold())
        else:
            joined.append(word)
    return " ".join(joined) or name


def _dimension_parts(dimensions: str) -> tuple[str, ...]:
    """Axis and member of each dimension as words: at most two pairs, further ones in the last.

    `dimensions` are axis=member pairs, joined by ";".
    """
    pairs = [
        (_sentence_case(_stripped(axis, "Axis")), _stripped(member, "Member"))
        for axis, _, member in (part.partition("=") for part in dimensions.split(";"))
        if axis.strip()
    ]
    if len(pairs) > 2:
        rest = "; ".join(f"{axis}: {member}" for axis, member in pairs[2:])
        pairs = [pairs[0], (pairs[1][0], f"{pairs[1][1]}; {rest}")]
    return tuple(component(word) for pair in pairs for word in pair if word)


def _stripped(name: str, ending: str) -> str:
    words = name.strip().rpartition(":")[2]
    return spaced(words.removesuffix(ending) or words)


def dimensioned_name(statement: str, dimensions: str, label: str) -> str:
    """Statement | axis | member | label, as in Segments | Geographical | Europe | Revenues."""
    return join(statement, *_dimension_parts(dimensions), component(label))


def distinct_names(series: pl.DataFrame) -> pl.Series:
    """Names of `series` (columns of SERIES), made distinct within each company.

    Series that share a name get their unit in brackets if that distinguishes them, else their
    concept; if names are still equal, the id without the company.
    """
    marks = (
        pl.format(" ({})", pl.col("unit")),
        pl.format(" [{}]", pl.col("concept")),
        pl.format(" [{}]", pl.col("series_id").str.strip_prefix(pl.col("company_id"))),
    )
    named = series.select("series_id", "company_id", "unit", "concept", "name")
    for mark in marks:
        shared = pl.len().over(_KEY) > 1
        tells = (pl.col("mark").n_unique().over(_KEY) == pl.len().over(_KEY)) | (
            pl.lit(mark is marks[-1])
        )
        named = named.with_columns(mark=mark).with_columns(
            name=pl.when(shared & tells.fill_null(False))
            .then(pl.col("name") + pl.col("mark").fill_null(""))
            .otherwise("name")
        )
    return named["name"]


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
    placement: _Placement
    value: float | None
    section: bool = False
    title: str = ""
    children: list[Item] = field(default_factory=list)

    @property
    def node(self) -> Node | None:
        return self.placement.node


class Stack:
    """Builds the sections of one statement, row by row."""

    def __init__(self, statement: str, trees: Trees) -> None:
        self.statement, self.trees = statement, trees
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
        title = "" if start is None else _section_title(label)
        if start is None or not title or len(self.items) - start < 2:
            self.items.append(item)
            return
        item.placement, item.title = _Placement(Role.UNKNOWN), title
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
        if value is None or len(values) < 2:
            return False
        return abs(sum(v or 0.0 for v in values) - value) <= self._tolerance(len(values))

    def _sum_start(
        self, value: float | None, *, plain: bool = False, inside: Node | None = None
    ) -> int | None:
        """The nearest start from which two or more values add up to `value`; None if none.

        `plain` stops at results and known sections, `inside` at sections outside of that one.
        """
        if not value:
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
