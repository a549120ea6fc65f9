"""Settings (part of the recipe), reasons and ledger rows of the EDINET reader."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from data.contracts import Disclosure, LedgerRow, Outcome, StageConfig

EdinetCode = Annotated[str, Field(pattern=r"^[EG][0-9]{5}$")]
STAGE = "edinet.read"


class EdinetConfig(StageConfig):
    """`us_traded`: EDINET codes of companies whose shares or depositary receipts are traded on a US
    exchange. EDINET does not provide this, and without the list no company counts as US.
    `max_line_bytes` and `max_inflated_bytes` (per file) limit what is read.
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "edinet"
    disclosure: Disclosure = Disclosure.PUBLIC
    us_traded: tuple[EdinetCode, ...] = ()
    max_line_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    max_inflated_bytes: Annotated[int, Field(ge=1)] = 16 << 30
    max_code_list_bytes: Annotated[int, Field(ge=1)] = 64 << 20


class Reason(StrEnum):
    FILE_TOO_LARGE = "file.too_large"
    FILE_BROKEN = "file.broken"
    FILE_NO_CODE_LIST = "file.no_code_list"

    LINE_TOO_LONG = "line.too_long"
    LINE_NOT_JSON = "line.not_json"
    LINE_NOT_COMPANY = "line.not_company"

    FILING_NOT_OBJECT = "filing.not_object"
    FILING_FIELD = "filing.field"
    FILING_REPEATED = "filing.repeated"
    FILING_UNKNOWN_KIND = "filing.unknown_kind"
    FILING_PERIOD = "filing.period"  # ends after the filing, or before it starts
    FILING_EMPTY = "filing.empty"

    VALUE_MISSING = "value.missing"
    VALUE_NOT_A_NUMBER = "value.not_a_number"
    VALUE_LABEL = "value.label"
    VALUE_REPEATED_LABEL = "value.repeated_label"
    VALUE_SUMMARY_SAME = "value.summary_same"  # the statement has the same value
    VALUE_SUMMARY_DIFFERS = "value.summary_differs"  # may be of the parent company only
    # The filing has no such statement; the value may be of the parent company only.
    VALUE_SUMMARY_ALONE = "value.summary_alone"
    VALUE_CUT = "value.cut_to_millions"  # the summary's figure in a statement in thousands
    VALUE_PERIOD_IRREGULAR = "value.period_irregular"  # not 3, 6, 9 or 12 months
    VALUE_PERIOD_UNCLEAR = "value.period_unclear"  # the quarter, or the year to date?

    POINT_RESTATED = "point.restated"
    POINT_FILED_AGAIN = "point.filed_again"


def unusable_row(
    unit: str,
    item_id: str,
    outcome: Outcome,
    reason: Reason,
    location: tuple[str, int],
    actual: str,
    expected: str,
) -> LedgerRow:
    """The ledger row of an unusable file, line or filing; `location`: file and line."""
    return LedgerRow(
        STAGE,
        unit,
        item_id,
        outcome,
        reason=str(reason),
        evidence={
            "source_path": location[0],
            "line": location[1],
            "found": actual,
            "expected": expected,
        },
    )
