"""Finds cues in a signal's text as whole words, with offsets and weights by position.

Of overlapping matches the longest counts.
"""

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

# Introductory words before the point of a text; they do not count as letters read.
_LEAD_IN = re.compile(
    r"\W*(?:(?:an?|the|this|your|use|used|using|when|whenever|should|be|is|for|to|that|which|with|"
    r"users?|wants?|needs?|asks?|skills?|tools?|servers?|mcp|model|context|protocol|openclaw|"
    r"clawdbot|ai|agents?|assistants?|llms?|claude|enables?|enabling|allows?|allowing|lets?|"
    r"provides?|providing|complete|comprehensive|ultimate|powerful|professional)\b\W*)*",
    re.IGNORECASE,
)
_STEP = 20  # letters: the weight falls in steps
_WIDE_LETTERS = 3  # a Han character counts as three letters
_BRACKETS = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?|【[^【】]*】?")
# The text after these words names the means or related things, not the goal.
_MEANS = re.compile(
    r"(?:\b(?:via|using|powered by|based on|built on|built with|integrat\w+ with|works with|"
    r"compatible with|on top of|backed by|through the|requires?|requiring|including|such as|"
    r"across|for example|e\.g)\b|基于|借助|通过|使用|需要|包括|例如|比如)"
    r"[^.,;:!?。、()]*",
    re.IGNORECASE,
)
# What a text excludes, up to the end of the clause.
_EXCLUDED = re.compile(
    r"(?:\b(?:not (?:for|intended|meant|a|an)|do not use|don't use|never use|without|instead of|"
    r"rather than|unlike|no|for other)\b|不适用|不用于|不要|无需|不需要|而不是|不是)"
    r"[^.,;:!?。;()]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch of text from `start` on, and the weight of a cue that begins in it."""

    start: int
    weight: float


def without_exclusions(text: str) -> str:
    """A text without the clauses that say what a skill is not for, or does not need."""
    return _EXCLUDED.sub(" ", text)


def zones(text: str, *, is_title: bool, config: MatchingConfig) -> list[Zone]:
    """The zones of a text in order, from offset 0 to its end."""
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
    """The weight of the zone that contains `offset`."""
    return spans[bisect_right(spans, offset, key=lambda zone: zone.start) - 1].weight


Part = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CueHit:
    """A cue that counts: its offsets in the field, and its weight (0 to 1)."""

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
    """Cues by their first word, in separate tables for whole words and prefixes."""

    words: Mapping[str, tuple[_Cue, ...]]
    prefixes: Mapping[str, tuple[_Cue, ...]]
    longest_prefix: int


@dataclass(frozen=True, slots=True)
class _Match:
    cue: _Cue
    parts: tuple[Part, ...]

    @property
    def length(self) -> int:
        return sum(end - start for start, end in self.parts)


def find_cues(
    fields: Mapping[str, str], codebook: Codebook, config: MatchingConfig
) -> list[CueHit]:
    """The cues that count in the fields of a signal, sorted by pattern, weight and position.

    The field `summary` has zones; any other is a title. Each cue of a pattern counts once in the
    titles and once in the summary, with its highest weight: a subject named in both is what a
    skill is about. A stretch of text counts once for a pattern, even if several of its cues match.
    """
    best: dict[tuple[str, str, bool], CueHit] = {}
    for field, text in fields.items():
        for hit in _once(_field_hits(field, text[: config.max_chars], codebook, config)):
            key = (hit.pattern, hit.cue, field == "summary")
            if key not in best or hit.weight > best[key].weight:
                best[key] = hit
    return sorted(best.values(), key=lambda h: (h.pattern, -h.weight, h.field, h.start, h.cue))


def evidence(hits: Iterable[CueHit]) -> dict[str, float]:
    """Each pattern's evidence: 1 - Π (1 - weight) over its cues, as if they were independent."""
    doubt: dict[str, float] = {}
    for hit in hits:
        doubt[hit.pattern] = doubt.get(hit.pattern, 1.0) * (1.0 - hit.weight)
    return {pattern: round(1.0 - rest, 9) for pattern, rest in sorted(doubt.items())}


def _once(hits: Iterable[CueHit]) -> Iterator[CueHit]:
    """Of overlapping hits of a pattern the one with the most weight, of equals the longest."""
    taken: dict[str, set[int]] = {}
    for hit in sorted(hits, key=lambda h: (-h.weight, h.start - h.end, h.start, h.cue, h.pattern)):
        offsets = taken.setdefault(hit.pattern, set())
        if offsets.isdisjoint(range(hit.start, hit.end)):
            offsets.update(range(hit.start, hit.end))
            yield hit


def _field_hits(
    field: str, text: str, codebook: Codebook, config: MatchingConfig
) -> Iterator[CueHit]:
    plain = plain_form(text)
    spans = zones(plain, is_title=field != "summary", config=config)
    for match in _longest(list(_find_all(plain, _index(codebook)))):
        start, end = match.parts[0][0], match.parts[-1][1]
        zone_weight = min(weight_at(spans, begin) for begin, _ in match.parts)
        for pattern, strong in match.cue.owners:
            weight = round((config.strong if strong else config.weak) * zone_weight, 9)
            if weight > 0:
                yield CueHit(pattern, match.cue.text, strong, field, start, end, weight)


def _find_all(text: str, index: _Index) -> Iterator[_Match]:
    tokens = tokens_of(text)
    for at, token in enumerate(tokens):
        for cue in _candidates(token, index):
            parts = match_at(cue.phrase, text, tokens, at)
            if parts:
                yield _Match(cue, parts)


def _candidates(token: Token, index: _Index) -> Iterator[_Cue]:
    yield from index.words.get(token.lower, ())
    for length in range(1, min(len(token.lower), index.longest_prefix) + 1):
        yield from index.prefixes.get(token.lower[:length], ())


def _longest(matches: Sequence[_Match]) -> list[_Match]:
    """Without the matches whose parts all lie in parts of a longer match."""
    matches_at: dict[int, list[_Match]] = {}
    for match in matches:
        for start, end in match.parts:
            for offset in range(start, end):
                matches_at.setdefault(offset, []).append(match)
    return [m for m in matches if not any(_inside(m, o) for o in matches_at[m.parts[0][0]])]


def _inside(match: _Match, other: _Match) -> bool:
    if match.length >= other.length:
        return False
    return all(any(s <= a and b <= e for s, e in other.parts) for a, b in match.parts)


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
