"""Consensus on self-containment: annotators answer in rounds, people endorse (design, judging)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from construction.judging.calls.config import LlmConfig
from construction.judging.consensus import RULES, STAGE, ConsensusConfig, Routed, route
from construction.judging.contracts import Case, Containment
from construction.judging.judge import contain
from construction.judging.model.containment import rules_opinion
from construction.judging.model.contracts import Judged
from construction.judging.model_calls import cost_rows, require_answers
from construction.judging.review import (
    Decisions,
    ReviewItem,
    Topic,
    answers_decided,
    disputes,
    write_items,
)
from construction.judging.rounds import (
    Round,
    agreed,
    held_rounds,
    judge_anew,
    opinions,
    read_rounds,
    rounds_of,
    with_release,
    write_rounds,
)
from data.atomic import private_dir
from data.canonical import digest
from data.contracts import Scalar
from data.snapshot import layout
from flows.model_calls import asked_with, open_client
from flows.run import Run

REVIEW = "review"
Rounds = dict[str, list[Round]]


@dataclass(frozen=True, slots=True)
class Consented:
    """What the annotators, or people, agreed on: the verdicts, who gave them, and the routing.

    `inputs` holds the digest of the rounds: answers that a rebuild does not ask for again. `costs`
    are of the rounds held now.
    """

    judged: list[Judged[Containment]]
    judge: str
    routed: Routed
    costs: Sequence[Mapping[str, Scalar]]
    inputs: Mapping[str, str]


def hold_consensus(run: Run, cases: Sequence[Case], decisions: Decisions) -> Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest."""
    config = run.recipe.judging.consensus
    ids = [case.candidate.task_id for case in cases]
    decided = answers_decided(decisions, Topic.CONTAINMENT)
    rounds, costs = _hold_rounds(run, cases, decided)
    votes = opinions(rounds)
    undecided = route(ids, votes, config)
    routed = route(ids, votes, config, decided=decided)
    write_items(run.private / REVIEW, _disputed(cases, rounds, undecided, config))
    admitted = {row.item_id: row for row in routed.admitted}
    verdicts = [
        Judged(task_id, agreed(rounds[task_id], admitted[task_id], config.annotators))
        for task_id in ids
        if task_id in admitted
    ]
    judge = f"consensus: {', '.join(map(_mark, config.annotators))}"
    return Consented(verdicts, judge, routed, costs, {"consensus-rounds": digest(rounds)})


def _hold_rounds(
    run: Run, cases: Sequence[Case], decided: Mapping[str, str | None]
) -> tuple[Rounds, list[dict[str, Scalar]]]:
    """All rounds that count for this release, those held now included, and what these cost.

    They are written when every annotator has answered: a build that was stopped before that
    holds the same rounds again, out of the store of replies.
    """
    config = run.recipe.judging.consensus
    folder, release = private_dir(run.private / REVIEW), _release(run)
    log = read_rounds(folder)
    known = rounds_of(log, release, cases, config)
    is_new = all(line.release != release for line in log)
    due = _due(cases, known, decided, config, is_new=is_new)
    told, costs = {}, []
    for annotator in config.annotators if due else ():
        told[annotator], asked = _answers(run, annotator, due, known)
        costs += [] if asked is None else cost_rows(asked, {STAGE: told[annotator]})
    log = with_release(log, release, held_rounds(due, told, known))
    write_rounds(folder, log)
    return rounds_of(log, release, cases, config), costs


def _due(
    cases: Sequence[Case],
    known: Mapping[str, Sequence[Round]],
    decided: Mapping[str, str | None],
    config: ConsensusConfig,
    *,
    is_new: bool,
) -> list[Case]:
    """The cases that nobody has read, and in a new release those that wait for the next round."""
    waiting = {one.item_id for one in route(list(known), opinions(known), config).queue}
    return [
        case
        for case in cases
        if not known[case.candidate.task_id]
        or (
            is_new
            and case.candidate.task_id in waiting
            and case.candidate.task_id not in decided
            and len(known[case.candidate.task_id]) < config.max_rounds
        )
    ]


def _answers(
    run: Run, annotator: str, due: Sequence[Case], known: Mapping[str, Sequence[Round]]
) -> tuple[list[Judged[Containment]], LlmConfig | None]:
    """What one annotator says of the cases, and how it was asked if it is a model."""
    config = run.recipe.judging
    if annotator == RULES:
        return contain(due, config, None), None
    model = config.model.model_copy(update={"name": annotator})
    judging = config.model_copy(update={"model": model})
    asking = replace(run, recipe=run.recipe.model_copy(update={"judging": judging}))
    with open_client(asking, masked=True) as client:
        second = rules_opinion(config.containment)
        judged = require_answers(judge_anew(due, known, client, judging.stage_settings, second))
    return judged, asked_with(asking)


def _disputed(
    cases: Sequence[Case],
    rounds: Mapping[str, Sequence[Round]],
    routed: Routed,
    config: ConsensusConfig,
) -> list[ReviewItem]:
    """What the annotators have not agreed on, decided or not, with their last answers."""
    admitted = {one.item_id for one in routed.admitted}
    texts = {
        case.candidate.task_id: case.candidate.prompt
        for case in cases
        if case.candidate.task_id not in admitted
    }
    last = {name: rounds[name][-1].verdicts for name in texts}
    by_judge = {
        _mark(annotator): {
            name: str(verdict.reason_code)
            for name, told in last.items()
            if (verdict := told[annotator]) is not None
        }
        for annotator in config.annotators
    }
    return disputes(Topic.CONTAINMENT, texts, by_judge)


def _mark(annotator: str) -> str:
    return annotator if annotator == RULES else f"model:{annotator}"


def _release(run: Run) -> str:
    """The release that is built: the one of this name and date, or with --revision the next.

    A release that is built again, or goes on after a kill, is the same one.
    """
    told = run.recipe.release
    number = 1
    while run.runtime.revision:
        if not (run.snapshots / layout.snapshot_id(told.name, told.release_date, number)).exists():
            break
        number += 1
    return layout.snapshot_id(told.name, told.release_date, number)
