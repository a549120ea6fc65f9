"""`benchmint audit`: why was this rejected?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data import hash_chain
from data.errors import InputError
from data.neutralise import one_line
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
from flows.audit_server.evidence import with_text
from flows.commands import audit_page

_WIDE = 10_000
_BRIEF = ("unit", "item_id", "gate", "reason", "observed", "limit", "path", "line", "found")


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
        _show({"rejections by reason": rejection_counts(staging)}, as_json=False)
        print(
            "those of one reason: benchmint audit --reason R; all of them: benchmint audit --json"
        )
        return
    if instance is None:
        _show({"rejections": rejections(staging, RejectionFilter(gate, reason))}, as_json)
        return
    told: dict[str, Rows] = {
        "verdicts": verdicts(staging, instance),
        "rejections": rejections(staging, RejectionFilter(gate, reason, instance)),
        "story": story(staging, instance),
        "turns": turn_lines(staging, instance),
    }
    if not any(told.values()):
        raise InputError(
            instance,
            "no such instance",
            "an instance id",
            "List instances with `benchmint audit --gate G`.",
        )
    if private:
        hash_chain.record_access(out / "private" / "access.log", "audit --private", instance)
        told["turns"] = with_text(out, told["turns"])
    _show(told, as_json)


def _require(what: str, asked: str | None, known: Sequence[str]) -> None:
    """Raise InputError for the name of a gate or reason that this run has not: a slip, perhaps."""
    if asked is not None and asked not in known:
        todo = f"The {what}s of this run are: {', '.join(known) or 'none'}."
        raise InputError(f"--{what}", f"no such {what}", f"a {what} of this run", todo)


def _show(told: dict[str, Rows], as_json: bool) -> None:
    if as_json:
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # piped: one line a row, nothing cut
    with console.capture() as printed:
        _print_tables(told, console)
    print("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _print_tables(told: dict[str, Rows], console: Console) -> None:
    for title, rows in told.items():
        if not rows:
            continue
        wanted = _BRIEF if title == "rejections" else tuple(rows[0])
        columns = [name for name in wanted if any(row[name] is not None for row in rows)]
        table = Table(title=f"{title} ({len(rows)})", title_justify="left", box=None)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_cell(row[name]) for name in columns))
        console.print(table)
    if not any(told.values()):
        console.print("Nothing was rejected.")


def _cell(value: object) -> Text:
    """A cell without markup or control characters: names in it come from session logs."""
    return Text("" if value is None else one_line(str(value)))
