"""Settings (part of the recipe) and records of the questions stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from construction.statements.answers.contracts import GoldAnswer
from data.contracts import Count, LedgerRow, Share, StageConfig, StageTally

STAGE = "question"


class QuestionReason(StrEnum):
    """Why there is no question about a data point; renaming one is a breaking change."""

    UNTRANSLATED = "label.untranslated"
    AMBIGUOUS = "question.ambiguous"
    NO_COMPANY_NAME = "question.no_company_name"
    NO_VALUE = "question.no_value"
    ZERO_VALUE = "question.zero_value"
    UNKNOWN_UNIT = "question.unknown_unit"
    TOO_PRECISE = "question.too_precise"
    SIGN_UNCLEAR = "question.sign_unclear"
    BARE_LABEL = "question.bare_label"
    LABEL_TOO_LONG = "question.label_too_long"
    VALUE_IN_WORDS = "question.value_in_words"
    NOT_CHECKABLE = "question.not_checkable"


class QuestionConfig(StageConfig):
    """Settings of the questions stage.

    A statement reports in millions (thousands) if `round_share` of its amounts are whole millions
    (thousands). `max_decimals` bounds the decimals that a question asks for.
    """

    ask_zero: bool = False
    round_share: Share = 0.6
    max_decimals: Count = 3
    max_label_words: Count = 18
    max_sharpenings: Count = 6


class Sharpening(StrEnum):
    """Words that a question may add, in the order in which each cause tries them."""

    TICKER = "ticker"
    REGISTER = "register"
    STATEMENT = "statement"
    SECTION = "section"
    PATH = "path"
    LINE = "line"
    DATES = "dates"
    FILING = "filing"


class FlowSide(StrEnum):
    """What a negative number means in a part of a cash flow statement."""

    ADDED_BACK = "an amount subtracted in the cash flow statement"
    CASH = "a cash outflow"


class Cause(StrEnum):
    """Which words of a question also fit a rival."""

    COMPANY = "company"
    SERIES = "series"
    PERIOD = "period"
    FILING = "filing"


STEPS: dict[Cause, tuple[Sharpening, ...]] = {
    Cause.COMPANY: (Sharpening.TICKER, Sharpening.REGISTER),
    Cause.SERIES: (
        Sharpening.STATEMENT,
        Sharpening.SECTION,
        Sharpening.LINE,
        Sharpening.PATH,
    ),
    Cause.PERIOD: (Sharpening.DATES,),
    Cause.FILING: (Sharpening.FILING,),
}


@dataclass(frozen=True, slots=True)
class Company:
    """A company as questions need it."""

    company_id: str
    source: str
    disclosure: str
    ticker: str | None
    name: str
    core: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A series as questions need it; `sections` are outermost first, in comparable words."""

    series_id: str
    company_id: str
    label: str
    untranslated: bool
    concept: str
    statement: str
    category: str
    unit: str
    dimensions: str | None
    path: tuple[str, ...]
    sections: tuple[tuple[str, ...], ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Point:
    """A data point as questions need it; `replaced_by` is set for restated values."""

    point_id: str
    series_id: str
    value: str
    period_start: date | None
    period_end: date
    months: int
    fiscal_year: int | None
    fiscal_period: str | None
    calendar_period: str | None
    period_type: str | None
    document: str
    filed: date | None
    report: int | None
    line: int | None
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Rival:
    """Another data point that the words fit, and which words are the cause."""

    point_id: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer; `text` and `guideline` reveal nothing about the value."""

    point_id: str
    text: str
    guideline: str
    answer: str
    gold: GoldAnswer
    company: Company
    series: Series
    point: Point
    category: str
    sharpened: tuple[Sharpening, ...]
    pi_design: float
    is_replacement: bool


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """The result for the drawn points: questions sorted by point id, ledger rows and tally."""

    questions: Sequence[Question]
    ledger: Sequence[LedgerRow]
    tally: StageTally

    @property
    def rejections(self) -> list[LedgerRow]:
        """The ledger rows of points without a question, for the sampler's reserve."""
        return [row for row in self.ledger if row.reason is not None]
