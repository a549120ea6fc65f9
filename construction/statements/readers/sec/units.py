"""Units of measure as filed → the units of the model."""

from __future__ import annotations

import re

import polars as pl

from construction.statements.readers.sec.reasons import SecReason

# ISO 4217, with some that the euro replaced.
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
_PER_SHARE_TYPES = frozenset({"perShare", "perUnit"})
_RATIO_TYPES = frozenset({"percent", "pure"})
_COUNT_TYPES = frozenset({"integer", "positiveInteger", "nonNegativeInteger"})


def unit_of(uom: str | None, datatype: str | None) -> str | SecReason:
    """The unit of a fact: currency code, CODE/share, shares, ratio or count; or why there is none.

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
    """False where the filer's unit cannot be right, e.g. earnings per share as a pure number."""
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
    """Add `unit` (categorical), and `unit_reason` where there is none, from `uom`, `datatype`."""
    pairs = facts.select("uom", "datatype").unique()
    told = [unit_of(uom, datatype) for uom, datatype in pairs.iter_rows()]
    named = pairs.with_columns(
        pl.Series("unit", [None if isinstance(t, SecReason) else t for t in told], pl.Categorical),
        pl.Series(
            "unit_reason", [str(t) if isinstance(t, SecReason) else None for t in told], pl.String
        ),
    )
    return facts.join(named, on=["uom", "datatype"], how="left", nulls_equal=True)
