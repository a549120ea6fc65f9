"""`benchmint verify`: is this snapshot what its maker wrote, and does it add up?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.errors import InputError
from data.neutralise import one_line
from data.snapshot import Check, VerifyReport, verify
from data.snapshot.pages import amount


def command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot, or its public half alone.")],
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check sums, contracts, ledger arithmetic and separation of the halves; exit 1 on findings."""
    if not snapshot.exists():
        raise InputError(str(snapshot), "nothing", "a snapshot", "Check the path.")
    report = verify(snapshot)
    print(pretty_json(asdict(report)).decode() if json else "\n".join(_lines(snapshot, report)))
    raise typer.Exit(0 if report.ok else 1)


def _lines(folder: Path, report: VerifyReport) -> Iterator[str]:
    for finding in report.findings:
        yield f"{finding.check}: {finding.path}: {finding.problem}"
    if Check.NOT_A_SNAPSHOT in (finding.check for finding in report.findings):
        yield one_line(f"{folder}: no snapshot")
        return
    name = report.snapshot or f"{folder}, whose manifest cannot be read"
    halves = "both halves" if report.with_private else "the public half alone"
    state = "verified" if report.ok else amount(len(report.findings), "finding")
    what = f"{amount(report.tasks, 'task')}, {amount(report.files, 'file')}, {halves}"
    yield one_line(f"{name}: {what}: {state}")
    if report.digest:
        yield f"digest {report.digest}"
