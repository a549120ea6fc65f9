"""The stage of an environment: its anonymized files, attacked, and whether all may leave.

After sealing a build starts at the pseudonymized files that the last one kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from anonymization.tables.seal import Kept, keep, require_unchanged, sealed_output
from construction.analytics.environment.declaration import Declaration, read_declaration
from construction.analytics.environment.variants import paths_of
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest, file_digest, pretty_json
from data.contracts import Disclosure, StageKind
from data.ledger import gated_row
from data.snapshot import layout
from data.stage_tables import write_stage_tables
from data.stages import Folders, Stage, Unit
from data.tables import write_frame
from flows.environments import Environment, open_environment, source_digests, tables_recipe
from flows.run import Run, Work

ENVIRONMENT_STAGE, FILE_UNIT = "environment", "environment_file"
PRIVACY, IDENTIFIERS, REPLACED = "privacy.json", "originals.json", "replaced"


def is_given(run: Run) -> bool:
    """Is there a declared environment?"""
    return run.runtime.environment is not None


def declared(run: Run) -> tuple[Declaration, Path]:
    """The declaration, and the folder that its paths count from."""
    path = run.runtime.environment
    assert path is not None
    return read_declaration(path), run.runtime.environment_files or path.parent


def environment_inputs(work: Work) -> Mapping[str, str]:
    """The declaration and every file."""
    declaration, root = declared(work.run)
    path = work.run.runtime.environment
    assert path is not None
    numbered = enumerate(source_digests(declaration, root).values(), start=1)
    return {"environment": file_digest(path)} | {
        f"environment-{number:04d}": sha256 for number, sha256 in numbered
    }


def _open(work: Work, out: Path) -> None:
    """Anonymize and attack; keep the released rows, and everything that was measured."""
    run = work.run
    declaration, root = declared(run)
    environment = open_environment(declaration, root, run.key, run.recipe.release.seed)
    (out / REPLACED).mkdir()
    for name, frame in environment.replaced.items():
        write_frame(out / REPLACED / f"{name}.parquet", frame)
    for name, content in (
        (PRIVACY, pretty_json(environment.privacy)),
        (IDENTIFIERS, canonical_json(list(environment.identifiers))),
    ):
        write_bytes(out / name, content, mode=PRIVATE_FILE)
    _record_files(environment, out)


def _record_files(environment: Environment, out: Path) -> None:
    """A row for each file; that of a refused one has the reason and figures of the tables lane.

    Where one is refused nothing of the environment leaves, since tasks join its files. The limits
    are the declaration's, so that no verdict is recorded beside those by the limits of the recipe.
    """
    refused = {table.name: table.refused[0] for table in environment.judged if table.refused}
    declaration = environment.declaration
    # A path, since a bare name may also stand in public texts, which private ids must not.
    ids = {f"{layout.ENVIRONMENTS}/{declaration.name}/{f}": f for f in sorted(declaration.files)}
    rows = [
        replace(gated_row(ENVIRONMENT_STAGE, FILE_UNIT, item, refused.get(name), {}), gate=None)
        for item, name in ids.items()
    ]
    ids_in_order = list(ids)
    write_stage_tables(
        out, StageKind.FILTER, ids_in_order, rows, stage=ENVIRONMENT_STAGE, unit=FILE_UNIT
    )


def _kept(declaration: Declaration) -> Kept:
    """What a build keeps of an environment's anonymized files for a rebuild after sealing."""
    made_from = declaration.model_dump(mode="json", include={"name", "files", "anonymize"})
    return Kept("pseudonymized-environment", "the environment", digest(made_from))


def _digests(declaration: Declaration, root: Path) -> dict[str, str]:
    """Digests of the originals of its anonymized files, by path."""
    anonymized = {
        file.path for file in declaration.files.values() if file.disclosure is Disclosure.ANONYMIZED
    }
    digests = source_digests(declaration, root)
    return {path: sha256 for path, sha256 in digests.items() if path in anonymized}


def _sealed_output(run: Run) -> Path | None:
    declaration, root = declared(run)
    kept = _kept(declaration)
    folder = sealed_output(run.out, kept, run.key_id)
    if folder is not None:
        require_unchanged(run.out, kept, _digests(declaration, root))
    return folder


def keep_environment(run: Run, opened: Folders) -> None:
    """Keep the files under pseudonyms outside the run store, for a rebuild after sealing."""
    for folder in opened:
        declaration, root = declared(run)
        kept = _kept(declaration)
        if tables_recipe(declaration) is not None and not _is_sealed(run, kept):
            keep(run.private, folder, kept, run.key_id, _digests(declaration, root))


def _is_sealed(run: Run, kept: Kept) -> bool:
    return sealed_output(run.out, kept, run.key_id) is not None


ENVIRONMENT = Stage(
    name=ENVIRONMENT_STAGE,
    meaning="May the environment's files be released, after attacks on the anonymized ones?",
    units=(Unit(FILE_UNIT, StageKind.FILTER),),
    settings=("release.seed",),
    inputs=environment_inputs,
    compute=_open,
    stand_in=_sealed_output,
    uses_key=True,
)


def environment_identifiers(environment: Folders) -> list[str]:
    """The original codes and names of anonymized files, which a release is searched for."""
    return [
        value
        for folder in environment
        for value in orjson.loads((folder / IDENTIFIERS).read_bytes())
    ]


def given_as_public(run: Run, made: Folders) -> set[str]:
    """The files of a release's environment that are declared public and leave as they were."""
    if not made:
        return set()
    declaration, _ = declared(run)
    public = {name for name, f in declaration.files.items() if f.disclosure is Disclosure.PUBLIC}
    paths = paths_of(declaration, public, run.recipe.analytics.variant)
    return {f"{layout.ENVIRONMENTS}/{declaration.name}/{path}" for path in paths}


def environment_privacy(run: Run, environment: Folders) -> dict[str, Any]:
    """What attacks found in the anonymized files, by environment, and where a build starts."""
    privacy = {}
    for folder in environment:
        report = orjson.loads((folder / PRIVACY).read_bytes())
        if report and _sealed_output(run) is not None:
            report["starts_at"] = "pseudonymized tables"
        privacy[declared(run)[0].name] = report
    return privacy
