"""Role classes by weighted words: whose work does a request ask for?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from construction.judging.contracts import Case, RoleClass
from construction.judging.phrases import plain
from construction.judging.reading import read
from construction.judging.rules.words import table
from construction.phrases import any_of
from data.contracts import Count, Label, StageConfig, Weight

_STRENGTHS = ("strong", "usual", "weak")
_MOST = 30_000  # characters of a text that are read
_HAN, _LATIN = r"[\u3400-\u9fff]", r"[A-Za-z0-9]"
_EDGE = re.compile(rf"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")
_SIGNS = re.compile(r"[/_.-]")
_NAMED = 3  # words that a reason cites


class TaxonomyConfig(StageConfig):
    """Weights of a word by its strength and by where it stands; a word counts once.

    `demand` is the factor for a sentence that wants something, `file_name` for names of inputs
    and outputs, `reply` for the agent's last words and what was said before: they count only if
    the request has not a single word.
    """

    strong: Weight = 3.0
    usual: Weight = 1.0
    weak: Weight = 0.3
    demand: Weight = 2.0
    file_name: Weight = 1.0
    reply: Weight = 0.3
    words: Count = 5  # of each role, the heaviest: a long talk says no more than a short request
    fallback: RoleClass = RoleClass.ENGINEERING_IT


def role_of(case: Case, config: TaxonomyConfig) -> Label:
    """The role with the greatest score; of equals the first in the contract's order."""
    texts = list(zones(case, config))
    scores, hits = _score(texts, config)
    if not any(scores.values()):
        scores, hits = _score([(text, config.reply) for text in _others(case)], config)
    best = max(RoleClass, key=lambda role: scores[role])
    total = sum(scores.values())
    if not total:
        return Label(value=str(config.fallback), confidence=0.2, reason="no word of any role")
    runner_up = max(score for role, score in scores.items() if role is not best)
    confidence = 0.5 + 0.5 * (scores[best] - runner_up) / (scores[best] + runner_up)
    words = ", ".join(hits[best][:_NAMED])
    return Label(value=str(best), confidence=round(min(confidence, 0.95), 9), reason=words)


def zones(case: Case, config: TaxonomyConfig) -> Iterator[tuple[str, float]]:
    """The texts of a case in plain form, joined by their factor, the heaviest first."""
    wanted: list[str] = []
    told: list[str] = []
    for sentence in read(case.request[:_MOST]):
        (wanted if sentence.demands else told).append(spaced(sentence.text))
    yield "".join(wanted), config.demand
    yield "".join(told), 1.0
    candidate = case.candidate
    names = [fixture.path for fixture in candidate.fixtures]
    names += [name for item in candidate.deliverables for name in item.name_hints]
    yield "".join(spaced(_SIGNS.sub(" ", name)) for name in names), config.file_name


def _others(case: Case) -> Iterator[str]:
    yield spaced(case.reply[:_MOST])
    yield from (spaced(text[:_MOST]) for text in case.background)


def spaced(text: str) -> str:
    """The plain form with a space between Han and Latin letters, so that word edges hold."""
    return plain(_EDGE.sub(" ", text))


def _score(
    zones: list[tuple[str, float]], config: TaxonomyConfig
) -> tuple[Mapping[RoleClass, float], Mapping[RoleClass, list[str]]]:
    """Scores and the words behind them, the heaviest first."""
    scores: dict[RoleClass, float] = {}
    hits: dict[RoleClass, list[str]] = {}
    for role in RoleClass:
        found: dict[str, float] = {}
        for strength in _STRENGTHS:
            weight: float = getattr(config, strength)
            for text, factor in zones:
                for match in _pattern(role, strength).finditer(text):
                    word = match[0].strip()
                    found[word] = max(found.get(word, 0.0), weight * factor)
        hits[role] = sorted(found, key=lambda word: (-found[word], word))
        scores[role] = round(sum(found[word] for word in hits[role][: config.words]), 9)
    return scores, hits


@cache
def _pattern(role: RoleClass, strength: str) -> re.Pattern[str]:
    return any_of(table("roles")[role][strength])
