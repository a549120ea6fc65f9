"""Tables anonymized without a build: the same perturbation, attacks and gates, plain files out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import polars as pl

from anonymization.tables.files import TableFile, released_name, write_table
from anonymization.tables.judged_tables import judge_or_refuse, released_tables
from anonymization.tables.pseudonyms.mapping import Pseudonyms
from anonymization.tables.release_gate import JudgedTable
from anonymization.tables.release_tables import Anonymizing, write_anonymized
from anonymization.tables.seal import MAPPING
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json, digest, pretty_json
from data.errors import InputError

TABLES = "tables"
REPORT = Path("reports", "privacy.json")
_PRIVATE_REPORT = "tables-report.json"


def anonymize_files(
    files: Sequence[TableFile], how: Anonymizing, out: Path
) -> tuple[JudgedTable, ...]:
    """Write tables that are within their limits, in the formats they came in, with their report
    and mapping, below `out`.

    Errors: `InputError` for a file that is not declared, `ReleaseError` naming the tables above a
    limit, of which nothing is written; the report is then among the private files.
    """
    _require_declared(files)
    private = private_dir(out / "private")
    with TemporaryDirectory(dir=private) as name:
        work = Path(name)
        pseudonyms = write_anonymized(files, how, work)
        report = private / _PRIVATE_REPORT
        judged = judge_or_refuse(work, how.recipe, report, is_sealed=False)
        write_bytes(private / MAPPING, _mapping(pseudonyms), mode=PRIVATE_FILE)
        released = released_tables(work, how.recipe)
        for file in files:
            frame = pl.read_parquet(released[file.name].path)
            write_table(out / TABLES / released_name(file.path), frame)
        _publish_report(report, how, out)
    return tuple(judged)


def _require_declared(files: Sequence[TableFile]) -> None:
    if strange := [file for file in files if file.reason is not None]:
        first = strange[0]
        todo = "Declare a role for each of its columns, or leave it out."
        raise InputError(first.item, str(first.reason), "a table declared in [tables]", todo)


def _mapping(pseudonyms: Pseudonyms) -> bytes:
    names = [[entity, old, new] for (entity, old), new in sorted(pseudonyms.names.items())]
    return canonical_json({"codes": pseudonyms.codes, "names": names})


def _publish_report(private: Path, how: Anonymizing, out: Path) -> None:
    """The report names no original: what is private is only what was refused."""
    head = {"release_key_sha256": digest(how.key), "recipe_sha256": digest(how.recipe)}
    write_bytes(out / REPORT, pretty_json(head | orjson.loads(private.read_bytes())))
    private.unlink()
