"""Consensus on self-containment as a stage: annotators answer in rounds, people endorse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import partial

from construction.judging.consensus import STAGE, UNIT
from construction.judging.contracts import Case
from construction.judging.model.contracts import Asker
from construction.judging.model_calls import cost_rows
from construction.judging.review import Decisions, Topic, answers_decided, write_items
from construction.judging.rounds import Agreement, agree, hold_rounds
from data.atomic import private_dir
from data.canonical import digest
from data.contracts import Scalar, StageKind
from data.run_store import StageOutput
from data.snapshot import layout
from data.stage_tables import write_stage_tables
from flows.model_calls import asked_with, open_client
from flows.prefect_adapter import keep_table, stage
from flows.run import Run

REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Consented:
    """The cases that were agreed on, with their verdicts and who gave them; the stage's output.

    `inputs` holds the digest of the rounds: answers that a rebuild does not ask for again.
    """

    agreement: Agreement
    output: StageOutput
    costs: Sequence[Mapping[str, Scalar]]
    inputs: Mapping[str, str]


@stage("consensus")
def ask_annotators(run: Run, cases: Sequence[Case], decisions: Decisions) -> Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest."""
    config, folder = run.recipe.judging, private_dir(run.private / REVIEW)
    decided = answers_decided(decisions, Topic.CONTAINMENT)

    def open_model(name: str) -> AbstractContextManager[Asker]:
        return open_client(_with_model(run, name), masked=True)

    held = hold_rounds(folder, _release(run), cases, decided, config, open_model)
    agreement = agree(cases, held.rounds, decided, config.consensus)
    write_items(folder, agreement.disputed)
    keep_table("consensus-rounds", [asdict(count) for count in agreement.routed.funnel])
    ids, ledger = [case.candidate.task_id for case in cases], agreement.routed.ledger
    write = partial(
        write_stage_tables, kind=StageKind.FILTER, ids_in=ids, rows=ledger, stage=STAGE, unit=UNIT
    )
    output = run.store.run(STAGE, run.store.key(STAGE, ids, list(ledger)), write)
    costs = [
        row
        for model, judged in held.asked.items()
        for row in cost_rows(asked_with(_with_model(run, model)), {STAGE: judged})
    ]
    return Consented(agreement, output, costs, {"consensus-rounds": digest(held.rounds)})


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
