"""The last stage of the questions lane: each question in a model's words, or in structured ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from construction.judging.contracts import Judged
from construction.judging.judge import ModelStage
from construction.judging.model import phrasing
from construction.judging.model.asking import cost_rows, require_answers, write_model_use
from construction.judging.model.phrasing import STAGE, ReleaseTerms, write_phrased
from construction.statements.model import read_statements
from construction.statements.questions.ambiguity import index_database
from construction.statements.questions.output import stored_questions
from data.contracts import Disclosure
from flows.model_calls import asked_with, open_client
from flows.run import Run


def phrase_questions(run: Run, folder: Path, database: Path, pages: Path, out: Path) -> None:
    """Word the questions of `folder`; `pages` holds the pictures of their statements.

    Raises ReleaseError where the model gave no reply about some question.
    """
    questions, judging = stored_questions(folder), run.recipe.judging
    model, licence, seed = judging.model, run.recipe.questions.licence, run.recipe.release.seed
    judge = model.judge_of(ModelStage.QUESTION_PHRASING)
    terms = ReleaseTerms(partial(run.opaque, "q"), licence, seed)
    if not model.does(ModelStage.QUESTION_PHRASING):
        same = [Judged(question.point_id, question) for question in questions]
        write_phrased(questions, same, judge, terms, out)
        return
    index = index_database(read_statements(database), run.recipe.questions.wording.round_share)
    images = phrasing.statement_pictures(questions, pages, seed) if model.sees_images else {}
    public = all(item.company.disclosure == Disclosure.PUBLIC for item in questions)
    with open_client(run, masked=public) as client:
        settings = judging.stage_settings
        worded = phrasing.phrase_questions(questions, index, client, settings, images)
        replies = {"model-replies-questions": client.replies_digest()}
    costs = cost_rows(asked_with(run), {STAGE: require_answers(worded)})
    write_phrased(questions, worded, judge, terms, out)
    write_model_use(out, costs, replies)
