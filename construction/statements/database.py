"""The database of financial statements: all sources read, named, dated and filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.categories import Category, CategoryReason, assign, load_rules
from construction.statements.conventions import PeriodConfig, with_declared
from construction.statements.hierarchy_rebuilt import rebuild
from construction.statements.model import (
    POINTS,
    TABLES,
    LabelMethod,
    Statement,
    Statements,
    plain_texts,
    write_statements,
)
from construction.statements.periods import ELAPSED, derived_points, period_reasons, with_periods
from construction.statements.presentation import SIGN_CONTRADICTED, contradicted
from construction.statements.questions.contracts import FilterConfig, StatementsRecipe
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
from data.contracts import Outcome, StageKind, StageTally
from data.errors import InputError
from data.ledger import close, completed
from data.schemas import AMOUNTS
from data.snapshot.release import ReleasedTable
from data.stage_tables import LEDGER_FILE, TALLIES_FILE
from data.tables import LEDGER, TALLIES, ledger_record, tally_records, write_frame, write_table


class _ScaleReason(StrEnum):
    SCALE = "value.implausible_scale"
    JUMP = "value.implausible_jump"


_EARNINGS = (
    r"^(?:EarningsPerShare(?:Basic|Diluted|BasicAndDiluted)|"
    r"(?:Basic|Diluted)EarningsLossPerShare|1株当たり当期純利益又は当期純損失)$"
)
_INCOME = (
    r"^(?:NetIncomeLoss(?:AvailableToCommonStockholdersBasic)?|ProfitLoss|"
    r"親会社株主に帰属する当期純利益(?:\(IFRS\))?)$"
)
_WHOLE = (
    r"^(?:(?:CommonStock)?Shares(?:Outstanding|Issued)|"
    r"EntityCommonStockSharesOutstanding|WeightedAverageNumberOf(?:SharesOutstandingBasic|"
    r"DilutedSharesOutstanding|ShareOutstandingBasicAndDiluted)|"
    r"発行済株式総数(?:\(普通株式\))?)$"
)
_COMMON = "EquityComponents=CommonStock"  # other components are parts, or other shares
_AUTHORIZED = "(?i)authori[sz]ed"
_TOTALS = (
    r"^(?:Assets|LiabilitiesAndStockholdersEquity|EquityAndLiabilities|Revenues?|SalesRevenueNet|"
    r"総資産|負債純資産|売上高)$"
)
_MOST_SHARES = 1e12
# In powers of ten.
_AGREES = 0.5  # shares issued and average shares of one company differ less than this
_NEAR = 0.35  # how close a ratio must be to a thousand or a million
_PART_ABOVE_WHOLE = 2.9  # a part of the shares cannot exceed all of them
_NEAR_JUMP = 0.15
_LINES = 8  # fewest neighbours that say something about a whole filing
_MOST_LINES = 0.5


def _implausible(statements: Statements) -> pl.DataFrame:
    """The points with an implausible value: point_id, scale_reason; one row per point."""
    points = _filed(statements)
    scale = pl.concat([_against_income(points), _too_many(points)]).unique()
    jump = pl.concat([_jumps(points), _jumping_filings(points)]).unique()
    return pl.concat(
        [
            scale.select("point_id", scale_reason=pl.lit(str(_ScaleReason.SCALE))),
            jump.join(scale, on="point_id", how="anti").select(
                "point_id", scale_reason=pl.lit(str(_ScaleReason.JUMP))
            ),
        ]
    )


def _filed(statements: Statements) -> pl.DataFrame:
    """The filed values other than zero, as sizes, with what their series are about."""
    about = statements.series.select("series_id", "concept", "unit", "dimensions")
    size = pl.col("value").cast(pl.Float64, strict=False).abs()
    return (
        statements.points.filter(~pl.col("computed"))
        .with_columns(size=size)
        .filter(pl.col("size") > 0)
        .join(about, on="series_id", maintain_order="left")
    )


def _against_income(points: pl.DataFrame) -> pl.DataFrame:
    """Share counts and earnings per share that contradict net income.

    Of the two, the one that agrees with no other figure of its filing is wrong.
    """
    common = pl.col("dimensions").fill_null(_COMMON) == _COMMON
    counts = points.filter(
        (pl.col("unit") == "shares") & common & ~pl.col("concept").str.contains(_AUTHORIZED)
    ).select("point_id", "document", shares="size", whole=pl.col("concept").str.contains(_WHOLE))
    implied = _implied_shares(points)
    pairs = implied.join(counts, on="document").with_columns(
        gap=(pl.col("shares") / pl.col("implied")).log10()
    )
    agree = pl.col("whole") & (pl.col("gap").abs() < _AGREES)
    judged = pairs.with_columns(
        shares_agree=agree.any().over("document", "point_id"),
        earnings_agree=agree.any().over("document", "earnings_id"),
        gap=pl.col("gap").median().over("document", "point_id"),
        own_gap=pl.col("gap"),
    )
    wrong_whole = pl.col("whole") & ~pl.col("shares_agree") & _off(pl.col("gap"), _NEAR)
    wrong_part = ~pl.col("whole") & (pl.col("gap") > _PART_ABOVE_WHOLE)
    wrong_earnings = (
        pl.col("shares_agree") & ~pl.col("earnings_agree") & _off(pl.col("own_gap"), _NEAR)
    )
    return pl.concat(
        [
            judged.filter(wrong_whole | wrong_part).select("point_id"),
            judged.filter(wrong_earnings).select(point_id="earnings_id"),
        ]
    )


def _implied_shares(points: pl.DataFrame) -> pl.DataFrame:
    """Net income by earnings per share: one row per filed earnings per share and net income."""
    whole = points.filter(pl.col("dimensions").is_null())
    period = ["document", "period_end", "months", "currency"]
    currency = pl.col("unit").str.head(3).alias("currency")
    income = whole.filter(pl.col("concept").str.contains(_INCOME)).with_columns(currency)
    earnings = whole.filter(
        pl.col("concept").str.contains(_EARNINGS) & pl.col("unit").str.ends_with("/share")
    ).with_columns(currency)
    return earnings.join(income.select(*period, income="size"), on=period).select(
        "document", earnings_id="point_id", implied=pl.col("income") / pl.col("size")
    )


def _too_many(points: pl.DataFrame) -> pl.DataFrame:
    issued = ~pl.col("concept").str.contains(_AUTHORIZED)
    return points.filter(
        (pl.col("unit") == "shares") & issued & (pl.col("size") >= _MOST_SHARES)
    ).select("point_id")


def _off(gap: pl.Expr, tolerance: float) -> pl.Expr:
    """Whether a ratio, as a power of ten, is about a thousand or a million, or their inverse."""
    size = gap.abs()
    return ((size - 3).abs() < tolerance) | ((size - 6).abs() < tolerance)


def _with_gaps(points: pl.DataFrame) -> pl.DataFrame:
    """The points with `gap`, their ratio to the periods of the same length, if it is one to a
    neighbour too and about a thousand or a million; null for others.

    The median of the series tells which of two neighbours is wrong; of two values alone both are
    doubtful.
    """
    own = ["series_id", "months"]
    size = pl.col("size")
    before = (size / size.shift().over(own)).log10()
    after = (size / size.shift(-1).over(own)).log10()
    several = pl.len().over(own) > 2
    gap = pl.when(several).then((size / size.median().over(own)).log10())
    beside = (_off(before, _NEAR_JUMP) | _off(after, _NEAR_JUMP)).fill_null(value=False)
    ordered = points.sort(*own, "period_end", "point_id")
    return (
        ordered.filter(pl.len().over(own) > 1)
        .with_columns(gap=pl.when(beside).then(gap.fill_null(pl.coalesce(before, after))))
        .with_columns(gap=pl.when(_off(pl.col("gap"), _NEAR_JUMP)).then("gap"))
    )


def _jumps(points: pl.DataFrame) -> pl.DataFrame:
    """Totals a thousand times those of the other periods, or a thousandth of them."""
    totals = points.filter(pl.col("concept").str.contains(_TOTALS))
    return _with_gaps(totals).drop_nulls("gap").select("point_id")


def _jumping_filings(points: pl.DataFrame) -> pl.DataFrame:
    """The amounts of filings of which most differ alike from the other periods."""
    amounts = _with_gaps(points.filter(pl.col("unit").str.len_chars() == 3))
    up, down = ((pl.col("gap") * sign > 0).fill_null(value=False).mean() for sign in (1, -1))
    filings = amounts.group_by("document").agg(n=pl.len(), share=pl.max_horizontal(up, down))
    wrong = filings.filter((pl.col("n") >= _LINES) & (pl.col("share") > _MOST_LINES))
    return amounts.join(wrong, on="document", how="semi").select("point_id")


_STAGE = "filter_points"
# Share of points that the seed dropped as computed or auto-generated (FinRetrieval, filters).
SEED_DROPPED_SHARE = 0.09
_BALANCE = r"(?i)\bcash\b|balance|beginning|end of|残高|現金"
_CASH_HELD = r"(?i)^cash(?:,? cash equivalents)?(?: and cash equivalents)?(?:, at carrying value)?$"
_LABEL, _IS_DAY = pl.col("label").fill_null(""), pl.col("months") == 0
_WRONG_LENGTH = (pl.col("statement") == Statement.CASH_FLOW) & (
    (_IS_DAY & ~_LABEL.str.contains(_BALANCE)) | (~_IS_DAY & _LABEL.str.contains(_CASH_HELD))
)
_CASH = r"(?i)cash|activities|キャッシュ|現金|活動"
_ZERO = r"^[-+]?0*(?:\.0*)?$"


class _FilterReason(StrEnum):
    """Why a point is not asked about; for missing periods see `PeriodReason`."""

    COMPUTED = "point.computed"
    AUTO_GENERATED = "point.auto_generated"
    UNTRANSLATED = "label.untranslated"
    PARENTHETICAL = "point.parenthetical"  # printed in brackets beside another row
    TRANSLATED = "value.translated"  # beside the currency in which the filing reports
    BLANK = "value.blank"
    ZERO = "value.zero"
    NO_SERIES = "point.no_series"
    NO_ENGLISH_NAME = "company.no_english_name"  # not in the code list, or without one there
    NO_STATEMENT = "point.no_statement"  # its filing has no cash flow statement, only some items
    WRONG_LENGTH = "point.wrong_length"  # a flow of one day, or a balance of cash over months
    SIGN_CONTRADICTED = SIGN_CONTRADICTED  # by the row that prints it
    PART_CONTRADICTED = "period.part_contradicted"  # by the longest span of its filing
    NOT_FILLED = "period.not_filled"  # `with_periods` has not run, or with another config


@dataclass(frozen=True, slots=True)
class _FilterReport:
    """Counts of points by reason, and the share that was computed or auto-generated.

    `dropped_share` is relative to all incoming points, `seed_share` is the seed's figure for it.
    `fill` has a row per category and region: how many points were filed (available), how many of
    them can be asked about (askable), and how many cannot, by reason (rejected).
    """

    n_in: int
    n_kept: int
    rejected: dict[str, int]
    dropped_share: float
    fill: list[dict[str, Any]]
    seed_share: float = SEED_DROPPED_SHARE


@dataclass(frozen=True, slots=True)
class _Filtered:
    """`points` in their order; `ledger` (schema LEDGER) has a row per rejected point."""

    points: pl.DataFrame
    ledger: pl.DataFrame
    tallies: tuple[StageTally, ...]
    report: _FilterReport


def _filter_points(statements: Statements, config: FilterConfig) -> _Filtered:
    """Keep the points that a question can ask about.

    A point is dropped for the first reason that applies: computed (derived by us), auto-generated
    (in no statement), unknown series, untranslated, no category, company without an English name,
    parenthetical, in no whole statement, of a wrong length, translated, blank, zero, implausible,
    with a sign that its row contradicts, in a part of the year that its filing contradicts, no
    fiscal period. `statements` already have names, categories and periods.
    """
    judged = _judged(statements, config)
    kept = judged.filter(pl.col("reason").is_null()).select(*POINTS.columns)
    rejected_points = judged.filter(pl.col("reason").is_not_null())
    by_reason = rejected_points.group_by("reason").len().sort("reason")
    rejected = {reason: int(n) for reason, n in by_reason.iter_rows()}
    counts = {Outcome.KEPT: kept.height, Outcome.REJECTED: rejected_points.height}
    tally = close(_STAGE, StageKind.FILTER, "point", judged.height, counts)
    dropped = sum(
        rejected.get(r, 0) for r in (_FilterReason.COMPUTED, _FilterReason.AUTO_GENERATED)
    )
    share = round(dropped / judged.height, 9) if judged.height else 0.0
    fill = _fill_by_category(judged)
    report = _FilterReport(judged.height, kept.height, rejected, share, fill)
    return _Filtered(kept, _ledger(rejected_points), (tally,), report)


def _judged(statements: Statements, config: FilterConfig) -> pl.DataFrame:
    """All points with `reason`, null for those that are kept."""
    joined = _joined(statements, config)
    blank = pl.col("value").is_null() | (pl.col("value").str.strip_chars() == "")
    tests = [
        (pl.col("computed"), _FilterReason.COMPUTED),
        (pl.col("auto_generated"), _FilterReason.AUTO_GENERATED),
        (pl.col("statement").is_null(), _FilterReason.NO_SERIES),
        (pl.col("label_method") == LabelMethod.UNTRANSLATED, _FilterReason.UNTRANSLATED),
        (pl.col("category").is_null(), CategoryReason.NONE),
        (pl.col("nameless").fill_null(value=False), _FilterReason.NO_ENGLISH_NAME),
        (pl.col("bracketed").is_not_null(), _FilterReason.PARENTHETICAL),
        (pl.col("cashless").is_not_null(), _FilterReason.NO_STATEMENT),
        (_WRONG_LENGTH, _FilterReason.WRONG_LENGTH),
        (_translated(), _FilterReason.TRANSLATED),
        (blank, _FilterReason.BLANK),
        (pl.col("value").str.contains(_ZERO), _FilterReason.ZERO),
    ]
    undated = pl.when(pl.col("period_type").is_null()).then(
        pl.col("undated").fill_null(str(_FilterReason.NOT_FILLED))
    )
    return joined.with_columns(
        reason=pl.coalesce(
            *(pl.when(test).then(pl.lit(str(r))) for test, r in tests),
            "scale_reason",
            "sign_reason",
            pl.when("misplaced").then(pl.lit(str(_FilterReason.PART_CONTRADICTED))),
            undated,
        )
    )


def _translated() -> pl.Expr:
    """Is it in another currency than most amounts of its filing? A convenience translation is."""
    currency = pl.col("unit").str.extract(r"^([A-Z]{3})(?:/|$)")
    return (currency != currency.drop_nulls().mode().sort().first().over("document")).fill_null(
        value=False
    )


def _joined(statements: Statements, config: FilterConfig) -> pl.DataFrame:
    """The points in their order, with what is known about their series, rows and companies."""
    columns = ("series_id", "statement", "label_method", "category", "label", "unit")
    about = statements.series.select(columns)
    points = statements.points.with_columns(
        undated=period_reasons(statements.points, statements.companies, config.periods)
    )
    bracketed = (
        statements.rows.filter("parenthetical")
        .select("document", "report", "line", bracketed=True)
        .unique()
    )
    joined = points.join(about, on="series_id", how="left", maintain_order="left").join(
        bracketed, on=["document", "report", "line"], how="left", maintain_order="left"
    )
    joined = joined.join(
        _without_cash(statements), on=["document", "statement"], how="left", maintain_order="left"
    )
    doubted = _implausible(statements) if config.reject_implausible else _NONE_DOUBTED
    for about, key in ((contradicted(statements), "point_id"), (_misplaced(points), "document")):
        joined = joined.join(about, on=key, how="left", maintain_order="left")
    return joined.join(doubted, on="point_id", how="left", maintain_order="left").join(
        _companies(statements.companies), on="company_id", how="left", maintain_order="left"
    )


def _misplaced(points: pl.DataFrame) -> pl.DataFrame:
    """Documents whose longest span up to their last day is too short for the part of the fiscal
    year in which that day lies: a register's year end is wrong, or the year was cut short.

    A second quarter is reported with its half, a third one with nine months.
    """
    spans = points.filter(~pl.col("computed"), pl.col("months") > 0)
    last = pl.col("period_end") == pl.col("period_end").max().over("document")
    elapsed = pl.col("fiscal_period").replace_strict(ELAPSED, default=None, return_dtype=pl.Int64)
    return (
        spans.filter(last)
        .group_by("document")
        .agg((pl.col("months").max() < elapsed.max()).alias("misplaced"))
        .filter("misplaced")
    )


def _without_cash(statements: Statements) -> pl.DataFrame:
    """Documents (and the name of the statement) whose cash flow statement has no line about cash.

    Interim reports may do without the statement and give a few of its items, such as depreciation.
    """
    about_cash = pl.col("label").str.contains(_CASH).fill_null(value=False).any()
    return (
        statements.rows.filter(pl.col("statement") == Statement.CASH_FLOW)
        .group_by("document", "statement")
        .agg(about_cash.alias("whole"))
        .filter(~pl.col("whole"))
        .select("document", "statement", cashless=pl.lit(value=True))
    )


_NONE_DOUBTED = pl.DataFrame(schema={"point_id": pl.String, "scale_reason": pl.String})


def _companies(companies: pl.DataFrame) -> pl.DataFrame:
    """The region of each company, and whether an English sentence cannot name it."""
    names = companies["name"].to_list()
    nameless = [not name or has_foreign_letters(name) for name in names]
    return companies.select(
        "company_id",
        pl.col("us").fill_null(value=False).alias("is_us"),
        pl.Series("nameless", nameless, pl.Boolean),
    )


def _fill_by_category(judged: pl.DataFrame) -> list[dict[str, Any]]:
    """A row per category and region, those without any point included; see `_FilterReport`."""
    filed = judged.filter(~pl.col("computed") & pl.col("category").is_not_null())
    counts = filed.group_by("category", "is_us", "reason").len().sort("category", "is_us", "reason")
    rows = []
    for category, is_us in product(Category, (True, False)):
        own = counts.filter((pl.col("category") == str(category)) & (pl.col("is_us") == is_us))
        why: dict[str, int] = dict(own.drop_nulls("reason").select("reason", "len").iter_rows())
        available = int(own["len"].sum())
        askable = available - sum(why.values())
        cells = {"available": available, "askable": askable, "rejected": why}
        rows.append({"category": str(category), "is_us": is_us, **cells})
    return rows


def _ledger(rejected_points: pl.DataFrame) -> pl.DataFrame:
    """One row of LEDGER per rejected point; the evidence points to the row of the filing."""
    values = {
        "stage": pl.lit(_STAGE),
        "unit": pl.lit("point"),
        "item_id": pl.col("point_id"),
        "outcome": pl.lit(str(Outcome.REJECTED)),
        "reason": pl.col("reason"),
        "stratum": pl.col("category"),
        "evidence": pl.struct("document", "line", "report").struct.json_encode(),
        "n": pl.lit(1),
    }
    columns = (
        values.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in LEDGER.items()
    )
    return rejected_points.sort("point_id").select(columns)


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
    filtered = _filter_points(named, recipe.filters)
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
