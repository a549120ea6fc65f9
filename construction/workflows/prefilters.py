"""Candidate ideas, by model or by rules, and their filters (Claw-Eval-Live, §3).

The four prefilters of the paper in their order, with two of this project's own (what no grader can
open, what needs a person's account), then near-duplicates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from construction.grading.file_types import type_of
from construction.judging.contracts import Judged
from construction.mentions.files import find_file_spans
from data.contracts import Evidence, LedgerRow, LineageRow, Outcome, StageKind, StageTally
from data.ledger import tally
from data.text.lexicon import load_table

STAGE = "candidate_ideas"
PREFILTER = "idea_prefilter"
_STEPS = (2, 12)
_MINUTES = (10, 300)
_SAME_WORK = 0.8  # of the words of the shorter list of steps
_LEAST_WORK = 15  # distinct words; shorter lists of steps say too little of the work
_LEAST_WORDS = 6  # shorter known texts are titles
_LEAST_GRADED = 25  # characters; "it is correct" says too little


class IdeaReason(StrEnum):
    """Why an idea is not used."""

    NOT_COMPOSITE = "idea.not_composite"
    NO_ARTIFACT = "idea.no_artifact"
    NOT_VERIFIABLE = "idea.not_verifiable"
    TRIVIAL = "idea.trivial"
    IMPOSSIBLE = "idea.impossible"
    PRIVATE_ACCOUNT = "idea.private_account"
    UNGRADABLE = "idea.ungradable"  # no grader can open what is to be made
    NEAR_DUPLICATE = "idea.near_duplicate"
    UNKNOWN_PATTERN = "idea.unknown_pattern"  # of a seed: the rules have no moves for its pattern


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


@dataclass(frozen=True, slots=True)
class Proposed:
    """Ideas that passed, by seed and number; outcomes of seeds and ideas, and their provenance.

    `tallies` has one entry per stage: seeds are consumed or errored, ideas kept or rejected.
    """

    ideas: tuple[Idea, ...]
    judged: tuple[Judged[tuple[Idea, ...]], ...]
    ledger: tuple[LedgerRow, ...]
    lineage: tuple[LineageRow, ...]
    tallies: tuple[StageTally, ...]


def sift(
    judged: Sequence[Judged[tuple[Idea, ...]]], known: Sequence[str], threshold: float
) -> Proposed:
    """The ideas of the seeds after all filters, with ledger and tallies (`known`: see `_twins`)."""
    order = sorted(judged, key=lambda seed_ideas: seed_ideas.item_id)
    ideas = [idea for seed_ideas in order for idea in seed_ideas.value or ()]
    twin = _twins(ideas, known, threshold)
    faults = {idea.idea_id: _first_fault(idea) or twin.get(idea.idea_id) for idea in ideas}
    seed_rows = [_consumed(seed_ideas) for seed_ideas in order]
    idea_rows = [_filtered(idea, faults[idea.idea_id]) for idea in ideas]
    ids = [idea.idea_id for idea in ideas]
    return Proposed(
        ideas=tuple(idea for idea in ideas if faults[idea.idea_id] is None),
        judged=tuple(judged),
        ledger=(*seed_rows, *idea_rows),
        lineage=tuple(
            LineageRow(STAGE, "seed", idea.seed, "idea", idea.idea_id, "proposed") for idea in ideas
        ),
        tallies=(
            tally(STAGE, StageKind.DERIVE, "seed", [each.item_id for each in judged], seed_rows),
            tally(PREFILTER, StageKind.FILTER, "idea", ids, idea_rows),
        ),
    )


def _consumed(seed_ideas: Judged[tuple[Idea, ...]]) -> LedgerRow:
    outcome = Outcome.ERRORED if seed_ideas.value is None else Outcome.CONSUMED
    return LedgerRow(STAGE, "seed", seed_ideas.item_id, outcome, reason=seed_ideas.reason)


def _filtered(idea: Idea, fault: IdeaReason | None) -> LedgerRow:
    outcome = Outcome.KEPT if fault is None else Outcome.REJECTED
    return LedgerRow(PREFILTER, "idea", idea.idea_id, outcome, reason=fault, stratum=idea.seed)


def _first_fault(idea: Idea) -> IdeaReason | None:
    """The first prefilter that an idea fails, in the order of the paper."""
    checks = (
        _composite,
        _clear_artifact,
        _gradable,
        _verifiable,
        _without_account,
        _neither_trivial_nor_impossible,
    )
    return next((fault for check in checks if (fault := check(idea)) is not None), None)


def _composite(idea: Idea) -> IdeaReason | None:
    """At least two different steps, and something to work on."""
    distinct = {_plain(step) for step in idea.steps}
    enough = len(distinct) >= _STEPS[0] and bool(idea.environment)
    return None if enough else IdeaReason.NOT_COMPOSITE


def _clear_artifact(idea: Idea) -> IdeaReason | None:
    """The artifact names a file, or a kind of thing that is stored."""
    named = any(type_of(span.path) for span in find_file_spans(idea.artifact))
    words = set(_plain(idea.artifact).split())
    return None if named or words & _words("artifact_words") else IdeaReason.NO_ARTIFACT


def _verifiable(idea: Idea) -> IdeaReason | None:
    """Evidence other than semantic, and a grading boundary that says what decides."""
    evidence = idea.evidence
    hard = evidence.retrieval or evidence.accuracy or evidence.action
    vague = _holds(idea.graded, "unverifiable") or len(idea.graded.strip()) < _LEAST_GRADED
    return IdeaReason.NOT_VERIFIABLE if vague or not hard else None


def _gradable(idea: Idea) -> IdeaReason | None:
    """Some grader opens one of the files to be made: sound and video alone will not do."""
    kinds = [type_of(span.path) for span in find_file_spans(idea.artifact)]
    known = [kind for kind in kinds if kind is not None]
    is_closed = bool(known) and not any(kind.opener for kind in known)
    return IdeaReason.UNGRADABLE if is_closed else None


def _without_account(idea: Idea) -> IdeaReason | None:
    """No account of a person is needed; one of a simulated service belongs to the workspace."""
    texts = (idea.title, idea.task, *idea.steps, *idea.environment)
    sentences = [part for text in texts for part in re.split(r"(?<=[.!?])\s", text)]
    needs = any(
        _holds(sentence, "private_account") and not _holds(sentence, "inside")
        for sentence in sentences
    )
    return IdeaReason.PRIVATE_ACCOUNT if needs else None


def _neither_trivial_nor_impossible(idea: Idea) -> IdeaReason | None:
    """Possible within the time and means of a closed workspace, and worth the time."""
    text = " ".join((idea.title, idea.task, *idea.steps))
    if idea.minutes < _MINUTES[0] or _holds(text, "trivial"):
        return IdeaReason.TRIVIAL
    too_much = idea.minutes > _MINUTES[1] or len(idea.steps) > _STEPS[1]
    needs = " ".join((text, *idea.environment))
    return IdeaReason.IMPOSSIBLE if too_much or _holds(needs, "impossible") else None


def _twins(
    ideas: Sequence[Idea], known: Sequence[str], threshold: float
) -> Mapping[str, IdeaReason]:
    """Ideas that repeat a known text or an earlier idea, in the order of idea ids.

    Two texts are alike if they share `threshold` of the distinct words of the shorter one. A known
    text of few words is taken for a title and must equal the idea's title. Ideas of one seed are
    also alike if their steps, where they are told at length, share `_SAME_WORK` of these words: the
    same work in another place.
    """
    texts = [frozenset(_plain(text).split()) for text in known]
    titles = {words for words in texts if len(words) < _LEAST_WORDS}
    seen = [words for words in texts if len(words) >= _LEAST_WORDS]
    works: dict[str, list[frozenset[str]]] = {}
    duplicates: dict[str, IdeaReason] = {}
    for idea in sorted(ideas, key=lambda idea: idea.idea_id):
        title = frozenset(_plain(idea.title).split())
        words = title | frozenset(_plain(idea.task).split())
        work, others = (
            frozenset(_plain(" ".join(idea.steps)).split()),
            works.setdefault(idea.seed, []),
        )
        is_long = len(work) >= _LEAST_WORK
        is_known = title in titles or any(_share(words, other) >= threshold for other in seen)
        if is_known or (is_long and any(_share(work, other) >= _SAME_WORK for other in others)):
            duplicates[idea.idea_id] = IdeaReason.NEAR_DUPLICATE
        else:
            seen.append(words)
            others += [work] if is_long else []
    return duplicates


def _share(words: frozenset[str], other_words: frozenset[str]) -> float:
    """The share of the shorter text's words that the other text has."""
    return round(len(words & other_words) / min(len(words), len(other_words)), 9)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(load_table(__package__, "prefilters.toml")[name])


def _holds(text: str, name: str) -> bool:
    form = f" {_plain(text)} "
    return any(
        f" {phrase.strip()} " in form for phrase in load_table(__package__, "prefilters.toml")[name]
    )


def _plain(text: str) -> str:
    kept = "".join(char if char.isalnum() or char == "'" else " " for char in text.lower())
    return " ".join(kept.split())
