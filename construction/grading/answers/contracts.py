"""Records of the answer check: gold answers, units, results and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum


class ErrorReason(StrEnum):
    """Why an answer is wrong; renaming one is a breaking change."""

    NO_VALUE = "no_value"
    AMBIGUOUS_VALUES = "ambiguous_values"
    WRONG_UNIT = "wrong_unit"
    WRONG_CURRENCY = "wrong_currency"
    WRONG_SIGN = "wrong_sign"
    WRONG_SCALE = "wrong_scale"
    WRONG_VALUE = "wrong_value"
    OTHER_FILING = "other_filing"  # right in a filing that the question does not name


class Dimension(StrEnum):
    """Units of different dimensions are never compared."""

    MONEY = "money"
    PER_SHARE = "per_share"
    PROPORTION = "proportion"
    SHARES = "shares"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """The right answer: `value` x `scale` of `unit`, `value` rounded to `decimals`.

    `unit` is a currency code, `CODE/share`, `percent`, `ratio`, `shares` or `count`. `elsewhere`
    are the values of other filings for the same line and period, in base units.
    """

    value: Decimal
    unit: str
    scale: Decimal
    decimals: int
    elsewhere: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The fields of FinRetrieval's scorer; `extracted` is in base units of `unit`."""

    is_correct: bool
    extracted: Decimal | None
    unit: str | None
    could_extract: bool
    error_reason: ErrorReason | None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as written; a currency's `name` may be a sign shared by several currencies."""

    dimension: Dimension
    name: str
    factor: Decimal = Decimal(1)

    def __str__(self) -> str:
        return f"{self.name}/share" if self.dimension is Dimension.PER_SHARE else self.name


@dataclass(frozen=True, slots=True)
class Declared:
    """Unit and scale stated once, for all numbers that have none of their own."""

    unit: Unit | None = None
    scale: Decimal | None = None

    def over(self, other: Declared) -> Declared:
        """This declaration, completed by one of wider scope."""
        unit = self.unit if self.unit is not None else other.unit
        return Declared(unit, self.scale if self.scale is not None else other.scale)


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


def rounded(amount: Decimal, quantum: Decimal) -> Decimal:
    """Half up on the magnitude, to a multiple of the power of ten `quantum`."""
    return (amount / quantum).quantize(Decimal(1), rounding=ROUND_HALF_UP) * quantum
