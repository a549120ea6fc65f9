"""Analytic tasks by themselves, and the environments that they are made over: `analytics`,
`profile`.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tomli_w
import typer

from construction.analytics.config import AnalyticsRecipe
from data.atomic import PRIVATE_FILE, private_dir, replacing_dir, write_bytes
from data.canonical import digest, keyed_digest, pretty_json
from data.errors import InputError
from data.figures import percent
from data.neutralise import one_line
from flows.commands.table import Config, Key, WriteTo

if TYPE_CHECKING:
    from construction.analytics.environment.declaration import Declaration
    from construction.analytics.make import Minted
    from flows.environments import Environment

ENVIRONMENT, _REPORT, _NOISE = "environment", "report.json", "noise.json"
_PRIVACY, _REFUSED = "privacy.json", "refused"


def analytics_command(
    declaration: Annotated[
        Path | None, typer.Argument(help="Environment declaration (TOML); default: the demo's.")
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(help="Folder with the environment's files; default: the declaration's."),
    ] = None,
    templates: Annotated[Path | None, typer.Option(help="Additional templates (TOML).")] = None,
    proposals: Annotated[
        Path | None, typer.Option(help="Proposed step programs, one JSON object per line.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Public seed for sampling.")] = 0,
    config: Config = None,
    key: Key = None,
    out: WriteTo = Path("analytics"),
) -> None:
    """Write tasks and the three variants to OUT/public, and gold and funnel to OUT/private.

    Exits with 1 if no task could be made, if noise changes too few answers, or if the anonymized
    files must not be released; everything then stays in OUT/private.
    """
    from data.builds import building, require_apart
    from data.demo.generate import copy_environment
    from data.randomness import release_key
    from flows.recipe import load_section

    began = time.perf_counter()
    if declaration is not None:
        require_apart([files or declaration.parent], out)
    recipe = load_section(AnalyticsRecipe, "analytics", config)
    with building(out):  # the demo too: a run at work may be reading it
        declaration = declaration or copy_environment(out / "demo")
        root = files or declaration.parent
        secret = release_key(key or private_dir(out / "private") / "release.key")
        more = _Given(templates, proposals, recipe)
        minted, environment = _mint(declaration, root, secret, more, seed, out)
    _print(minted, environment, out, time.perf_counter() - began)
    if environment.refused or not minted.tasks or not minted.quota.is_reached:
        raise typer.Exit(1)


def profile_command(
    source: Annotated[
        Path, typer.Argument(help="Folder of files, or a declaration whose roles to check.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Draft to write; default: FOLDER/environment.toml.")
    ] = None,
    policies: Annotated[
        int,
        typer.Option(min=0, help="Number of invented policies to plant next to the declaration."),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Public seed for sampling.")] = 0,
    example: Annotated[
        bool, typer.Option("--example", help="First write eight made-up files into the folder.")
    ] = False,
) -> None:
    """Propose tables and roles for an environment, or check those in a declaration.

    Exits with 1 if roles do not fit the data; prints one line per problem.
    """
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.environment.profile import role_faults
    from construction.analytics.environment.variants import clean_tables, read_files
    from data.demo.generate import COOPERATIVES, copy_frozen

    if example:
        copy_frozen(COOPERATIVES, source)
    if source.is_dir():
        _draft(source, out or source / "environment.toml")
        return
    declaration = read_declaration(source)
    tables = clean_tables(declaration, read_files(source.parent, declaration))
    faults = list(role_faults(declaration, tables))
    for fault in faults:
        print(one_line(fault), file=sys.stderr)
    if faults:
        raise typer.Exit(1)
    if policies:
        _plant(source, declaration, tables, policies, seed)
    print(f"{len(declaration.roles)} roles fit: {', '.join(declaration.roles)}")


def _draft(folder: Path, out: Path) -> None:
    """Write the draft of a declaration, and print which file serves for what."""
    from construction.analytics.environment.profile import draft, read_sheets

    if out.exists():
        raise InputError(
            str(out), "an existing declaration", "no file there", "Choose another path with --out."
        )
    sheets, texts = read_sheets(folder)
    declared, lines = draft(folder.resolve().name, sheets, texts)
    print("\n".join(map(one_line, lines)))
    write_bytes(out, tomli_w.dumps(declared).encode())
    print(f"draft written to {one_line(str(out))}; correct its wording, roles and metrics")


def _plant(
    source: Path, declaration: Declaration, tables: Mapping[str, Any], n: int, seed: int
) -> None:
    """Write the documents beside the declaration, and add them and their clauses to it."""
    from construction.analytics.environment.declaration import Declaration
    from construction.analytics.environment.planted import FILE, how_to_read, planted_policies
    from construction.analytics.environment.profile import with_texts
    from data.configuration import read_toml, validated

    if "texts" in declaration.roles:
        raise InputError(
            str(source), "texts of its own", "none", "Declare their clauses in [[policies]]."
        )
    texts, made, filed = planted_policies(declaration, tables, n, seed)
    paths = {name: f"{FILE}/{name}.txt" for name in texts}
    declared = dict(read_toml(source))
    declared |= {**with_texts(declared, paths, FILE, filed), "policies": made}
    read_together = {"reads": [FILE], "words": how_to_read(declaration)}
    declared["conventions"] = [*declared.get("conventions", ()), read_together]
    validated(Declaration, declared, source)
    for name, text in texts.items():
        write_bytes(source.parent / paths[name], text.encode())
    write_bytes(source, tomli_w.dumps(declared).encode())
    print(f"{n} policies in {len(texts)} documents: {one_line(str(source.parent / FILE))}")


@dataclass(frozen=True, slots=True)
class _Given:
    """Files of more templates and of proposals, and the settings of the lane."""

    templates: Path | None
    proposals: Path | None
    recipe: AnalyticsRecipe


def _mint(
    declaration: Path,
    root: Path,
    secret: bytes,
    more: _Given,
    seed: int,
    out: Path,
) -> tuple[Minted, Environment]:
    """Make and write everything."""
    from construction.analytics.candidates import read_proposals
    from construction.analytics.environment.declaration import read_declaration
    from construction.analytics.make import mint
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
    from construction.analytics.task_files import candidate_of, fixtures_of, write_gold, write_tasks
    from data.pool import write_pool
    from data.stage_tables import write_records

    def candidate_id(item: str) -> str:
        return f"a-{keyed_digest(secret, item)[:16]}"

    declared = environment.declaration
    private = private_dir(out / "private") / "analytics"
    public = private_dir(out / "private") / _REFUSED if environment.refused else out / "public"
    home = Path("..", _REFUSED) if environment.refused else Path("../../public")
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
        for old in (private, out / "public", out / "private" / _REFUSED):
            shutil.rmtree(old, ignore_errors=True)


def _write_reports(part: Path, environment: Environment, minted: Minted, secret: bytes) -> None:
    """Noise, attacks and the funnel."""
    from construction.analytics.environment.variants import noise_inventory
    from construction.analytics.make import report_of

    stamp = {
        "environment": environment.declaration.name,
        "release_key_sha256": digest(secret),
        "refused": "; ".join(environment.refused),
    }
    reports = {
        _NOISE: noise_inventory(environment.declaration, environment.inventory),
        _PRIVACY: environment.privacy,
        _REPORT: stamp | report_of(minted),
    }
    for name, content in reports.items():
        write_bytes(part / name, pretty_json(content), mode=PRIVATE_FILE)


def public_half(out: Path) -> Path:
    """What may be published, or what was kept back from it."""
    refused = out / "private" / _REFUSED
    return refused if refused.is_dir() else out / "public"


def _print(minted: Minted, environment: Environment, out: Path, seconds: float) -> None:
    from construction.analytics.config import ANY
    from construction.analytics.make import report_of

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
        print(f"tasks whose answer depends on {name}: {percent(reached, 0)} (at least {least})")
    unread = [name for name, f in environment.declaration.files.items() if f.terms == "unread"]
    if unread:
        print(f"do not publish until their terms have been read: {', '.join(unread)}")
    for refused in environment.refused:
        print(one_line(f"refused, nothing is public: {refused}"), file=sys.stderr)
