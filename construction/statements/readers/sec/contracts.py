"""Settings (part of the recipe) and reasons of the SEC reader."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import Disclosure, StageConfig

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

_Positive = Annotated[int, Field(ge=1)]
STAGE = "sec.read"


class SecConfig(StageConfig):
    """Settings for the SEC reader.

    A table may inflate to `max_table_bytes`, but beyond `free_inflated_bytes` only to
    `max_inflation_ratio` times its compressed size. The first `max_listed_lines` malformed lines of
    a file get one ledger row each; all others share one row.

    `segment_axes` and `equity_axes` are substrings of axis names, in lower case: a fact with such
    an axis belongs to the segments or to the statement of equity.
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "sec"
    disclosure: Disclosure = Disclosure.PUBLIC
    max_table_bytes: _Positive = 2 << 30
    max_table_rows: _Positive = 50_000_000
    free_inflated_bytes: _Positive = 64 << 20
    max_inflation_ratio: _Positive = 100
    max_members: _Positive = 1_000
    max_listed_lines: _Positive = 1_000
    segment_axes: tuple[str, ...] = (
        "segment",
        "sector",
        "geograph",
        "country",
        "region",
        "product",
        "customer",
    )
    equity_axes: tuple[str, ...] = (
        "equitycomponents",
        "componentsofequity",
        "partnercapital",
        "partnertype",
    )


class SecReason(StrEnum):
    # files
    NOT_A_TABLE = "sec.not_a_table"
    MISSING_TABLE = "sec.missing_table"
    SECOND_TABLE = "sec.second_table"
    PATH_ESCAPE = "sec.path_escape"
    TOO_LARGE = "sec.too_large"
    UNREADABLE = "sec.unreadable"
    NO_COLUMNS = "sec.no_columns"

    # lines
    COLUMN_COUNT = "sec.column_count"

    # filings
    BAD_FILING = "sec.bad_filing"
    DUPLICATE_FILING = "sec.duplicate_filing"
    SUPERSEDED = "sec.superseded"  # amended later: its values can only be history

    # rows and facts
    UNKNOWN_FILING = "sec.unknown_filing"
    BAD_ROW = "sec.bad_row"
    NO_VALUE = "sec.no_value"
    BAD_VALUE = "sec.bad_value"
    BAD_PERIOD = "sec.bad_period"
    COREG = "sec.coreg"  # figures of another registrant in a joint filing
    UNIT_UNKNOWN = "sec.unit_unknown"
    UNIT_MISMATCH = "sec.unit_mismatch"  # the unit contradicts the data type of the tag
    DUPLICATE = "sec.duplicate"
    CONFLICT = "sec.conflict"  # one filing gives several values for one thing
    RESTATED = "sec.restated"  # a later filing gives another value: in the history
    FILED_AGAIN = "sec.filed_again"  # a later filing gives the same value
