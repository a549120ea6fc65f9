"""Records of the answer check: gold answers, units, results and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
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
