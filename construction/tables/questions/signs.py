"""The sign convention of a question: which side its number gives as negative."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from construction.tables.answers.lexicon import LOSS_ASKED, SIGNED_LABEL
from construction.tables.questions.wording import WORDS, Phrase, phrase_of

_RULES = WORDS["sign"]
_BRACKETS = tuple(
    (re.compile(rule["pattern"], re.I), rule["negative"]) for rule in _RULES["bracket"]
)
_EITHER = tuple(
    (re.compile(rule["pattern"], re.I), rule["negative"], rule.get("balance", False))
    for rule in _RULES["either"]
)
_TURNED = tuple((re.compile(rule["pattern"], re.I), rule["by"]) for rule in _RULES["turned"])
_PAID = re.compile(_RULES["paid"]["pattern"], re.I)
MINUS = "Use a minus sign if the reported figure is negative."


@dataclass(frozen=True, slots=True)
class Signed:
    """A label phrase whose direction is clear, and the sentence that states it, if one must."""

    phrase: str
    clause: str = ""


def signed(phrase: str, *, negative: bool, balance: bool) -> Signed | None:
    """The phrase with its sign convention; `balance`: the value is that of a day.

    A filed value is never turned over: where an unsigned label of a loss or an outflow ("net
    loss") stands beside a `negative` value, the label is written in its signed form; None where
    it has none, for nobody could tell what a negative loss is. Clauses are sentences of their
    own, as the answer check expects.
    """
    for pattern, side in _BRACKETS:
        if pattern.search(phrase):
            return Signed(phrase, _give(side))
    if LOSS_ASKED.search(SIGNED_LABEL.sub(" ", phrase)):
        return _turned(phrase) if negative else Signed(phrase)
    for pattern, side, of_balances in _EITHER:
        if balance == of_balances and pattern.search(phrase):
            return Signed(phrase, _give(side))
    if not balance and _PAID.search(phrase):
        clause = _give("cash paid") if negative else "Give the amount paid as a positive number."
        return Signed(phrase, clause)
    return Signed(phrase, MINUS if negative else "")


@lru_cache(maxsize=200_000)
def phrases_of(label: str) -> tuple[Phrase, ...]:
    """All that a question may call a label: as it is, and turned for a negative value."""
    phrase = phrase_of(label)
    told = signed(phrase.text, negative=True, balance=False)
    turned = told is not None and told.phrase != phrase.text
    return (phrase, phrase_of(told.phrase)) if told is not None and turned else (phrase,)


def _turned(phrase: str) -> Signed | None:
    for pattern, by in _TURNED:
        if pattern.search(phrase):
            turned = pattern.sub(by, phrase, count=1)
            return next(
                Signed(turned, _give(side)) for rule, side in _BRACKETS if rule.search(turned)
            )
    return None


def _give(side: str) -> str:
    return f"Give {side} as a negative number."
