"""`benchmint audit`: why was this rejected?"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from data import hash_chain
from data.errors import InputError
from data.staging import audit
from data.staging.print import print_rows, print_turned_away
from flows.commands.options import WORKSPACE, BuiltInto, Json
from flows.gates import GATES

_GATES = tuple(gate.name for gate in GATES)
_MEANINGS = {str(reason): reason.meaning for gate in GATES for reason in gate.reasons}
_REASONS = tuple(_MEANINGS)
_MORE = "rejections for one reason: benchmint audit --reason R; all: benchmint audit --json"


def audit_command(
    gate: Annotated[
        str | None, typer.Option(help=f"Only this gate, one of {', '.join(_GATES)}.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
    instance: Annotated[str | None, typer.Option(help="Everything about one instance.")] = None,
    private: Annotated[
        bool,
        typer.Option(
            help="With --instance: show the text and name what is missing; the access is logged."
        ),
    ] = False,
    as_json: Json = False,
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
    out: BuiltInto = WORKSPACE,
) -> None:
    """Count rejections by reason, list those of a gate or reason, or show one instance in full."""
    if serve or export is not None:
        _audit_page(out, export, port if serve else None)
        return
    staging = out / "staging.duckdb"
    if private and instance is None:
        raise InputError("--private", "no --instance", "one instance", "Name it with --instance.")
    audit.require_known("gate", gate, audit.gates(staging), _GATES)
    audit.require_known("reason", reason, audit.reasons(staging), _REASONS)
    if instance is not None:
        tables = audit.about_instance(staging, instance, audit.RejectionFilter(gate, reason))
        if private:
            hash_chain.record_access(out / "private" / "access.log", "audit --private", instance)
            tables["missing inputs"] = audit.missing_inputs(out, instance)
            tables["turns"] = audit.with_text(out, tables["turns"])
        print_rows(tables, as_json)
    elif gate is None and reason is None and not as_json:
        print_rows({"rejections by reason": audit.rejection_counts(staging)}, as_json=False)
        print_turned_away(staging)
        print(_MORE)
    else:
        rows = audit.rejections(staging, audit.RejectionFilter(gate, reason))
        print_rows({"rejections": rows}, as_json)
        if not as_json:
            for shown in sorted({row["reason"] for row in rows} & _MEANINGS.keys()):
                print(f"{shown}: {_MEANINGS[shown]}")


def _audit_page(out: Path, export: Path | None, port: int | None) -> None:
    """Write the audit page to a folder, or serve it until interrupted. Port 0 takes a free one."""
    # The server takes half a second to import: the other audits do not wait for it.
    from flows.audit_server import export_page, serve_page

    if export is not None:
        for path in export_page(out, export):
            print(path)
    if port is not None:
        with suppress(KeyboardInterrupt):
            serve_page(out, port)
