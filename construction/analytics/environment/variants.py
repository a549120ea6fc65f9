"""The three variants of an environment, as an agent finds them: raw, cleaned and guided; and the
cleaning of files as published, with the inventory of the noise that it removes.

`raw` has the files as they are published (anonymized ones with their noise, as UTF-8), irrelevant
files too, and the units in which they record their numbers. `cleaned` has the clean tables, other
releases among them, and nothing irrelevant. `guided` is cleaned, with a schema and a hint which
table serves what. Each has the dictionary of metrics in two languages.

Files are CSV in its encoding and header form, workbooks, JSON or Parquet, read as rows of text.
`ignoring` names kinds of noise that a careless reader leaves as they are: the same code makes the
gold tables (nothing ignored), the tables that show whether noise bites, and those that scripted
analysts work on.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import orjson
import polars as pl

from construction.analytics.config import Variant
from construction.analytics.environment.declaration import (
    Column,
    Declaration,
    Domain,
    File,
    Noise,
    Table,
)
from data.atomic import write_bytes
from data.errors import InputError

LARGEST_BYTES = 512 * 1024**2
_LONGEST_FIELD = 1 << 17  # characters, as Python sets it
_LONGEST_PATH = 200
_LONGEST_SHEET = 1_048_576  # rows, as the format has it
ID, TEXT = "doc_id", "text"  # columns of a folder of documents


def content(root: Path, relative: str) -> bytes:
    """The bytes of a file below `root`, inflated. Raises InputError."""
    if "\0" in relative or len(relative) > _LONGEST_PATH:
        todo = "Correct the declaration."
        raise InputError(relative[:60], "no name of a file", "a file in the environment", todo)
    path = root / relative
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a link to itself
        inside = False
    if not inside or not path.is_file():
        actual = "no such file" if inside else "a path out of the folder"
        raise InputError(relative, actual, "a file in the environment", "Correct the declaration.")
    opener = gzip.open if path.suffix == ".gz" else Path.open
    try:
        with opener(path, "rb") as handle:
            raw = bytes(handle.read(LARGEST_BYTES + 1))
    except (OSError, EOFError, zlib.error) as error:
        problem, todo = type(error).__name__, "Export it again."
        raise InputError(relative, problem, "a readable file", todo) from error
    if len(raw) > LARGEST_BYTES:
        raise InputError(relative, "a larger file", f"at most {LARGEST_BYTES:,} bytes", "Split it.")
    return raw


def read_files(
    root: Path, declaration: Declaration, given: Mapping[str, pl.DataFrame] | None = None
) -> dict[str, pl.DataFrame]:
    """The rows of every file that a table is made of, with every cell as text, by file name.

    `given`: those of files that are not in the folder.
    """
    made = dict(given or {})
    used = {table.file for table in declaration.tables} - made.keys()
    return made | {name: read_file(root, declaration.files[name]) for name in sorted(used)}


def read_file(root: Path, file: File) -> pl.DataFrame:
    """One file, of an anonymized one only what may leave; empty cells are null. Raises InputError.

    Errors name the file and what cannot be read in it.
    """
    rows = _read(root, file)
    if absent := sorted({*file.keep, *file.least, *file.cut} - set(rows.columns)):
        expected = "the columns of keep, least and cut"
        raise InputError(file.path, f"no column {absent[0]}", expected, "Correct the declaration.")
    for column, begins in file.keep.items():
        leaving = (pl.col(column).str.starts_with(text) for text in begins)
        rows = rows.filter(pl.any_horizontal(leaving).fill_null(value=False))
    for column, least in file.least.items():
        rows = rows.filter(pl.len().over(column) >= least)
    return rows.with_columns(pl.col(name).str.slice(0, n) for name, n in file.cut.items())


def _read(root: Path, file: File) -> pl.DataFrame:
    if file.texts:
        return documents({key: _text(root, path, file) for key, path in file.texts.items()})
    if file.path.endswith(".parquet"):
        return _parquet(root, file.path)
    if file.path.endswith(".json"):
        return _records(root, file.path)
    rows = _sheet(root, file.path) if file.path.endswith(".xlsx") else _lines(root, file)
    if len(rows) <= file.header:
        expected = f"a header in line {file.header + 1}"
        raise InputError(file.path, f"{len(rows)} lines", expected, "Correct `header`.")
    names, width = rows[file.header], len(rows[file.header])
    for number, row in enumerate(rows[file.data_from :], file.data_from + 1):
        if len(row) != width:
            actual, expected = f"{len(row)} cells", f"{width}, as in the header"
            raise InputError(file.path, actual, expected, "Correct the line.", number)
    if len(rows) <= file.data_from:
        expected = f"data from line {file.data_from + 1}"
        raise InputError(file.path, f"{len(rows)} lines", expected, "Export it again.")
    columns = zip(*rows[file.data_from :], strict=True)
    unique = _unique(file, names)
    return pl.DataFrame(
        [
            pl.Series(name, [cell or None for cell in column], dtype=pl.String)
            for name, column in zip(unique, columns, strict=True)
        ]
    )


def documents(texts: Mapping[str, str]) -> pl.DataFrame:
    """Documents as the rows of a file."""
    rows = sorted(texts.items())
    return pl.DataFrame(rows, schema={ID: pl.String, TEXT: pl.String}, orient="row")


def _unique(file: File, names: Sequence[str]) -> list[str]:
    """The names of the columns; one that was there before has its number at the end."""
    unique = [name if names.index(name) == at else f"{name}.{at}" for at, name in enumerate(names)]
    if len(set(unique)) < len(unique):
        actual, expected = "columns of one name", "a name of its own for each column"
        raise InputError(file.path, actual, expected, "Rename them.", file.header + 1)
    return unique


def _parquet(root: Path, path: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(content(root, path))).cast(pl.String)
    except pl.exceptions.PolarsError as error:
        expected = "Parquet whose cells are numbers, times or texts"
        raise InputError(path, type(error).__name__, expected, "Export it again.") from None


def _records(root: Path, path: str) -> pl.DataFrame:
    """A JSON list of objects; what a record does not name is missing."""
    expected, todo = "a JSON list of flat objects", "Export it again."
    try:
        records = orjson.loads(content(root, path))
    except orjson.JSONDecodeError:
        raise InputError(path, "no JSON", expected, todo) from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError(path, type(records).__name__, expected, todo)
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = {name: [_cell(record.get(name)) for record in records] for name in names}
    if not names:
        raise InputError(path, "no records", expected, todo)
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String()))


def _cell(value: object) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _sheet(root: Path, path: str) -> list[list[str]]:
    """The rows of a workbook's first sheet, read in a child process, as wide as its first one."""
    from construction.judging.review import SheetLimits, read_table

    content(root, path)  # no path out of the folder
    limits = SheetLimits(bytes=LARGEST_BYTES, rows=_LONGEST_SHEET, seconds=120)
    rows = [[cell.text for cell in cells] for _, cells in read_table(root / path, limits, "utf-8")]
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def _lines(root: Path, file: File) -> list[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)  # of the process: others may have raised it
    reader = csv.reader(io.StringIO(_text(root, file.path, file)))
    try:
        return list(reader)
    except csv.Error as error:
        number = reader.line_num
        raise InputError(file.path, str(error), "CSV", "Export it again.", number) from None


