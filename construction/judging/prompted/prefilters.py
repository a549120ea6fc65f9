"""The four prefilters of candidate ideas, and near-duplicates (Claw-Eval-Live, §3)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from rapidfuzz.fuzz import token_set_ratio

from construction.judging.file_types import type_of
from construction.sessions.mention_spans import find_file_spans
from data.contracts import Evidence

_STEPS = (2, 12)
_MINUTES = (10, 300)
_LEAST_GRADED = 25  # characters: "it is correct" decides nothing


class IdeaReason(StrEnum):
    """Why an idea is not taken up."""

    NOT_COMPOSITE = "idea.not_composite"
    NO_ARTIFACT = "idea.no_artifact"
    NOT_VERIFIABLE = "idea.not_verifiable"
    TRIVIAL = "idea.trivial"
    IMPOSSIBLE = "idea.impossible"
    NEAR_DUPLICATE = "idea.near_duplicate"


@dataclass(frozen=True, slots=True)
class Idea:
    """A candidate idea: what is asked, what must be made for it, and how it is graded."""

    idea_id: str
    seed: str
    task_family: str
    title: str
    task: str
    steps: tuple[str, ...]
    artifact: str
    environment: tuple[str, ...]
    evidence: Evidence
    graded: str
    ungraded: str
    minutes: int


def first_fault(idea: Idea) -> IdeaReason | None:
    """The first prefilter that an idea fails, in the order of the paper."""
    checks = (composite, clear_artifact, verifiable, neither_trivial_nor_impossible)
    return next((fault for check in checks if (fault := check(idea)) is not None), None)


def composite(idea: Idea) -> IdeaReason | None:
    """At least two different steps, and something to work on."""
    distinct = {_plain(step) for step in idea.steps}
    enough = len(distinct) >= _STEPS[0] and bool(idea.environment)
    return None if enough else IdeaReason.NOT_COMPOSITE


def clear_artifact(idea: Idea) -> IdeaReason | None:
    """The artifact names a file or a kind of thing that is stored."""
    named = any(type_of(span.path) for span in find_file_spans(idea.artifact))
    words = set(_plain(idea.artifact).split())
    return None if named or words & _words("artifact_words") else IdeaReason.NO_ARTIFACT


def verifiable(idea: Idea) -> IdeaReason | None:
    """Some evidence beside meaning, and a grading boundary that says what decides."""
    evidence = idea.evidence
    hard = evidence.retrieval or evidence.accuracy or evidence.action
    vague = _holds(idea.graded, "unverifiable") or len(idea.graded.strip()) < _LEAST_GRADED
    return IdeaReason.NOT_VERIFIABLE if vague or not hard else None


def neither_trivial_nor_impossible(idea: Idea) -> IdeaReason | None:
    """Within the time and the means of a closed workspace, and worth the time."""
    told = " ".join((idea.title, idea.task, *idea.steps))
    if idea.minutes < _MINUTES[0] or _holds(told, "trivial"):
        return IdeaReason.TRIVIAL
    too_much = idea.minutes > _MINUTES[1] or len(idea.steps) > _STEPS[1]
    needs = " ".join((told, *idea.environment))
    return IdeaReason.IMPOSSIBLE if too_much or _holds(needs, "impossible") else None


def twins(
    ideas: Sequence[Idea], known: Sequence[str], threshold: float
) -> Mapping[str, IdeaReason]:
    """Ideas that say what a known text or an earlier idea says; earlier goes by idea id.

    Two texts are alike if the words of one are those of the other to `threshold`
    (rapidfuzz's token set ratio, 0 to 1).
    """
    seen = [_plain(text) for text in sorted(set(known))]
    found: dict[str, IdeaReason] = {}
    for idea in sorted(ideas, key=lambda idea: idea.idea_id):
        form = _plain(f"{idea.title} {idea.task}")
        if any(round(token_set_ratio(form, other) / 100, 9) >= threshold for other in seen):
            found[idea.idea_id] = IdeaReason.NEAR_DUPLICATE
        else:
            seen.append(form)
    return found


@cache
def _table() -> Mapping[str, Sequence[str]]:
    folder = files("construction.judging.prompted")
    return tomllib.loads(folder.joinpath("prefilters.toml").read_text("utf-8"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_table()[name])


def _holds(text: str, name: str) -> bool:
    form = f" {_plain(text)} "
    return any(f" {phrase.strip()} " in form for phrase in _table()[name])


def _plain(text: str) -> str:
    kept = "".join(char if char.isalnum() or char == "'" else " " for char in text.lower())
    return " ".join(kept.split())
