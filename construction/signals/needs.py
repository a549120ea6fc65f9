"""What skills need that no closed workspace can give, by their names and summaries.

Where most of a pattern's mass needs an account of a person, or gives what no grader can judge,
tasks without a controlled service in its place cannot be built: nobody has to look for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from math import fsum

from construction.signals.assign import Assignment
from construction.signals.matching import without_exclusions
from data.contracts import Signal
from data.text.folding import plain_form
from data.text.lexicon import load_table


class Need(StrEnum):
    """What a skill needs; the value is the name of its words in `needs.toml`."""

    ACCOUNT = "account"
    NO_GRADER = "no_grader"


def needs_of(signal: Signal) -> frozenset[Need]:
    """What the name and the summary of a skill say that it needs."""
    text = plain_form(without_exclusions(f"{signal.name}. {signal.summary}"))
    return frozenset(need for need in Need if _words(need).search(text))


def needs_by_pattern(
    signals: Sequence[Signal], assignments: Sequence[Assignment], masses: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Pattern -> need -> the share (0 to 1) of the pattern's mass whose skills have this need.

    A signal of several patterns counts in each by its share. Patterns without mass are left out.
    """
    needs = {signal.slug: needs_of(signal) for signal in signals}
    parts: dict[str, list[tuple[float, str]]] = {}
    for assignment in assignments:
        for share in assignment.shares:
            mass = share.share * masses[assignment.slug]
            parts.setdefault(share.pattern, []).append((mass, assignment.slug))
    totals = {pattern: fsum(mass for mass, _ in of) for pattern, of in parts.items()}
    return {
        pattern: {
            need.value: round(
                fsum(mass for mass, slug in of if need in needs[slug]) / totals[pattern], 9
            )
            for need in Need
        }
        for pattern, of in sorted(parts.items())
        if totals[pattern] > 0
    }


@cache
def _words(need: Need) -> re.Pattern[str]:
    """The words of a need; those of ASCII letters stand whole."""
    listed = map(plain_form, load_table(__package__, "needs.toml")[need.value])
    parts = [rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in listed]
    return re.compile("|".join(parts))
