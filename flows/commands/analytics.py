"""Analytic tasks by themselves: `analytics` and `lint`."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from construction.analytics.config import AnalyticsRecipe
from data.atomic import PRIVATE_FILE, private_dir, replacing_dir, write_bytes
from data.canonical import digest, keyed_digest, pretty_json
from data.errors import InputError
from data.figures import percent
from data.neutralise import one_line
from flows.commands.options import Config, Key, WriteTo
from flows.commands.workflows import foreign_lines, has_foreign_tasks

if TYPE_CHECKING:
    from construction.analytics.make import Minted
    from flows.environments import Environment

ENVIRONMENT, REPORT, NOISE = "environment", "report.json", "noise.json"
PRIVACY, REFUSED = "privacy.json", "refused"


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
    config: Config = None,
    key: Key = None,
    out: WriteTo = Path("analytics"),
) -> None:
    """Write tasks and the three variants to OUT/public, gold and funnel to OUT/private.

    Exit 1 if no task could be made, if noise changes too few answers, or if the anonymized files
    must not be released: all is then kept in OUT/private.
    """
    from data.builds import building, require_apart
    from data.demo.analytics import write_demo
    from data.randomness import release_key
    from flows.recipe import load_section

    began = time.perf_counter()
    if declaration is not None:
        require_apart([files or declaration.parent], out)
    recipe = load_section(AnalyticsRecipe, "analytics", config)
    with building(out):  # the demo too: a run at work may be reading it
        declaration = declaration or write_demo(out / "demo", seed)
        root = files or declaration.parent
        secret = release_key(key or private_dir(out / "private") / "release.key")
        more = Given(templates, proposals, recipe)
        minted, environment = _mint(declaration, root, secret, more, seed, out)
    _print(minted, environment, out, time.perf_counter() - began)
    if environment.refused or not minted.tasks or not minted.quota.is_reached:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Given:
    """Files of more templates and of proposals, and the settings of the lane."""

    templates: Path | None
    proposals: Path | None
    recipe: AnalyticsRecipe


def _mint(
    declaration: Path,
    root: Path,
    secret: bytes,
    more: Given,
    seed: int,
    out: Path,
) -> tuple[Minted, Environment]:
    """Make and write everything."""
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.make import mint
    from construction.analytics.proposals import read_proposals
    from construction.analytics.templates import read_templates
    from flows.environments import bench_of, open_environment

    declared = read_declaration(declaration)
    proposed = read_proposals(more.proposals, declared) if more.proposals else []
    environment = open_environment(declared, root, secret, seed)
    with bench_of(environment) as bench:
        minted = mint(bench, read_templates(more.templates), seed, proposed, more.recipe)
        _write(out, environment, minted, bench.tables, secret, declaration)
    return minted, environment


def _write(
    out: Path,
    environment: Environment,
    minted: Minted,
    tables: Mapping[str, Any],
    secret: bytes,
    declaration: Path,
) -> None:
    """Both halves, each whole or not at all; the public one stays private if it is refused.

    Those of an earlier run go when the new ones are complete, all before the first of the new ones
    comes: a kill leaves no gold of one run beside the files of another.
    """
    from construction.analytics.environment.variants import write_variants
    from construction.analytics.output import candidate_of, fixtures_of, write_gold, write_tasks
    from data.pool import write_pool
    from data.stage_tables import write_records

    def candidate_id(item: str) -> str:
        return f"a-{keyed_digest(secret, item)[:16]}"

    declared = environment.declaration
    private = private_dir(out / "private") / "analytics"
    public = private_dir(out / "private") / REFUSED if environment.refused else out / "public"
    home = Path("..", REFUSED) if environment.refused else Path("../../public")
    with replacing_dir(public) as shown, replacing_dir(private) as part:
        write_tasks(shown, minted.tasks)
        folder = shown / ENVIRONMENT
        write_variants(declared, environment.root, environment.replaced, tables, folder)
        fixtures = fixtures_of(folder / "raw", declared.name)
        inputs = {fixture.sha256: home / ENVIRONMENT / "raw" / fixture.path for fixture in fixtures}
        candidates = [candidate_of(t, declared, fixtures, candidate_id) for t in minted.tasks]
        write_gold(part, minted.tasks)
        write_pool(part, candidates, inputs)
        write_records(part, minted.records(candidate_id))
        _write_reports(part, environment, minted, secret)
        write_bytes(part / "declaration.toml", declaration.read_bytes())
        for old in (private, out / "public", out / "private" / REFUSED):
            shutil.rmtree(old, ignore_errors=True)


def _write_reports(part: Path, environment: Environment, minted: Minted, secret: bytes) -> None:
    """Noise, attacks and the funnel."""
    from construction.analytics.environment.variants import noise_inventory
    from construction.analytics.reporting import report_of

    stamp = {
        "environment": environment.declaration.name,
        "release_key_sha256": digest(secret),
        "refused": "; ".join(environment.refused),
    }
    reports = {
        NOISE: noise_inventory(environment.declaration, environment.inventory),
        PRIVACY: environment.privacy,
        REPORT: stamp | report_of(minted),
    }
    for name, content in reports.items():
        write_bytes(part / name, pretty_json(content), mode=PRIVATE_FILE)


def public_half(out: Path) -> Path:
    """What may be published, or what was kept back from it."""
    refused = out / "private" / REFUSED
    return refused if refused.is_dir() else out / "public"


def _print(minted: Minted, environment: Environment, out: Path, seconds: float) -> None:
    from construction.analytics.noise_quota import ANY
    from construction.analytics.reporting import report_of

    report = report_of(minted)
    print(
        f"{report['tasks']} tasks of {report['candidates']} candidates in {out} ({seconds:.0f} s)"
    )
    for stratum in sorted({*report["made"], *report["asked_for"]}):
        made, wanted = report["made"].get(stratum, 0), report["asked_for"].get(stratum)
        print(f"  {stratum}: {made}" + ("" if wanted is None else f" of {wanted}"))
    reasons: dict[str, int] = {}
    for counts in report["reasons"].values():
        for reason, n in counts.items():
            reasons[reason] = reasons.get(reason, 0) + n * (reason != "kept")
    for reason, n in sorted(reasons.items()):
        print(f"  {n} × {reason}" if n else "", end="\n" if n else "")
    for kind, share in report["noise_quota"].items():
        name = "noise" if kind == ANY else f"noise of the kind {kind}"
        reached, wanted = share["reached"], share["wanted"]
        least = percent(wanted, 0)
        print(f"{name} changes the answer of {percent(reached, 0)} (at least {least} wanted)")
    unread = [name for name, f in environment.declaration.files.items() if f.terms == "unread"]
    if unread:
        print(f"terms unread, do not publish: {', '.join(unread)}")
    for refused in environment.refused:
        print(one_line(f"refused, nothing is public: {refused}"), file=sys.stderr)


def lint_command(
    path: Annotated[
        Path,
        typer.Argument(
            help="A snapshot, what `benchmint analytics` wrote, a JSON file of records, or "
            "folders of tasks."
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            help="What `benchmint analytics` wrote: PATH has lines like its gold.jsonl, which go "
            "through all gates again."
        ),
    ] = None,
    files: Annotated[
        Path | None, typer.Option(help="With --run: folder of the original files [RUN/demo].")
    ] = None,
) -> None:
    """Run every gold anew, or list the faults of foreign tasks; exit 1 if there are any.

    Foreign tasks are records, or folders with a task.yaml each, whose graders are attacked.
    """
    n, lines = _linted(path, run, files)
    print("\n".join([*lines, f"{n} tasks: {len(lines)} faults"]))
    if lines:
        raise typer.Exit(1)


def _linted(path: Path, run: Path | None, files: Path | None) -> tuple[int, list[str]]:
    """How many tasks there are, and a line for each fault."""
    if run is not None:
        n, faults = _lint_records(path, run, files or run / "demo")
        return n, [one_line(f"{task}: {fault}") for task, fault in faults]
    if path.is_dir() and has_foreign_tasks(path):
        return foreign_lines(path)
    if path.is_dir():
        n, faults = _lint_folder(path)
        return n, [f"{task}: {fault}" for task, fault in faults]
    if path.is_file():
        return _lint_foreign(path)
    raise InputError(str(path), "nothing", "a folder or a JSON file", "Check the path.")


def _lint_foreign(path: Path) -> tuple[int, list[str]]:
    """The faults of records in the published form of DataClawBench."""
    from construction.analytics.record_lint import lint_records, read_records

    records = read_records(path)
    if not records:
        raise _empty(path)
    findings = lint_records(records)
    return len(records), [
        one_line(f"{item.record}: {item.fault}: {item.detail}") for item in findings
    ]


def _empty(path: Path) -> InputError:
    return InputError(path.name, "no record", "at least one record", "Name another.")


def _lint_records(path: Path, run: Path, files: Path) -> tuple[int, list[tuple[str, str]]]:
    """The faults of records in the lane's own form, by all gates on the environment of a run."""
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.records import judge_records
    from flows.environments import bench_of, reopened

    declaration = read_declaration(run / "private" / "analytics" / "declaration.toml")
    with bench_of(reopened(declaration, files, public_half(run) / ENVIRONMENT / "raw")) as bench:
        verdicts = judge_records(path, bench)
    if not verdicts:
        raise _empty(path)
    faults = [(v.record, f"{why}: {detail}") for v in verdicts for why, detail in v.faults]
    return len(verdicts), faults


def _lint_folder(path: Path) -> tuple[int, list[tuple[str, str]]]:
    """The faults of a snapshot or of a folder that `benchmint analytics` wrote."""
    from construction.analytics.gold_lint import lint_release, lint_snapshot
    from data.releases.tasks import read_tasks
    from data.snapshot import layout

    public, _ = layout.halves(path)
    if (public / layout.MANIFEST).is_file():
        n, faults = lint_snapshot(read_tasks(path))
        if not n:
            raise InputError(
                str(path), "no analytic task", "a snapshot with analytic tasks", "Name another."
            )
        return n, faults
    private = path / "private" / "analytics"
    if not private.is_dir():
        expected = "a snapshot, or a folder of `benchmint analytics`"
        raise InputError(str(path), "no gold", expected, "Name the folder it wrote to.")
    return lint_release(public_half(path), private)
