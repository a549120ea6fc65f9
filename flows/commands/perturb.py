"""`benchmint perturb`: tables in, anonymized tables and their reports out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anonymization.tables.files import read_table, released_name, table_name, write_table
from anonymization.tables.seal import KEY, MAPPING
from anonymization.tables.settings import TablesConfig
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json, digest, pretty_json
from data.contracts import Status
from data.errors import InputError
from data.neutralise import one_line
from data.randomness import release_key
from flows.configuration import load_section

if TYPE_CHECKING:
    from anonymization.tables.anonymize import AnonymizedTables


def command(
    tables: Annotated[list[Path], typer.Argument(help="CSV (also gzipped) or Parquet files.")],
    config: Annotated[Path, typer.Option(help="Configuration with [tables]: roles, methods.")],
    out: Annotated[Path, typer.Option(help="Where to write tables, reports and private/.")],
    key: Annotated[Path | None, typer.Option(help="Release key; created on first use.")] = None,
) -> None:
    """Write anonymized tables; exit 1 if the fidelity gate fails for one of them."""
    # SciPy takes a second to import: other commands do not wait for it.
    from anonymization.tables.anonymize import anonymize_tables

    paths = {table_name(path): path for path in tables}
    if len(paths) != len(tables):
        todo = "Rename one of them."
        raise InputError("tables", "two files of one name", "a name per table", todo)
    settings = load_section(TablesConfig, "tables", config)
    private = private_dir(out / "private")
    secret = release_key(key or private / KEY)
    made = anonymize_tables({n: read_table(p) for n, p in paths.items()}, settings, secret)
    for name, frame in made.frames.items():
        write_table(out / "tables" / released_name(paths[name]), frame)
    _write_reports(out, made, settings, secret)
    for name, fidelity in sorted(made.fidelity.items()):
        verdict = fidelity.verdict
        measures = ", ".join(f"{field} {value}" for field, value in verdict.measures.items())
        print(one_line(f"{name}: fidelity {verdict.status} ({measures})"))
    print(f"{len(made.frames)} tables in {out / 'tables'}, reports in {out / 'reports'}")
    print(f"seal the release when nothing needs to link to it: benchmint seal {out}")
    failed = any(f.verdict.status is Status.FAILED for f in made.fidelity.values())
    raise typer.Exit(1 if failed else 0)


def _write_reports(
    out: Path, made: AnonymizedTables, settings: TablesConfig, secret: bytes
) -> None:
    head = {"release_key_sha256": digest(secret), "recipe_sha256": digest(settings)}
    write_bytes(out / "reports" / "anonymization.json", pretty_json(head | dict(made.report)))
    for name, fidelity in made.fidelity.items():
        write_table(out / "reports" / f"fidelity-{name}.csv", fidelity.cells)
    names = [[entity, old, new] for (entity, old), new in sorted(made.pseudonyms.names.items())]
    mapping = canonical_json({"codes": made.pseudonyms.codes, "names": names})
    write_bytes(out / "private" / MAPPING, mapping, mode=PRIVATE_FILE)
