"""The questions lane: financial statements to single-value questions."""

from __future__ import annotations

from data.run_store import StageOutput
from flows import questions
from flows.lanes import LanePool
from flows.phrasing import Phrased
from flows.prefect_adapter import keep_table, lane, stage
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run


@lane("tables-to-questions")
def tables_to_questions(recipe: FlowRecipe, runtime: FlowRuntime) -> LanePool | None:
    """Read, draw, ask and word; None where no statements were given."""
    if not (runtime.sec or runtime.edinet):
        return None
    run = open_run(recipe, runtime)
    read = read_statements(run)
    asked = ask_questions(run, read)
    phrased = phrase_questions(run, read, asked)
    keep_table("phrasing-costs", phrased.costs)
    return questions.lane_pool(run, read, asked, phrased)


@stage("read-statements")
def read_statements(run: Run) -> StageOutput:
    """SEC data sets and EDINET summaries into one database of named and dated points."""
    return questions.read_sources(run)


@stage("ask-questions")
def ask_questions(run: Run, read: StageOutput) -> StageOutput:
    """Draw, ask, replace what cannot be asked."""
    return questions.ask(run, read)


@stage("phrase-questions")
def phrase_questions(run: Run, read: StageOutput, asked: StageOutput) -> Phrased:
    """In a model's words where the recipe names one; the structured words stand elsewhere."""
    return questions.phrase(run, read, asked)
