"""Clean tables from rows as published, and the inventory of the noise that cleaning removes.

`ignoring` names kinds of noise that a careless reader leaves as they are: the same code makes the
gold tables (nothing ignored), the tables that show whether noise bites, and those that scripted
analysts work on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from construction.analytics.environment.declaration import Column, Declaration, Noise, Table
from data.errors import InputError

Frames = Mapping[str, pl.DataFrame]
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
    files: Frames,
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
    longer = raw.unpivot(wide, index=list(dict.fromkeys(kept)), variable_name=_CELLS[0])
    return longer.rename({"value": _CELLS[1]}).with_columns(
        pl.col(_CELLS[0]).replace_strict(dict(table.unpivot), default=None)
    )


def _dropped(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    for column, cells in table.drop.items():
        rows = rows.filter(~pl.col(column).is_in(list(cells)).fill_null(value=False))
    return rows


def _check_columns(table: Table, rows: pl.DataFrame) -> None:
    wanted = {column.source for column in table.columns} | {c.lag for c in table.columns if c.lag}
    wanted |= ({table.latest} if table.latest else set()) | table.drop.keys()
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
