"""The questions lane: financial statements to single-value questions."""

from __future__ import annotations

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from data.errors import guarded
from data.run_store import StageOutput
from flows import questions
from flows.lanes import LanePool
from flows.phrasing import Phrased
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run


@flow(name="tables-to-questions", validate_parameters=False)
def tables_to_questions(recipe: FlowRecipe, runtime: FlowRuntime) -> LanePool | None:
    """Read, draw, ask and word; None where no statements were given."""
    if not (runtime.sec or runtime.edinet):
        return None
    run = open_run(recipe, runtime)
    read = read_statements(run)
    asked = ask_questions(run, read)
    phrased = phrase_questions(run, read, asked)
    if phrased.costs:
        create_table_artifact([dict(row) for row in phrased.costs], key="phrasing-costs")
    return questions.lane_pool(run, read, asked, phrased)


@task(name="read-statements")
@guarded("read-statements")
def read_statements(run: Run) -> StageOutput:
    """SEC data sets and EDINET summaries into one database of named and dated points."""
    return questions.read_sources(run)


@task(name="ask-questions")
@guarded("ask-questions")
def ask_questions(run: Run, read: StageOutput) -> StageOutput:
    """Draw, ask, replace what cannot be asked."""
    return questions.ask(run, read)


@task(name="phrase-questions")
@guarded("phrase-questions")
def phrase_questions(run: Run, read: StageOutput, asked: StageOutput) -> Phrased:
    """In a model's words where the recipe names one; the structured words stand elsewhere."""
    return questions.phrase(run, read, asked)
