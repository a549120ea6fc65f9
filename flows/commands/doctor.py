"""`benchmint doctor`: is everything here that a build and the service need?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.canonical import pretty_json
from data.neutralise import one_line
from flows.configuration import load_settings
from flows.service.lifecycle import from_environment

if TYPE_CHECKING:
    from flows.doctor import Finding


def command(
    config: Annotated[Path | None, typer.Option(help="Configuration (TOML).")] = None,
    out: Annotated[Path | None, typer.Option(help="The directory to build into.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check environment, models, solvers, port, disk, rights and key; exit 1 if one fails."""
    # It loads what it examines, which takes seconds: other commands do not wait for it.
    from flows.doctor import Grade, examine

    given = {"runtime": {"out": out}} if out is not None else {}
    findings = examine(load_settings(config, given), from_environment())
    if json:
        print(pretty_json([asdict(one) for one in findings]).decode())
    else:
        print("\n".join(map(_line, findings)))
    raise typer.Exit(1 if any(one.grade is Grade.FAIL for one in findings) else 0)


def _line(finding: Finding) -> str:
    todo = f". {finding.todo}" if finding.todo else ""
    return one_line(f"{finding.grade:<5}{finding.check}: {finding.actual}{todo}")
