"""`benchmint audit`: why was this rejected?"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from data import hash_chain
from data.errors import InputError
from data.staging.audit import (
    RejectionFilter,
    Rows,
    gates,
    reasons,
    rejection_counts,
    rejections,
    story,
    turn_lines,
    verdicts,
    with_text,
)
from data.staging.print import print_rows
from flows.commands import audit_page
from flows.gates import GATES

_GATES = tuple(gate.name for gate in GATES)
_REASONS = tuple(str(reason) for gate in GATES for reason in gate.reasons)


def command(
    gate: Annotated[
        str | None, typer.Option(help=f"Only this gate, one of {', '.join(_GATES)}.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
    instance: Annotated[str | None, typer.Option(help="Everything about one instance.")] = None,
    private: Annotated[
        bool, typer.Option(help="With --instance: show the text; each look is logged.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the audit page on 127.0.0.1, until interrupted.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --serve: the port; 0 takes a free one.")
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page, CSV and JSON to this folder, without names."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Count rejections by reason; list those of a gate or reason; tell one instance's story."""
    if export is not None:
        audit_page.export(out, export)
    if serve:
        audit_page.serve(out, port)
    if serve or export is not None:
        return
    staging = out / "staging.duckdb"
    if private and instance is None:
        raise InputError("--private", "no --instance", "one instance", "Name it with --instance.")
    _require("gate", gate, gates(staging), _GATES)
    _require("reason", reason, reasons(staging), _REASONS)
    if instance is None and gate is None and reason is None and not as_json:
        print_rows({"rejections by reason": rejection_counts(staging)}, as_json=False)
        print(
            "those of one reason: benchmint audit --reason R; all of them: benchmint audit --json"
        )
        return
    if instance is None:
        print_rows({"rejections": rejections(staging, RejectionFilter(gate, reason))}, as_json)
        return
    tables: dict[str, Rows] = {
        "verdicts": verdicts(staging, instance),
        "rejections": rejections(staging, RejectionFilter(gate, reason, instance)),
        "story": story(staging, instance),
        "turns": turn_lines(staging, instance),
    }
    if not any(tables.values()):
        raise InputError(
            instance,
            "no such instance",
            "an instance id",
            "List instances with `benchmint audit --gate G`.",
        )
    if private:
        hash_chain.record_access(out / "private" / "access.log", "audit --private", instance)
        tables["turns"] = with_text(out, tables["turns"])
    print_rows(tables, as_json)


def _require(what: str, name: str | None, in_run: Sequence[str], registered: Sequence[str]) -> None:
    """Raise InputError for the name of a gate or reason that this run does not have."""
    if name is None or name in in_run:
        return
    actual = f"a {what} that rejected nothing here" if name in registered else f"no such {what}"
    near = get_close_matches(name, [*in_run, *registered], n=1, cutoff=0.5)
    guess = f"Did you mean {near[0]}? " if near and near[0] != name else ""
    todo = f"{guess}The {what}s of this run are: {', '.join(in_run) or 'none'}."
    raise InputError(f"--{what}", actual, f"a {what} of this run", todo)
