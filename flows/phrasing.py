"""The last stage of the questions lane: each question in a model's words, or in structured ones.

The structured words are the rules' twin: they stand where no model is asked, and wherever the
model's did not pass the checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from construction.judging.calls.contracts import Image
from construction.judging.judge import ModelStage
from construction.judging.model import phrasing
from construction.judging.model.contracts import Judged
from construction.judging.model_calls import cost_rows, require_answers, write_model_use
from construction.statements.enrichment.raster import render_png
from construction.statements.questions.candidates import candidate_of
from construction.statements.questions.contracts import Question
from construction.statements.questions.index import index_database
from construction.statements.questions.output import numbers_of, stored_questions, write_questions
from construction.statements.store import read_statements
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import Candidate, Disclosure, LedgerRow, Outcome, StageKind
from data.pool import write_pool
from data.stage_tables import write_stage_tables
from flows.model_calls import asked_with, open_client
from flows.run import Run

STAGE = phrasing.STAGE
PHRASING_REPORT = "phrasing.json"


def phrase_questions(run: Run, asked: Path, database: Path, pages: Path, out: Path) -> None:
    """Word what was asked, into `out`; `pages` holds the picture of each statement by number.

    Raises ReleaseError where the model was not asked, or gave no answer, about some question.
    """
    questions = stored_questions(asked)
    model = run.recipe.judging.model
    if not model.does(ModelStage.QUESTION_PHRASING):
        _write(run, questions, [Judged(row.point_id, row) for row in questions], out)
        return
    statements = read_statements(database)
    index = index_database(statements, run.recipe.questions.wording.round_share)
    shown = _pictures(run, questions, pages) if model.sees_images else {}
    public = all(row.company.disclosure == Disclosure.PUBLIC for row in questions)
    with open_client(run, masked=public) as client:
        config = run.recipe.judging.stage_settings
        worded = phrasing.phrase_questions(questions, index, client, config, shown)
        replies = {"model-replies-questions": client.replies_digest()}
    costs = cost_rows(asked_with(run), {STAGE: require_answers(worded)})
    _write(run, questions, worded, out)
    write_model_use(out, costs, replies)


def _pictures(run: Run, questions: Sequence[Question], pages: Path) -> dict[str, Image]:
    """The picture of each question's statement, by point."""
    numbers = numbers_of(questions, run.recipe.release.seed)
    return {
        point_id: Image("image/png", render_png((pages / f"{number:05}.svg").read_text("utf-8")))
        for point_id, number in numbers.items()
    }


def _write(
    run: Run,
    questions: Sequence[Question],
    worded: Sequence[Judged[Question]],
    out: Path,
) -> None:
    """Tables, candidates and books; the old words stand where there are no new ones."""
    judge = run.recipe.judging.model.judge_of(ModelStage.QUESTION_PHRASING)
    final = [one.value or old for one, old in zip(worded, questions, strict=True)]
    (out / "public").mkdir()
    write_questions(out / "public", out / "private", final, run.recipe.release.seed)
    judges = [judge if one.value is not None else "rules" for one in worded]
    candidates = [_candidate(run, *pair) for pair in zip(final, judges, strict=True)]
    write_pool(out, sorted(candidates, key=lambda candidate: candidate.task_id), {})
    rows = [
        LedgerRow(STAGE, "point", one.item_id, Outcome.KEPT, reason=one.reason) for one in worded
    ]
    ids = [one.point_id for one in questions]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=STAGE, unit="point")
    refused = Counter(str(one.reason) for one in worded if one.reason is not None)
    taken = 0 if judge == "rules" else len(worded) - refused.total()
    report = {"judge": judge, "reworded": taken, "not_taken": dict(sorted(refused.items()))}
    write_bytes(out / PHRASING_REPORT, pretty_json(report))


def _candidate(run: Run, question: Question, judge: str) -> Candidate:
    task_id = run.opaque("q", question.point_id)
    candidate = candidate_of(question, task_id, run.recipe.questions.licence)
    provenance = candidate.provenance.model_copy(update={"judge": judge})
    return candidate.model_copy(update={"provenance": provenance})
