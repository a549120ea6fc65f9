"""Rows of statements (`pre`): the row of each tag, and the series that each row shows."""

from __future__ import annotations

import polars as pl

from construction.statements.model import ROWS, Statement
from construction.statements.readers.sec.contracts import SecReason

# In order of preference: a tag in several statements belongs to the first of them.
STATEMENTS = {
    "BS": Statement.BALANCE,
    "IS": Statement.INCOME,
    "CF": Statement.CASH_FLOW,
    "CI": Statement.COMPREHENSIVE,
    "EQ": Statement.EQUITY,
}
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


def standing(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that locate facts: the kept ones, and those of superseded filings."""
    reason = pl.col("reason")
    return rows.filter(reason.is_null() | (reason == SecReason.SUPERSEDED.value))


def tag_rows_in_filings(rows: pl.DataFrame) -> pl.DataFrame:
    """The row of each (nth, tag, version): its report and line."""
    first = rows.group_by("nth", "tag", "version").agg(pl.col("rank").min())
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
