"""`benchmint questions`: financial statements to single-value questions with traced answers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from construction.statements.database import DATABASE, REPORT, not_read
from construction.statements.questions.output import PAGES
from data.atomic import private_dir, replacing_dir
from data.builds import building
from data.errors import InputError
from data.neutralise import one_line
from data.pool import POOL_FILE
from data.snapshot import PrivacyStamp
from data.stage_tables import LEDGER_FILE
from data.stages import Results
from flows.build_snapshot import QUESTIONS, run_lane
from flows.configuration import load_settings
from flows.prefect_adapter import without_prefect
from flows.run import Run, open_run
from flows.source import with_source
from flows.stages.questions import questions_report


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
        actual, expected = "sessions in [runtime]", "statements alone"
        raise InputError(str(config), actual, expected, "Use `benchmint build` for both.")
    with building(out), without_prefect():
        recipe, ready, stamp = with_source(settings.recipe, settings.runtime)
        run, results = open_run(recipe, ready), Results()
        run_lane(run, QUESTIONS, results)
        read, questions, phrased = results.folders
        for name, reason in not_read(read):
            print(one_line(f"not read: {name}: {reason}"), file=sys.stderr)
        _hand_over(run, read, questions, phrased)
        run.store.prune(set(results.folders))
    report = questions_report([questions], [phrased])
    _report(report, out, stamp)
    if not report["questions"]:
        raise typer.Exit(1)


def _hand_over(run: Run, read: Path, questions: Path, phrased: Path) -> None:
    """Copy what people use out of the stages, each half whole or not at all."""
    shutil.rmtree(run.out / "public", ignore_errors=True)
    with replacing_dir(run.out / "public") as part:
        shutil.copyfile(phrased / "public/questions.parquet", part / "questions.parquet")
        shutil.copytree(read / DATABASE, part / "tables")
    shutil.rmtree(run.private / "questions", ignore_errors=True)
    with replacing_dir(private_dir(run.private) / "questions") as part:
        shutil.copyfile(phrased / "private/answers.parquet", part / "answers.parquet")
        shutil.copyfile(phrased / POOL_FILE, part / "candidates.parquet")
        for name in (LEDGER_FILE, REPORT):
            shutil.copyfile(questions / name, part / name)
        shutil.copyfile(phrased / LEDGER_FILE, part / "phrasing-ledger.parquet")
        shutil.copyfile(read / LEDGER_FILE, part / "statements-ledger.parquet")
        shutil.copytree(questions / PAGES, part / PAGES)


def _report(report: dict[str, Any], out: Path, stamp: PrivacyStamp) -> None:
    share, seed = report["filters"]["dropped_share"], report["filters"]["seed_share"]
    rejected = sum(row["rejected"] for row in report["response"])
    print(f"{report['questions']} of {report['asked_for']} questions in {out} (privacy: {stamp})")
    by_region, by_category = _counts(report["by_region"]), _counts(report["by_category"])
    print(f"by region {by_region}; by category {by_category}")
    replaced = report["replacements"]
    print(f"{rejected} drawn points could not become questions, {replaced} replaced")
    for reason, n in report["not_asked"].items():
        print(f"  {n} × {reason}")
    print(_wording(report["phrasing"]))
    print(f"computed or auto-generated points left out: {share:.1%} (the seed: {seed:.0%})")


def _wording(phrasing: dict[str, Any]) -> str:
    if phrasing["judge"] == "rules":
        return "worded by rules"
    kept = _counts(phrasing["not_taken"])
    return f"worded by {phrasing['judge']}: {phrasing['reworded']}" + (
        f"; not taken: {kept}" if kept else ""
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
