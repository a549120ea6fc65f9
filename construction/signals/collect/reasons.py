"""Why a row of a source is not in the snapshot."""

from __future__ import annotations

from enum import StrEnum


class SignalReason(StrEnum):
    BAD_CSV = "signal.bad_csv"  # quotation marks or columns that do not fit
    NOT_TEXT = "signal.not_text"  # bytes that are no UTF-8
    NOT_A_RECORD = "signal.not_a_record"
    BAD_FIELD = "signal.bad_field"
    NO_MEASURE = "signal.no_measure"  # the source does not give the declared measure
    DUPLICATE = "signal.duplicate"  # another row of the same slug was kept
    BELOW_TOP = "signal.below_top"
