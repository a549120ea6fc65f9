"""Facts: the rows of `num` with typed values, units and periods, or a reason if unusable."""

from __future__ import annotations

import re

import polars as pl

from construction.statements.readers.sec.contracts import SecReason

# ISO 4217, and some currencies that the euro replaced.
_CODES = """
AED AFN ALL AMD ANG AOA ARS ATS AUD AWG AZN BAM BBD BDT BEF BGN BHD BIF BMD BND BOB BRL BSD BTN
BWP BYN BZD CAD CDF CHF CLF CLP CNH CNY COP CRC CUP CVE CZK DEM DJF DKK DOP DZD EGP ERN ESP ETB
EUR FIM FJD FKP FRF GBP GEL GHS GIP GMD GNF GRD GTQ GYD HKD HNL HRK HTG HUF IDR IEP ILS INR IQD
IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LUF LVL LYD
MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NLG NOK NPR NZD OMR PAB PEN
PGK PHP PKR PLN PTE PYG QAR RMB RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SKK SLE SOS SRD SSP
STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD
XOF XPF YER ZAR ZMW ZWL
"""
CURRENCIES = frozenset(_CODES.split())
_SPELLED = {"RMB": "CNY", "CNH": "CNY"}
_PER_SHARE = re.compile(
    r"([A-Za-z]{3})(?:PS|[ _-]?(?:/|per)[ _-]?(?:(?:ordinary|common)[ _-]?)?(?:shares?|units?))",
    re.IGNORECASE,
)
_THINGS = """
count item number integer store restaurant hotel property building segment employee customer
subsidiary company entity vessel aircraft well site location country state plan loan contract
lease warrant option position person business facility plant
"""
_COUNTED = frozenset(_THINGS.split())
_PER_SHARE_TAG = "Per(?:Share|Unit)"
_PER_SHARE_TYPES = frozenset({"perShare", "perUnit"})
_RATIO_TYPES = frozenset({"percent", "pure"})
_COUNT_TYPES = frozenset({"integer", "positiveInteger", "nonNegativeInteger"})
_DECIMAL = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_LONGEST = 40  # characters of a value
_MONTHS_PER_QUARTER = 3
_MOST_QUARTERS = 400
_YEARS = (1900, 2100)


def unit_of(uom: str | None, datatype: str | None) -> str | SecReason:
    """The unit of a fact: currency code, CODE/share, shares, ratio or count; or the reason why
    none.

    `uom` as filed; `datatype` of the tag, null if unknown. Per-share tags are often filed in a
    plain currency. A unit of a partnership counts as a share.
    """
    unit = _spelled_out(uom or "", datatype)
    if unit is None:
        return SecReason.UNIT_UNKNOWN
    if datatype in _PER_SHARE_TYPES and unit in CURRENCIES:
        return f"{unit}/share"
    if unit == "ratio" and datatype in _COUNT_TYPES:
        return "count"
    return unit if _fits(unit, datatype) else SecReason.UNIT_MISMATCH


def _spelled_out(uom: str, datatype: str | None) -> str | None:
    if (code := _code(uom)) is not None:
        return code
    if (per_share := _PER_SHARE.fullmatch(uom)) and (code := _code(per_share[1])) is not None:
        return f"{code}/share"
    plain = uom.lower()
    if plain in ("shares", "share"):
        return "shares"
    if plain == "pure":
        return "ratio"
    if plain.startswith("numberof") or {plain, plain.removesuffix("s")} & _COUNTED:
        return "count"
    if plain.endswith("ies") and f"{plain[:-3]}y" in _COUNTED:
        return "count"
    return "count" if datatype in _COUNT_TYPES else None


def _code(text: str) -> str | None:
    upper = text.upper()
    return _SPELLED.get(upper, upper) if upper in CURRENCIES else None


def _fits(unit: str, datatype: str | None) -> bool:
    """False if the filer's unit cannot be right, e.g. earnings per share as a pure number."""
    if datatype == "monetary":
        return unit in CURRENCIES
    if datatype == "shares":
        return unit == "shares"
    if datatype in _PER_SHARE_TYPES:
        return unit.endswith("/share")
    if datatype in _RATIO_TYPES:
        return unit == "ratio"
    return True


