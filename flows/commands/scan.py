"""`benchmint scan`: is there private text in these files?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from anonymization.documents.contracts import DocumentReport
from anonymization.documents.scopes import jobs_of, scan_file
from data.neutralise import one_line
from data.sharding import map_shards
from data.snapshot.pages import amount
from flows.commands.mask import masking_settings


def command(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    config: Annotated[Path | None, typer.Option(help="Configuration with [masking].")] = None,
    approvals: Annotated[
        Path | None, typer.Option(help="Approved pictures and PDFs: a SHA-256 per line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """List what looks private, never the value; exit 1 on findings or files not scannable."""
    settings = masking_settings(config, approvals)
    jobs = jobs_of(paths, Path("/nonexistent"), bytes(32), settings)
    reports = [report for told in map_shards(scan_file, jobs, workers) for report in told]
    if as_json:
        print(orjson.dumps([asdict(r) for r in reports], option=orjson.OPT_INDENT_2).decode())
    else:
        for report in reports:
            _show(report)
        findings = sum(len(report.rows) for report in reports)
        print(f"{amount(len(reports), 'file')} scanned: {amount(findings, 'finding')}")
    bad = any(report.rows or report.refusal is not None for report in reports)
    raise typer.Exit(1 if bad else 0)


def _show(report: DocumentReport) -> None:
    for row in report.rows:
        location = f"{report.path}!{row.part}" if row.part else report.path
        line = f"{location}:{row.offset}: {row.type} by {row.recognizer}, score {row.score:.2f}"
        print(one_line(line))
    if report.refusal is not None:
        location = f" (in {report.part})" if report.part else ""
        print(one_line(f"{report.path}: not releasable, {report.refusal}{location}"))
