"""`benchmint questions`: financial statements to single-value questions with traced answers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import orjson
import polars as pl
import typer

from construction.statements import database as questions
from data.atomic import private_dir, replacing_dir
from data.errors import InputError
from data.snapshot import PrivacyStamp
from data.snapshot.neutralise import one_line
from flows.configuration import load_settings
from flows.phrasing import Phrased
from flows.run import Run, building, open_run
from flows.source import with_source


def command(
    sec: Annotated[
        list[Path] | None, typer.Option(help="SEC statement data sets: a zip or folder.")
    ] = None,
    edinet: Annotated[
        list[Path] | None, typer.Option(help="EDINET summaries, with the code list beside them.")
    ] = None,
    tickers: Annotated[
        Path | None, typer.Option(help="Today's US listings (Parquet): cik, ticker, exchange.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="How many questions.")] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration with [questions].")] = None,
    key: Annotated[Path | None, typer.Option(help="Release key; created on first use.")] = None,
    out: Annotated[Path, typer.Option(help="Where to write.")] = Path("questions"),
) -> None:
    """Write questions and tables to OUT/public, answers and pages to OUT/private.

    Exit 1 if no question could be asked.
    """
    given: dict[str, Any] = {
        "sec": tuple(sec or ()),
        "edinet": tuple(edinet or ()),
        "tickers": tickers,
        "key_file": key,
        "out": out,
    }
    runtime = {name: value for name, value in given.items() if value not in (None, ())}
    overrides: dict[str, Any] = {"runtime": runtime}
    if size is not None:
        overrides["questions"] = {"sampling": {"size": size}}
    settings = load_settings(config, overrides)
    if settings.runtime.sessions:
        found, expected = "sessions in [runtime]", "statements alone"
        raise InputError(str(config), found, expected, "Use `benchmint build` for both.")
    with building(out):
        recipe, ready, stamp = with_source(settings.recipe, settings.runtime)
        run = open_run(recipe, ready)
        read = questions.read_sources(run)
        for name, reason in questions.not_read(read.path):
            print(one_line(f"not read: {name}: {reason}"), file=sys.stderr)
        asked = questions.ask(run, read)
        phrased = questions.phrase(run, read, asked)
        _hand_over(run, read.path, asked.path, phrased.output.path)
        run.store.prune({read.path, asked.path, phrased.output.path})
    _report(asked.path, out, stamp, phrased)
    if not pl.read_parquet(out / "public/questions.parquet").height:
        raise typer.Exit(1)


def _hand_over(run: Run, read: Path, asked: Path, phrased: Path) -> None:
    """Copy what people use out of the stages, each half whole or not at all."""
    shutil.rmtree(run.out / "public", ignore_errors=True)
    with replacing_dir(run.out / "public") as part:
        shutil.copyfile(phrased / "public/questions.parquet", part / "questions.parquet")
        shutil.copytree(read / questions.DATABASE, part / "tables")
    shutil.rmtree(run.private / "questions", ignore_errors=True)
    with replacing_dir(private_dir(run.private) / "questions") as part:
        shutil.copyfile(phrased / "private/answers.parquet", part / "answers.parquet")
        shutil.copyfile(phrased / "pool.parquet", part / "candidates.parquet")
        for name in ("ledger.parquet", questions.REPORT):
            shutil.copyfile(asked / name, part / name)
        shutil.copyfile(phrased / "ledger.parquet", part / "phrasing-ledger.parquet")
        shutil.copyfile(read / "ledger.parquet", part / "statements-ledger.parquet")
        shutil.copytree(asked / questions.PAGES, part / questions.PAGES)


def _report(asked: Path, out: Path, stamp: PrivacyStamp, phrased: Phrased) -> None:
    told = orjson.loads((asked / questions.REPORT).read_bytes())
    share, seed = told["filters"]["dropped_share"], told["filters"]["seed_share"]
    rejected = sum(row["rejected"] for row in told["response"])
    print(f"{told['questions']} of {told['asked_for']} questions in {out} (privacy: {stamp})")
    print(f"by region {_counts(told['by_region'])}; by category {_counts(told['by_category'])}")
    print(f"{rejected} drawn points could not become questions, {told['replacements']} replaced")
    for reason, n in told["not_asked"].items():
        print(f"  {n} × {reason}")
    print(_wording(phrased.report))
    print(f"computed or auto-generated points left out: {share:.1%} (the seed: {seed:.0%})")


def _wording(told: dict[str, Any]) -> str:
    if told["judge"] == "rules":
        return "worded by rules"
    kept = _counts(told["not_taken"])
    return f"worded by {told['judge']}: {told['reworded']}" + (
        f"; not taken: {kept}" if kept else ""
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
