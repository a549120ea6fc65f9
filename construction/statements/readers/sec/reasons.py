"""Why a file, a line, a filing, a row or a fact of an SEC data set was not taken."""

from __future__ import annotations

from enum import StrEnum

STAGE = "sec.read"


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
    SUPERSEDED = "sec.superseded"  # amended later: its values are history at most

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
