"""Analytic tasks by themselves: `analytics` and `lint`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.atomic import PRIVATE_FILE, private_dir, replacing_dir, write_bytes
from data.canonical import digest, keyed_digest, pretty_json
from data.errors import InputError
from flows.commands.options import Key, WriteTo

if TYPE_CHECKING:
    from construction.analytics.make import Minted
    from flows.stages.analytics import Environment

ENVIRONMENT, REPORT, NOISE = "environment", "report.json", "noise.json"


def analytics_command(
    declaration: Annotated[
        Path | None, typer.Argument(help="Declaration of the environment; none: the demo's.")
    ] = None,
    files: Annotated[
        Path | None, typer.Option(help="Folder of the files [that of the declaration].")
    ] = None,
    templates: Annotated[Path | None, typer.Option(help="More templates (TOML).")] = None,
    proposals: Annotated[
        Path | None, typer.Option(help="Proposed step programmes, one per line (JSON).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Public seed of what is drawn.")] = 0,
    key: Key = None,
    out: WriteTo = Path("analytics"),
) -> None:
    """Write tasks and the three variants to OUT/public, gold and funnel to OUT/private.

    Exit 1 if no task could be made.
    """
    from data.builds import building, require_apart
    from data.demo.analytics import write_demo
    from data.randomness import release_key

    began = time.perf_counter()
    declaration = declaration or write_demo(out / "demo", seed)
    root = files or declaration.parent
    if root.parent != out:
        require_apart([root], out)
    with building(out):
        secret = release_key(key or private_dir(out / "private") / "release.key")
        minted, environment = _mint(declaration, root, secret, (templates, proposals), seed, out)
    _print(minted, environment, out, time.perf_counter() - began)
    if not minted.tasks:
        raise typer.Exit(1)


def _mint(
    declaration: Path,
    root: Path,
    secret: bytes,
    more: tuple[Path | None, Path | None],
    seed: int,
    out: Path,
) -> tuple[Minted, Environment]:
    """Make and write everything; `more`: files of templates and of proposals."""
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.make import mint
    from construction.analytics.proposals import read_proposals
    from construction.analytics.templates import read_templates
    from flows.stages.analytics import bench_of, open_environment

    declared = read_declaration(declaration)
    templates, proposals = more
    proposed = read_proposals(proposals, declared) if proposals else []
    environment = open_environment(declared, root, secret)
    with bench_of(environment) as bench:
        minted = mint(bench, read_templates(templates), seed, proposed)
        _write(out, environment, minted, bench.tables, secret)
    write_bytes(out / "private" / "analytics" / "declaration.toml", declaration.read_bytes())
    return minted, environment


def _write(
    out: Path,
    environment: Environment,
    minted: Minted,
    tables: Mapping[str, Any],
    secret: bytes,
) -> None:
    """Both halves, each whole or not at all."""
    from construction.analytics.environment.variants import noise_inventory, write_variants
    from construction.analytics.output import candidate_of, write_gold, write_tasks
    from construction.analytics.reporting import report_of
    from data.pool import write_pool
    from data.stage_tables import StageRecords, write_records

    declared = environment.declaration
    shutil.rmtree(out / "public", ignore_errors=True)
    with replacing_dir(out / "public") as part:
        write_tasks(part, minted.tasks)
        folder = part / ENVIRONMENT
        write_variants(declared, environment.root, environment.replaced, tables, folder)
    private = private_dir(out / "private") / "analytics"
    shutil.rmtree(private, ignore_errors=True)
    with replacing_dir(private) as part:
        write_gold(part, minted.tasks)
        fixtures = fixtures_of(out / "public" / ENVIRONMENT / "raw")
        candidates = [
            candidate_of(
                task, declared, fixtures, lambda item: f"a-{keyed_digest(secret, item)[:16]}"
            )
            for task in minted.tasks
        ]
        inputs = {f.sha256: Path("../../public", ENVIRONMENT, "raw", f.path) for f in fixtures}
        write_pool(part, candidates, inputs)
        write_records(part, StageRecords(minted.ledger, [minted.tally]))
        noise = noise_inventory(declared, environment.inventory)
        write_bytes(part / NOISE, pretty_json(noise), mode=PRIVATE_FILE)
        stamp = {"environment": declared.name, "release_key_sha256": digest(secret)}
        write_bytes(part / REPORT, pretty_json(stamp | report_of(minted)), mode=PRIVATE_FILE)


def fixtures_of(folder: Path) -> list[Any]:
    """The files of a variant as inputs of a task."""
    from data.canonical import file_digest
    from data.contracts import Fixture

    return [
        Fixture(
            path=path.relative_to(folder).as_posix(),
            sha256=file_digest(path),
            bytes=path.stat().st_size,
            media_type="text/csv" if path.suffix == ".csv" else "text/plain",
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def _print(minted: Minted, environment: Environment, out: Path, seconds: float) -> None:
    from construction.analytics.reporting import report_of

    report = report_of(minted)
    print(
        f"{report['tasks']} tasks of {report['candidates']} candidates in {out} ({seconds:.0f} s)"
    )
    for stratum, made in report["made"].items():
        wanted = report["asked_for"].get(stratum)
        print(f"  {stratum}: {made}" + ("" if wanted is None else f" of {wanted}"))
    reasons: dict[str, int] = {}
    for counts in report["reasons"].values():
        for reason, n in counts.items():
            reasons[reason] = reasons.get(reason, 0) + n * (reason != "kept")
    for reason, n in sorted(reasons.items()):
        print(f"  {n} × {reason}" if n else "", end="\n" if n else "")
    least = environment.declaration.limits.noisy
    print(f"noise changes the answer of {report['noisy_share']:.0%} (at least {least:.0%} wanted)")
    unread = [name for name, f in environment.declaration.files.items() if f.terms == "unread"]
    if unread:
        print(f"terms unread, do not publish: {', '.join(unread)}")


def lint_command(
    path: Annotated[
        Path, typer.Argument(help="What `benchmint analytics` wrote, or a JSON file of records.")
    ],
) -> None:
    """Run every gold anew, or list the faults of foreign task records; exit 1 if there are any."""
    if path.is_dir():
        from construction.analytics.gold_lint import lint_release

        private = path / "private" / "analytics"
        if not private.is_dir():
            expected = "a folder of `benchmint analytics`"
            raise InputError(str(path), "no gold", expected, "Name the folder it wrote to.")
        n, faults = lint_release(path / "public", private)
        lines = [f"{task}: {fault}" for task, fault in faults]
    elif path.is_file():
        from construction.analytics.record_lint import lint_records, read_records
        from data.neutralise import one_line

        records = read_records(path)
        findings = lint_records(records)
        n = len(records)
        lines = [one_line(f"{item.record}: {item.fault}: {item.detail}") for item in findings]
    else:
        raise InputError(str(path), "nothing", "a folder or a JSON file", "Check the path.")
    print("\n".join([*lines, f"{n} tasks: {len(lines)} faults"]))
    if lines:
        raise typer.Exit(1)
