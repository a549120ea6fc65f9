"""The stages of the questions lane: statements read and filtered, drawn from, asked about, worded.

Prefect is not needed here: the flow wraps these stages as tasks, `benchmint questions` calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import orjson
import polars as pl

from construction.statements.categories import assign, load_rules
from construction.statements.enrichment.enrich import enrich, write_pictures
from construction.statements.filters import filter_points
from construction.statements.hierarchy.rebuild import hierarchy_report, rebuild
from construction.statements.model import TABLES, Statements, plain_texts
from construction.statements.periods.config import PeriodConfig
from construction.statements.periods.derive import derived_points
from construction.statements.periods.fill import with_periods
from construction.statements.questions.output import QUESTIONS, numbers_of, store_questions
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.sec.read import read_sec
from construction.statements.store import read_statements, write_statements
from data.atomic import write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import Outcome
from data.errors import InputError
from data.ledger import completed
from data.pool import read_pool
from data.run_store import StageOutput
from data.snapshot.release import ReleasedTable
from data.tables import (
    LEDGER,
    TALLIES,
    ledger_record,
    tally_records,
    write_frame,
    write_table,
)
from flows.asking import ask_for
from flows.lanes import LanePool
from flows.phrasing import Phrased, phrase_questions
from flows.recipe import QuestionsRecipe
from flows.run import Run

READ, ASK = "statements", "questions"
DATABASE, ASKABLE, PAGES, REPORT = "tables", "askable.parquet", "pages", "questions.json"


def source_files(paths: Sequence[Path]) -> list[Path]:
    """The files given, and those in the folders given; sorted. Raises InputError for none."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(str(path), "nothing", "financial statements", "Check the path.")
        found += [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sorted(found)


def input_digests(run: Run) -> dict[str, str]:
    """The digests of all files of the lane, under names that tell their place only."""
    runtime = run.runtime
    given = {"sec": runtime.sec, "edinet": runtime.edinet}
    told = {
        f"{source}-{number:04d}": file_digest(path)
        for source, paths in given.items()
        for number, path in enumerate(source_files(paths), start=1)
    }
    single = {"tickers": runtime.tickers, "categories": runtime.categories}
    return told | {name: file_digest(path) for name, path in single.items() if path}


def read_sources(run: Run) -> StageOutput:
    """Both sources into one database: read, named, dated, and judged what can be asked about."""
    recipe = run.recipe.questions
    digests = sorted(input_digests(run).items())
    told = (digests, recipe.sec, recipe.edinet, recipe.hierarchy, recipe.filters)
    return run.store.run(READ, run.store.key(READ, *told), partial(_read, run))


def _read(run: Run, out: Path) -> None:
    recipe, runtime = run.recipe.questions, run.runtime
    parts = []
    if runtime.sec:
        parts.append(read_sec(runtime.sec, recipe.sec, runtime.tickers))
    if runtime.edinet:
        parts.append(read_edinet(runtime.edinet, recipe.edinet))
    frames = {
        table.name: pl.concat([getattr(part, table.name) for part in parts]) for table in TABLES
    }
    statements = plain_texts(Statements(**frames))
    rules = load_rules(runtime.categories) if runtime.categories else None
    assigned = assign(_series(statements, recipe), rules)
    named = _dated(replace(statements, series=assigned.series), recipe.filters.periods)
    filtered = filter_points(named, recipe.filters)
    write_statements(out / DATABASE, named)
    write_frame(out / ASKABLE, filtered.points.select("point_id"))
    tallies = [tally for part in parts for tally in part.tallies]
    rows = completed([row for part in parts for row in part.ledger], tallies)
    tallies += [*assigned.tallies, *filtered.tallies]
    rows += completed([], [*assigned.tallies, *filtered.tallies])
    ledger = pl.DataFrame([ledger_record(row) for row in rows], LEDGER)
    write_frame(out / "ledger.parquet", pl.concat([ledger, assigned.ledger, filtered.ledger]))
    records = [record for tally in tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", records, TALLIES)
    report = {
        "hierarchy": hierarchy_report(named.series, named.points),
        "filters": asdict(filtered.report),
    }
    write_bytes(out / REPORT, pretty_json(report))


def _series(statements: Statements, recipe: QuestionsRecipe) -> pl.DataFrame:
    return rebuild(statements.series, statements.rows, statements.points, recipe.hierarchy)


def _dated(statements: Statements, config: PeriodConfig) -> Statements:
    """With the fiscal periods of all points, and those that can be derived from filed ones."""
    filed = pl.concat([statements.points, statements.history.drop("replaced_by")])
    dated = with_periods(filed, statements.companies, config)  # both at once: they share years
    points = dated.head(statements.points.height)
    replaced = dated.tail(statements.history.height)
    return replace(
        statements,
        points=pl.concat([points, derived_points(points, statements.series)]),
        history=replaced.with_columns(statements.history["replaced_by"]),
    )


def ask(run: Run, read: StageOutput) -> StageOutput:
    """Draw, ask in structured words, and picture the statements."""
    recipe = run.recipe.questions
    told = (recipe.sampling, recipe.wording, recipe.enrichment)
    key = run.store.key(ASK, read.path.name, *told, run.recipe.release.seed)
    return run.store.run(ASK, key, partial(_ask, run, read.path))


def _ask(run: Run, read: Path, out: Path) -> None:
    recipe, seed = run.recipe.questions, run.recipe.release.seed
    statements = read_statements(read / DATABASE)
    askable = pl.read_parquet(read / ASKABLE)["point_id"]
    if askable.is_empty():
        raise InputError(
            "statements",
            f"no data point to ask about ({_reasons(read)})",
            "filed values with a period, a category and an English label",
            "Give other statements; for EDINET put the code list beside them.",
        )
    answered = ask_for(statements, askable, recipe, seed)
    store_questions(out, answered.questions)
    numbers = numbers_of(answered.questions, seed)
    write_pictures(out / PAGES, enrich(numbers, statements, recipe.enrichment), numbers)
    write_table(out / "ledger.parquet", map(ledger_record, answered.ledger), LEDGER)
    records = [record for tally in answered.tallies for record in tally_records(tally)]
    write_table(out / "tallies.parquet", records, TALLIES)
    known = orjson.loads((read / REPORT).read_bytes())
    write_bytes(out / REPORT, pretty_json(known | answered.report))


def phrase(run: Run, read: StageOutput, asked: StageOutput) -> Phrased:
    """The wording of each question: a model's where the recipe names one, else as asked."""
    return phrase_questions(run, asked.path, read.path / DATABASE, asked.path / PAGES)


def lane_pool(run: Run, read: StageOutput, asked: StageOutput, phrased: Phrased) -> LanePool:
    """What the lane hands to the release: candidates, questions, and the statements they are of."""
    folder, database = phrased.output.path, read.path / DATABASE
    tables = {
        table.name: ReleasedTable(database / f"{table.name}.parquet", table.row) for table in TABLES
    }
    tables["questions"] = ReleasedTable(folder / "public/questions.parquet", QUESTIONS.row)
    known = orjson.loads((asked.path / REPORT).read_bytes())
    return LanePool(
        candidates=read_pool([folder]).candidates,
        folders=[read.path, asked.path, folder],
        fixtures={},
        inputs={**input_digests(run), **phrased.inputs},
        tables=tables,
        answers=folder / "private/answers.parquet",
        report=known | {"phrasing": phrased.report},
        costs=phrased.costs,
    )


def not_read(read: Path) -> list[tuple[str, str]]:
    """The files that could not be read, with the reason of each."""
    ledger = pl.read_parquet(read / "ledger.parquet")
    lost = ledger.filter((pl.col("unit") == "file") & (pl.col("outcome") != str(Outcome.KEPT)))
    return [(item, reason or "") for item, reason in lost.select("item_id", "reason").iter_rows()]


def _reasons(read: Path, most: int = 4) -> str:
    """The most frequent reasons of what was turned away."""
    ledger = pl.read_parquet(read / "ledger.parquet").filter(pl.col("reason").is_not_null())
    counted = ledger.group_by("reason").agg(pl.col("n").sum()).sort("n", "reason", descending=True)
    return ", ".join(f"{n:,} × {reason}" for reason, n in counted.head(most).iter_rows())
