"""SEC filings (the rows of `sub`), their companies, and how these name and close fiscal years.

SEC's data sets move the end of every period to the nearest month's end. The true day is in the name
of a filing's instance document ("aapl-20240928.xml") and in words of its labels and footnotes ("the
thirteen weeks ended May 1, 2010"), for that period alone. `fy` is the fiscal year of the filing,
not of a fact, and is compared with the filing's period. CONVENTIONS and CLOSINGS hold the result
with its evidence.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import polars as pl

from construction.statements.conventions import DaysKnown, NamingEvidence, YearLabel, sec_year
from construction.statements.model import CLOSINGS, COMPANIES, CONVENTIONS
from construction.statements.periods import month_index
from construction.statements.readers.sec.contracts import SecConfig, SecReason
from data.errors import InputError
from data.text.dates import MONTHS, month_number

_ACCESSION = r"^\d{10}-\d{2}-\d{6}$"
_PERIODIC = ("10-K", "10-Q", "20-F", "40-F")  # forms that only listed companies file
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
        .agg(pl.all().sort_by("nth").last(), form.is_in(_PERIODIC).any().alias("periodic"))
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


_NAME_DATE = r"-((?:19|20)\d{6})"
_FISCAL = re.compile(r"\bfiscal(?: years?)? ((?:19|20)\d\d(?:(?:, and|,| and| or) (?:19|20)\d\d)*)")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(rf"({_MONTH}) (\d{{1,2}}), ((?:19|20)\d\d)")
_DAY = rf"(?:{_MONTH}) \d{{1,2}}, (?:19|20)\d\d"
_ENDED = re.compile(
    rf"\b(?:years?|months|weeks|quarters?) end(?:ed|ing) ({_DAY}(?:(?:, and|,| and| or) {_DAY})*)"
)
_LIKELY = f"(?i)fiscal (?:years? )?(?:19|20)|ended (?:{_MONTH})"
_MIDDLE = 15  # later days of a month are nearer to its own end
_NEAREST = 7  # days between a true last day and the month's end that stands for it
_MONTHS_TO_GO = {"FY": 0, "Q3": 3, "Q2": 6, "Q1": 9}  # from a report's period to the year's end
_DECEMBER = 11
_EARLY_DAYS = 7  # a year end in the first days of a month belongs to the month before
_FRIDAY = 5  # 52/53-week years end on a Friday, a Saturday or a Sunday, with few exceptions
_RULE_BREAKERS = 2  # companies whose `fy` shows that a data set has the filers' own
_NAMED = {"company_id": pl.String, "kind": pl.String, "document": pl.String, "said": pl.Int64,
          "last_month": pl.Int64}  # fmt: skip


def conventions_of(
    filings: pl.DataFrame, pre: pl.DataFrame, num: pl.DataFrame, stated: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """CONVENTIONS and CLOSINGS of the filers of `known_filings`; `pre` and `num` as read, `stated`
    (as CLOSINGS) the true days that other sources give.

    A name counts if it is the year in which the fiscal year ends or the one before, if it is about
    a year that ends in the month in which the company's years end now, and if all statements agree.
    """
    dated = _dated(filings)
    texts = _texts(dated, pre, num)
    named = pl.concat([_by_focus(dated), _by_words(texts)])
    seen = pl.concat([_days_seen(dated, texts), stated])
    newest = _with_year_ends(filings).group_by("company_id").agg(
        pl.col("year_end").sort_by("nth").last()
    )  # fmt: skip
    table = (
        newest.join(_names(_of_this_year_end(named, newest)), on="company_id", how="left")
        .join(_days(seen), on="company_id", how="left")
        .with_columns(calendar=(pl.col("year_end") == _DECEMBER).fill_null(value=False))
    )
    ends, starts = pl.col("ends").fill_null(0), pl.col("starts").fill_null(0)
    columns = {
        "named_by": pl.when("calendar")
        .then(None)
        .when((ends > 0) & (starts == 0))
        .then(pl.lit(str(YearLabel.END)))
        .when((starts > 0) & (ends == 0))
        .then(pl.lit(str(YearLabel.START))),
        "evidence": pl.when("calendar")
        .then(pl.lit(str(NamingEvidence.CALENDAR)))
        .otherwise("kind"),
        "agreeing": pl.max_horizontal(ends, starts),
        "disagreeing": pl.min_horizontal(ends, starts),
        "term_offset": pl.lit(None, pl.Int64),
    }
    finished = table.with_columns(**columns).select(list(CONVENTIONS.columns))
    return finished.cast(pl.Schema(CONVENTIONS.schema)).sort("company_id"), _closings(seen)


def _with_year_ends(filings: pl.DataFrame) -> pl.DataFrame:
    """With `year_end`, the month (from 0) in which the fiscal year ends; null if unknown."""
    month = pl.col("fye").str.zfill(4).str.head(2).cast(pl.Int64, strict=False)
    day = pl.col("fye").str.zfill(4).str.tail(2).cast(pl.Int64, strict=False)
    early = (day <= _EARLY_DAYS).cast(pl.Int64)
    year_end = pl.when(month.is_between(1, 12)).then((month - 1 - early) % 12)
    return filings.with_columns(pl.col("company_id", "adsh").cast(pl.String), year_end=year_end)


def _dated(filings: pl.DataFrame) -> pl.DataFrame:
    """Periodic reports with a period: `period_end`, and `last_month` of its fiscal year."""
    end = pl.col("period").str.to_date("%Y%m%d", strict=False)
    return (
        _with_year_ends(filings)
        .filter(pl.col("form").str.replace("/A", "", literal=True).is_in(_PERIODIC))
        .with_columns(period_end=end)
        .drop_nulls(["period_end", "year_end"])
        .with_columns(last_month=_last_month(pl.col("period_end")))
    )


def _last_month(end: pl.Expr) -> pl.Expr:
    """The last month of the fiscal year that holds a month's end; needs `year_end`."""
    closes = month_index(end)
    return closes + (pl.col("year_end") - closes) % 12


