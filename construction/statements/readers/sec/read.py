"""Reads SEC Financial Statement Data Sets into the model of statements.

Every file, line, filing, row and fact has its outcome in the ledger. The rows of statements (`pre`)
give the row of each tag, and the series that each row shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.labels import statement_of
from construction.statements.model import CLOSINGS, CODES, ROWS, STATEMENTS, Statement, Statements
from construction.statements.readers.sec.contracts import STAGE, SecConfig, SecReason
from construction.statements.readers.sec.filings import (
    companies_of,
    conventions_of,
    judged_filings,
    known_filings,
    month_end,
)
from construction.statements.readers.sec.points import (
    Context,
    judged_facts,
    points_of,
    series_of,
    series_table,
    tag_table,
    with_series,
)
from construction.statements.readers.sec.source import (
    SecTable,
    SourceError,
    SourceTable,
    TableFrame,
    empty_table,
    file_row,
    find_facts,
    find_tables,
    read_facts,
    read_table,
)
from data.contracts import LedgerRow, Outcome, Scalar, StageKind, StageTally
from data.ledger import close, tally

# The SEC's `companyfacts` JSON, one company a file, as tables of a data set.
#
# It gives true days where the data sets round to month ends, and has neither rows nor dimensions:
# the statement of a tag is told by its name, and rows stand in the order of the file.

_LAST = "~"  # of equal facts that of the first version stands: a data set's, which has rows
_STATED = "companyfacts"  # the evidence of a day, in CLOSINGS
_QUARTER = 91.3  # days
_LEEWAY = 10  # days
_Row = dict[str, str | None]


def _tables_of(
    content: bytes, label: str, source: str
) -> tuple[dict[SecTable, pl.DataFrame], pl.DataFrame]:
    """The tables of a file, and the true last days of its periods, as CLOSINGS.

    Raises SourceError for another JSON.
    """
    record = _parsed(content)
    cik, facts = str(record.get("cik") or "").lstrip("0"), record.get("facts")
    if not cik.isdigit() or not isinstance(facts, dict):
        actual, expected = "another JSON", "cik, entityName and facts"
        raise SourceError(SecReason.NO_COLUMNS, actual, expected)
    rows: dict[SecTable, list[_Row]] = {table: [] for table in SecTable}
    filings: dict[str, _Row] = {}
    lines: dict[tuple[str, str], tuple[str, str]] = {}
    ends: dict[tuple[date, date], str] = {}
    for tag, version, unit, fact in _listed(facts, rows[SecTable.TAG]):
        adsh = str(fact.get("accn") or "")
        end, quarters = _period(fact)
        rounded = month_end(end) if end else None
        filing = filings.setdefault(adsh, _filing(adsh, cik, record.get("entityName"), fact))
        if end is not None and rounded is not None and quarters is not None:
            statement = statement_of(tag, instant=quarters == "0")
            # A tag with "guidance" in its name is about new accounting guidance.
            if statement not in (None, Statement.GUIDANCE):
                lines.setdefault((adsh, tag), (CODES[str(statement)], version))
            if quarters != "0":
                ends.setdefault((rounded, end), adsh)
                filing["period"] = max(filing["period"] or "", f"{rounded:%Y%m%d}")
        number = {"tag": tag, "version": version, "qtrs": quarters, "uom": unit, "adsh": adsh}
        number["ddate"] = f"{rounded:%Y%m%d}" if rounded else None
        number["value"] = str(fact["val"]) if fact.get("val") is not None else None
        rows[SecTable.NUM].append(number)
    annual = [f["period"] for f in filings.values() if f["fp"] == "FY" and f["period"]]
    fye = max(annual, default="")[4:] or None
    rows[SecTable.SUB] = [one | {"fye": fye} for one in filings.values()]
    rows[SecTable.PRE] = list(_placed(lines))
    frames = {table: _frame(table, listed, label) for table, listed in rows.items()}
    closed = [(f"{source}:{cik}", day, end, _STATED, adsh) for (day, end), adsh in ends.items()]
    return frames, pl.DataFrame(closed, schema=CLOSINGS.schema, orient="row")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        record = json.loads(content, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, "JSON in UTF-8") from None
    return record if isinstance(record, dict) else {}


def _listed(
    facts: Mapping[str, Any], tags: list[_Row]
) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Tag, taxonomy, unit and the fact of every fact; the definitions go to `tags`."""
    for taxonomy, concepts in facts.items():
        version = f"{taxonomy}{_LAST}"
        for tag, concept in concepts.items() if isinstance(concepts, dict) else ():
            if not isinstance(concept, dict):
                continue
            label = concept.get("label")
            tags.append({"tag": tag, "version": version, "tlabel": label and str(label)})
            units = concept.get("units")
            for unit, listed in units.items() if isinstance(units, dict) else ():
                for fact in listed if isinstance(listed, list) else ():
                    if isinstance(fact, dict):
                        yield tag, version, unit, fact


