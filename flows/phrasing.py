"""The last stage of the questions lane: each question in a model's words, or in structured ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from construction.judging.judge import ModelStage
from construction.judging.model import phrasing
from construction.judging.model.contracts import Judged
from construction.judging.model.phrasing import REPORT, STAGE, ReleaseTerms, write_phrased
from construction.judging.model.prompt import load_prompt
from construction.judging.model_calls import answers_of, cost_rows, require_answers
from construction.statements.questions.contracts import Question
from construction.statements.questions.index import index_database
from construction.statements.questions.output import stored_questions
from construction.statements.store import read_statements
from data.contracts import Disclosure, Scalar
from data.run_store import StageOutput
from flows.model_calls import asked_with, open_client
from flows.run import Run


@dataclass(frozen=True, slots=True)
class Phrased:
    """The questions as they are released, what a model cost, and its replies."""

    output: StageOutput
    costs: Sequence[Mapping[str, Scalar]] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def report(self) -> dict[str, Any]:
        """How many questions are in a model's words, and why the others are not."""
        report: dict[str, Any] = orjson.loads((self.output.path / REPORT).read_bytes())
        return report


def phrase_questions(run: Run, asked: Path, database: Path, pages: Path) -> Phrased:
    """Word the questions in the folder `asked`; `pages` holds the picture of each statement.

    Raises ReleaseError where the model gave no reply about some question.
    """
    questions = stored_questions(asked)
    model, seed = run.recipe.judging.model, run.recipe.release.seed
    if not model.does(ModelStage.QUESTION_PHRASING):
        same = [Judged(question.point_id, question) for question in questions]
        return Phrased(_store(run, asked, questions, same))
    statements = read_statements(database)
    index = index_database(statements, run.recipe.questions.wording.round_share)
    images = phrasing.statement_pictures(questions, pages, seed) if model.sees_images else {}
    public = all(item.company.disclosure == Disclosure.PUBLIC for item in questions)
    with open_client(run, masked=public) as client:
        config = run.recipe.judging.stage_settings
        worded = phrasing.phrase_questions(questions, index, client, config, images)
        inputs = {"model-replies-questions": client.replies_digest()}
    costs = cost_rows(asked_with(run), {STAGE: require_answers(worded)})
    return Phrased(_store(run, asked, questions, worded), costs, inputs)


def _store(
    run: Run, asked: Path, questions: Sequence[Question], worded: Sequence[Judged[Question]]
) -> StageOutput:
    judge = run.recipe.judging.model.judge_of(ModelStage.QUESTION_PHRASING)
    licence, seed = run.recipe.questions.licence, run.recipe.release.seed
    texts = [Judged(item.item_id, item.value and item.value.text, item.reason) for item in worded]
    prompt = load_prompt("phrasing").digest
    key = run.store.key(
        STAGE, asked.name, answers_of(texts), prompt, judge, licence, seed, run.key_id
    )
    terms = ReleaseTerms(partial(run.opaque, "q"), licence, seed)
    return run.store.run(STAGE, key, partial(write_phrased, questions, worded, judge, terms))