def _by_focus(dated: pl.DataFrame) -> pl.DataFrame:
    """What the `fy` of filings shows, as _NAMED, where it does not just follow SEC's rule."""
    last, said = pl.col("last_month"), pl.col("fy").cast(pl.Int64, strict=False)
    to_go = pl.col("fp").replace_strict(_MONTHS_TO_GO, default=None, return_dtype=pl.Int64)
    named = dated.with_columns(said=said).filter(
        pl.col("year_end") != _DECEMBER,
        (last // 12 - said).is_between(0, 1),
        last - month_index(pl.col("period_end")) == to_go,
    )
    breaks = pl.col("said") != last.map_elements(sec_year, return_dtype=pl.Int64)
    breakers = pl.col("company_id").filter(breaks).n_unique().over("source")
    counted = named.filter(breaks | (breakers >= _RULE_BREAKERS))
    return counted.select(
        "company_id", pl.lit(str(NamingEvidence.FY)).alias("kind"), document="adsh",
        said="said", last_month="last_month",
    ).cast(pl.Schema(_NAMED))  # fmt: skip


def _texts(dated: pl.DataFrame, pre: pl.DataFrame, num: pl.DataFrame) -> pl.DataFrame:
    """Labels and footnotes with a fiscal year or a date, and the newest period of their line."""
    labels = pre.select("adsh", "tag", text="plabel")
    notes = num.select("adsh", "tag", text="footnote")
    likely = pl.concat(
        [frame.filter(pl.col("text").str.contains(_LIKELY)) for frame in (labels, notes)]
    ).unique()
    newest = (
        num.join(likely.select("adsh", "tag").unique(), on=["adsh", "tag"], how="semi")
        .group_by("adsh", "tag")
        .agg(about=pl.col("ddate").cast(pl.String).max())
    )
    own = dated.select("adsh", "company_id", "year_end", is_annual=pl.col("fp") == "FY")
    return (
        likely.join(newest, on=["adsh", "tag"], how="left")
        .with_columns(
            pl.col("adsh").cast(pl.String),
            about=pl.col("about").str.to_date("%Y%m%d", strict=False),
        )
        .join(own, on="adsh")
        .sort("adsh", "text", "about", nulls_last=True)
    )


def _by_words(texts: pl.DataFrame) -> pl.DataFrame:
    """What filers call the fiscal year of a line's newest figures, as _NAMED.

    Several years are those of the columns, the latest first; a single one may be any. In reports on
    a part of a year, years before the one in which it ends are as well those of earlier years.
    """
    rows = []
    lines = texts.filter(pl.col("about").is_not_null(), pl.col("year_end") != _DECEMBER)
    columns = ("company_id", "adsh", "text", "last_month", "is_annual")
    for company_id, document, text, last, is_annual in (
        lines.with_columns(last_month=_last_month(pl.col("about"))).select(columns).iter_rows()
    ):
        for match in _FISCAL.finditer(text):
            years = [int(year) for year in re.findall(r"\d{4}", match[1])]
            behind = last // 12 - max(years)
            if len(years) > 1 and (behind == 0 or (behind == 1 and is_annual)):
                rows.append((company_id, str(NamingEvidence.WORDS), document, max(years), last))
    return pl.DataFrame(rows, schema=_NAMED, orient="row").unique()


def _names(named: pl.DataFrame) -> pl.DataFrame:
    """Per company the kind of evidence, how many statements name its years by their end (`ends`)
    and by their start, and an example of the more frequent name."""
    last = pl.col("last_month")
    month = (last % 12 + 1).cast(pl.String).str.zfill(2)
    shown = pl.format(
        "{}: fiscal {}, of the year that ends in {}-{}", "document", "said", last // 12, month
    )
    marked = named.with_columns(by_end=pl.col("said") == last // 12, shown=shown)
    often = marked.with_columns(n=pl.len().over("company_id", "by_end")).sort(
        "company_id", "n", "document", "shown", descending=[False, True, True, True]
    )
    return often.group_by("company_id", maintain_order=True).agg(
        pl.col("kind").max(),  # words, if there are any
        ends=pl.col("by_end").sum().cast(pl.Int64),
        starts=(~pl.col("by_end")).sum().cast(pl.Int64),
        example=pl.col("shown").first(),
    )


def _of_this_year_end(named: pl.DataFrame, newest: pl.DataFrame) -> pl.DataFrame:
    """What is said of years that end in the month in which the company's years end now."""
    return named.join(newest, on="company_id").filter(
        pl.col("last_month") % 12 == pl.col("year_end")
    )


def _days_seen(dated: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """As CLOSINGS, every date in a document's name or in words that may close a period.

    A document is filed after its period: a name with the day of filing says nothing of it.
    """
    closed = pl.col("instance").str.extract(_NAME_DATE).str.to_date("%Y%m%d", strict=False)
    by_name = dated.filter((closed < pl.col("filed")).fill_null(value=True)).select(
        "company_id", "period_end", closed=closed, evidence=pl.lit("document_name"),
        document="adsh",
    )  # fmt: skip
    rows = [
        (company_id, month_end(day), day, "words", document)
        for company_id, document, text in texts.select("company_id", "adsh", "text").iter_rows()
        for day in _days_in(text)
    ]
    by_words = pl.DataFrame(rows, schema=CLOSINGS.schema, orient="row")
    apart = (pl.col("closed") - pl.col("period_end")).dt.total_days().abs()
    seen = pl.concat([by_name.cast(pl.Schema(CLOSINGS.schema)), by_words])
    return seen.filter(apart <= _NEAREST)


def _closings(seen: pl.DataFrame) -> pl.DataFrame:
    """CLOSINGS: the last days of periods on which all documents agree, with one of these."""
    agreed = pl.col("closed").n_unique().over("company_id", "period_end") == 1
    return (
        seen.filter(agreed)
        .sort("evidence", "document", descending=[False, True])
        .unique(["company_id", "period_end"], keep="first", maintain_order=True)
        .sort("company_id", "period_end")
    )


def _days_in(text: str) -> list[date]:
    """The dates that directly follow "the weeks ended" and the like."""
    days = []
    for run in _ENDED.findall(text):
        for name, day, year in _DATE.findall(run):
            try:
                days.append(date(int(year), month_number(name), int(day)))
            except ValueError:
                continue  # a 31st of June
    return days


def month_end(day: date) -> date:
    """The month's end nearest to a day, as in SEC's data sets."""
    shifted = day.toordinal() - (day.day if day.day <= _MIDDLE else 0)
    start = date.fromordinal(shifted)
    year, month = divmod(start.year * 12 + start.month, 12)
    return date.fromordinal(date(year, month + 1, 1).toordinal() - 1)


def _days(seen: pl.DataFrame) -> pl.DataFrame:
    """Whether a company's years and quarters end with a month (`stated`) or not (`rounded`); null
    if all that is known are month ends on which a 52/53-week year may end too."""
    off = (pl.col("closed") != pl.col("period_end")).any()
    sure = (pl.col("closed").dt.weekday() < _FRIDAY).any()
    days = (
        pl.when(off)
        .then(pl.lit(str(DaysKnown.ROUNDED)))
        .when(sure)
        .then(pl.lit(str(DaysKnown.STATED)))
    )
    return seen.group_by("company_id").agg(days=days)
