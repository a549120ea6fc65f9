"""`benchmint audit`: why was this rejected?"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from data import hash_chain
from data.errors import InputError, program
from data.neutralise import one_line
from data.reasons import ReasonWords
from data.staging import audit
from data.staging.audit import find_item
from data.staging.print import (
    print_item,
    print_json,
    print_last_outcome,
    print_reasons,
    print_rejections,
    print_tables,
    print_turned_away,
)
from flows.commands.table import WORKSPACE, BuiltInto, Json
from flows.gates import GATES

_GATES = tuple(gate.name for gate in GATES)
_WORDS = ReasonWords.of(GATES)


def audit_command(
    gate: Annotated[
        str | None, typer.Option(help=f"Only this gate: one of {', '.join(_GATES)}.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Show only this reason.")] = None,
    instance: Annotated[
        str | None,
        typer.Option(help="Show everything about one instance; an ID prefix is enough."),
    ] = None,
    private: Annotated[
        bool,
        typer.Option(
            help="With --instance: show the text and list missing inputs; access is logged."
        ),
    ] = False,
    as_json: Json = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the audit page on 127.0.0.1 until interrupted.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="With --serve: port to listen on; 0 picks a free port."
        ),
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page, CSV and JSON to this folder, with names removed."),
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Count rejections by reason, list those for one gate or reason, or show one instance."""
    if serve or export is not None:
        _audit_page(out, export, port if serve else None)
        return
    staging = out / "staging.duckdb"
    if private and instance is None:
        raise InputError("--private", "no --instance", "one instance", "Add --instance ID.")
    audit.require_known("gate", gate, audit.gates(staging), _GATES)
    audit.require_known("reason", reason, audit.reasons(staging), tuple(_WORDS.sentences))
    wanted = audit.RejectionFilter(gate, reason, instance)
    if instance is not None:
        _print_instance(out, wanted, private=private, as_json=as_json)
    elif gate is None and reason is None and not as_json:
        print_turned_away(staging)
        print_reasons(audit.rejection_counts(staging), _WORDS)
        print(f"\nlist one reason: {program()} audit --reason R{_built_into(out)}")
    else:
        rows = audit.rejections(staging, wanted)
        if as_json:
            print_json({"rejections": rows})
        else:
            print_rejections(rows, _WORDS)


def _print_instance(
    out: Path, wanted: audit.RejectionFilter, *, private: bool, as_json: bool
) -> None:
    """Print all about the instance whose id is or begins as `wanted` says, or which do."""
    staging, begin = out / "staging.duckdb", wanted.item_id or ""
    match = find_item(staging, begin)
    if match.item_id is None:
        if as_json:
            print_json({"begin so": match.others})
        else:
            print_tables({f"{len(match.others)} IDs begin with {one_line(begin)}": match.others})
        return
    tables = audit.about_instance(staging, match.item_id, wanted)
    if private:
        from flows.audit_server import with_words

        hash_chain.record_access(out / "private" / "access.log", "audit --private", match.item_id)
        tables["missing inputs"] = audit.missing_inputs(out, match.item_id)
        tables["changed by masking"] = audit.changed_parts(out, match.item_id)
        tables["turns"] = with_words(out, tables["turns"])
    if as_json:
        print_json(tables)
        return
    if match.item_id != begin:
        print(f"1 {one_line(match.unit)} matches: {one_line(match.item_id)}")
    if not tables["rejections"] and not (wanted.gate or wanted.reason):
        print_last_outcome(match, _WORDS)
    print_item(tables, _WORDS)
    if not tables["rejections"] and (wanted.gate or wanted.reason):
        print(f"It was not rejected by {' for '.join(filter(None, (wanted.gate, wanted.reason)))}.")


def _built_into(out: Path) -> str:
    """The option that names the folder of the build, where it is not the default."""
    return "" if out == WORKSPACE else f" --out {shlex.quote(str(out))}"


def _audit_page(out: Path, export: Path | None, port: int | None) -> None:
    """Write the audit page to a folder, or serve it until interrupted. Port 0 picks a free one."""
    # The server takes half a second to import: the other audits do not wait for it.
    from flows.audit_server import export_page, serve_page

    if export is not None:
        for path in export_page(out, export):
            print(path)
    if port is not None:
        with suppress(KeyboardInterrupt):
            serve_page(out, port)
