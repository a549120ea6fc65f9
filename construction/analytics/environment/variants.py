"""The three variants of an environment, as an agent finds them: raw, cleaned and guided.

`raw` has the files as they are published (anonymized ones with their noise, as UTF-8), irrelevant
files too, and the units in which they record their numbers. `cleaned` has the clean tables, other
releases among them, and nothing irrelevant. `guided` is cleaned, with a schema and a hint which
table serves what. Each has the dictionary of metrics in two languages.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import polars as pl

from construction.analytics.config import Variant
from construction.analytics.environment.cleaning import Inventory, content
from construction.analytics.environment.declaration import Declaration, Domain, Noise, Table
from data.atomic import write_bytes

VARIANTS: tuple[Variant, ...] = get_args(Variant)
METRICS, UNITS, SCHEMA, TABLES = "metrics.csv", "units.csv", "SCHEMA.md", "tables"
_DOCUMENTS = "documents"
_TYPES: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "number": pl.Float64(),
    "year": pl.Int64(),
}


def write_variants(
    declaration: Declaration,
    root: Path,
    replaced: Mapping[str, pl.DataFrame],
    tables: Mapping[str, pl.DataFrame],
    out: Path,
) -> None:
    """Write all variants below `out`. `replaced`: the rows of anonymized files."""
    for variant in VARIANTS:
        write_variant(variant, declaration, root, replaced, tables, out / variant)


def write_variant(
    variant: Variant,
    declaration: Declaration,
    root: Path,
    replaced: Mapping[str, pl.DataFrame],
    tables: Mapping[str, pl.DataFrame],
    out: Path,
) -> None:
    """Write one variant into `out`."""
    write_bytes(out / METRICS, _metrics_file(declaration))
    if variant == "raw":
        for name, payload in _raw_files(declaration, root, replaced):
            write_bytes(out / name, payload)
        write_bytes(out / UNITS, _units_file(declaration, replaced))
        return
    for name, frame in sorted(tables.items()):
        write_bytes(out / TABLES / f"{name}.csv", frame.write_csv().encode())
    if variant == "guided":
        write_bytes(out / SCHEMA, schema_page(declaration).encode())


def read_clean(declaration: Declaration, folder: Path) -> dict[str, pl.DataFrame]:
    """The clean tables of a variant in `folder`, with the types that the declaration gives."""
    return {
        table.name: pl.read_csv(
            folder / TABLES / f"{table.name}.csv",
            schema={column.name: _TYPES[column.type] for column in table.columns},
        )
        for table in declaration.tables
    }


def _raw_files(
    declaration: Declaration, root: Path, replaced: Mapping[str, pl.DataFrame]
) -> Iterator[tuple[str, bytes]]:
    """The files of the raw variant by their path in it."""
    as_released = raw_declaration(declaration, set(replaced))
    for name, file in sorted(declaration.files.items()):
        released = as_released.files[name]
        if name in replaced:
            yield released.path, replaced[name].write_csv().encode()
        elif file.texts:
            for key, path in sorted(file.texts.items()):
                yield released.texts[key], content(root, path)
        else:
            yield released.path, content(root, file.path)


def raw_declaration(declaration: Declaration, replaced: Collection[str]) -> Declaration:
    """The declaration of the same environment over the files of its raw variant.

    `replaced`: the anonymized files, which are plain CSV in UTF-8.
    """
    files = {}
    for name, file in declaration.files.items():
        base = file.path.rpartition("/")[2].removesuffix(".gz")
        if name in replaced:
            stem = base.rpartition(".")[0] or name
            plain = {"encoding": "utf-8", "header": 0, "data_from": 1}
            plain |= {"keep": {}, "least": {}, "cut": {}}
            update: dict[str, Any] = {"path": f"{file.domain}/{stem}.csv", **plain}
        elif file.texts:
            texts = {key: f"{file.domain}/{_DOCUMENTS}/{key}.txt" for key in file.texts}
            update = {"texts": texts}
        else:
            update = {"path": f"{file.domain}/{base}"}
        files[name] = file.model_copy(update=update)
    return declaration.model_copy(update={"files": files})


def paths_of(declaration: Declaration, files: Collection[str], variant: Variant) -> set[str]:
    """The paths in a variant of what is made of these declared files alone."""
    if variant != "raw":
        tables = (table.name for table in declaration.tables if table.file in files)
        return {f"{TABLES}/{name}.csv" for name in tables}
    others = set(declaration.files) - set(files)
    released = raw_declaration(declaration, others).files
    chosen = [released[name] for name in files]
    return {path for file in chosen for path in (file.texts.values() or [file.path])}


def _metrics_file(declaration: Declaration) -> bytes:
    """The internal dictionary of metrics: names in two languages and units, no file names."""
    units = {(t.name, c.name): c.unit for t in declaration.tables for c in t.columns}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "name_en", "name_zh", "unit", "reference_year"])
    for metric in declaration.metrics:
        names = [metric.label.get("en", ""), metric.label.get("zh", "")]
        unit, year = units.get((metric.table, metric.column), ""), metric.year or ""
        writer.writerow([metric.name, *names, unit, year])
    return text.getvalue().encode()


def _units_file(declaration: Declaration, replaced: Collection[str]) -> bytes:
    """The unit in which each file of the raw variant records a number, by path and column.

    Without it, a task that asks for millions of a file that holds thousands has two answers.
    """
    files = raw_declaration(declaration, set(replaced)).files
    rows = {
        (files[table.file].path, column.source, column.recorded_unit)
        for table in declaration.tables
        for column in table.columns
        if column.type == "number" and column.recorded_unit
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["file", "column", "unit"])
    writer.writerows(sorted(rows))
    return text.getvalue().encode()


def schema_page(declaration: Declaration) -> str:
    """Which table holds what, in which unit, and which table is only another release."""
    lines = ["# Schema", ""]
    for table in declaration.tables:
        lines += [f"## {TABLES}/{table.name}.csv", "", *_about(table), ""]
        lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| {c.name} | {c.type} | {c.unit} | {c.about} |" for c in table.columns]
        lines.append("")
    return "\n".join(lines)


def _about(table: Table) -> list[str]:
    key = f"One row per {', '.join(table.key)}."
    if table.stands_for is not None:
        return [key, f"Another release of `{table.stands_for}`: use that one unless asked."]
    return [key, *([f"{table.about[0].upper()}{table.about[1:]}."] if table.about else [])]


def noise_inventory(declaration: Declaration, inventory: Inventory) -> list[dict[str, object]]:
    """All noise by kind and place, that of whole files too."""
    languages = {file.language for file in declaration.files.values()}
    rows = inventory.rows()
    for name, file in sorted(declaration.files.items()):
        kinds = (
            (Noise.IRRELEVANT, file.domain is Domain.IRRELEVANT),
            (Noise.ENCODINGS, file.encoding != "utf-8"),
            (Noise.LANGUAGES, len(languages) > 1 and file.language != "en"),
        )
        rows += [
            {"table": name, "column": "(file)", "kind": str(kind), "n": 1}
            for kind, applies in kinds
            if applies
        ]
    return rows
