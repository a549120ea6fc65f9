"""`benchmint lint`: finds defects in Benchmint's own and in third-party tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.canonical import pretty_json
from data.errors import InputError
from data.figures import amount
from data.neutralise import one_line

if TYPE_CHECKING:
    from construction.lint.findings import Report

_Faults = list[tuple[str, str]]


def lint_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="A snapshot, output of `benchmint lane analytics`, a file of records, or task "
            "folders."
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            help="Output folder of `benchmint lane analytics`: PATH has lines like its gold.jsonl, "
            "which go through all gates again."
        ),
    ] = None,
    files: Annotated[
        Path | None, typer.Option(help="With --run: original files; default: RUN/demo.")
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of third-party tasks to try in a sandbox; default: 120, or as many as can "
            "be started within 80 seconds.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """List defects in tasks, obstacles to running them here, and checks that were not made.

    Exits with 1 only if there are defects. The gold of Benchmint's own tasks is recomputed;
    third-party tests and graders are attacked in a sandbox, unless they need an image.
    """
    report = _linted(path, run, files, trials)
    if json:
        print(pretty_json(asdict(report)).decode().rstrip())
    else:
        print("\n".join(_lines(report)))
    if report.defects:
        raise typer.Exit(1)


def _lines(report: Report) -> list[str]:
    """The findings by list; what is said of all tasks alike stands once, with their number."""
    lines = [f"{report.format}: {amount(report.tasks, 'task')}"]
    for name, findings in report.lists().items():
        if findings:
            lines.append(f"{name}:")
        shared = Counter((f.code, f.detail) for f in findings)
        shown = set[tuple[str, str]]()
        for finding in findings:
            key = (finding.code, finding.detail)
            is_shared = name != "defects" and shared[key] > 1
            if is_shared and key in shown:
                continue
            shown.add(key)
            who = amount(shared[key], "task") if is_shared else finding.task
            lines.append("  " + one_line(": ".join(filter(None, (who, *key)))))
    counts = [f"{len(findings)} {name}" for name, findings in report.lists().items()]
    return [*lines, f"{amount(report.tasks, 'task')}: {', '.join(counts)}"]


def _linted(path: Path, run: Path | None, files: Path | None, trials: int | None) -> Report:
    from construction.lint.findings import Finding, Report
    from construction.lint.registry import lint_path
    from data.snapshot import layout

    if run is not None:
        n, faults = _lint_records(path, run, files or run / "demo")
        return Report("records from this lane", n, [Finding(*fault) for fault in faults])
    if path.is_dir() and (path / "private" / "analytics").is_dir():
        return _lint_analytics(path)
    if path.is_dir() and (layout.halves(path)[0] / layout.MANIFEST).is_file():
        return _lint_snapshot(path)
    return lint_path(path, trials)


def _lint_analytics(path: Path) -> Report:
    from construction.analytics.lint import lint_release
    from construction.lint.findings import Finding, Report
    from flows.commands.analytics import public_half

    n, faults = lint_release(public_half(path), path / "private" / "analytics")
    return Report("output of `benchmint lane analytics`", n, [Finding(*fault) for fault in faults])


def _lint_snapshot(path: Path) -> Report:
    """The analytic gold of a release, run anew; the graders of all lanes were audited before it."""
    from construction.analytics.lint import lint_snapshot
    from construction.lint.findings import Finding, Report
    from data.contracts import Lane
    from data.releases.tasks import read_tasks

    release = read_tasks(path)
    lanes = Counter(task.candidate.lane for task in release.tasks.values())
    faults: _Faults = lint_snapshot(release)[1] if lanes[Lane.ANALYTICS] else []
    others = [
        Finding(
            "", f"lane {lane}", f"{amount(n, 'task')}: gold and graders were tried by the build"
        )
        for lane, n in sorted(lanes.items())
        if lane is not Lane.ANALYTICS
    ]
    report = Report("a release of Benchmint", len(release.tasks), unchecked=others)
    report.defects += [Finding(*fault) for fault in faults]
    return report


def _lint_records(path: Path, run: Path, files: Path) -> tuple[int, _Faults]:
    """The faults of records in the lane's own form, by all gates on the environment of a run."""
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.lint import judge_records
    from flows.commands.analytics import ENVIRONMENT, public_half
    from flows.environments import bench_of, reopened

    declaration = read_declaration(run / "private" / "analytics" / "declaration.toml")
    with bench_of(reopened(declaration, files, public_half(run) / ENVIRONMENT / "raw")) as bench:
        verdicts = judge_records(path, bench)
    if not verdicts:
        raise InputError(path.name, "no record", "at least one record", "Choose another one.")
    faults = [(v.record, f"{why}: {detail}") for v in verdicts for why, detail in v.faults]
    return len(verdicts), faults
