"""Role and skill of a task, by words.

A word counts once, by its strength and its place. The evidence for a label is the share of its
score in the scores of the two best labels and of a doubt, the weight of being none of them, which
grows with the length of the request: a word says less of a longer one. Confidence is a logistic
function of the evidence, fitted on labelled tasks (benchmarks/results/task_labels.md). Below
`least_confidence` a label is `unassigned`, and its reason names the best guess. A role is guessed
from what else was said if the request has no word of any role, and is the `fallback` if that has
none either: such guesses are never assigned. A skill is chosen among those of the role.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from construction.grading.file_types import type_of
from construction.judging.contracts import UNASSIGNED, Case, RoleClass
from construction.judging.deliverables import ANSWER
from construction.judging.inputs import named_inputs
from construction.judging.lexicon import phrases, table
from construction.judging.reading import read
from construction.mentions.spans import find_file_spans
from data.contracts import Count, Label, Share, StageConfig, Weight
from data.text.lexicon import any_of
from data.text.scripts import HAN
from data.text.sentences import phrase_form

_STRENGTHS = ("strong", "usual", "weak")
_MOST = 30_000  # characters of a text that are read
_LATIN = r"[A-Za-z0-9]"
_EDGE = re.compile(rf"(?<=[{HAN}])(?={_LATIN})|(?<={_LATIN})(?=[{HAN}])")
_SIGNS = re.compile(r"[/_.-]")
_NAMED = 3  # words that a reason cites
_FEW = 2  # inputs, which a task is about even if its request does not name them
_GENERAL_ROUTE = "read what is given → do what is asked → check the result against the request"
_MOST_SURE = 0.95
_CODE = "source code"  # what a file of a programming language counts as
_SLOPE, _MIDDLE = 8.6, 0.3  # confidence by evidence, fitted
_UNSURE = 1e-9  # a guess without a word of the request is never assigned
_SHORT = 150  # characters of a request, up to which a word says most


class TaxonomyConfig(StageConfig):
    """Weights of a word by its strength and its position; a word counts once.

    `demand` is the factor for sentences that ask for something, `file_name` for names of inputs and
    outputs. `doubt` is the weight of no role being right in a short request, `skill_doubt` of no
    skill of the role.
    """

    strong: Weight = 3.0
    usual: Weight = 1.0
    weak: Weight = 0.3
    demand: Weight = 2.0
    file_name: Weight = 1.0
    words: Count = 5  # the heaviest of each role, so that long requests have no advantage
    doubt: Weight = 3.0
    skill_doubt: Weight = 2.0
    least_confidence: Share = 0.5
    fallback: RoleClass = RoleClass.ENGINEERING_IT  # the commonest role of agents' sessions


def role_of(case: Case, config: TaxonomyConfig) -> Label:
    """The best guess, or `unassigned` where it is too unsure."""
    return _assigned(guess_role(case, config), config)


def guess_role(case: Case, config: TaxonomyConfig) -> Label:
    """The role with the highest score; among equals the first in the contract's order.

    Confidence is 0 if the request has no word of any role.
    """
    doubt = config.doubt * _length_factor(case.request)
    texts = list(zones(case, config))
    for said, sure in ((texts, True), ([(text, 1.0) for text in _others(case)], False)):
        scores, words = _role_scores(said, config)
        if any(scores.values()):
            best = _best({str(role): scores[role] for role in RoleClass}, words, doubt)
            return best if sure else best.model_copy(update={"confidence": 0.0})
    return Label(value=str(config.fallback), confidence=0.0, reason="no word of any role")


def _others(case: Case) -> Iterator[str]:
    """What else was said: the agent's last words and earlier messages, in plain form."""
    yield _plain(case.reply[:_MOST])
    yield from (_plain(text[:_MOST]) for text in case.background)


def skill_of(case: Case, role: str, config: TaxonomyConfig) -> tuple[Label, Label]:
    """The skill subclass of the role ("role.skill") and its route; both may be unassigned."""
    scores: dict[str, float] = {}
    words: dict[str, list[str]] = {}
    texts = list(zones(case, config))
    for name, pattern in _patterns().items():
        if name.startswith(f"{role}."):
            weights = _weights(pattern, 1.0, texts)
            scores[name] = round(sum(weights.values()), 9)
            words[name] = sorted(weights, key=lambda word: (-weights[word], -len(word), word))
    best = _best(scores, words, config.skill_doubt * _length_factor(case.request))
    skill = _assigned(best, config)
    route = _skills()[skill.value]["route"] if skill.value in _skills() else _GENERAL_ROUTE
    return skill, skill.model_copy(update={"value": route, "reason": f"route of {skill.value}"})


def _length_factor(request: str) -> float:
    return max(1.0, math.sqrt(len(request) / _SHORT))


