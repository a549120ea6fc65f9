"""The facts that a request states and that a result can get wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.judging.lexicon import table
from construction.judging.rules.facts import FactKind, find_facts

_KINDS = (FactKind.DATE, FactKind.NUMBER, FactKind.ENTITY)
_ACRONYM = re.compile(r"[A-Z]{2,5}s?")
_LEAST_NUMBER = 1000  # smaller ones count things ("three sections"): their demand quotes them


def stated(demands: Sequence[str]) -> list[str]:
    """Dates, figures and names in the demands, as they are written there."""
    terms = table("grading")["terms"]
    none = frozenset([*terms["common"], *terms["answers"], *terms["no_facts"]])
    return [
        fact.text
        for fact in find_facts("\n".join(demands))
        if fact.kind in _KINDS
        and not none.issuperset(fact.text.lower().split())
        and _is_telling(fact.kind, fact.text, fact.value)
    ]


def _is_telling(kind: FactKind, text: str, value: str) -> bool:
    """Can a result get it wrong? Acronyms and small counts are none."""
    if kind is FactKind.ENTITY:
        return _ACRONYM.fullmatch(text) is None
    if kind is FactKind.NUMBER:
        whole = value.rstrip("%")
        return value != whole or "." in whole or len(whole) >= len(str(_LEAST_NUMBER))
    return True
