"""From filings to the tables of the model: points, series with English labels, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from construction.statements.labels import Translation, translate
from construction.statements.model import (
    HISTORY,
    POINTS,
    ROWS,
    SEPARATOR,
    SERIES,
    HierarchyMethod,
    LabelMethod,
    Statement,
    latest,
)
from construction.statements.readers.edinet.source import Filing, Reason
from construction.statements.readers.edinet.values import (
    LOCAL_NAMES,
    STATEMENTS,
    SUMMARY,
    Span,
    dated,
    span_frame,
    value_frame,
)

_SERIES_ID = ("company_id", "concept", "statement", "unit")
Dated = tuple[Filing, Span]
_BATCH = 2000  # filings
_TWINS = 3  # items of a summary that have to agree with the statements, or in being cut
_YEN = "JPY"
_MILLION = 6  # zeros
_MOST_WHOLE = 0.5  # a statement with fewer whole millions is in thousands or yen


def _identified(values: pl.DataFrame, source: str) -> pl.DataFrame:
    """The dated values with the ids of their company (source:code) and series."""
    company = pl.concat_str(pl.lit(source), "company_id", separator=":")
    values = values.with_columns(company_id=company)
    return values.with_columns(series_id=pl.concat_str(*_SERIES_ID, separator="/"))


def _confirmed(values: pl.DataFrame) -> pl.DataFrame:
    """The values with `_confirmed`: whether a figure of the summary is surely the group's own.

    It is if another filing gives the same figure for the period, or if the statements of its filing
    have at least `_TWINS` items of that summary too, each with the same value: a summary that mixes
    in the parent company differs in some of them.
    """
    twin = pl.col("reason")
    same = (twin == str(Reason.VALUE_SUMMARY_SAME)).sum().over("filing")
    differs = (twin == str(Reason.VALUE_SUMMARY_DIFFERS)).sum().over("filing")
    period = ["series_id", "period_start", "period_end", "months", "value"]
    again = pl.col("document").n_unique().over(period) > 1
    return values.with_columns(confirmed=again | ((same >= _TWINS) & (differs == 0)))


def _point_frame(values: pl.DataFrame) -> pl.DataFrame:
    """The usable values (no `reason`) as POINTS; columns that later stages fill are null."""
    kept = values.filter(pl.col("reason").is_null())
    filled = kept.with_columns(
        point_id=pl.format("{}/{}/{}m/{}", "series_id", "period_end", "months", "document"),
        auto_generated=(pl.col("report") == SUMMARY) & ~pl.col("confirmed"),
        computed=pl.lit(False),
        restatements=pl.lit(0, pl.Int64),
    )
    empty = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in POINTS.schema.items()
        if name not in filled.columns
    ]
    return filled.with_columns(empty).select(list(POINTS.columns))


def _series_frame(values: pl.DataFrame) -> pl.DataFrame:
    """One row per series with a usable value; label and row are those of its newest filing."""
    kept = values.filter(pl.col("reason").is_null()).sort("filed", "document", "line")
    newest = kept.group_by("series_id").last().sort("series_id").with_columns(label=_one_line())
    named = _named(newest)
    local = dict(zip(map(str, STATEMENTS), LOCAL_NAMES, strict=True))
    heading = pl.col("statement").replace_strict(local, return_dtype=pl.String)
    return named.select(
        "series_id",
        "company_id",
        pl.concat_str("statement", "english", separator=SEPARATOR).alias("name"),
        pl.concat_str(heading, "label", separator=SEPARATOR).alias("name_local"),
        pl.col("english").alias("label"),
        "label_method",
        "concept",
        "statement",
        pl.lit(None, pl.String).alias("category"),
        "unit",
        "currency",
        pl.lit(None, pl.String).alias("dimensions"),
        pl.lit(None, pl.String).alias("balance"),
        pl.col("line").alias("row_order"),
        pl.lit(str(HierarchyMethod.FLAT)).alias("method"),
        pl.lit(2, pl.Int64).alias("depth"),
    ).select(list(SERIES.columns))


def _one_line() -> pl.Expr:
    """The label without line breaks, and without the separator of sections in a name."""
    plain = pl.col("label").str.replace_all(r"\s+", " ").str.strip_chars()
    return plain.str.replace_all(SEPARATOR, " / ", literal=True)


def _named(series: pl.DataFrame) -> pl.DataFrame:
    """The series with `english` and `label_method`.

    If several series of one statement would get the same English label, only the one whose whole
    label is in the table keeps it; the others, or all of them, keep the filed label.
    """
    pairs = series.select("statement", "label").unique()
    translations = [translate(label, Statement(name)) for name, label in pairs.iter_rows()]
    named = series.join(
        pairs.with_columns(
            english=pl.Series([t.text for t in translations], dtype=pl.String),
            rank=pl.Series([_rank(t) for t in translations], dtype=pl.Int64),
            label_method=pl.Series([str(t.method) for t in translations], dtype=pl.String),
        ),
        on=["statement", "label"],
        maintain_order="left",
    )
    rivals = ["company_id", "statement", "english"]
    best = pl.col("rank").min().over(rivals)
    alone = (pl.col("rank") == best) & ((pl.col("rank") == best).sum().over(rivals) == 1)
    keeps = pl.col("english").is_not_null() & alone
    return named.with_columns(
        english=pl.when(keeps).then("english").otherwise("label"),
        label_method=pl.when(keeps)
        .then("label_method")
        .otherwise(pl.lit(str(LabelMethod.UNTRANSLATED))),
    )


def _uncut(values: pl.DataFrame) -> pl.DataFrame:
    """The values with a `reason` for those that lost their last digits.

    Some summaries are in millions beside statements in thousands. Where the collection lacked the
    total of such a statement, it holds the summary's figure, which the filing's statement does not.
    """
    yen = pl.col("unit") == _YEN
    whole = pl.col("value").str.ends_with("0" * _MILLION)
    summaries = values.filter(yen, pl.col("report") == SUMMARY).drop_nulls("value")
    coarse = (
        summaries.group_by("filing")
        .agg(figures="value", is_coarse=whole.all() & (pl.len() >= _TWINS))
        .filter("is_coarse")
    )
    fine = (
        values.filter(yen & whole.is_not_null())
        .group_by("filing", "report")
        .agg(is_fine=whole.mean() < _MOST_WHOLE)
    )
    cut = (
        values.filter(yen, whole, pl.col("report") != SUMMARY, pl.col("reason").is_null())
        .join(fine.filter("is_fine"), on=["filing", "report"], how="semi")
        .join(coarse, on="filing")
        .filter(pl.col("value").is_in(pl.col("figures")))
        .select("filing", "report", "line", cut=pl.lit(str(Reason.VALUE_CUT)))
    )
    marked = values.join(cut, on=["filing", "report", "line"], how="left", maintain_order="left")
    return marked.with_columns(reason=pl.coalesce("cut", "reason")).drop("cut")


def _rank(translation: Translation) -> int:
    return 0 if translation.exact else 1


def _row_frame(values: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """The rows of the statements in filing order: every row whose series exists, even if its value
    is missing here. A row that never has a value is left out, as it would look like a heading."""
    named = values.join(series.select("series_id"), on="series_id", how="semi")
    flagged = named.with_columns(parenthetical=pl.lit(False), negated=pl.lit(False))
    return flagged.select(list(ROWS.columns))


@dataclass(frozen=True, slots=True)
class Built:
    """The tables of some companies; `reasons`: counts of values that were not used."""

    series: pl.DataFrame
    points: pl.DataFrame
    history: pl.DataFrame
    rows: pl.DataFrame
    n_values: int
    reasons: Counter[str]


def build(filings: Sequence[Dated], source: str) -> Built:
    """The tables of all filings, which must be sorted by company."""
    parts = [_batch(batch, source) for batch in _batches(filings)]
    rows = pl.concat([pl.DataFrame(schema=ROWS.schema), *(part.rows for part in parts)])
    return Built(
        pl.concat([pl.DataFrame(schema=SERIES.schema), *(part.series for part in parts)]),
        pl.concat([pl.DataFrame(schema=POINTS.schema), *(part.points for part in parts)]),
        pl.concat([pl.DataFrame(schema=HISTORY.schema), *(part.history for part in parts)]),
        rows.sort("document", "report", "line"),
        sum(part.n_values for part in parts),
        sum((part.reasons for part in parts), Counter()),
    )


def _batches(filings: Sequence[Dated]) -> Iterator[list[Dated]]:
    """Whole companies, until a batch is full: series that compete for a label are in one batch."""
    batch: list[Dated] = []
    for _, group in groupby(filings, key=lambda pair: pair[0].company):
        batch += group
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _batch(batch: Sequence[Dated], source: str) -> Built:
    filings, spans = [filing for filing, _ in batch], [span for _, span in batch]
    values = dated(value_frame(filings), span_frame(filings, spans))
    values = _uncut(_confirmed(_identified(values, source)))
    points, history = latest(_point_frame(values))
    series = _series_frame(values)
    lost = values.filter(pl.col("reason").is_not_null())["reason"].to_list()
    rows = _row_frame(values, series)
    return Built(series, points, history, rows, values.height, Counter(lost))