def _best(scores: Mapping[str, float], words: Mapping[str, list[str]], doubt: float) -> Label:
    """The label with the highest score; among equals the first. `unassigned` without any word."""
    ranked = sorted(scores, key=lambda name: -scores[name])
    if not ranked or not scores[ranked[0]]:
        return Label(value=UNASSIGNED, confidence=0.0, reason="no word of any")
    first, second = scores[ranked[0]], scores[ranked[1]] if len(ranked) > 1 else 0.0
    evidence = first / (first + second + doubt)
    confidence = round(min(1 / (1 + math.exp(-_SLOPE * (evidence - _MIDDLE))), _MOST_SURE), 9)
    reason = ", ".join(words[ranked[0]][:_NAMED])
    return Label(value=ranked[0], confidence=confidence, reason=reason)


def _assigned(best: Label, config: TaxonomyConfig) -> Label:
    """The label itself, or `unassigned` with the guess as its reason."""
    if best.value == UNASSIGNED or best.confidence >= max(config.least_confidence, _UNSURE):
        return best
    reason = f"too few words for {best.value}: {best.reason}"
    return Label(value=UNASSIGNED, confidence=best.confidence, reason=reason)


def zones(case: Case, config: TaxonomyConfig) -> Iterator[tuple[str, float]]:
    """The texts of a case in plain form, joined by factor, the greatest factor first."""
    wanted: list[str] = []
    others: list[str] = []
    for sentence in read(_with_stems(case.request[:_MOST])):
        (wanted if sentence.demands else others).append(_plain(sentence.text))
    yield "".join(wanted), config.demand
    yield "".join(others), 1.0
    candidate = case.candidate
    paths = [fixture.path for fixture in candidate.fixtures]
    given = named_inputs(case.request, paths)
    names = [path for path in given if len(given) < len(paths) or len(paths) <= _FEW]
    names += [name for item in candidate.deliverables for name in item.name_hints]
    named = [span.path for span in find_file_spans(case.request[:_MOST])]
    is_code = any(map(_is_code, (*named, *paths, *names)))
    said = [*(_stem(name) for name in names if name != ANSWER), *([_CODE] if is_code else [])]
    yield "".join(map(_plain, said)), config.file_name


def _is_code(path: str) -> bool:
    kind = type_of(path)
    return kind is not None and kind.kind == "code"


def _with_stems(text: str) -> str:
    """The text with files by their names alone: a folder or a type of file is nobody's work."""
    pieces, position = [], 0
    for span in find_file_spans(text):
        pieces += [text[position : span.start], _stem(text[span.start : span.end])]
        position = span.end
    return "".join([*pieces, text[position:]])


def _stem(path: str) -> str:
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return _SIGNS.sub(" ", name.rpartition(".")[0] or name)


def _plain(text: str) -> str:
    """The plain form without phrases whose words mean something else than by themselves."""
    return phrases("fixed_phrases", "phrases").sub(" … ", spaced(text))


def spaced(text: str) -> str:
    """The plain form with a space between Han and Latin letters, so that word boundaries match."""
    return phrase_form(_EDGE.sub(" ", text))


def _role_scores(
    texts: list[tuple[str, float]], config: TaxonomyConfig
) -> tuple[Mapping[str, float], Mapping[str, list[str]]]:
    """Scores and the words behind them, the heaviest first."""
    scores: dict[str, float] = {}
    words: dict[str, list[str]] = {}
    for role in RoleClass:
        weights: dict[str, float] = {}
        for strength in _STRENGTHS:
            heavier = _weights(_pattern(role, strength), getattr(config, strength), texts)
            weights |= {
                word: max(weight, weights.get(word, 0.0)) for word, weight in heavier.items()
            }
        words[role] = sorted(weights, key=lambda word: (-weights[word], word))
        scores[role] = round(sum(weights[word] for word in words[role][: config.words]), 9)
    return scores, words


def _weights(
    pattern: re.Pattern[str], weight: float, texts: list[tuple[str, float]]
) -> dict[str, float]:
    """The words of a pattern in the texts, each with its weight at its best place."""
    weights: dict[str, float] = {}
    for text, factor in texts:
        for match in pattern.finditer(text):
            word = match[0].strip()
            weights[word] = max(weights.get(word, 0.0), weight * factor)
    return weights


@cache
def _pattern(role: RoleClass, strength: str) -> re.Pattern[str]:
    return any_of(table("roles")[role][strength])


@cache
def _skills() -> Mapping[str, Any]:
    return {
        f"{role}.{skill}": entry
        for role, skills in table("skills").items()
        for skill, entry in skills.items()
    }


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {name: any_of(entry["words"]) for name, entry in _skills().items()}


def skill_pattern(value: str) -> re.Pattern[str] | None:
    """The words of a skill subclass; None for an unassigned one."""
    return _patterns().get(value)


def skill_name(value: str) -> str:
    """The name of a skill subclass for people."""
    return str(_skills()[value]["name"]) if value in _skills() else "No single skill"


def skill_definition(value: str) -> str:
    """The definition of a skill subclass."""
    if value in _skills():
        return str(_skills()[value]["definition"])
    return "Work that the words of its request do not place under one skill"
