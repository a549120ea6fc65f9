"""`benchmint audit`: why was this rejected?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from data import hash_chain
from data.errors import InputError
from data.source_lines import with_text
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
)
from data.staging.audit_print import print_rows
from flows.commands import audit_page


def command(
    gate: Annotated[str | None, typer.Option(help="Only this gate, e.g. fixture.")] = None,
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
    _require("gate", gate, gates(staging))
    _require("reason", reason, reasons(staging))
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


def _require(what: str, name: str | None, known: Sequence[str]) -> None:
    """Raise InputError for the name of a gate or reason that this run has not: a slip, perhaps."""
    if name is not None and name not in known:
        todo = f"The {what}s of this run are: {', '.join(known) or 'none'}."
        raise InputError(f"--{what}", f"no such {what}", f"a {what} of this run", todo)
