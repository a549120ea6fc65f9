"""Cues in a signal's text: whole words, the longest reading wins, each with its offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from construction.signals.codebook import Codebook
from construction.signals.config import MatchingConfig
from construction.signals.tokens import Phrase, Token, match_at, parse_cue, plain_form, tokens_of
from data.text.scripts import FIRST_WIDE

# How texts begin before they come to their point; it does not count as read.
_LEAD_IN = re.compile(
    r"\W*(?:(?:an?|the|this|your|use|used|using|when|whenever|should|be|is|for|to|that|which|with|"
    r"users?|wants?|needs?|asks?|skills?|tools?|servers?|mcp|model|context|protocol|openclaw|"
    r"clawdbot|ai|agents?|assistants?|llms?|claude|enables?|enabling|allows?|allowing|lets?|"
    r"provides?|providing|complete|comprehensive|ultimate|powerful|professional)\b\W*)*",
    re.IGNORECASE,
)
_STEP = 20  # letters: the weight falls in steps
_WIDE_LETTERS = 3  # a Han character says about as much as three letters
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
            read += _WIDE_LETTERS if char >= FIRST_WIDE else 1
    return [
        Zone(at, round(weight, 9))
        for at, weight in enumerate(weights)
        if at == 0 or weight != weights[at - 1]
    ] or [Zone(0, config.opening)]


def weight_at(spans: list[Zone], offset: int) -> float:
    """The weight of the zone that holds `offset`."""
    return spans[bisect_right(spans, offset, key=lambda zone: zone.start) - 1].weight


Part = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CueHit:
    """A cue that counts: where it stands (offsets in the field) and how much it says (0 to 1)."""

    pattern: str
    cue: str
    strong: bool
    field: str
    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class _Cue:
    text: str
    phrase: Phrase
    owners: tuple[tuple[str, bool], ...]  # (pattern, strong); none for a decoy


@dataclass(frozen=True, slots=True)
class _Index:
    """Cues by their first word: whole words apart from prefixes."""

    words: Mapping[str, tuple[_Cue, ...]]
    prefixes: Mapping[str, tuple[_Cue, ...]]
    longest_prefix: int


@dataclass(frozen=True, slots=True)
class _Found:
    cue: _Cue
    parts: tuple[Part, ...]

    @property
    def said(self) -> int:
        return sum(end - start for start, end in self.parts)


def find_cues(
    fields: Mapping[str, str], codebook: Codebook, config: MatchingConfig
) -> list[CueHit]:
    """The cues that count in the fields of a signal, sorted by pattern, weight and place.

    The field `summary` has zones; any other is a title. Each cue of a pattern counts once in the
    titles and once in the summary, at its best: a thing that both name is what a skill is about.
    A stretch of text counts once for a pattern, however many of the pattern's cues it fits.
    """
    best: dict[tuple[str, str, bool], CueHit] = {}
    for field, text in fields.items():
        for hit in _once(_field_hits(field, text[: config.max_chars], codebook, config)):
            key = (hit.pattern, hit.cue, field == "summary")
            if key not in best or hit.weight > best[key].weight:
                best[key] = hit
    return sorted(best.values(), key=lambda h: (h.pattern, -h.weight, h.field, h.start, h.cue))


def evidence(hits: Iterable[CueHit]) -> dict[str, float]:
    """Each pattern's evidence: 1 - Π (1 - weight) over its cues, as if they spoke independently."""
    doubt: dict[str, float] = {}
    for hit in hits:
        doubt[hit.pattern] = doubt.get(hit.pattern, 1.0) * (1.0 - hit.weight)
    return {pattern: round(1.0 - left, 9) for pattern, left in sorted(doubt.items())}


def _once(hits: Iterable[CueHit]) -> Iterator[CueHit]:
    """Of a pattern's hits that overlap, the heaviest (of equals: the longest)."""
    taken: dict[str, set[int]] = {}
    for hit in sorted(hits, key=lambda h: (-h.weight, h.start - h.end, h.start, h.cue, h.pattern)):
        places = taken.setdefault(hit.pattern, set())
        if places.isdisjoint(range(hit.start, hit.end)):
            places.update(range(hit.start, hit.end))
            yield hit


def _field_hits(
    field: str, text: str, codebook: Codebook, config: MatchingConfig
) -> Iterator[CueHit]:
    plain = plain_form(text)
    spans = zones(plain, is_title=field != "summary", config=config)
    for found in _longest(list(_find_all(plain, _index(codebook)))):
        start, end = found.parts[0][0], found.parts[-1][1]
        place = min(weight_at(spans, begin) for begin, _ in found.parts)
        for pattern, strong in found.cue.owners:
            weight = round((config.strong if strong else config.weak) * place, 9)
            if weight > 0:
                yield CueHit(pattern, found.cue.text, strong, field, start, end, weight)


def _find_all(text: str, index: _Index) -> Iterator[_Found]:
    tokens = tokens_of(text)
    for at, token in enumerate(tokens):
        for cue in _candidates(token, index):
            parts = match_at(cue.phrase, text, tokens, at)
            if parts:
                yield _Found(cue, parts)


def _candidates(token: Token, index: _Index) -> Iterator[_Cue]:
    yield from index.words.get(token.lower, ())
    for length in range(1, min(len(token.lower), index.longest_prefix) + 1):
        yield from index.prefixes.get(token.lower[:length], ())


def _longest(found: Sequence[_Found]) -> list[_Found]:
    """Without the matches of which every part lies in a part of a match that says more."""
    cover: dict[int, list[_Found]] = {}
    for one in found:
        for start, end in one.parts:
            for at in range(start, end):
                cover.setdefault(at, []).append(one)
    return [one for one in found if not any(_inside(one, o) for o in cover[one.parts[0][0]])]


def _inside(one: _Found, other: _Found) -> bool:
    if one.said >= other.said:
        return False
    return all(any(s <= a and b <= e for s, e in other.parts) for a, b in one.parts)


@cache
def _index(codebook: Codebook) -> _Index:
    owners: dict[str, list[tuple[str, bool]]] = {phrase: [] for phrase in codebook.decoys}
    for slug, pattern in codebook.patterns.items():
        for strong, cues in ((True, pattern.strong), (False, pattern.weak)):
            for text in cues:
                owners.setdefault(text, []).append((slug, strong))
    words: dict[str, list[_Cue]] = {}
    prefixes: dict[str, list[_Cue]] = {}
    for text in sorted(owners):
        cue = _Cue(text, parse_cue(text), tuple(owners[text]))
        first = cue.phrase.halves[0][0]
        (prefixes if first.is_prefix else words).setdefault(first.text.lower(), []).append(cue)
    return _Index(
        {word: tuple(cues) for word, cues in words.items()},
        {word: tuple(cues) for word, cues in prefixes.items()},
        max(map(len, prefixes), default=0),
    )


def hits_by_pattern(hits: Iterable[CueHit]) -> dict[str, list[CueHit]]:
    """Hits grouped by pattern, in their order."""
    grouped: dict[str, list[CueHit]] = {}
    for hit in hits:
        grouped.setdefault(hit.pattern, []).append(hit)
    return grouped
