"""Labels of line items: Japanese in English, and what the name of a taxonomy's concept says.

Japanese: from the project's own table, or composed of its parts. Every rule takes something off the
label and composes the rest, so composing ends. Composed parts are cached, so a label costs at most
as many steps as it has substrings.

Concepts: the statement and the label. Facts without presentation (the SEC's companyfacts,
xBRL-JSON) have nothing else to go by. A concept that no rule of `concepts.toml` and no standard
tree knows is in no statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from construction.statements.model import LabelMethod, Statement
from construction.statements.sections import Role, default_trees
from data.errors import ConfigError
from data.text.folding import without_spaces
from data.text.lexicon import load_table
from data.text.lexicon import load_table as load_toml

_LONGEST_LABEL = 120  # characters; no statement has a longer item
_TABLE = "labels.tsv"

_Table = Mapping[str, Mapping[str, str]]
_AFFIXES = load_toml(__package__, "labels.toml")
_PROFIT = re.compile(r"\b([Pp]rofit|[Gg]ains?|[Ee]arnings)\b")
_BRACKETS = re.compile(r"([^()]+)\(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Translation:
    """The English text of a label, or None; `exact` if the table has the whole label."""

    text: str | None
    method: LabelMethod
    exact: bool = False


def translate(label: str, statement: Statement | None = None) -> Translation:
    """The English label of a Japanese line item; `statement` resolves labels that depend on it.

    A label without Japanese letters is returned unchanged. The text is ASCII: if a part of the
    label is unknown, the label is untranslated, never half translated.
    """
    if label.isascii() and label.strip():
        return Translation(label.strip(), LabelMethod.REPORTED, exact=True)
    if len(label) > _LONGEST_LABEL:
        return Translation(None, LabelMethod.UNTRANSLATED)
    return _translated(without_spaces(label), statement)


@cache
def _default_table() -> _Table:
    """The table that ships with the project."""
    return _load_table(Path(__file__).with_name(_TABLE))


def _load_table(path: Path) -> _Table:
    """Read a table: folded label -> statement (or "" for any) -> English text.

    Lines are tab separated: label, English, and optionally the statement; `#` starts a comment.
    Raises ConfigError for a malformed line and for a label that occurs twice.
    """
    table: dict[str, dict[str, str]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        key, english, statement = _row(path, number, line)
        texts = table.setdefault(key, {})
        if statement in texts:
            raise ConfigError(f"{path}:{number}: this label already has a line. Remove one.")
        texts[statement] = english
    return table


def _row(path: Path, number: int, line: str) -> tuple[str, str, str]:
    parts = line.split("\t")
    statement = parts[2] if len(parts) == 3 else ""
    fits = len(parts) in (2, 3) and statement in ("", *Statement)
    if not fits or not parts[1].strip() or not parts[1].isascii():
        raise ConfigError(
            f"{path}:{number}: found {len(parts)} columns; expected a label, its English text in "
            "ASCII and, if the text applies to one statement only, that statement's name."
        )
    return without_spaces(parts[0]), parts[1].strip(), statement


@cache
def _known(statement: Statement | None) -> Mapping[str, str]:
    """What each label means in a statement: its text there, for any statement, or the first."""
    name = "" if statement is None else str(statement)
    return {
        key: texts.get(name) or texts.get("") or next(iter(texts.values()))
        for key, texts in _default_table().items()
    }


def _translated(key: str, statement: Statement | None) -> Translation:
    known = _known(statement)
    if key in known:
        return Translation(known[key], LabelMethod.TABLE, exact=True)
    text = _compose(key, known)
    if text is None or not text.isascii():
        return Translation(None, LabelMethod.UNTRANSLATED)
    return Translation(text, LabelMethod.TABLE)


def _compose(key: str, known: Mapping[str, str]) -> str | None:
    """The English of a folded label made of parts in `known` (folded -> English), else None."""
    return _Composer(known).text(key)


def _lowered(text: str) -> str:
    """The text inside a phrase: without leading "Total", with a small initial (acronyms stay)."""
    text = text.removeprefix("Total ")
    return text[0].lower() + text[1:] if text[1:2].islower() else text


class _Composer:
    """The parts of one label, each composed once."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = known
        self.memory: dict[str, str | None] = {}

    def text(self, key: str) -> str | None:
        if key in self.known:
            return self.known[key]
        if key not in self.memory:
            self.memory[key] = None  # a part never contains itself
            self.memory[key] = self._by_rules(key) if key else None
        return self.memory[key]

    def _by_rules(self, key: str) -> str | None:
        # Rules from the outermost part inwards: a section applies to the whole item before it.
        return (
            self._section(key)
            or self._either(key)
            or self._affixed(key, self.text)
            or self._joined(key)
            or self._bracketed(key)
        )

    def _section(self, key: str) -> str | None:
        """`X、Y`: the item and its sections; an item may contain commas itself."""
        parts = key.split("、")
        texts: list[str] = []
        at = 0
        while at < len(parts):
            ends = range(len(parts), at, -1)
            pieces = ((end, self._piece(parts[at:end])) for end in ends)
            end, text = next(((end, text) for end, text in pieces if text), (0, ""))
            if not text:
                return None
            texts.append(text)
            at = end
        if len(parts) == 1 or not texts:
            return None
        item, *sections = texts
        return f"{item} ({', '.join(map(_lowered, sections))})" if sections else item

    def _piece(self, parts: Sequence[str]) -> str | None:
        """One item or section; one with commas must be in the table, apart from one affix."""
        key = "、".join(parts)
        return self.text(key) if len(parts) == 1 else self._affixed(key, self.known.get)

    def _either(self, key: str) -> str | None:
        """`A又はB`; a profit or the loss of the same kind becomes one: profit (loss)."""
        head, word, tail = key.partition("又は")
        bare = tail.removesuffix("(△)")
        first, second = self.text(head), self.text(bare)
        if not word or first is None or second is None:
            return None
        if bare in (head.replace("利益", "損失"), head.replace("益", "損")) and bare != head:
            return _PROFIT.sub(r"\1 (loss)", first, count=1)
        return f"{first} or {_lowered(second)}"

    def _affixed(self, key: str, stem: Callable[[str], str | None]) -> str | None:
        """`stem` gives the English of the label without the affix."""
        if part := self.known.get(key):
            return part
        for suffix, template in _AFFIXES["suffixes"]:
            if key.endswith(suffix) and (part := stem(key.removesuffix(suffix))):
                return _filled(template, part)
        for prefix, template in _AFFIXES["prefixes"]:
            if key.startswith(prefix) and (part := stem(key.removeprefix(prefix))):
                return _filled(template, part)
        return None

    def _joined(self, key: str) -> str | None:
        for joint, english in _AFFIXES["joints"]:
            head, word, tail = key.partition(joint)
            first, second = self.text(head), self.text(tail)
            if word and first is not None and second is not None:
                return f"{first}{english}{_lowered(second)}"
        return None

    def _bracketed(self, key: str) -> str | None:
        """`X(Y)` if both are known."""
        match = _BRACKETS.fullmatch(key)
        if match is None:
            return None
        outer, inner = self.text(match[1]), self.text(match[2])
        return f"{outer} ({_lowered(inner)})" if outer and inner else None


