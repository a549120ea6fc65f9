"""Role and skill of a task by a table of words, with a threshold; below it they are unassigned.

The evidence for a label is the share of its score in the scores of the two best labels and of a
doubt, which grows with the length of the request: a word says less of a longer one. Confidence is a
logistic function of the evidence, fitted on labelled tasks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from construction.judging.contracts import UNASSIGNED, Case, RoleClass, Taxonomy
from construction.mentions.spans import find_file_spans
from construction.prompt_frame import ANSWER
from data.contracts import Label
from data.text.lexicon import any_of, load_table
from data.text.scripts import HAN
from data.text.sentences import phrase_form, sentence_spans

_STRENGTHS = {"strong": 3.0, "usual": 1.0, "weak": 0.3}
_DOUBT, _SKILL_DOUBT = 3.0, 2.0  # the weight of being none of them, in a short request
_SHORT = 150  # characters of a request, up to which a word says most
_SLOPE, _MIDDLE = 8.6, 0.3  # confidence by evidence, fitted on 200 labelled tasks
_LEAST, _MOST_SURE = 0.5, 0.95
_HEAVIEST = 5  # words of each label, so that long requests have no advantage
_NAMED = 3  # words that a reason cites
_CHARS = 30_000  # of a request that are read
_TASK_WORDS, _TASK_HAN = 14, 28
_LEAST_CHARS = 5  # of a phrase; a shorter one says nothing
_GENERAL_ROUTE = "read what is given → do what is asked → check the result against the request"
_EDGE = re.compile(rf"(?<=[{HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{HAN}])|[/_.-]")


def label(case: Case) -> Taxonomy:
    """Role, skill, its route, and the beginning of the request as the business task."""
    text = _plain(case)
    doubt = max(1.0, math.sqrt(len(case.request) / _SHORT))
    role = _best({name: _weights(words, text) for name, words in _roles().items()}, _DOUBT * doubt)
    skills = {
        name: dict.fromkeys(_words_in(entry["words"], text), 1.0)
        for name, entry in skill_table().items()
        if name.startswith(f"{role.value}.")
    }
    skill = _best(skills, _SKILL_DOUBT * doubt)
    entry = skill_table().get(skill.value, {})
    return Taxonomy(
        business_task=business_task(case.request) or str(entry.get("name", "Work with files")),
        role=role,
        skill_subclass=skill,
        skill_route=skill.model_copy(
            update={
                "value": str(entry.get("route", _GENERAL_ROUTE)),
                "reason": f"route of {skill.value}",
            }
        ),
    )


def business_task(request: str) -> str:
    """The beginning of the request's first sentence, without names of files; "" if it has none."""
    for start, end in sentence_spans(request):
        words = " ".join(_without_files(request[start:end]).split()).strip(" ,.;:，。；：…")
        if len(words) > _LEAST_CHARS:
            han = len(re.findall(rf"[{HAN}]", words))
            cut = (
                words[:_TASK_HAN] if han * 2 > len(words) else " ".join(words.split()[:_TASK_WORDS])
            )
            return (cut[:1].upper() + cut[1:])[:200]
    return ""


def skill_name(value: str) -> str:
    """The name of a skill subclass for people."""
    return str(skill_table()[value]["name"]) if value in skill_table() else "No single skill"


def skill_definition(value: str) -> str:
    """The definition of a skill subclass."""
    if value in skill_table():
        return str(skill_table()[value]["definition"])
    return "Work that the words of its request do not place under one skill"


@cache
def skill_table() -> Mapping[str, Any]:
    """The skill subclasses by "role.skill"."""
    table = load_table("construction.judging", "tables", "skills.toml")
    return {
        f"{role}.{name}": entry for role, skills in table.items() for name, entry in skills.items()
    }


@cache
def _roles() -> Mapping[str, Mapping[str, list[str]]]:
    table = load_table("construction.judging", "tables", "roles.toml")
    return {str(role): {key: table[role][key] for key in _STRENGTHS} for role in RoleClass}


def _weights(words: Mapping[str, list[str]], text: str) -> dict[str, float]:
    matched = {
        word: _STRENGTHS[strength]
        for strength in reversed(_STRENGTHS)
        for word in _words_in(words[strength], text)
    }
    heaviest = sorted(matched, key=lambda word: (-matched[word], word))[:_HEAVIEST]
    return {word: matched[word] for word in heaviest}


def _best(weights: Mapping[str, Mapping[str, float]], doubt: float) -> Label:
    """The label with the highest score, or `unassigned` with the guess as its reason."""
    scores = {name: round(sum(words.values()), 9) for name, words in weights.items()}
    ranked = sorted(scores, key=lambda name: -scores[name])
    if not ranked or not scores[ranked[0]]:
        return Label(value=UNASSIGNED, confidence=0.0, reason="no word of any")
    best = ranked[0]
    second = scores[ranked[1]] if len(ranked) > 1 else 0.0
    evidence = scores[best] / (scores[best] + second + doubt)
    confidence = round(min(1 / (1 + math.exp(-_SLOPE * (evidence - _MIDDLE))), _MOST_SURE), 9)
    reason = ", ".join(list(weights[best])[:_NAMED])
    if confidence >= _LEAST:
        return Label(value=best, confidence=confidence, reason=reason)
    reason = f"too few words for {best}: {reason}"
    return Label(value=UNASSIGNED, confidence=confidence, reason=reason)


def _words_in(words: list[str], text: str) -> list[str]:
    return list(dict.fromkeys(match[0].strip() for match in _pattern(tuple(words)).finditer(text)))


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return any_of(words)


def _plain(case: Case) -> str:
    """Request and names of files in the form of the tables' words."""
    names = [name for item in case.candidate.deliverables for name in item.name_hints]
    names += [fixture.path for fixture in case.candidate.fixtures[:_NAMED]]
    stems = " ".join(name.rpartition("/")[2].partition(".")[0] for name in names if name != ANSWER)
    return phrase_form(_EDGE.sub(" ", f"{case.request[:_CHARS]}\n{stems}"))


def _without_files(text: str) -> str:
    pieces, position = [], 0
    for span in find_file_spans(text):
        pieces.append(text[position : span.start])
        position = span.end
    return "…".join([*pieces, text[position:]])
