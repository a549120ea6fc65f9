"""The database of financial statements: all sources read, named, dated and filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from construction.statements.categories import assign, load_rules
from construction.statements.config import StatementsRecipe
from construction.statements.filters import filter_points
from construction.statements.hierarchy.rebuild import rebuild
from construction.statements.model import TABLES, Statements, plain_texts, write_statements
from construction.statements.periods.conventions import PeriodConfig, with_declared
from construction.statements.periods.fill import derived_points, with_periods
from construction.statements.questions.wording import has_foreign_letters
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import CODE_LIST, find_files
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.sec.read import read_sec
from construction.statements.readers.sec.source import find_tables
from construction.statements.readers.xbrl.read import read_xbrl
from construction.statements.readers.xbrl.source import find_documents
from data.atomic import write_bytes
from data.canonical import file_digest, pretty_json
from data.contracts import Outcome
from data.errors import InputError
from data.ledger import completed
from data.schemas import AMOUNTS
from data.snapshot.release import ReleasedTable
from data.stage_tables import LEDGER_FILE, TALLIES_FILE
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_frame, write_table

DATABASE, ASKABLE, REPORT = "tables", "askable.parquet", "questions.json"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where statements come from: SEC data sets, EDINET summaries, xBRL-JSON, and what explains
    them."""

    sec: Sequence[Path]
    edinet: Sequence[Path]
    xbrl: Sequence[Path] = ()
    tickers: Path | None = None
    categories: Path | None = None

    def require(self, sec: SecConfig) -> None:
        """Raise InputError for paths without statements."""
        if self.sec:
            find_tables(self.sec, sec)
        if self.edinet:
            find_files(self.edinet)
        if self.xbrl:
            find_documents(self.xbrl)

    def digests(self) -> Mapping[str, str]:
        """SHA-256 of every file, under names that reveal its position only."""
        numbered = {
            f"{source}-{number:04d}": file_digest(path)
            for source, paths in (("sec", self.sec), ("edinet", self.edinet), ("xbrl", self.xbrl))
            for number, path in enumerate(_source_files(paths), start=1)
        }
        single = {"tickers": self.tickers, "categories": self.categories}
        return numbered | {name: file_digest(path) for name, path in single.items() if path}


def _source_files(paths: Sequence[Path]) -> list[Path]:
    """The files given, and those in the folders given; sorted. Raises InputError for none."""
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(str(path), "nothing", "financial statements", "Check the path.")
        files += [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sorted(files)


def write_database(sources: Sources, recipe: StatementsRecipe, out: Path) -> None:
    """Write all sources as one database: named and dated points, and which can be asked about."""
    parts = []
    if sources.sec:
        parts.append(read_sec(sources.sec, recipe.sec, sources.tickers))
    if sources.edinet:
        parts.append(read_edinet(sources.edinet, recipe.edinet))
        _require_names(parts[-1].companies, sources.edinet)
    if sources.xbrl:
        parts.append(read_xbrl(sources.xbrl, recipe.xbrl))
    frames = {
        table.name: pl.concat([getattr(part, table.name) for part in parts]) for table in TABLES
    }
    labels = recipe.filters.periods.label_by_company
    frames["conventions"] = with_declared(frames["conventions"], labels)
    statements = plain_texts(Statements(**frames))
    rules = load_rules(sources.categories) if sources.categories else None
    renamed = rebuild(statements.series, statements.rows, statements.points)
    assigned = assign(renamed, rules)
    named = _dated(replace(statements, series=assigned.series), recipe.filters.periods)
    filtered = filter_points(named, recipe.filters)
    write_statements(out / DATABASE, named)
    write_frame(out / ASKABLE, filtered.points.select("point_id"))
    tallies = [tally for part in parts for tally in part.tallies]
    rows = completed([row for part in parts for row in part.ledger], tallies)
    tallies += [*assigned.tallies, *filtered.tallies]
    rows += completed([], [*assigned.tallies, *filtered.tallies])
    ledger = pl.DataFrame([ledger_record(row) for row in rows], LEDGER)
    write_frame(out / LEDGER_FILE, pl.concat([ledger, assigned.ledger, filtered.ledger]))
    records = [record for tally in tallies for record in tally_records(tally)]
    write_table(out / TALLIES_FILE, records, TALLIES)
    write_bytes(out / REPORT, pretty_json({"filters": asdict(filtered.report)}))


def _require_names(companies: pl.DataFrame, paths: Sequence[Path]) -> None:
    """Raise InputError if no company of EDINET has a name that an English sentence can hold."""
    names = companies["name"].to_list()
    if names and all(has_foreign_letters(name) for name in names):
        raise InputError(
            ", ".join(str(path) for path in paths),
            f"no English names for any of {len(names)} companies",
            f"{CODE_LIST}, the EDINET code list with the names",
            f"Put {CODE_LIST} in the same folder as the summaries, or pass it with --edinet.",
        )


def _dated(statements: Statements, config: PeriodConfig) -> Statements:
    """With the fiscal periods of all points, and those that can be derived from filed ones."""
    filed = pl.concat([statements.points, statements.history.drop("replaced_by")])
    # Both at once: they share years.
    dated = with_periods(filed, statements.companies, config, statements.conventions)
    points = dated.head(statements.points.height)
    replaced = dated.tail(statements.history.height)
    return replace(
        statements,
        points=pl.concat([points, derived_points(points, statements.series)]),
        history=replaced.with_columns(statements.history["replaced_by"]),
    )


def not_read(read: Path) -> list[tuple[str, str]]:
    """The files that could not be read, with the reason of each."""
    ledger = pl.read_parquet(read / LEDGER_FILE)
    unread = ledger.filter((pl.col("unit") == "file") & (pl.col("outcome") != str(Outcome.KEPT)))
    return [(item, reason or "") for item, reason in unread.select("item_id", "reason").iter_rows()]


def _commonest_reasons(read: Path) -> str:
    """The four most frequent reasons for rejections."""
    ledger = pl.read_parquet(read / LEDGER_FILE).filter(pl.col("reason").is_not_null())
    counted = ledger.group_by("reason").agg(pl.col("n").sum()).sort("n", "reason", descending=True)
    return ", ".join(f"{n:,} × {reason}" for reason, n in counted.head(4).iter_rows())


def askable_points(database: Path) -> pl.Series:
    """The points that can be asked about. Raises InputError if there is none."""
    askable = pl.read_parquet(database / ASKABLE)["point_id"]
    if askable.is_empty():
        raise InputError(
            "statements",
            f"no data points to ask about ({_commonest_reasons(database)})",
            "filed values with a period, a category and an English label",
            "Pass other statements; for EDINET, put the code list in the same folder.",
        )
    return askable


def statements_tables(folder: Path) -> dict[str, ReleasedTable]:
    """The released tables of statements that were read into `folder`."""
    return {
        table.name: ReleasedTable(
            folder / DATABASE / f"{table.name}.parquet", table.row, table.meanings
        )
        for table in (*TABLES, AMOUNTS)
    }
