"""Filings (the rows of `sub`) and the companies that filed them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from construction.statements.model import COMPANIES
from construction.statements.readers.sec.contracts import SecConfig, SecReason
from data.errors import InputError

_ACCESSION = r"^\d{10}-\d{2}-\d{6}$"
PERIODIC = ("10-K", "10-Q", "20-F", "40-F")  # forms that only listed companies file
_LISTED = ("cik", "ticker", "exchange")
_OVER_THE_COUNTER = "OTC"
# The register's suffixes after a name: /DE/, /NEW/, "INC/CA".
_STATE_MARK = r"\s*/\s*(?:NEW|[A-Z]{2})?\s*/?$"
_PREFIX = r"^([a-z]{1,5})-\d{8}"
_MONTH_DAY = r"^(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$"


def judged_filings(sub: pl.DataFrame, source: str) -> pl.DataFrame:
    """One row per row of `sub`, with `reason` (null if kept) and `company_id`.

    `nth` numbers the filings by (filed, adsh) from 0, so a later filing has a greater number; null
    for rows that are not filings. A repeated filing counts once. A superseded one has a reason and
    a number: its values may be history.
    """
    content = [name for name in sub.columns if name != "source"]
    typed = sub.with_columns(
        pl.col("cik").cast(pl.Int64, strict=False),
        pl.col("filed").str.to_date("%Y%m%d", strict=False),
        # Sorted by content, so that the order of the data sets does not matter.
    ).sort("adsh", *content[1:], "source", nulls_last=True)
    sound = (
        pl.col("adsh").cast(pl.String).str.contains(_ACCESSION)
        & (pl.col("cik") > 0)
        & pl.col("filed").is_not_null()
    ).fill_null(value=False)
    reason = (
        pl.when(~sound)
        .then(pl.lit(SecReason.BAD_FILING.value))
        .when(pl.col("adsh").cum_count().over("adsh", sound) > 1)
        .then(pl.lit(SecReason.DUPLICATE_FILING.value))
        .when(pl.col("prevrpt") == "1")
        .then(pl.lit(SecReason.SUPERSEDED.value))
    )
    judged = typed.with_columns(reason.alias("reason")).sort("filed", "adsh", nulls_last=True)
    counted = pl.col("reason").is_null() | (pl.col("reason") == SecReason.SUPERSEDED.value)
    return judged.with_columns(
        pl.when(counted).then(counted.cum_sum() - 1).cast(pl.Int32).alias("nth"),
        pl.format("{}:{}", pl.lit(source), "cik").cast(pl.Categorical).alias("company_id"),
    )


def known_filings(judged: pl.DataFrame) -> pl.DataFrame:
    """The filings that facts and rows can belong to, sorted by `nth`; `by_name` ranks by adsh."""
    superseded = pl.col("reason") == SecReason.SUPERSEDED.value
    return judged.filter(pl.col("nth").is_not_null()).with_columns(
        superseded.fill_null(value=False).alias("superseded"),
        pl.col("adsh").cast(pl.String).rank("dense").alias("by_name"),
    )


def companies_of(filings: pl.DataFrame, tickers: Path | None, config: SecConfig) -> pl.DataFrame:
    """The companies of the kept `filings`, columns of COMPANIES, sorted by id.

    The ticker comes from the list `tickers`, else from the prefix of the newest instance document.

    `us`: every registrant that files statements counts as traded on a US exchange, depositary
    receipts included, unless the list has it over the counter only and none of its filings is a
    periodic report (PERIODIC, amended or not). The list is of today and the filings are not; hence
    a periodic report takes precedence.

    Raises InputError for a list of tickers that cannot be read.
    """
    newest = _newest_filings(filings)
    known = newest.join(_listed(newest, tickers), on="cik", how="left")
    over_the_counter = (pl.col("exchange") == _OVER_THE_COUNTER).fill_null(value=False)
    fye = pl.col("fye").str.zfill(4)
    columns = {
        "source": pl.lit(config.source),
        "disclosure": pl.lit(config.disclosure.value),
        "ticker": pl.coalesce("ticker", "prefix"),
        "name": pl.col("name").str.replace(_STATE_MARK, "").str.strip_chars(),
        "name_local": pl.lit(None, pl.String),
        "name_kana": pl.lit(None, pl.String),
        "country": pl.coalesce("countryba", "countryinc"),
        "us": pl.col("periodic") | ~over_the_counter,
        "industry": pl.col("sic"),
        "fiscal_year_end": pl.when(fye.str.contains(_MONTH_DAY)).then(
            fye.str.head(2) + "-" + fye.str.tail(2)
        ),
        "language": pl.lit("en"),
    }
    columns["company_id"] = pl.col("company_id").cast(pl.String)
    return known.with_columns(**columns).select(list(COMPANIES.columns)).sort("company_id")


def _newest_filings(filings: pl.DataFrame) -> pl.DataFrame:
    """The newest kept filing of each company, with its ticker `prefix`; `periodic`: any form is."""
    form = pl.col("form").str.replace("/A", "", literal=True)
    newest = (
        filings.filter(pl.col("reason").is_null())
        .group_by("company_id")
        .agg(pl.all().sort_by("nth").last(), form.is_in(PERIODIC).any().alias("periodic"))
    )
    return newest.with_columns(
        pl.col("instance").str.extract(_PREFIX).str.to_uppercase().alias("prefix")
    )


def _listed(companies: pl.DataFrame, tickers: Path | None) -> pl.DataFrame:
    """One listing per company: on an exchange before over the counter, then the ticker that its
    instance documents use, then the shortest: `GOOG`, not `GOOGL`, nor a class of preferred shares.
    """
    empty = pl.DataFrame(schema={"cik": pl.Int64, "ticker": pl.String, "exchange": pl.String})
    read = empty if tickers is None else _read_tickers(tickers)
    ranked = read.join(companies.select("cik", "prefix"), on="cik").sort(
        "cik",
        pl.col("exchange").is_null(),
        pl.col("exchange") == _OVER_THE_COUNTER,
        (pl.col("ticker") != pl.col("prefix")).fill_null(value=True),
        pl.col("ticker").str.len_chars(),
        "ticker",
        "exchange",
    )
    return ranked.unique("cik", keep="first", maintain_order=True).drop("prefix")


def _read_tickers(path: Path) -> pl.DataFrame:
    expected = f"a Parquet file with the columns {', '.join(_LISTED)}"
    try:
        with path.open("rb") as handle:
            table = pl.read_parquet(handle, columns=list(_LISTED))
    except (pl.exceptions.PolarsError, OSError) as error:
        todo = "Give the list of company tickers, or none."
        raise InputError(str(path), type(error).__name__, expected, todo) from None
    return table.select(
        pl.col("cik").cast(pl.String).cast(pl.Int64, strict=False),
        pl.col("ticker", "exchange").cast(pl.String),
    ).drop_nulls(["cik", "ticker"])
