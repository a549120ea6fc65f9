"""Consensus on self-containment as a stage: annotators answer in rounds, people endorse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from construction.judging.consensus import STAGE
from construction.judging.contracts import Asker, Case
from construction.judging.model.asking import cost_rows
from construction.judging.review import Decisions, Topic, answers_decided, write_items
from construction.judging.rounds import Agreement, agree, hold_rounds
from data.atomic import private_dir
from data.canonical import digest
from data.contracts import Scalar
from data.snapshot import layout
from flows.model_calls import asked_with, open_client
from flows.run import Run

REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Consented:
    """What the annotators, or people, agreed on: the verdicts, who gave them, and the routing.

    `inputs` holds the digest of the rounds: answers that a rebuild does not ask for again. `costs`
    are of the rounds held now.
    """

    agreement: Agreement
    costs: Sequence[Mapping[str, Scalar]]
    inputs: Mapping[str, str]


def hold_consensus(run: Run, cases: Sequence[Case], decisions: Decisions) -> Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest."""
    config, folder = run.recipe.judging, private_dir(run.private / REVIEW)
    decided = answers_decided(decisions, Topic.CONTAINMENT)

    def open_model(name: str) -> AbstractContextManager[Asker]:
        return open_client(_with_model(run, name), masked=True)

    held = hold_rounds(folder, _release(run), cases, decided, config, open_model)
    agreement = agree(cases, held.rounds, decided, config.consensus)
    write_items(folder, agreement.disputed)
    costs = [
        row
        for model, judged in held.by_model.items()
        for row in cost_rows(asked_with(_with_model(run, model)), {STAGE: judged})
    ]
    return Consented(agreement, costs, {"consensus-rounds": digest(held.rounds)})


def _with_model(run: Run, name: str) -> Run:
    """The run with another model in its recipe."""
    judging = run.recipe.judging.with_model(name)
    return replace(run, recipe=run.recipe.model_copy(update={"judging": judging}))


def _release(run: Run) -> str:
    """The release that is built: the one of this name and date, or with --revision the next.

    A release that is built again, or continued after a kill, is the same one.
    """
    release = run.recipe.release
    number = 1
    while run.runtime.revision:
        snapshot = layout.snapshot_id(release.name, release.release_date, number)
        if not (run.snapshots / snapshot).exists():
            break
        number += 1
    return layout.snapshot_id(release.name, release.release_date, number)