def _text(root: Path, path: str, file: File) -> str:
    try:
        return content(root, path).decode("utf-8-sig" if file.encoding == "utf-8" else "cp932")
    except UnicodeDecodeError:
        todo = "Correct `encoding`."
        raise InputError(path, "other bytes", f"text in {file.encoding}", todo) from None


_Frames = Mapping[str, pl.DataFrame]
_BLANKS = " \t\r\n\u00a0\u3000"
_GROUPED = r"^[^,]*$|^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$"
_CELLS = ("(cells)", "(value)")


@dataclass
class Inventory:
    """Cells or rows with noise, by table, column (or `*`) and kind."""

    counts: Counter[tuple[str, str, Noise]] = field(default_factory=Counter)

    def add(self, table: str, column: str, noise: Noise, n: int) -> None:
        if n:
            self.counts[table, column, noise] += n

    def rows(self) -> list[dict[str, object]]:
        return [
            {"table": table, "column": column, "kind": str(noise), "n": n}
            for (table, column, noise), n in sorted(self.counts.items())
        ]


def clean_tables(
    declaration: Declaration,
    files: _Frames,
    ignoring: Collection[Noise] = (),
    inventory: Inventory | None = None,
    keep: Literal["first", "last"] = "last",
) -> dict[str, pl.DataFrame]:
    """The clean tables by name. With `scope` ignored, another release stands in for its table.

    Of several records with one key the one that `keep` names is kept, in the order of `latest`.
    """
    noted = Inventory() if inventory is None else inventory
    made = {
        table.name: _clean(declaration, table, files[table.file], ignoring, noted, keep)
        for table in declaration.tables
    }
    for table in declaration.tables:
        if table.stands_for is not None:
            noted.add(table.name, "*", Noise.SCOPE, made[table.name].height)
            if Noise.SCOPE in ignoring:
                made[table.stands_for] = made[table.name]
    return made


