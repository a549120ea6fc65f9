"""An environment of files, anonymized where declared: where analytics and the tables lane meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from anonymization.tables.config import ColumnRole, IdentifierKind, TableConfig, TablesRecipe
from anonymization.tables.files import TableFile
from anonymization.tables.judged_tables import (
    judged_tables,
    original_identifiers_of,
    tables_report,
)
from anonymization.tables.release_tables import (
    RELEASED,
    Anonymizing,
    JudgedTable,
    refusal,
    released_file,
    write_anonymized,
)
from construction.analytics.archive import Archive
from construction.analytics.candidates import Bench
from construction.analytics.environment.declaration import IGNORABLE, Declaration
from construction.analytics.environment.profile import role_faults
from construction.analytics.environment.variants import (
    Inventory,
    clean_tables,
    content,
    raw_declaration,
    read_file,
    read_files,
)
from construction.analytics.execute_duckdb import Engine
from data.canonical import file_digest
from data.configuration import validated
from data.contracts import Disclosure
from data.errors import ConfigError, InputError
from data.tables import write_frame

_Row = tuple[str, ...]

_PERIOD = 4  # characters
_DELIMITERS = str.maketrans(";\t|", ",,,")
_NO_VALUE = re.compile(r"^[\s\"]+|(?:\.0+)?[\s\"]+$|\.0+$")


@dataclass(frozen=True)
class Environment:
    """What tasks are made from: files with the anonymized ones in place, and the noise found.

    `judged`: the verdicts on anonymized files; `privacy`: the attack report; `identifiers`: the
    original codes that must not surface.
    """

    declaration: Declaration
    root: Path
    original: Mapping[str, pl.DataFrame]
    replaced: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    judged: Sequence[JudgedTable] = ()
    privacy: Mapping[str, Any] = field(default_factory=dict)
    identifiers: Sequence[str] = ()
    inventory: Inventory = field(default_factory=Inventory)

    @property
    def files(self) -> Mapping[str, pl.DataFrame]:
        return {**self.original, **self.replaced}

    @property
    def refused(self) -> tuple[str, ...]:
        """Why anonymized files must not leave, by the gates of the tables lane."""
        return tuple(refusal(table) for table in self.judged if table.refused)


def open_environment(declaration: Declaration, root: Path, key: bytes, seed: int) -> Environment:
    """Read all files; those declared anonymized go through the lane of tables, attacks included.

    Raises ConfigError for an anonymized file without roles for its columns, or the reverse.
    """
    original = read_files(root, declaration)
    recipe = tables_recipe(declaration)
    if recipe is None:
        return Environment(declaration, root, original)
    _refuse_originals(declaration, root)
    with TemporaryDirectory() as folder:
        given, out = Path(folder) / "given", Path(folder) / "out"
        given.mkdir()
        out.mkdir()
        files = []
        for name, config in sorted(recipe.tables.items()):
            files.append(TableFile(name, given / f"{name}.parquet", name, None))
            unlinked = declaration.files[name].unlinked
            write_frame(files[-1].path, _with_periods(name, original[name], config, unlinked))
        write_anonymized(files, Anonymizing(recipe, key, seed), out)
        judged = judged_tables(out, recipe)
        released = {name: out / RELEASED / released_file(name) for name in recipe.tables}
        return Environment(
            declaration,
            root,
            original,
            # In the order of pseudonyms: the order of the originals would tell who is who.
            replaced={name: pl.read_parquet(path) for name, path in released.items()},
            judged=judged,
            privacy=tables_report(out, judged, is_sealed=False),
            identifiers=sorted(
                {*original_identifiers_of(out), *_identifiers(declaration, original, recipe)}
            ),
        )


def _refuse_originals(declaration: Declaration, root: Path) -> None:
    """Raises InputError for a public file that holds most rows of an anonymized one.

    Rows are compared as sets of cells, so another order, delimiter, encoding or line end is no
    way out.
    """
    originals: dict[str, set[_Row]] = {}
    public: dict[str, set[_Row]] = {}
    for name, file in sorted(declaration.files.items()):
        for path in sorted(file.texts.values()) or [file.path]:
            if file.disclosure is Disclosure.ANONYMIZED:
                originals.setdefault(name, set()).update(_rows(root, path))
            else:
                public[path] = _rows(root, path)
    for path, rows in public.items():
        for name, original in originals.items():
            if len(original & rows) > len(original) / 2:
                actual = f"the original of {name}, which has to be anonymized"
                raise InputError(
                    path, actual, "a file that may be released unchanged", "Remove it."
                )


def _rows(root: Path, path: str) -> set[_Row]:
    """The rows of a file of any kind: sorted cells, numbers without `.0` at their end."""
    raw = content(root, path)
    if path.endswith(".parquet"):
        frame = pl.read_parquet(BytesIO(raw)).cast(pl.String)
        lines = [[cell or "" for cell in row] for row in frame.iter_rows()]
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("cp932", errors="replace")
        lines = [line.split(",") for line in text.translate(_DELIMITERS).splitlines()]
    rows = (tuple(sorted(_NO_VALUE.sub("", cell) for cell in line)) for line in lines)
    return {row for row in rows if any(row)}


def reopened(declaration: Declaration, root: Path, raw: Path) -> Environment:
    """The environment of a run: anonymized files as they stand in its raw variant, `raw`."""
    names = [name for name, f in declaration.files.items() if f.disclosure is Disclosure.ANONYMIZED]
    released = raw_declaration(declaration, names)
    replaced = {name: read_file(raw, released.files[name]) for name in names}
    return Environment(declaration, root, read_files(root, declaration), replaced)


def _with_periods(name: str, frame: pl.DataFrame, config: TableConfig, by: str) -> pl.DataFrame:
    """The rows with codes that are others in each period, so that their pseudonyms are too.

    `by`: `File.unlinked`; without it the rows are as they were. Raises InputError for no such
    column.
    """
    if not by:
        return frame
    if by not in frame.columns and not (by.isdigit() and len(by) == _PERIOD):
        expected = "a column in the file, or a year"
        raise InputError(name, f"unlinked = {by}", expected, "Correct the declaration.")
    period = pl.col(by).str.slice(0, _PERIOD) if by in frame.columns else pl.lit(by)
    return frame.with_columns(pl.col(code) + period for code in _codes(config))


def _codes(config: TableConfig) -> list[str]:
    """The columns with codes of entities."""
    identifiers = config.of_role(ColumnRole.IDENTIFIER)
    return [name for name in identifiers if config.columns[name].kind is IdentifierKind.CODE]


def _identifiers(
    declaration: Declaration, original: Mapping[str, pl.DataFrame], recipe: TablesRecipe
) -> set[str]:
    """The codes as they stand in the files whose pseudonyms are made of code and period."""
    return {
        code
        for name, config in recipe.tables.items()
        if declaration.files[name].unlinked
        for column in _codes(config)
        for code in original[name][column].drop_nulls().unique()
    }


def tables_recipe(declaration: Declaration) -> TablesRecipe | None:
    """The roles of the columns that are anonymized, and limits; None if nothing is.

    No settings are tried besides the declared one, unless `frontier` names some.
    """
    declared = {
        name for name, file in declaration.files.items() if file.disclosure is Disclosure.ANONYMIZED
    }
    if not declaration.anonymize and not declared:
        return None
    values = {"frontier": {"strengths": {}}, **declaration.anonymize}
    recipe = validated(TablesRecipe, values, Path(declaration.name))
    if set(recipe.tables) != declared:
        differing = ", ".join(sorted(set(recipe.tables) ^ declared))
        raise ConfigError(
            f"{declaration.name}: anonymize: found files other than those with disclosure "
            f"anonymized ({differing}); expected the same. Give each of them roles."
        )
    return recipe


@contextmanager
def bench_of(environment: Environment, archive: Archive | None = None) -> Iterator[Bench]:
    """The clean tables, loaded into both executors, and all that candidates are compared with.

    `archive`: where the papers of the environment are, if they are not among its files.
    """
    declaration, files = environment.declaration, environment.files
    tables = clean_tables(declaration, files, (), environment.inventory)
    if fault := next(role_faults(declaration, tables), None):
        raise ConfigError(f"{declaration.name}: {fault}")
    readings = {
        str(name): clean_tables(declaration, files, keep="first") for name in declaration.readings
    }
    careless = {noise: clean_tables(declaration, files, [noise]) for noise in IGNORABLE}
    public = clean_tables(declaration, environment.original) if environment.replaced else None
    with TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in tables}
        for name, frame in tables.items():
            write_frame(paths[name], frame)
        engine = Engine(paths)
        yield Bench(declaration, tables, engine, readings, careless, public, archive=archive)


def source_digests(declaration: Declaration, root: Path) -> dict[str, str]:
    """SHA-256 of every file of the environment, by path."""
    paths = [
        path
        for file in declaration.files.values()
        for path in (file.texts.values() if file.texts else (file.path,))
    ]
    return {path: file_digest(root / path) for path in sorted(paths) if (root / path).is_file()}


def refuse_shared(digests: Mapping[str, str], others: Mapping[str, str]) -> None:
    """Raise ConfigError for a source that serves questions and analytics in one train (law 9)."""
    known = {sha256: name for name, sha256 in others.items()}
    for path, sha256 in digests.items():
        if sha256 in known:
            raise ConfigError(
                f"{path}: found the source {known[sha256]} of the questions; expected each "
                "source in only one lane. Remove it from one of them."
            )
