"""The lane of analytic tasks: an environment, anonymized where declared, and the tasks over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from anonymization.tables.anonymize import anonymize_tables
from anonymization.tables.settings import TablesConfig
from construction.analytics.candidates import Bench
from construction.analytics.environment.cleaning import Inventory, clean_tables
from construction.analytics.environment.declaration import IGNORABLE, Declaration
from construction.analytics.environment.reading import read_files
from construction.analytics.execute_duckdb import Engine
from data.canonical import file_digest
from data.configuration import validated
from data.contracts import Disclosure
from data.errors import ConfigError
from data.tables import write_frame


@dataclass(frozen=True)
class Environment:
    """What tasks are made from: files with the anonymized ones in place, and the noise found."""

    declaration: Declaration
    root: Path
    files: Mapping[str, pl.DataFrame]
    replaced: Mapping[str, pl.DataFrame]
    original: Mapping[str, pl.DataFrame]
    inventory: Inventory


def open_environment(declaration: Declaration, root: Path, key: bytes) -> Environment:
    """Read all files; those declared anonymized go through the lane of tables first.

    Raises ConfigError for an anonymized file without roles for its columns, or the reverse.
    """
    original = read_files(root, declaration)
    config = tables_config(declaration)
    replaced: Mapping[str, pl.DataFrame] = {}
    if config is not None:
        given = {name: original[name] for name in config.tables}
        replaced = anonymize_tables(given, config, key).frames
    return Environment(declaration, root, {**original, **replaced}, replaced, original, Inventory())


def tables_config(declaration: Declaration) -> TablesConfig | None:
    """The roles of the columns that are anonymized; None if nothing is."""
    declared = {
        name for name, file in declaration.files.items() if file.disclosure is Disclosure.ANONYMIZED
    }
    if not declaration.anonymize and not declared:
        return None
    config = validated(TablesConfig, declaration.anonymize, Path(declaration.name))
    if set(config.tables) != declared:
        differing = ", ".join(sorted(set(config.tables) ^ declared))
        raise ConfigError(
            f"{declaration.name}: anonymize: found other files than those with disclosure "
            f"anonymized ({differing}); expected the same. Give each of them roles."
        )
    return config


@contextmanager
def bench_of(environment: Environment) -> Iterator[Bench]:
    """The clean tables, loaded into both executors, and all that candidates are compared with."""
    declaration, files = environment.declaration, environment.files
    tables = clean_tables(declaration, files, (), environment.inventory)
    readings = {
        str(name): clean_tables(declaration, files, keep="first") for name in declaration.readings
    }
    careless = {noise: clean_tables(declaration, files, [noise]) for noise in IGNORABLE}
    public = clean_tables(declaration, environment.original) if environment.replaced else None
    with TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.parquet" for name in tables}
        for name, frame in tables.items():
            write_frame(paths[name], frame)
        yield Bench(declaration, tables, Engine(paths), readings, careless, public)


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
                f"{path}: found the source {known[sha256]} of the questions; expected a source of "
                "one lane. Leave it out of one of them."
            )