def _clean(
    declaration: Declaration,
    table: Table,
    raw: pl.DataFrame,
    ignoring: Collection[Noise],
    noted: Inventory,
    keep: Literal["first", "last"],
) -> pl.DataFrame:
    rows = _unpivoted(table, raw)
    _check_columns(table, rows)
    rows = _dropped(table, rows)
    columns = [
        _cleaned(declaration, table, column, rows, ignoring, noted) for column in table.columns
    ]
    made = pl.DataFrame(columns)
    if table.latest:
        made = made.with_columns(rows[table.latest].alias("(latest)"))
        made = made.sort([*table.key, "(latest)"], maintain_order=True)
    known = made.filter(pl.all_horizontal(pl.col(name).is_not_null() for name in table.key))
    single = known.unique(table.key, keep=keep, maintain_order=True)
    noted.add(table.name, "*", Noise.REPEATS, known.height - single.height)
    kept = known if Noise.REPEATS in ignoring else single
    return kept.drop("(latest)", strict=False).sort(table.key, maintain_order=True)


def _unpivoted(table: Table, raw: pl.DataFrame) -> pl.DataFrame:
    if not table.unpivot:
        return raw
    wide = [name for name in raw.columns if name in table.unpivot]
    kept = [column.source for column in table.columns if column.source not in _CELLS]
    kept += [*table.drop, *table.keep]
    longer = raw.unpivot(wide, index=list(dict.fromkeys(kept)), variable_name=_CELLS[0])
    return longer.rename({"value": _CELLS[1]}).with_columns(
        pl.col(_CELLS[0]).replace_strict(dict(table.unpivot), default=None)
    )


