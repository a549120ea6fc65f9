"""The stages of the questions lane: statements read, drawn from, asked about, worded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from construction.judging.judge import ModelStage
from construction.judging.model.phrasing import REPORT as PHRASING_REPORT
from construction.judging.model.phrasing import STAGE as PHRASING_STAGE
from construction.judging.model.prompt import load_prompt
from construction.statements.database import (
    ASKABLE,
    DATABASE,
    REPORT,
    Sources,
    commonest_reasons,
    write_database,
)
from construction.statements.enrichment.enrich import enrich, write_pictures
from construction.statements.model import TABLES, read_statements
from construction.statements.questions.make import ask_for, sampling_frame
from construction.statements.questions.output import PAGES, numbers_of, store_questions
from construction.statements.questions.output import QUESTIONS as QUESTIONS_TABLE
from data.atomic import write_bytes
from data.canonical import pretty_json
from data.contracts import StageKind
from data.errors import InputError
from data.snapshot.release import ReleasedTable
from data.stage_tables import StageRecords, write_records
from data.stages import Observed, Stage, Unit
from flows.model_calls import judges_of
from flows.phrasing import phrase_questions
from flows.run import Run, Work
from selection.sampling.report import fitting, sample_records, sampling_report
from selection.sampling.reserve import fill
from selection.sampling.stages import draw_sample

FILTER, CHOOSE = StageKind.FILTER, StageKind.CHOOSE
_SEC_UNITS = ("fact", "file", "filing", "line", "row")
_EDINET_UNITS = ("file", "filing", "line", "point", "value")


def is_given(run: Run) -> bool:
    """Are there financial statements?"""
    return bool(run.runtime.sec or run.runtime.edinet)


def _sources(work: Work) -> Sources:
    runtime = work.run.runtime
    return Sources(runtime.sec, runtime.edinet, runtime.tickers, runtime.categories)


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
        Unit("series", FILTER, "categories"),
        Unit("point", FILTER, "filter_points"),
    ),
    settings=("questions.sec", "questions.edinet", "questions.hierarchy", "questions.filters"),
    inputs=_digests,
    compute=_read,
)


def _ask(work: Work, out: Path) -> None:
    """Draw, ask in structured words, replace what cannot be asked, and picture the statements."""
    recipe, seed = work.run.recipe.questions, work.run.recipe.release.seed
    database = work.folder(STATEMENTS.name)
    statements = read_statements(database / DATABASE)
    frame = sampling_frame(statements, _askable(database))
    config = fitting(recipe.sampling, frame)
    sample = draw_sample(frame, config, seed)
    filled = partial(fill, sample.drawn, sample.reserve)
    answered = ask_for(statements, lambda rejected: filled(rejected).rows, recipe.wording, seed)
    store_questions(out, answered.questions)
    numbers = numbers_of(answered.questions, seed)
    write_pictures(out / PAGES, enrich(numbers, statements, recipe.enrichment), numbers)
    tried = {row.item_id for row in answered.ledger}
    sampled, sample_tally = sample_records(frame, tried)
    write_records(out, StageRecords([*sampled, *answered.ledger], [sample_tally, answered.tally]))
    report = sampling_report(frame, filled(answered.rejected), sample.reserve.height, config)
    known = orjson.loads((database / REPORT).read_bytes())
    write_bytes(out / REPORT, pretty_json(known | report | {"not_asked": answered.reasons}))


def _askable(database: Path) -> pl.Series:
    """The points that can be asked about. Raises InputError if there is none."""
    askable = pl.read_parquet(database / ASKABLE)["point_id"]
    if askable.is_empty():
        raise InputError(
            "statements",
            f"no data point to ask about ({commonest_reasons(database)})",
            "filed values with a period, a category and an English label",
            "Give other statements; for EDINET put the code list beside them.",
        )
    return askable


QUESTIONS = Stage(
    name="questions",
    meaning="Which values are asked about, and do the words fit no other value?",
    units=(Unit("point", CHOOSE, "sample"), Unit("point", FILTER, "question")),
    settings=(
        "questions.sampling",
        "questions.wording",
        "questions.enrichment",
        "release.seed",
    ),
    reads=(STATEMENTS.name,),
    compute=_ask,
)


def _prompt(work: Work) -> Observed:
    judges = judges_of(work.run.recipe.judging, ModelStage.QUESTION_PHRASING)
    return Observed([load_prompt("phrasing").digest, judges], None)


def _phrase(work: Work, out: Path) -> None:
    """The wording of each question: a model's where the recipe names one, else as asked."""
    questions, database = work.folder(QUESTIONS.name), work.folder(STATEMENTS.name) / DATABASE
    phrase_questions(work.run, questions, database, questions / PAGES, out)


QUESTION_PHRASING = Stage(
    name=PHRASING_STAGE,
    meaning="Does a model word it better, and does its wording pass the checks?",
    units=(Unit("point", FILTER),),
    settings=("judging.model_stages", "questions.wording", "questions.licence", "release.seed"),
    reads=(STATEMENTS.name, QUESTIONS.name),
    observe=_prompt,
    compute=_phrase,
    uses_key=True,
)


def questions_tables(database: Sequence[Path], phrased: Sequence[Path]) -> dict[str, ReleasedTable]:
    """The released tables of the lane: the statements, and the questions without their answers."""
    tables = {
        table.name: ReleasedTable(folder / DATABASE / f"{table.name}.parquet", table.row)
        for folder in database
        for table in TABLES
    }
    for folder in phrased:
        path = folder / "public/questions.parquet"
        tables["questions"] = ReleasedTable(path, QUESTIONS_TABLE.row)
    return tables


def questions_report(questions: Sequence[Path], phrased: Sequence[Path]) -> dict[str, Any]:
    """What the lane tells the auditor about itself; empty without the lane."""
    report: dict[str, Any] = {}
    for folder in questions:
        report |= orjson.loads((folder / REPORT).read_bytes())
    for folder in phrased:
        report["phrasing"] = orjson.loads((folder / PHRASING_REPORT).read_bytes())
    return report
