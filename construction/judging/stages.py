"""What each judging stage computes: consensus, and what is screened, written and graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from construction.judging.consensus import STAGE as CONSENSUS
from construction.judging.consensus import UNIT
from construction.judging.contracts import Asker, Case, Judged, Screened
from construction.judging.evidence.pictures import Pictures
from construction.judging.judge import grade_cases, screen_cases, written_cases
from construction.judging.judges import Judges
from construction.judging.model.asking import write_model_use
from construction.judging.review import Decisions, Topic, answers_decided, write_items
from construction.judging.rounds import Agreement, agree, hold_rounds
from construction.judging.settings import ModelStage
from construction.judging.stage_output import (
    for_review,
    reviewed,
    write_graded,
    write_screened,
    write_written,
)
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Scalar, StageKind
from data.stage_tables import write_stage_tables

if TYPE_CHECKING:
    from construction.judging.llm import Client

_AGREED = "agreed.json"


@dataclass(frozen=True, slots=True)
class Consented:
    """What the annotators, or people, agreed on: the verdicts, who gave them, and the routing.

    `inputs` holds the digest of the rounds: answers that a rebuild does not ask for again. `costs`
    are of the rounds held now.
    """

    agreement: Agreement
    costs: Sequence[Mapping[str, Scalar]]
    inputs: Mapping[str, str]


def hold_consensus(
    judges: Judges,
    folder: Path,
    release: str,
    cases: Sequence[Case],
    decisions: Decisions,
    pictures: Pictures | None = None,
) -> Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest.

    `folder` keeps the rounds, and takes what people have to decide.
    """
    decided = answers_decided(decisions, Topic.CONTAINMENT)

    def open_model(name: str) -> AbstractContextManager[Asker]:
        return judges.with_model(name).client(masked=True)

    held = hold_rounds(folder, release, cases, decided, judges.config, open_model, pictures)
    agreement = agree(cases, held.rounds, decided, judges.config.consensus)
    write_items(folder, agreement.disputed)
    costs = [
        row
        for model, judged in held.by_model.items()
        for row in judges.with_model(model).costs({CONSENSUS: judged})
    ]
    return Consented(agreement, costs, {"consensus-rounds": digest(held.rounds)})


def write_consensus(cases: Sequence[Case], consented: Consented, out: Path) -> None:
    """Write what was agreed on, and the stage tables of all cases."""
    ids = [case.candidate.task_id for case in cases]
    rows = consented.agreement.routed.ledger
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=CONSENSUS, unit=UNIT)
    verdicts_by_id = {judged.item_id: judged.value for judged in consented.agreement.judged}
    agreed = {"judge": consented.agreement.judge, "verdicts": verdicts_by_id}
    write_bytes(out / _AGREED, canonical_json(agreed))
    write_model_use(out, consented.costs)


def screen_as_agreed(
    cases: Sequence[Case], consensus: Path, judges: Judges, decisions: Decisions, out: Path
) -> None:
    """Keep what the consensus found self-contained."""
    agreed = orjson.loads((consensus / _AGREED).read_bytes())
    admitted = [case for case in cases if case.candidate.task_id in agreed["verdicts"]]
    judged = [
        Judged(task_id, Screened.model_validate(agreed["verdicts"][task_id]))
        for task_id in (case.candidate.task_id for case in admitted)
    ]
    verdicts, config = reviewed(judged, decisions), judges.config
    write_screened(admitted, verdicts, decisions, agreed["judge"], config, out)


def screen_as_judged(
    cases: Sequence[Case],
    judges: Judges,
    decisions: Decisions,
    out: Path,
    pictures: Pictures | None = None,
) -> None:
    """Keep what the judge of the recipe, or people, find self-contained.

    Where facts speak against a model, people are asked to decide.
    """
    config, stage = judges.config, ModelStage.SCREEN
    judge = config.model.judge_of(stage)
    with _client(judges, stage) as client:
        judged = screen_cases(cases, config, client, pictures)
        _note_use(judges, stage, client, judged, out)
    facts = screen_cases(cases, config, None)
    write_items(out, for_review(cases, judged, facts, judge) if client is not None else [])
    write_screened(cases, reviewed(judged, decisions), decisions, judge, config, out)


def write_tasks(
    cases: Sequence[Case],
    judges: Judges,
    decisions: Decisions,
    seed: int,
    out: Path,
    pictures: Pictures | None = None,
) -> None:
    """Give the cases their request, deliverables, labels and difficulty."""
    config, stage = judges.config, ModelStage.WRITE
    with _client(judges, stage) as client:
        judged = written_cases(cases, config, client, seed, pictures)
        _note_use(judges, stage, client, judged, out)
    write_written(cases, judged, decisions, config.model.judge_of(stage), out)


def grade_tasks(
    cases: Sequence[Case], judges: Judges, out: Path, pictures: Pictures | None = None
) -> None:
    """Give the candidates of the cases their rubric and rules, and keep the programs."""
    config, stage = judges.config, ModelStage.GRADE
    with _client(judges, stage) as client:
        judged = grade_cases(cases, config, client, pictures)
        _note_use(judges, stage, client, judged, out)
    write_graded(cases, judged, config.model.judge_of(stage), out)


def _client(judges: Judges, stage: ModelStage) -> AbstractContextManager[Client | None]:
    """The client of the model if it does a stage."""
    return judges.client(masked=True) if judges.config.model.does(stage) else nullcontext()


def _note_use(
    judges: Judges,
    stage: ModelStage,
    client: Client | None,
    judged: Sequence[Judged[Any]],
    out: Path,
) -> None:
    if client is not None:
        replies = {f"model-replies-{stage}": client.replies_digest()}
        write_model_use(out, judges.costs({str(stage): judged}), replies)