def _dropped(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    for column, cells in table.drop.items():
        rows = rows.filter(~pl.col(column).is_in(list(cells)).fill_null(value=False))
    for column, cells in table.keep.items():
        rows = rows.filter(pl.col(column).is_in(list(cells)).fill_null(value=False))
    return rows


def _check_columns(table: Table, rows: pl.DataFrame) -> None:
    wanted = {column.source for column in table.columns} | {c.lag for c in table.columns if c.lag}
    wanted |= ({table.latest} if table.latest else set()) | table.drop.keys() | table.keep.keys()
    if absent := sorted(wanted - set(rows.columns)):
        expected = f"the columns {', '.join(sorted(wanted))}"
        actual = f"no column {absent[0]}"
        raise InputError(table.file, actual, expected, f"Correct the table {table.name}.")


def _cleaned(
    declaration: Declaration,
    table: Table,
    column: Column,
    rows: pl.DataFrame,
    ignoring: Collection[Noise],
    noted: Inventory,
) -> pl.Series:
    """One column: marks for no value, then other names, unit or year."""
    name = column.name
    cells = rows[column.source]
    stripped = cells.str.strip_chars(_BLANKS)
    marked = stripped.is_in(["", *column.missing]).fill_null(value=True)
    noted.add(table.name, name, Noise.MISSING, int(marked.sum()))
    known = stripped.set(marked, None)
    if column.type == "text":
        return _named(declaration, table, column, cells, known, ignoring, noted)
    if column.type == "year":
        return _years(table, column, rows, known, ignoring, noted)
    values = _numbers(table, column, known)
    noted.add(table.name, name, Noise.MISSING, values.null_count() - int(marked.sum()))
    factor = 1.0 if Noise.UNITS in ignoring else column.factor
    if column.factor != 1.0:
        noted.add(table.name, name, Noise.UNITS, len(values) - values.null_count())
    values = values * factor
    return (values.fill_null(0.0) if Noise.MISSING in ignoring else values).alias(name)


def _numbers(table: Table, column: Column, known: pl.Series) -> pl.Series:
    """Numbers with or without groups of thousands. Raises InputError at any other comma."""
    values = known.str.replace_all(",", "").cast(pl.Float64, strict=False)
    values = values.set(~values.is_finite().fill_null(value=True), None)  # `nan` and `inf` are none
    grouped = known.str.contains(_GROUPED).fill_null(value=True) | values.is_null()
    if not grouped.all():
        actual = f"a comma that groups no thousands in the column {column.source}"
        todo = "Write decimals with a point."
        raise InputError(table.file, actual, "numbers such as 1,234.5", todo)
    return values


def _named(
    declaration: Declaration,
    table: Table,
    column: Column,
    cells: pl.Series,
    known: pl.Series,
    ignoring: Collection[Noise],
    noted: Inventory,
) -> pl.Series:
    aliases = declaration.aliases.get(column.aliases, {})
    renamed = known.replace(dict(aliases)) if aliases else known
    changed = int((cells.is_not_null() & (cells != renamed)).fill_null(value=False).sum())
    noted.add(table.name, column.name, Noise.ALIASES, changed)
    raw = cells.set(known.is_null(), None)
    return (raw if Noise.ALIASES in ignoring else renamed).alias(column.name)


def _years(
    table: Table,
    column: Column,
    rows: pl.DataFrame,
    known: pl.Series,
    ignoring: Collection[Noise],
    noted: Inventory,
) -> pl.Series:
    years = known.str.slice(0, 4).cast(pl.Int64, strict=False)
    if column.lag:
        seeming = rows[column.lag].str.slice(0, 4).cast(pl.Int64, strict=False)
        noted.add(table.name, column.name, Noise.YEARS, int((years != seeming).sum()))
        if Noise.YEARS in ignoring:
            years = seeming
    return years.alias(column.name)


VARIANTS: tuple[Variant, ...] = get_args(Variant)
_METRICS, UNITS, SCHEMA, TABLES = "metrics.csv", "units.csv", "SCHEMA.md", "tables"
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
    left_out: str | None = None,
) -> None:
    """Write one variant into `out`, without the file `left_out` and what is made of it."""
    write_bytes(out / _METRICS, _metrics_file(declaration))
    shown = _without(declaration, left_out)
    if variant == "raw":
        for name, payload in _raw_files(shown, root, replaced):
            write_bytes(out / name, payload)
        write_bytes(out / UNITS, _units_file(shown, replaced))
        return
    for table in sorted(shown.tables, key=lambda each: each.name):
        frame = tables[table.name]
        write_bytes(out / TABLES / f"{table.name}.csv", frame.write_csv().encode())
    if variant == "guided":
        write_bytes(out / SCHEMA, schema_page(shown).encode())


def _without(declaration: Declaration, left_out: str | None) -> Declaration:
    files = {name: file for name, file in declaration.files.items() if name != left_out}
    tables = tuple(table for table in declaration.tables if table.file != left_out)
    return declaration.model_copy(update={"files": files, "tables": tables})


def read_clean(
    declaration: Declaration, folder: Path, given: Mapping[str, pl.DataFrame] | None = None
) -> dict[str, pl.DataFrame]:
    """The clean tables of a variant in `folder`, with the types that the declaration gives.

    `given`: the rows of files whose tables are not in the folder.
    """
    given = given or {}
    apart = tuple(table for table in declaration.tables if table.file in given)
    made = clean_tables(declaration.model_copy(update={"tables": apart}), given)
    return made | {
        table.name: pl.read_csv(
            folder / TABLES / f"{table.name}.csv",
            schema={column.name: _TYPES[column.type] for column in table.columns},
        )
        for table in declaration.tables
        if table.file not in given
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
