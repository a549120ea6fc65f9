"""Releases for other runners: `export inspect`, `export harbor` and `export swe-bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.errors import InputError

if TYPE_CHECKING:
    from construction.grading.exports.writing import Export

_Snapshot = Annotated[Path, typer.Argument(help="A snapshot, or its public half alone.")]
_Out = Annotated[Path, typer.Option(help="Output directory: new or empty.")]
_Private = Annotated[
    bool, typer.Option("--with-private", help="Also export answers, rules and graders.")
]


def export_inspect_command(snapshot: _Snapshot, out: _Out, with_private: _Private = False) -> None:
    """Write a package with one Inspect task that covers a release's tasks."""
    from construction.grading.exports.inspect import export_inspect

    export = _export(snapshot, with_private, out)
    _print_done(export, export_inspect(export, out), out)


def export_harbor_command(
    snapshot: _Snapshot,
    out: _Out,
    with_private: _Private = False,
    image: Annotated[
        str | None,
        typer.Option(
            help="Image with everything environment/Dockerfile installs; otherwise it is built."
        ),
    ] = None,
) -> None:
    """Write one folder per task in the format that Harbor reads."""
    from construction.grading.exports.harbor import export_harbor

    export = _export(snapshot, with_private, out)
    _print_done(export, export_harbor(export, out, image), out)


def export_swe_bench_command(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot with both halves.")],
    out: Annotated[Path, typer.Option(help="Output file.")] = Path("swe-bench.jsonl"),
) -> None:
    """Write repository tasks as JSON lines with SWE-bench's columns."""
    from construction.repositories.exports import swe_bench_lines
    from data.atomic import PRIVATE_FILE, write_bytes
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    lines = list(swe_bench_lines(read_tasks(snapshot)))
    write_bytes(out, b"".join(lines), mode=PRIVATE_FILE)
    print(f"{len(lines)} tasks in {out}")


def _print_done(export: Export, number: int, out: Path) -> None:
    print(f"{number} tasks in {out}; start with {out / 'README.md'}")
    if export.left_out:
        number, first = len(export.left_out), min(export.left_out)
        print(
            f"{number} workflow tasks are left out (first: {first}), because their services' data "
            "is private; add --with-private to include them.",
            file=sys.stderr,
        )


def _export(snapshot: Path, with_private: bool, out: Path) -> Export:
    """The release, and how much of it leaves. Raises InputError where `out` is in the release."""
    from construction.grading.exports.writing import Export
    from construction.repositories.exports import harbor_files
    from construction.workflows.declaration import has_services, split_tool_name
    from data.releases.tasks import read_tasks, require_outside

    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    if with_private and release.private is None:
        raise InputError(
            str(snapshot), "no private half", "private/ next to public/",
            "Export without --with-private, or from the whole snapshot.",
        )  # fmt: skip
    services = {
        name: tuple(tool for tool in task.candidate.tools if split_tool_name(tool))
        for name, task in release.tasks.items()
        if has_services(task.candidate)
    }
    files = harbor_files(release) if with_private else {}
    export = Export(release, with_private, services, files)
    if not any(export.tasks()):
        raise InputError(
            str(snapshot), "only workflow tasks", "tasks that do not need the private half",
            "Add --with-private: the services' data is private.",
        )  # fmt: skip
    return export
