"""Why a part of an answer is wrong.

Imports nothing but the standard library: the exported bundle takes it along.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AnswerReason(StrEnum):
    """Why a part of an answer is wrong; renaming one is a breaking change."""

    MISSING = "answer.missing"  # no answer, or not this part
    REFUSED = "answer.refused"
    NO_VALUE = "answer.no_value"  # text without a value of this type
    AMBIGUOUS = "answer.ambiguous"  # several values, or one that can be read in two ways
    WRONG_UNIT = "answer.wrong_unit"
    WRONG_CURRENCY = "answer.wrong_currency"
    WRONG_SIGN = "answer.wrong_sign"
    WRONG_SCALE = "answer.wrong_scale"  # the right digits times a power of ten
    WRONG_ROUNDING = "answer.wrong_rounding"  # more digits than asked for, or fewer
    SWAPPED_PARTS = "answer.swapped_parts"
    INCOMPLETE = "answer.incomplete"  # a date without its day or month
    WRONG_ORDER = "answer.wrong_order"
    MISSING_ITEMS = "answer.missing_items"
    EXTRA_ITEMS = "answer.extra_items"
    WRONG_VALUE = "answer.wrong_value"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None for a right value; `reading` is how the text was understood."""

    reason: AnswerReason | None
    reading: str | None = None
