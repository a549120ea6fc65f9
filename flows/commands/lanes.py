"""Commands that run a single lane: `signals`, `workflows`, `questions` and `select`.

`pages import` and `pages statements` capture pages for the tools `search` and `fetch`.
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import InputError
from flows.commands.table import Config, Edinet, Key, Sec, WriteTo, Xbrl, given
from selection.config import Objective

if TYPE_CHECKING:
    from flows.build_snapshot import Built


_Folder = Annotated[Path, typer.Argument(help="Folder of saved pages: HTML, PDF, text.")]


def signals_command(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(help="Snapshot files (CSV or JSON), with the date in each name."),
    ] = None,
    registry: Annotated[
        str | None, typer.Option(help="Base URL of a registry to collect a snapshot from first.")
    ] = None,
    date: Annotated[
        dt.datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Date for the collected snapshot (default: today, UTC) and for undated files.",
        ),
    ] = None,
    config: Config = None,
    out: WriteTo = Path("signals"),
) -> None:
    """Write weights, ideas, tables and a drift page from the newest snapshot.

    Every snapshot is kept in OUT/captures as history for the drift page.
    """
    from construction.signals import mixture
    from construction.signals.collect import capture_registry
    from construction.workflows import candidate_ideas as lane
    from flows.recipe import load_settings

    settings = load_settings(config, {"runtime": {"out": out}})
    recipe, captures = settings.signals, out / "captures"
    day = date.date() if date else None
    mixture.keep_files(snapshots or (), captures, recipe.source, day)
    if registry is not None:
        today, limits = dt.datetime.now(dt.UTC).date(), settings.runtime.registry
        capture_registry(registry, limits, recipe, captures, day or today)
    dated = mixture.captured_files(captures, recipe.source)
    if not dated:
        raise InputError("signals", "no snapshot", "files or --registry", "Pass at least one.")
    mixture.write_mixture(recipe, dated, out, quiet=False)
    report = mixture.mixture_report(out)
    mixture.print_mixture(report)
    runtime = settings.runtime
    known = lane.prompts_of_release(runtime.release_before(settings.recipe))
    judges = runtime.judges(settings.recipe)
    ideas = lane.candidate_ideas(lane.seeds_of(report), known, judges)
    lane.replace_ideas(ideas, out / "ideas")
    print(f"{lane.summary(ideas)}; written to {out}")


def select_command(
    scores: Annotated[
        Path | None, typer.Argument(help="item,family,model,score[,cost]: CSV or Parquet.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="Number of items to choose.")] = None,
    objective: Annotated[Objective | None, typer.Option(help="What to maximise.")] = None,
    pilots: Annotated[str | None, typer.Option(help="Models, best first: a,b,c.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Pass threshold; items that all pilots pass or fail are left out.",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration file with a [selection] section.")
    ] = None,
    out: WriteTo = Path("selected"),
    quality: Annotated[
        bool, typer.Option(help="Compare the subset's quality with the full pool's.")
    ] = True,
    check: Annotated[
        Path | None, typer.Option(help="Re-verify a written selection from its files.")
    ] = None,
) -> None:
    """Write selection.json; if constraints conflict, write blockers.json and exit with 1."""
    from flows.recipe import load_section
    from selection.config import MatrixSelection
    from selection.output import check_selection, select_from_matrix, selection_lines
    from selection.scores import read_scores

    if check is not None:
        disagreements = check_selection(check)
        print("\n".join(disagreements) or f"{check}: confirmed optimal; all constraints are met")
        raise typer.Exit(1 if disagreements else 0)
    if scores is None:
        raise InputError("select", "no scores", "a score matrix", "Pass one, or use --check.")
    overrides = given(
        size=size,
        objective=objective,
        pilots=pilots.split(",") if pilots else None,
        selection_threshold=threshold,
    )
    settings = load_section(MatrixSelection, "selection", config, overrides)
    matrix, findings = read_scores(scores)
    for finding in findings:
        print(f"{finding.level}: {finding.code}: {finding.subject}: {finding.detail}")
    selected = select_from_matrix(matrix, settings, out, quality=quality)
    print("\n".join(selection_lines(selected, len(matrix.items), out)))
    if selected.chosen is None:
        raise typer.Exit(1)


def convert_xbrl_command(
    packages: Annotated[list[Path], typer.Argument(help="iXBRL files and ESEF packages.")],
    python: Annotated[
        str,
        typer.Option(
            help="Python interpreter with Arelle installed; default: Benchmint's own.",
            show_default=False,
        ),
    ] = sys.executable,
    taxonomy: Annotated[
        list[Path] | None, typer.Option(help="Taxonomy package; repeatable.")
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Let Arelle download taxonomies.")
    ] = False,
    seconds: Annotated[int, typer.Option(min=1, help="Time limit per package.")] = 900,
    out: WriteTo = Path("xbrl-json"),
) -> None:
    """Convert each package with Arelle to xBRL-JSON, plus its labels and rows.

    Exits with 1 if a package could not be converted.
    """
    from construction.statements.readers.xbrl.convert import convert
    from data.neutralise import one_line

    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for package in packages:
        written, problem = convert(
            package, out, python, taxonomy or [], online=online, seconds=seconds
        )
        failed += written is None
        print(f"{package.name}: {one_line(problem) if problem else written}")
    if failed:
        raise typer.Exit(1)


def questions_command(
    sec: Sec = None,
    edinet: Edinet = None,
    xbrl: Xbrl = None,
    tickers: Annotated[
        Path | None, typer.Option(help="Today's US listings (Parquet): cik, ticker, exchange.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=1, help="Number of questions.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration file with a [questions] section.")
    ] = None,
    key: Key = None,
    out: WriteTo = Path("questions"),
) -> None:
    """Write questions and tables to OUT/public, and answers and pages to OUT/private.

    Exits with 1 if there is no question at all, or none about a region with filed values.
    """
    from construction.statements.categories import regions_without_questions
    from construction.statements.database import not_read
    from construction.statements.questions.output import hand_over, report_lines
    from data.builds import building
    from data.neutralise import one_line
    from data.stages import Results
    from flows.build_snapshot import QUESTIONS, run_lane
    from flows.prefect_adapter import without_prefect
    from flows.recipe import load_settings
    from flows.run import open_run
    from flows.source import with_source
    from flows.stages.questions import questions_report

    runtime = given(sec=sec, edinet=edinet, xbrl=xbrl, tickers=tickers, key_file=key, out=out)
    sampling = {} if size is None else {"questions": {"sampling": {"size": size}}}
    settings = load_settings(config, {"runtime": runtime, **sampling})
    if settings.runtime.sessions:
        actual, expected = "sessions in [runtime]", "only statements"
        raise InputError(str(config), actual, expected, "Use `benchmint build` for both.")
    with building(out), without_prefect():
        recipe, ready, stamp = with_source(settings.recipe, settings.runtime)
        run, results = open_run(recipe, ready), Results()
        run_lane(run, QUESTIONS, results)
        read, questions, phrased = results.folders
        for name, reason in not_read(read):
            print(one_line(f"not read: {name}: {reason}"), file=sys.stderr)
        hand_over(run.out, read, questions, phrased)
        run.store.prune(set(results.folders))
    report = questions_report([questions], [phrased])
    print("\n".join(report_lines(report, out, stamp)))
    lacking = regions_without_questions(report["coverage"])
    for region, reason in lacking.items():
        print(f"no questions about {region} companies, mostly because of {reason}", file=sys.stderr)
    if report["questions"] < report["asked_for"]:
        missing = report["asked_for"] - report["questions"]
        print(f"{missing} of {report['asked_for']} questions are missing", file=sys.stderr)
    if lacking or not report["questions"]:
        raise typer.Exit(1)


def workflows_command(
    signals: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Popularity snapshots, with the date in each name; default: the demo's."
        ),
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, help="Number of tasks to release from the pool.")
    ] = None,
    drafts: Annotated[
        int | None, typer.Option(min=1, help="Number of drafts to make and screen.")
    ] = None,
    per_generator: Annotated[
        int | None, typer.Option(min=1, help="Maximum drafts per scenario.")
    ] = None,
    author: Annotated[
        int | None, typer.Option(min=1, help="Number of ideas for a model to write scenarios for.")
    ] = None,
    proposals: Annotated[
        Path | None,
        typer.Option(help="Proposed tasks, one JSON object per line; screened like the others."),
    ] = None,
    check: Annotated[
        list[Path] | None,
        typer.Option(help="Only screen these scenario documents; release nothing."),
    ] = None,
    build_only: Annotated[
        bool,
        typer.Option("--build-only", help="With --check: build the drafts but do not screen them."),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes for the sharded stages.")
    ] = None,
    config: Config = None,
    key: Key = None,
    out: WriteTo = Path("workflows"),
) -> None:
    """Write a release with only workflow tasks, and print the outcome of the drafts."""
    if check:
        raise typer.Exit(_check(check, screens=not build_only))
    runtime = given(signals=signals, key_file=key, workers=workers, out=out, proposals=proposals)
    sections = {
        "workflows": given(drafts=drafts, per_generator=per_generator, authored=author),
        "selection": given(max_tasks=tasks),
    }
    _build(config, {"runtime": runtime} | {k: v for k, v in sections.items() if v})


def _check(paths: Sequence[Path], *, screens: bool) -> int:
    """Print what screening finds in documents; 1 if it finds a fault."""
    from construction.workflows.documents.check import check_lines
    from construction.workflows.screening import ScreeningConfig
    from data.builds import require_there
    from data.neutralise import one_line

    require_there(paths)
    is_faulty = False
    for path in paths:
        for line in check_lines(path, ScreeningConfig(), screens=screens):
            is_faulty |= line.startswith("fault: ")
            print(f"{path.stem}: {one_line(line)}", flush=True)
    return int(is_faulty)


def _build(config: Path | None, overrides: dict[str, Any]) -> None:
    from construction.workflows.pool import proposal_lines
    from data.builds import building, require_there
    from data.neutralise import one_line
    from data.progress import console
    from flows.build_snapshot import WORKFLOWS_ALONE, build
    from flows.prefect_adapter import without_prefect
    from flows.recipe import load_settings
    from flows.source import with_signals

    started = time.perf_counter()
    settings = load_settings(config, overrides).dated(dt.datetime.now(dt.UTC).date())
    if (path := settings.runtime.proposals) is not None:
        require_there([path])
        for line in proposal_lines(path, settings.recipe.workflows.screening):
            print(one_line(line))
    console.print("starting …")
    with building(settings.runtime.out), without_prefect():
        built = build(settings.recipe, settings.runtime, WORKFLOWS_ALONE, with_signals)
    _print(built, time.perf_counter() - started)


def _print(built: Built, seconds: float) -> None:
    """The funnel, what no scenario serves, the families, and where the release is."""
    from data.reasons import ReasonWords
    from data.staging.print import print_funnel
    from flows.gates import GATES
    from flows.stages.workflows import released_lines

    print_funnel(built.staging, ReasonWords.of(GATES))
    print("\n".join(released_lines(built.snapshot.path)))
    print(f"{built.tasks} tasks in {built.snapshot.path} (verified, {seconds:.0f} s)")
    print(f"digest {built.snapshot.digest}")


def pages_import_command(
    folder: _Folder,
    table: Annotated[
        Path,
        typer.Option(help="CSV with the columns file and url; captured and title are optional."),
    ],
    out: WriteTo = Path("pages"),
) -> None:
    """Turn saved pages into a folder for `benchmint evaluate --pages`.

    Exits with 1 if none can be used.
    """
    from construction.webpages.importing import import_pages

    done = import_pages(folder, table, out)
    print(f"pages: {done.folder.n_pages:,} in {out}, SHA-256 {done.folder.digest}")
    for reason, n in sorted(done.refused.items()):
        print(f"not read: {n:,} {reason}")
    if not done.folder.n_pages:
        raise typer.Exit(1)


def pages_statements_command(
    snapshot: Annotated[Path, typer.Argument(help="A release with questions.")],
    out: WriteTo = Path("pages"),
) -> None:
    """Render the statements behind a release's questions as web pages, rounded as on websites.

    The pages are generated by rule from the public tables, without reading the answers.
    """
    from construction.webpages.importing import statement_pages
    from construction.webpages.pages import write_pages
    from data.atomic import replacing_dir
    from data.releases.tasks import read_tasks

    if out.exists():
        raise InputError(str(out), "an existing path", "a new folder", "Choose another one.")
    pages = statement_pages(read_tasks(snapshot).tables)
    with replacing_dir(out) as part:
        written = write_pages(part, pages)
    print(f"pages: {written.n_pages:,} in {out}, SHA-256 {written.digest}")
