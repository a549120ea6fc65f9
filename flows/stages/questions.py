"""The stages of the questions lane: statements read, drawn from, asked about, worded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from construction.judging.model.prompt import load_prompt
from construction.judging.settings import ModelStage
from construction.statements.categories import coverage
from construction.statements.database import (
    DATABASE,
    REPORT,
    Sources,
    askable_points,
    statements_tables,
    write_database,
)
from construction.statements.enrichment import pages, write_pictures
from construction.statements.model import read_statements
from construction.statements.phrasing import REPORT as PHRASING_REPORT
from construction.statements.phrasing import STAGE as PHRASING_STAGE
from construction.statements.phrasing import ReleaseTerms, questions_table, word_questions
from construction.statements.questions.levels import level_counts
from construction.statements.questions.make import ask_for, sampling_frame
from construction.statements.questions.output import PAGES, numbers_of, store_questions
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import StageKind
from data.progress import console
from data.snapshot.release import ReleasedTable
from data.stage_tables import StageRecords, write_records
from data.stages import Observed, Stage, Unit
from flows.run import Run, Work, asking
from selection.sampling.stages import draw, lacking, sample_records

FILTER, _CHOOSE = StageKind.FILTER, StageKind.CHOOSE
_SEC_UNITS = ("fact", "file", "filing", "line", "row")
_EDINET_UNITS = ("file", "filing", "line", "point", "value")
_XBRL_UNITS = ("fact", "file", "filing")


def is_given(run: Run) -> bool:
    """Are there financial statements?"""
    return bool(run.runtime.statements)


def _sources(work: Work) -> Sources:
    runtime = work.run.runtime
    return Sources(runtime.sec, runtime.edinet, runtime.xbrl, runtime.tickers, runtime.categories)


def _digests(work: Work) -> dict[str, str]:
    return dict(_sources(work).digests())


def _read(work: Work, out: Path) -> None:
    write_database(_sources(work), work.run.recipe.questions, out)


STATEMENTS = Stage(
    name="statements",
    meaning="Is it a filed value with a period, a category and a name?",
    units=(
        *(Unit(name, FILTER, "sec.read") for name in _SEC_UNITS),
        *(Unit(name, FILTER, "edinet.read") for name in _EDINET_UNITS),
        *(Unit(name, FILTER, "xbrl.read") for name in _XBRL_UNITS),
        Unit("series", FILTER, "categories"),
        Unit("point", FILTER, "filter_points"),
    ),
    settings=(
        "questions.sec",
        "questions.edinet",
        "questions.xbrl",
        "questions.filters",
    ),
    inputs=_digests,
    compute=_read,
)


def _ask(work: Work, out: Path) -> None:
    """Draw, ask in structured words, replace what cannot be asked, and picture the statements."""
    recipe, seed = work.run.recipe.questions, work.run.recipe.release.seed
    database = work.folder(STATEMENTS.name)
    statements = read_statements(database / DATABASE)
    frame = sampling_frame(statements, askable_points(database))
    for line in lacking(frame, recipe.sampling):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    drawing = draw(frame, recipe.sampling, seed)
    askable = frame["point_id"].to_list()
    answered = ask_for(statements, drawing.without, recipe.wording, seed, askable)
    store_questions(out, answered.questions)
    numbers = numbers_of(answered.questions, seed)
    drawn = pages(numbers, statements, recipe.wording.round_share)
    write_pictures(out / PAGES, drawn, numbers)
    sampled, sample_tally = sample_records(frame, {row.item_id for row in answered.ledger})
    write_records(out, StageRecords([*sampled, *answered.ledger], [sample_tally, answered.tally]))
    known = orjson.loads((database / REPORT).read_bytes())
    in_questions = [question.point_id for question in answered.questions]
    own = {
        "not_asked": answered.reasons,
        "levels": level_counts(answered.questions, recipe.wording),
        "coverage": coverage(
            known["filters"]["fill"],
            frame,
            answered.ledger,
            in_questions,
            has_edinet=recipe.edinet.source in statements.companies["source"],
        ),
    }
    write_bytes(out / REPORT, pretty_json(known | drawing.report(answered.rejected) | own))


QUESTIONS = Stage(
    name="questions",
    meaning="Which values are asked about, and does each wording match only one value?",
    units=(Unit("point", _CHOOSE, "sample"), Unit("point", FILTER, "question")),
    settings=(
        "questions.sampling",
        "questions.wording",
        "release.seed",
    ),
    reads=(STATEMENTS.name,),
    compute=_ask,
)


def _prompt(work: Work) -> Observed:
    judges = work.run.judges.of(ModelStage.QUESTION_PHRASING)
    prompts = [load_prompt(name).digest for name in ("phrasing", "reanswer")]
    return Observed([*prompts, judges], None)


def _phrase(work: Work, out: Path) -> None:
    """The wording of each question: a model's where the recipe names one, else as asked."""
    run, questions = work.run, work.folder(QUESTIONS.name)
    recipe = run.recipe.questions
    terms = ReleaseTerms(partial(run.opaque, "q"), recipe.licence, run.recipe.release.seed)
    database = work.folder(STATEMENTS.name) / DATABASE
    word_questions(questions, database, recipe.wording.round_share, run.judges, terms, out)


QUESTION_PHRASING = Stage(
    name=PHRASING_STAGE,
    meaning="Can a model word it better, and does that wording pass the checks?",
    units=(Unit("point", FILTER),),
    settings=("judging.model_stages", "questions.wording", "questions.licence", "release.seed"),
    reads=(STATEMENTS.name, QUESTIONS.name),
    observe=_prompt,
    asks=asking(ModelStage.QUESTION_PHRASING),
    compute=_phrase,
    uses_key=True,
)


def questions_tables(database: Sequence[Path], phrased: Sequence[Path]) -> dict[str, ReleasedTable]:
    """The released tables of the lane: the statements, and the questions without their answers."""
    tables: dict[str, ReleasedTable] = {}
    for folder in database:
        tables |= statements_tables(folder)
    for folder in phrased:
        tables["questions"] = questions_table(folder)
    return tables


def questions_report(questions: Sequence[Path], phrased: Sequence[Path]) -> dict[str, Any]:
    """What the lane tells the auditor about itself; empty without the lane."""
    report: dict[str, Any] = {}
    for folder in questions:
        report |= orjson.loads((folder / REPORT).read_bytes())
    for folder in phrased:
        report["phrasing"] = orjson.loads((folder / PHRASING_REPORT).read_bytes())
    return report
