"""Measured tables judged against the declared limits: their part of a release, or plain files where
tables are anonymized without a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import polars as pl

from anonymization.tables.config import TablesRecipe
from anonymization.tables.files import TableFile, write_table
from anonymization.tables.privacy_report import STYLE, frontier_picture, privacy_json, rates_picture
from anonymization.tables.pseudonym_mapping import Pseudonyms
from anonymization.tables.release_tables import (
    IDENTIFIERS,
    MEASURED,
    MEASUREMENTS,
    RELEASED,
    REPORT,
    Anonymizing,
    JudgedTable,
    judge_table,
    refusal,
    released_file,
    write_anonymized,
)
from anonymization.tables.seal import MAPPING
from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from data.canonical import canonical_json, digest, pretty_json
from data.contracts import StageKind
from data.errors import InputError, ReleaseError
from data.ledger import gated_row
from data.snapshot.release import Picture, ReleasedTable
from data.stage_tables import write_stage_tables

JUDGE = "judge-tables"


def judged_tables(folder: Path, recipe: TablesRecipe) -> list[JudgedTable]:
    """The gates on every table that was measured into `folder`."""
    measured = MEASUREMENTS.validate_json((folder / MEASURED).read_bytes())
    return [judge_table(table, recipe.risk, recipe.utility) for table in measured]


def judge_or_refuse(
    folder: Path, recipe: TablesRecipe, report: Path, *, is_sealed: bool
) -> list[JudgedTable]:
    """Judge, and write the whole report to `report`, a private file.

    Raises ReleaseError naming the tables above a limit and what would pass.
    """
    judged = judged_tables(folder, recipe)
    content = tables_report(folder, judged, is_sealed=is_sealed)
    write_bytes(report, pretty_json(content), mode=PRIVATE_FILE)
    if refused := [refusal(table) for table in judged if table.refused]:
        raise ReleaseError(f"tables refused: {'; '.join(refused)}. The report is in {report}")
    return judged


def write_judged(judged: Sequence[JudgedTable], recipe: TablesRecipe, out: Path) -> None:
    """Write ledger and verdicts of tables that passed; given aggregates pass with their tables."""
    items = [f"tables/{name}" for name in [*(table.name for table in judged), *recipe.aggregates]]
    verdicts = [(f"tables/{table.name}", row) for table in judged for row in table.verdicts]
    write_stage_tables(
        out,
        StageKind.FILTER,
        items,
        [gated_row(JUDGE, "table", item, None, {}) for item in items],
        verdicts=verdicts,
        stage=JUDGE,
        unit="table",
    )


def released_tables(folder: Path, recipe: TablesRecipe) -> dict[str, ReleasedTable]:
    """The tables of a release by name, each with a description of its rows."""
    names = sorted({*recipe.tables, *recipe.aggregates})
    return {
        name: ReleasedTable(folder / RELEASED / released_file(name), _row(recipe, name))
        for name in names
    }


def original_identifiers_of(folder: Path) -> tuple[str, ...]:
    """The original codes and names, which are private: a release is searched for them."""
    return tuple(orjson.loads((folder / IDENTIFIERS).read_bytes()))


def tables_report(
    folder: Path, judged: Sequence[JudgedTable], *, is_sealed: bool
) -> dict[str, Any]:
    """The part `tables` of `privacy.json`, as JSON holds it: text keys, lists for tuples."""
    report = orjson.loads((folder / REPORT).read_bytes())
    for table in judged:
        if table.privacy is not None:
            report["tables"][table.name] |= privacy_json(table.privacy)
    report["starts_at"] = "pseudonymized tables" if is_sealed else "originals"
    plain: dict[str, Any] = orjson.loads(pretty_json(report))
    return plain


def _row(recipe: TablesRecipe, name: str) -> str:
    if name in recipe.aggregates:
        rows = recipe.aggregates[name].of
        return f"a sum over {rows}, changed in proportion to the sums of its rows"
    table = recipe.tables[name]
    numbers = ", with perturbed figures" if table.measures else ""
    return f"a row of {name} with pseudonyms{numbers}"


def _tables_pictures(judged: Sequence[JudgedTable]) -> dict[str, Picture]:
    """Charts of the attacks, and of risk against utility, by picture name."""
    drawn = {"attacks": rates_picture, "frontier": frontier_picture}
    titles = {"attacks": "Attacks", "frontier": "Risk and utility"}
    return {
        f"privacy-{table.name}-{kind}": Picture(
            f"{titles[kind]}: {table.name}",
            draw(table.privacy),
            draw(table.privacy, standalone=True),
            STYLE,
        )
        for table in judged
        if table.privacy is not None
        for kind, draw in drawn.items()
    }


@dataclass(frozen=True, slots=True)
class AnonymizedTables:
    """The anonymized tables of a release; empty without their lane."""

    released: Mapping[str, ReleasedTable] = field(default_factory=dict)
    report: Mapping[str, Any] | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    identifiers: Sequence[str] = ()


def anonymized_tables(folder: Path, recipe: TablesRecipe, *, is_sealed: bool) -> AnonymizedTables:
    """The tables that the lane left in `folder`, with their description for the auditor."""
    judged = judged_tables(folder, recipe)
    return AnonymizedTables(
        released_tables(folder, recipe),
        tables_report(folder, judged, is_sealed=is_sealed),
        _tables_pictures(judged),
        original_identifiers_of(folder),
    )


TABLES = "tables"
REPORT_FILE = Path("reports", "privacy.json")
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
            write_table(out / TABLES / _released_name(file.path), frame)
        _publish_report(report, how, out)
    return tuple(judged)


def _released_name(path: Path) -> str:
    """The file name of the released table: as it came, but never zipped."""
    return path.name.removesuffix(".gz")


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
    write_bytes(out / REPORT_FILE, pretty_json(head | orjson.loads(private.read_bytes())))
    private.unlink()
