"""Where in a text a cue stands, and how much it says there."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from construction.signals.config import MatchingConfig

# How texts begin before they come to their point; it does not count as read.
_LEAD_IN = re.compile(
    r"\W*(?:(?:an?|the|this|your|use|used|using|when|whenever|should|be|is|for|to|that|which|with|"
    r"users?|wants?|needs?|asks?|skills?|tools?|servers?|mcp|model|context|protocol|openclaw|"
    r"clawdbot|ai|agents?|assistants?|llms?|claude|enables?|enabling|allows?|allowing|lets?|"
    r"provides?|providing|complete|comprehensive|ultimate|powerful|professional)\b\W*)*",
    re.IGNORECASE,
)
_STEP = 20  # letters: the weight falls in steps
_FIRST_HAN, _HAN_WIDTH = "\u3400", 3  # a Han character says about as much as three letters
_BRACKETS = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?|【[^【】]*】?")
# What follows names the means or the neighbours, not the goal.
_MEANS = re.compile(
    r"(?:\b(?:via|using|powered by|based on|built on|built with|integrat\w+ with|works with|"
    r"compatible with|on top of|backed by|through the|requires?|requiring|including|such as|"
    r"across|for example|e\.g)\b|基于|借助|通过|使用|需要|包括|例如|比如)"
    r"[^.,;:!?。、()]*",
    re.IGNORECASE,
)
# What a text excludes: up to the end of the clause.
_EXCLUDED = re.compile(
    r"(?:\b(?:not (?:for|intended|meant|a|an)|do not use|don't use|never use|without|instead of|"
    r"rather than|unlike|no|for other)\b|不适用|不用于|不要|无需|不需要|而不是|不是)"
    r"[^.,;:!?。;()]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch of text that starts at `start` and the weight of a cue that begins in it."""

    start: int
    weight: float


def zones(text: str, *, is_title: bool, config: MatchingConfig) -> list[Zone]:
    """The zones of a text in order, from 0 to its end."""
    if is_title:
        return [Zone(0, config.title)]
    lead_in = _LEAD_IN.match(text)
    begin = lead_in.end() if lead_in else 0
    factors = [1.0] * len(text)
    for pattern, factor in ((_BRACKETS, config.aside), (_MEANS, config.aside), (_EXCLUDED, 0.0)):
        for match in pattern.finditer(text, begin):
            start, end = match.span()
            factors[start:end] = [min(f, factor) for f in factors[start:end]]
    slope = (config.opening - config.rest) / config.fades
    read = 0
    weights = []
    for at, (char, factor) in enumerate(zip(text, factors, strict=True)):
        weights.append(factor * max(config.rest, config.opening - slope * (read // _STEP * _STEP)))
        if at >= begin:
            read += _HAN_WIDTH if char >= _FIRST_HAN else 1
    return [
        Zone(at, round(weight, 9))
        for at, weight in enumerate(weights)
        if at == 0 or weight != weights[at - 1]
    ] or [Zone(0, config.opening)]


def weight_at(spans: list[Zone], offset: int) -> float:
    """The weight of the zone that holds `offset`."""
    return spans[bisect_right(spans, offset, key=lambda zone: zone.start) - 1].weight
