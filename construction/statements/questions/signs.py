"""The sign convention of a question: what a negative number means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from construction.grading.answers.lexicon import LOSS_ASKED, SIGNED_LABEL
from construction.grading.answers.question import sides
from construction.statements.questions.contracts import FlowSide
from construction.statements.questions.wording import WORDS, Phrase, filed_phrase, phrase_of

_RULES = WORDS["sign"]
_BRACKETS = tuple(
    (re.compile(rule["pattern"], re.I), rule["negative"]) for rule in _RULES["bracket"]
)
_EITHER = tuple(
    (re.compile(rule["pattern"], re.I), rule["negative"], rule.get("balance", False))
    for rule in _RULES["either"]
)
_TURNED = tuple((re.compile(rule["pattern"], re.I), rule["by"]) for rule in _RULES["turned"])
GAIN, _NEVER, PAID, _LOSS, _CONTRA, _ADJUSTING = (
    re.compile(_RULES[name]["pattern"], re.I)
    for name in ("gain", "never", "paid", "loss", "contra", "adjusting")
)
_TWO_SIDED = re.compile(r"\(\w+")
# Sides that a concept has and the words of a row need not have: "policy benefits", "legal reserve".
ODD_SIDES = frozenset(f"Give {side} as a negative number."
                      for side in ("income", "an expense", "a deficit"))  # fmt: skip
_POSITIVE_LOSS = "Give a loss as a positive number."


@dataclass(frozen=True, slots=True)
class Signed:
    """A label phrase whose direction is clear, and the sentence that states it if needed."""

    phrase: str
    clause: str = ""


def signed(
    phrase: str,
    *,
    negative: bool,
    balance: bool,
    side: FlowSide | None = None,
    negated: bool = False,
    gains_apart: bool = False,
) -> Signed | None:
    """The phrase with its sign convention.

    `balance`: the value is that of a day. `side`: the part of a cash flow statement of the line,
    unless it names a flow of cash itself. `negated`: the statement prints the value with its sign
    reversed. `gains_apart`: gains and losses have lines of their own there.

    The sign of a filed value is never reversed: an unsigned label of a loss with a `negative` value
    is written in its signed form. Clauses are sentences of their own, as the answer check expects.
    None where the sign would be unclear: plain items below zero, and those that a cash flow
    statement subtracts, a negative loss without a signed form.
    """
    if side is not None and _ADJUSTING.search(phrase):
        return Signed(phrase, _give(str(side)))
    if side is not None and negated and not _TWO_SIDED.search(phrase) and not GAIN.search(phrase):
        return None
    for pattern, below in _BRACKETS:
        if pattern.search(phrase):
            return Signed(phrase, _give(below))
    if LOSS_ASKED.search(SIGNED_LABEL.sub(" ", phrase)):
        if negative:
            return _turned(phrase)
        return Signed(phrase, "" if balance or not _LOSS.search(phrase) else _POSITIVE_LOSS)
    if not negative and _NEVER.search(phrase):
        return Signed(phrase)
    clause = _either_way(phrase, balance) or _one_way(phrase, negative, balance, side, negated)
    is_gain = gains_apart and not negative and GAIN.search(phrase) is not None
    clause = "" if is_gain and clause == _give("a loss") else clause
    is_turned = negative and clause == _give(str(FlowSide.ADDED_BACK))
    return None if is_turned or (negative and not clause) else Signed(phrase, clause)


def _either_way(phrase: str, balance: bool) -> str:
    """The sentence for a label that can have either sign; empty for others."""
    for pattern, below, of_balances in _EITHER:
        if balance == of_balances and pattern.search(phrase):
            return _give(below)
    return ""


def _one_way(
    phrase: str, negative: bool, balance: bool, side: FlowSide | None, negated: bool
) -> str:
    """The sentence for all other labels; empty if a positive value needs none."""
    if not balance and PAID.search(phrase):
        below = "cash received" if negated else str(FlowSide.CASH)  # "paid" is no minus
        return _give(below) if negative else "Give the amount paid as a positive number."
    if negative and side is not None and not negated:
        return _give(str(side))
    if not balance and GAIN.search(phrase):
        return _give("a loss")
    if negative and not negated and _CONTRA.search(phrase):
        return _give("a deduction")
    return ""


@lru_cache(maxsize=200_000)
def phrases_of(label: str) -> tuple[Phrase, ...]:
    """What a question may call a label: as it is, and in its signed form for a negative value."""
    phrase = phrase_of(label)
    signed_label = signed(phrase.text, negative=True, balance=False)
    turned = signed_label is not None and signed_label.phrase != phrase.text
    return (
        (phrase, phrase_of(signed_label.phrase))
        if signed_label is not None and turned
        else (phrase,)
    )


@lru_cache(maxsize=200_000)
def readings_of(label: str) -> tuple[Phrase, ...]:
    """What a reader may take a label for: what questions call it, and its own words."""
    return (*phrases_of(label), filed_phrase(label))


def _turned(phrase: str) -> Signed | None:
    for pattern, by in _TURNED:
        if pattern.search(phrase):
            turned = pattern.sub(by, phrase, count=1)
            return next(
                Signed(turned, _give(side)) for rule, side in _BRACKETS if rule.search(turned)
            )
    return None


def _give(side: str) -> str:
    """Only what the answer check knows in words may be asked for."""
    if side not in sides():
        raise KeyError(f"{side}: expected an entry of answers/sides.toml. Add one.")
    return f"Give {side} as a negative number."
