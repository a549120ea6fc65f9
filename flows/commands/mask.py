"""`benchmint mask`: sessions, texts and office files in, masked ones and their vault out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from anonymization.documents.contracts import DocumentReport
from anonymization.documents.scopes import FILES, MaskingConfig, Scope, jobs_of, mask_scope
from anonymization.masking_recipe import read_approvals
from anonymization.text.contracts import Mode
from data.atomic import private_dir, write_bytes
from data.canonical import digest, pretty_json
from data.neutralise import one_line
from data.randomness import release_key
from data.sharding import map_shards
from flows.configuration import load_section


def command(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    out: Annotated[Path, typer.Option(help="Where to write files/, reports/ and private/.")],
    key: Annotated[Path | None, typer.Option(help="Release key; created on first use.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="What stands in the place of values.")] = None,
    scope: Annotated[Scope | None, typer.Option(help="What shares its surrogates.")] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration with [masking].")] = None,
    approvals: Annotated[
        Path | None, typer.Option(help="Approved pictures and PDFs: a SHA-256 per line.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Write masked copies; exit 1 if a file was rejected."""
    settings = masking_settings(config, approvals)
    chosen = {"mode": mode or settings.mode, "scope": scope or settings.scope}
    settings = settings.model_copy(update=chosen)
    private = private_dir(out / "private")
    jobs = jobs_of(paths, out, release_key(key or private / "release.key"), settings)
    reports = [report for of in map_shards(mask_scope, jobs, workers) for report in of]
    rows = [asdict(r) for r in reports]
    for row in rows:
        del row["original_sha256"]  # a plain hash of something private: the vault has it
    report = {"recipe_sha256": digest(settings), "files": rows}
    write_bytes(out / "reports" / "masking.json", pretty_json(report))
    rejected = [report for report in reports if report.refusal is not None]
    for refused in rejected:
        print(one_line(rejection(refused)))
    spans = sum(len(report.rows) for report in reports if report.refusal is None)
    print(f"{len(reports) - len(rejected)} files masked in {out / FILES}: {spans} values replaced")
    print(f"keep {private} to restore them: benchmint restore {out} --out DIR")
    raise typer.Exit(1 if rejected else 0)


def rejection(report: DocumentReport) -> str:
    """One line about a file that is not released."""
    part = f" (in {report.part})" if report.part else ""
    return f"{report.path}: rejected, {report.refusal}{part}"


def masking_settings(config: Path | None, approvals: Path | None) -> MaskingConfig:
    """`[masking]` of a configuration, with the digests of an approvals file added."""
    settings = load_section(MaskingConfig, "masking", config)
    if approvals is None:
        return settings
    known = settings.documents.approvals | read_approvals(approvals)
    documents = settings.documents.model_copy(update={"approvals": known})
    return settings.model_copy(update={"documents": documents})