def _filing(adsh: str, cik: str, name: object, fact: Mapping[str, Any]) -> _Row:
    return {
        "adsh": adsh,
        "cik": cik,
        "name": str(name or ""),
        "form": str(fact.get("form") or ""),
        "filed": str(fact.get("filed") or "").replace("-", ""),
        "fy": str(fact.get("fy") or "") or None,
        "fp": str(fact.get("fp") or "") or None,
        "period": None,
        "prevrpt": "0",
    }


def _period(fact: Mapping[str, Any]) -> tuple[date | None, str | None]:
    """The last day, and the number of quarters; None for what is no period of whole quarters."""
    try:
        end = date.fromisoformat(str(fact.get("end")))
        start = date.fromisoformat(str(fact["start"])) if fact.get("start") else None
    except ValueError:
        return None, None
    if start is None:
        return end, "0"
    days = (end - start).days + 1
    quarters = round(days / _QUARTER)
    fits = quarters > 0 and abs(days - quarters * _QUARTER) <= _LEEWAY
    return (end, str(quarters)) if fits else (end, None)


def _placed(lines: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[_Row]:
    """A row for each tag of a filing, in the statement that its name tells."""
    counts: Counter[tuple[str, str]] = Counter()
    reports = list(CODES.values())
    for (adsh, tag), (code, version) in lines.items():
        line = counts[adsh, code]
        counts[adsh, code] += 1
        yield {
            "adsh": adsh,
            "report": str(reports.index(code) + 2),
            "line": str(line),
            "stmt": code,
            "tag": tag,
            "version": version,
        }


def _frame(table: SecTable, rows: list[_Row], label: str) -> pl.DataFrame:
    schema = dict(empty_table(table).schema)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(source=pl.lit(label))


# Above the limits of the format, and small enough for a rank of 63 bits.
_REPORTS, _LINES, _FILINGS = 1 << 14, 1 << 16, 1 << 26


def judged_rows(pre: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The rows of `pre`, typed, with `reason` (null if kept).

    Rows of superseded filings have a reason, and still locate their facts. `rank` orders rows by
    preference: rows of valid filings first, then rows outside brackets, STATEMENTS, the newest
    filing, the first row. Each sound row has a rank of its own.
    """
    known = filings.select("adsh", "nth", "by_name", "company_id", "superseded")
    report, line = pl.col("report"), pl.col("line")
    typed = (
        pre.join(known, on="adsh", how="left")
        .join(_statements(pre), on="stmt", how="left", nulls_equal=True)
        .with_columns(
            pl.col("report", "line").cast(pl.Int64, strict=False),
            (pl.col("inpth") == "1").fill_null(value=False).alias("parenthetical"),
            (pl.col("negating") == "1").fill_null(value=False).alias("negated"),
        )
        .with_columns(_rank().alias("rank"))
    )
    sound = (
        report.is_between(0, _REPORTS, closed="left")
        & line.is_between(0, _LINES, closed="left")
        & pl.col("tag").is_not_null()
        & pl.col("version").is_not_null()
    ).fill_null(value=False)
    ordered = typed
    if typed.select(pl.col("rank").is_duplicated().any()).item():
        ordered = typed.sort("rank", "tag", "version", "plabel", "source", nulls_last=True)
    reason = (
        pl.when(pl.col("nth").is_null())
        .then(pl.lit(SecReason.UNKNOWN_FILING.value))
        .when(~sound)
        .then(pl.lit(SecReason.BAD_ROW.value))
        .when(~pl.struct("nth", "report", "line").is_first_distinct())
        .then(pl.lit(SecReason.DUPLICATE.value))
        .when("superseded")
        .then(pl.lit(SecReason.SUPERSEDED.value))
    )
    return ordered.with_columns(reason.alias("reason"))


def _standing(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that locate facts: the kept ones, and those of superseded filings."""
    reason = pl.col("reason")
    return rows.filter(reason.is_null() | (reason == SecReason.SUPERSEDED.value))


def tag_rows_in_filings(rows: pl.DataFrame) -> pl.DataFrame:
    """The row of each (nth, tag, version): its report and line.

    A cash flow statement shows one tag at the beginning and at the end of the period; values are
    for its end.
    """
    opens = pl.col("plabel").str.contains("(?i)beginning").fill_null(value=False)
    rank = pl.coalesce(pl.col("rank").filter(~opens).min(), pl.col("rank").min())
    first = rows.group_by("nth", "tag", "version").agg(rank)
    return first.join(rows.select("rank", "report", "line"), on="rank").drop("rank")


def tag_rows_of_companies(rows: pl.DataFrame) -> pl.DataFrame:
    """The row of each (company_id, tag): its statement, label and line."""
    first = rows.group_by("company_id", "tag").agg(pl.col("rank").min())
    shown = rows.select("rank", "statement", "plabel", row_order="line")
    return first.join(shown, on="rank").drop("rank")


def _statements(pre: pl.DataFrame) -> pl.DataFrame:
    """Statement and preference of each code; unclassified ones and cover pages are OTHER."""
    codes = pre.select("stmt").unique()
    statements = [STATEMENTS.get(code, Statement.OTHER) for code in codes["stmt"]]
    order = [*STATEMENTS.values(), Statement.OTHER]
    return codes.with_columns(
        pl.Series("statement", [statement.value for statement in statements], pl.Categorical),
        pl.Series("preference", [order.index(statement) for statement in statements], pl.Int64),
    )


def _rank() -> pl.Expr:
    behind = pl.col("superseded").cast(pl.Int64) * 2 + pl.col("parenthetical").cast(pl.Int64)
    kind = behind * (len(STATEMENTS) + 1) + pl.col("preference")
    filing = kind * _FILINGS + (_FILINGS - 1 - pl.col("nth"))
    return (filing * _REPORTS + pl.col("report")) * _LINES + pl.col("line")


def rows_of(
    judged: pl.DataFrame, facts: pl.DataFrame, series: pl.DataFrame, tags: pl.DataFrame
) -> pl.DataFrame:
    """The kept rows of `judged`: columns of ROWS, sorted by (document, report, line).

    `facts` have the numbers of their `series`. A row shows the consolidated series of its tag, in
    the unit with the most facts of the filing; without one, the only dimensioned series of its tag;
    null if there are several.
    """
    label = pl.coalesce(pl.col("plabel").str.strip_chars(), "tlabel", pl.col("tag").cast(pl.String))
    return (
        judged.filter(pl.col("reason").is_null())
        .join(_shown(facts), on=["nth", "tag", "version"], how="left")
        .join(series.select("sid", "series_id"), on="sid", how="left")
        .join(tags.select("tag", "version", "tlabel"), on=["tag", "version"], how="left")
        .with_columns(document="adsh", label=label)
        .sort("by_name", "report", "line")
        .select(list(ROWS.columns))
        .cast(pl.Schema(ROWS.schema))
    )


def _shown(facts: pl.DataFrame) -> pl.DataFrame:
    """The number of the series of each (nth, tag, version)."""
    key = ["nth", "tag", "version"]
    span = facts.group_by(key).agg(pl.col("sid").min(), pl.col("sid").max().alias("last"))
    alone = span.filter(pl.col("sid") == pl.col("last")).select(*key, "sid")
    several = facts.join(span.filter(pl.col("sid") != pl.col("last")), on=key, how="semi")
    most = (
        several.filter(pl.col("dimensions").is_null())
        .group_by(*key, "sid")
        .len()
        .sort("len", "sid", descending=[True, False])
        .unique(key, keep="first", maintain_order=True)
    )
    return pl.concat([alone, most.select(*key, "sid")])


_BROKEN = frozenset(
    {
        SecReason.COLUMN_COUNT,
        SecReason.BAD_FILING,
        SecReason.BAD_ROW,
        SecReason.BAD_VALUE,
        SecReason.BAD_PERIOD,
    }
)
_LedgerTable = tuple[list[LedgerRow], StageTally]


def _file_ledger(
    read: Sequence[tuple[SourceTable, TableFrame]], others: Sequence[LedgerRow]
) -> _LedgerTable:
    """One row per file; `replaced` counts the byte sequences that are not UTF-8."""
    kept = [
        LedgerRow(
            STAGE,
            "file",
            source.label,
            Outcome.KEPT,
            evidence={"lines": table.lines, "replaced": table.replaced},
        )
        for source, table in read
    ]
    rows = sorted([*kept, *others], key=lambda row: row.item_id)
    return rows, tally(STAGE, StageKind.FILTER, "file", [row.item_id for row in rows], rows)


def _line_ledger(read: Sequence[tuple[SourceTable, TableFrame]], config: SecConfig) -> _LedgerTable:
    """A row per broken line, up to a limit per file, and one row for the others of a file."""
    rows = []
    for source, table in read:
        listed = table.broken[: config.max_listed_lines]
        for line, n_columns in listed:
            at: dict[str, Scalar] = {
                "line": line,
                "found": f"{n_columns} columns",
                "expected": table.columns,
            }
            rows.append(_line_row(f"{source.label}:{line}", source.label, at))
        if more := len(table.broken) - len(listed):
            others: dict[str, Scalar] = {"found": "other columns", "expected": table.columns}
            rows.append(replace(_line_row(source.label, source.label, others), n=more))
    lines = sum(table.lines for _, table in read)
    broken = sum(len(table.broken) for _, table in read)
    counts = {Outcome.KEPT: lines - broken, Outcome.ERRORED: broken}
    return rows, close(STAGE, StageKind.FILTER, "line", lines, counts)


def _filing_ledger(judged: pl.DataFrame) -> _LedgerTable:
    """One row per row of `sub`; one without an accession number is named by file and position."""
    rows = []
    names = ("adsh", "form", "source", "reason")
    ordered = judged.select(names).sort("source", "adsh", *names, nulls_last=True)
    for number, (adsh, form, source, reason) in enumerate(ordered.iter_rows()):
        outcome, why = _outcome(reason)
        evidence: dict[str, Scalar] = {"source_path": source}
        if why is SecReason.BAD_FILING:
            item, evidence["expected"] = (
                f"{source}#{number}",
                "accession number, cik, day of filing",
            )
        elif why is SecReason.DUPLICATE_FILING:
            item = f"{adsh}#{number}"
        else:
            item, evidence["form"] = adsh, form
        rows.append(LedgerRow(STAGE, "filing", item, outcome, reason=why, evidence=evidence))
    return rows, tally(STAGE, StageKind.FILTER, "filing", [row.item_id for row in rows], rows)


def _counted_ledger(
    unit: str, n_in: int, kept: pl.DataFrame, rejected: pl.DataFrame
) -> _LedgerTable:
    """One row per filing and outcome, with the number of its units as `n`.

    `kept` has the column document; `rejected` has adsh (null if unknown) and reason.
    """
    kept_counts = kept.group_by("document").len("n").with_columns(reason=pl.lit(None, pl.String))
    rejected_counts = rejected.group_by(
        pl.col("adsh").cast(pl.String).alias("document"), "reason"
    ).len("n")
    counted = pl.concat([kept_counts, rejected_counts.select(kept_counts.columns)]).select(
        "document", "reason", "n"
    )
    rows, counts = [], Counter[Outcome]()
    for document, reason, n in counted.sort("document", "reason").iter_rows():
        outcome, why = _outcome(reason)
        counts[outcome] += n
        item = f"{document or 'unknown'}:{why or 'kept'}"
        rows.append(LedgerRow(STAGE, unit, item, outcome, reason=why, n=n))
    return rows, close(STAGE, StageKind.FILTER, unit, n_in, counts)


def _outcome(reason: str | None) -> tuple[Outcome, SecReason | None]:
    if reason is None:
        return Outcome.KEPT, None
    why = SecReason(reason)
    return (Outcome.ERRORED if why in _BROKEN else Outcome.REJECTED), why


def _line_row(item: str, source: str, evidence: Mapping[str, Scalar]) -> LedgerRow:
    reason = SecReason.COLUMN_COUNT
    located = {"source_path": source, **evidence}
    return LedgerRow(STAGE, "line", item, Outcome.ERRORED, reason=reason, evidence=located)


_READERS = 2  # threads; inflating takes longest


def read_sec(
    paths: Sequence[Path], config: SecConfig | None = None, tickers: Path | None = None
) -> Statements:
    """Read data sets: zips, or folders with the tables as text or Parquet, or with zips; and
    companyfacts files, which yield to the data sets where both show a filing.

    `tickers` is a Parquet file with the columns cik, ticker, exchange: the listings of today. Names
    are flat, category and fiscal periods null. Raises InputError as `find_tables`, and for tickers.
    """
    settings = config or SecConfig()
    frames, closed, accounts = _read_tables(paths, settings)
    tags = tag_table(frames[SecTable.TAG])
    judged = judged_filings(frames[SecTable.SUB], settings.source)
    filings = known_filings(judged)
    rows = judged_rows(frames[SecTable.PRE], filings)
    conventions, closings = conventions_of(
        filings, frames[SecTable.PRE], frames[SecTable.NUM], closed
    )
    facts = judged_facts(frames[SecTable.NUM].drop("footnote"), filings, tags)
    sound = facts.filter(pl.col("reason").is_null()).with_row_index("fact")
    series = series_of(sound, tag_rows_of_companies(_standing(rows)), tags, settings)
    numbered = with_series(sound, series)
    points = points_of(numbered, Context(series, filings, tag_rows_in_filings(_standing(rows))))
    kept = series.filter(pl.col("sid").is_in(points.sids.implode()))
    shown = rows_of(rows, numbered, kept, tags)
    lost = pl.concat([_rejected(facts), points.rejected])
    row_ledger = _counted_ledger("row", rows.height, shown, _rejected(rows))
    fact_ledger = _counted_ledger("fact", facts.height, points.points, lost)
    accounts += [_filing_ledger(judged), row_ledger, fact_ledger]
    return Statements(
        companies=companies_of(judged, tickers, settings),
        series=series_table(kept),
        points=points.points,
        history=points.history,
        rows=shown,
        conventions=conventions,
        closings=closings,
        ledger=[row for ledger, _ in accounts for row in ledger],
        tallies=[tally for _, tally in accounts],
    )


def _read_tables(
    paths: Sequence[Path], config: SecConfig
) -> tuple[dict[SecTable, pl.DataFrame], pl.DataFrame, list[_LedgerTable]]:
    """All data sets together, one frame per table, the true days that companyfacts state, as
    CLOSINGS, and the ledger of files and lines."""
    sources, others = find_tables(paths, config)
    with ThreadPoolExecutor(_READERS) as pool:
        results = list(pool.map(lambda source: _try_table(source, config), sources))
    read = [
        (source, table)
        for source, table in zip(sources, results, strict=True)
        if isinstance(table, TableFrame)
    ]
    others = [*others, *(row for row in results if isinstance(row, LedgerRow))]
    frames = {
        name: pl.concat(
            [table.frame for source, table in read if source.table is name] or [empty_table(name)]
        )
        for name in SecTable
    }
    facts, closed, rows = _read_facts(paths, config)
    for name, listed in facts.items():
        if name is SecTable.PRE:
            listed = listed.join(frames[name].select("adsh").unique(), on="adsh", how="anti")
        frames[name] = pl.concat([frames[name], listed])
    return frames, closed, [_file_ledger(read, [*others, *rows]), _line_ledger(read, config)]


def _read_facts(
    paths: Sequence[Path], config: SecConfig
) -> tuple[dict[SecTable, pl.DataFrame], pl.DataFrame, list[LedgerRow]]:
    """The companyfacts files as tables, the days that they state, and a ledger row for each."""
    parts: dict[SecTable, list[pl.DataFrame]] = {name: [empty_table(name)] for name in SecTable}
    days, rows = [pl.DataFrame(schema=CLOSINGS.schema)], []
    for label, path in find_facts(paths):
        try:
            tables, closed = _tables_of(read_facts(path, config), label, config.source)
        except SourceError as error:
            rows.append(file_row(label, error.reason, error.actual, error.expected))
            continue
        days.append(closed)
        for name, table in tables.items():
            parts[name].append(table)
        n_facts = tables[SecTable.NUM].height
        rows.append(LedgerRow(STAGE, "file", label, Outcome.KEPT, evidence={"facts": n_facts}))
    return {name: pl.concat(tables) for name, tables in parts.items()}, pl.concat(days), rows


def _try_table(source: SourceTable, config: SecConfig) -> TableFrame | LedgerRow:
    try:
        return read_table(source, config)
    except SourceError as error:
        return file_row(source.label, error.reason, error.actual, error.expected)


def _rejected(judged: pl.DataFrame) -> pl.DataFrame:
    """Filing and reason of what was not kept; the filing is null if it is unknown."""
    return judged.filter(pl.col("reason").is_not_null()).select(
        pl.when(pl.col("nth").is_not_null()).then("adsh").cast(pl.String).alias("adsh"), "reason"
    )
