"""Cues in a signal's text: whole words, the longest reading wins, each with its offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from construction.signals.codebook import Codebook
from construction.signals.config import MatchingConfig
from construction.signals.tokens import Phrase, Token, match_at, parse_cue, plain_form, tokens_of
from construction.signals.zones import weight_at, zones

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
