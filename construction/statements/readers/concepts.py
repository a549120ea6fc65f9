"""What the name of a taxonomy's concept says: the statement it stands in, and its label.

Facts without presentation (the SEC's companyfacts, xBRL-JSON) have nothing else to go by. A concept
that no rule of `concepts.toml` and no standard tree knows is in no statement.
"""

from __future__ import annotations

import re
from functools import lru_cache

from construction.statements.hierarchy.sections import Role, default_trees
from construction.statements.model import Statement
from data.text.lexicon import load_table

_TABLE = load_table(__package__, "concepts.toml")
_RULES = tuple(
    (Statement(rule["statement"]), rule.get("period"), re.compile(rule["pattern"]))
    for rule in _TABLE["rule"]
)
_OF_DAY = (Statement.BALANCE,)
_OF_SPAN = (Statement.INCOME, Statement.CASH_FLOW)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PAIRS = tuple(
    (re.compile(rf"\b{first} {second}(?:es)?\b"), f"{first} ({second})")
    for first, second in _TABLE["signed"]["pairs"]
)
_WORDS: dict[str, str] = _TABLE["signed"]["words"]
_PARTS: dict[str, str] = _TABLE["signed"]["parts"]


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