def _filled(template: str, part: str) -> str:
    return template.format(x=part if template.startswith("{x}") else _lowered(part))


_CONCEPTS = load_table(__package__, "concepts.toml")
_RULES = tuple(
    (Statement(rule["statement"]), rule.get("period"), re.compile(rule["pattern"]))
    for rule in _CONCEPTS["rule"]
)
_OF_DAY = (Statement.BALANCE,)
_OF_SPAN = (Statement.INCOME, Statement.CASH_FLOW)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PAIRS = tuple(
    (re.compile(rf"\b{first} {second}(?:es)?\b"), f"{first} ({second})")
    for first, second in _CONCEPTS["signed"]["pairs"]
)
_WORDS: dict[str, str] = _CONCEPTS["signed"]["words"]
_PARTS: dict[str, str] = _CONCEPTS["signed"]["parts"]


@lru_cache(maxsize=100_000)
def statement_of(concept: str, *, instant: bool) -> Statement | None:
    """The statement of a concept by its name, whatever its prefix; None if nothing says it."""
    concept = concept.rpartition(":")[2]
    period = "instant" if instant else "duration"
    for statement, only, pattern in _RULES:
        if only in (None, period) and pattern.search(concept):
            return None if statement is Statement.OTHER else statement
    trees = default_trees()
    for statement in _OF_DAY if instant else _OF_SPAN:
        if trees.placement(statement, concept, "").role is not Role.UNKNOWN:
            return statement
    return None


@lru_cache(maxsize=100_000)
def label_of(concept: str) -> str:
    """ProfitLossBeforeTax becomes "Profit (loss) before tax"."""
    words = [word if word.isupper() else word.lower() for word in _HUMP.split(concept)]
    text = " ".join(_WORDS.get(word, word) for word in words)
    for pattern, written in _PAIRS:
        text = pattern.sub(written, text, count=1)
    for part, written in _PARTS.items():
        text = text.replace(part, written)
    return text[:1].upper() + text[1:]