def with_units(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `unit` (categorical), or `unit_reason` if there is none, from `uom` and `datatype`."""
    pairs = facts.select("uom", "datatype").unique()
    results = [unit_of(uom, datatype) for uom, datatype in pairs.iter_rows()]
    named = pairs.with_columns(
        pl.Series(
            "unit", [None if isinstance(t, SecReason) else t for t in results], pl.Categorical
        ),
        pl.Series(
            "unit_reason",
            [str(t) if isinstance(t, SecReason) else None for t in results],
            pl.String,
        ),
    )
    return facts.join(named, on=["uom", "datatype"], how="left", nulls_equal=True)


def judged_facts(num: pl.DataFrame, filings: pl.DataFrame, tags: pl.DataFrame) -> pl.DataFrame:
    """The rows of `num` with filing, unit, value, period and `reason` (null if sound so far).

    `value` is the filed decimal without redundant zeros. A period is `qtrs` quarters up to `ddate`,
    which the SEC rounds to a month's end, so that 52- and 53-week years end on calendar months
    here. `dimensions` is null for the consolidated company.
    """
    types = tags.select("tag", "version", "tag_id", "datatype")
    joined = num.join(filings.select("adsh", "nth", "company_id"), on="adsh", how="left").join(
        types, on=["tag", "version"], how="left"
    )
    # Without a definition the name decides, and filers define own tags per share as plain amounts.
    per_share = pl.col("tag").cast(pl.String).str.contains(_PER_SHARE_TAG)
    named = per_share & pl.col("datatype").fill_null("monetary").eq("monetary")
    joined = joined.with_columns(
        pl.when(named).then(pl.lit("perShare")).otherwise("datatype").alias("datatype")
    )
    whole = _with_dimensions(_with_periods(with_units(joined)))
    return whole.with_columns(_reason().alias("reason")).with_columns(
        pl.when(pl.col("reason").is_null()).then(_plain_decimal(pl.col("value"))).alias("value")
    )


def _reason() -> pl.Expr:
    value = pl.col("value")
    decimal = value.str.contains(_DECIMAL) & (value.str.len_bytes() <= _LONGEST)
    return (
        pl.when(pl.col("nth").is_null())
        .then(pl.lit(SecReason.UNKNOWN_FILING.value))
        .when(pl.col("coreg").is_not_null())
        .then(pl.lit(SecReason.COREG.value))
        .when(pl.any_horizontal(pl.col("tag", "version").is_null()))
        .then(pl.lit(SecReason.BAD_ROW.value))
        .when(value.is_null())
        .then(pl.lit(SecReason.NO_VALUE.value))
        .when(~decimal)
        .then(pl.lit(SecReason.BAD_VALUE.value))
        .when(pl.col("period_end").is_null())
        .then(pl.lit(SecReason.BAD_PERIOD.value))
        .otherwise("unit_reason")
    )


def _plain_decimal(value: pl.Expr) -> pl.Expr:
    """1234.0000 → 1234, 0.5000 → 0.5, -0.0 → 0: the same number in a uniform spelling."""
    short = value.str.strip_chars_end("0").str.strip_chars_end(".")
    plain = pl.when(value.str.contains(".", literal=True)).then(short).otherwise(value)
    return pl.when(plain == "-0").then(pl.lit("0")).otherwise(plain)


def _with_dimensions(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `dimensions`: the parts of `segments`, sorted by axis, joined by semicolons."""
    parts = (
        pl.col("segments")
        .cast(pl.String)
        .str.strip_chars("; ")
        .str.split(";")
        .list.sort()
        .list.join(";")
    )
    named = facts.select("segments").drop_nulls().unique().with_columns(parts.alias("dimensions"))
    filled = named.with_columns(
        pl.when(pl.col("dimensions") != "").then("dimensions").cast(pl.Categorical)
    )
    return facts.join(filled, on="segments", how="left")


def _with_periods(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `period_start`, `period_end`, `months` and a name; null if there is no such period.

    A period starts on the day after the same day `months` earlier; a month's end corresponds to the
    end of any month.
    """
    end, months = pl.col("period_end"), pl.col("months")
    quarters = pl.col("qtrs").cast(pl.String).cast(pl.Int32, strict=False)
    pairs = facts.select("ddate", "qtrs").unique()
    typed = pairs.with_columns(
        pl.col("ddate").cast(pl.String).str.to_date("%Y%m%d", strict=False).alias("period_end"),
        (quarters.cast(pl.Int64) * _MONTHS_PER_QUARTER).alias("months"),
    ).filter(
        end.dt.year().is_between(*_YEARS)
        & months.is_between(0, _MOST_QUARTERS * _MONTHS_PER_QUARTER)
    )
    counted = end.dt.year().cast(pl.Int64) * 12 + end.dt.month() - months  # months since year 0
    whole = pl.date(counted // 12, counted % 12 + 1, 1)
    partial = end.dt.offset_by(pl.format("-{}mo", months)) + pl.duration(days=1)
    start = pl.when(end == end.dt.month_end()).then(whole).otherwise(partial)
    periods = typed.with_columns(
        pl.when(months > 0).then(start).alias("period_start"),
        pl.format("{}/{}m", end, months).cast(pl.Categorical).alias("period"),
    )
    return facts.join(periods, on=["ddate", "qtrs"], how="left")
