"""What each judging stage computes: consensus, self-containment, and the labels of what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from construction.judging.consensus import STAGE as CONSENSUS
from construction.judging.consensus import UNIT
from construction.judging.contracts import Asker, Case, Containment, Judged
from construction.judging.judge import LABELLING, ModelStage, contain, label_and_grade, verdicts
from construction.judging.judges import Judges
from construction.judging.model.asking import require_answers, write_model_use
from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.review import Decisions, Topic, answers_decided, write_items
from construction.judging.rounds import Agreement, agree, hold_rounds
from construction.judging.stage_output import (
    for_review,
    reviewed,
    write_contained,
    write_labelled,
)
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Scalar, StageKind
from data.stage_tables import write_stage_tables

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
    judges: Judges, folder: Path, release: str, cases: Sequence[Case], decisions: Decisions
) -> Consented:
    """Hold the rounds that are due, admit what is unanimous or decided, queue the rest.

    `folder` keeps the rounds, and takes what people have to decide.
    """
    decided = answers_decided(decisions, Topic.CONTAINMENT)

    def open_model(name: str) -> AbstractContextManager[Asker]:
        return judges.with_model(name).client(masked=True)

    held = hold_rounds(folder, release, cases, decided, judges.config, open_model)
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


def contain_as_agreed(
    cases: Sequence[Case], consensus: Path, decisions: Decisions, out: Path
) -> None:
    """Keep what the consensus found self-contained."""
    agreed = orjson.loads((consensus / _AGREED).read_bytes())
    admitted = [case for case in cases if case.candidate.task_id in agreed["verdicts"]]
    judged = [
        Judged(task_id, Containment.model_validate(agreed["verdicts"][task_id]))
        for task_id in (case.candidate.task_id for case in admitted)
    ]
    write_contained(admitted, reviewed(judged, decisions), decisions, agreed["judge"], out)


def contain_as_judged(
    cases: Sequence[Case], judges: Judges, decisions: Decisions, out: Path
) -> None:
    """Keep what the judge of the recipe, or people, find self-contained.

    Where the rules differ from a model, people are asked to decide.
    """
    config = judges.config
    if not config.model.does(ModelStage.SELF_CONTAINMENT):
        judged = reviewed(contain(cases, config, None), decisions)
        write_contained(cases, judged, decisions, "rules", out)
        write_items(out, [])
        return
    with judges.client(masked=True) as client:
        judged = require_answers(contain(cases, config, client))
        replies = {"model-replies-containment": client.replies_digest()}
    by_judge = {config.model.judge: judged, "rules": verdicts(cases, config)}
    write_items(out, for_review(cases, by_judge))
    write_contained(cases, reviewed(judged, decisions), decisions, config.model.judge, out)
    write_model_use(out, judges.costs({CONTAINMENT: judged}), replies)


def label_cases(
    cases: Sequence[Case], judges: Judges, decisions: Decisions, seed: int, out: Path
) -> None:
    """Give the cases their labels, task class, deliverables, rubric and rules.

    A candidate on which the model gave no usable answer is errored.
    """
    config = judges.config
    by_model = [stage for stage in LABELLING if config.model.does(stage)]
    with judges.client(masked=True) if by_model else nullcontext() as client:
        result = label_and_grade(cases, config, client, seed)
        replies = {"model-replies-labels": client.replies_digest()} if client is not None else {}
    write_labelled(cases, result, decisions, out)
    judged: dict[ModelStage, Sequence[Judged[Any]]] = {
        ModelStage.LABELS: result.labels,
        ModelStage.TASK_CLASS: result.names,
        ModelStage.GRADING: result.gradings,
    }
    write_model_use(out, judges.costs({str(stage): judged[stage] for stage in by_model}), replies)
