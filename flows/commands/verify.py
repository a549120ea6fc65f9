"""`benchmint verify`: is this snapshot what its maker wrote, and does it add up?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.errors import InputError
from data.snapshot import VerifyReport, verify


def command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot, or its public half alone.")],
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check sums, contracts, ledger arithmetic and separation of the halves; exit 1 on findings."""
    if not snapshot.exists():
        raise InputError(str(snapshot), "nothing", "a snapshot", "Check the path.")
    report = verify(snapshot)
    print(pretty_json(asdict(report)).decode() if json else "\n".join(_lines(report)))
    raise typer.Exit(0 if report.ok else 1)


def _lines(report: VerifyReport) -> Iterator[str]:
    for finding in report.findings:
        yield f"{finding.check}: {finding.path}: {finding.problem}"
    halves = "both halves" if report.with_private else "the public half alone"
    state = "verified" if report.ok else f"{len(report.findings)} findings"
    yield f"{report.snapshot}: {report.tasks} tasks, {report.files} files, {halves}: {state}"
    if report.digest:
        yield f"digest {report.digest}"
