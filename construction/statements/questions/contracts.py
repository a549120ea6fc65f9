"""Settings of the questions lane, except sampling (part of the recipe), and records of the
questions stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from construction.grading.answers.lexicon import GoldAnswer
from construction.statements.conventions import UNKNOWN, Convention, PeriodConfig
from construction.statements.readers.edinet.source import EdinetConfig
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.xbrl.source import XbrlConfig
from data.contracts import Count, LedgerRow, Share, StageConfig, StageTally

STAGE = "question"


class QuestionReason(StrEnum):
    """Why there is no question about a data point; renaming one is a breaking change."""

    UNTRANSLATED = "label.untranslated"
    AMBIGUOUS = "question.ambiguous"
    NO_COMPANY_NAME = "question.no_company_name"
    NAME_GARBLED = "question.name_garbled"  # by a register, and no rule mends it
    NO_VALUE = "question.no_value"
    ZERO_VALUE = "question.zero_value"
    UNKNOWN_UNIT = "question.unknown_unit"
    TOO_PRECISE = "question.too_precise"
    SIGN_UNCLEAR = "question.sign_unclear"
    BALANCING = "question.balancing_total"  # equals total assets, which is what is asked for
    UNBALANCED = "question.sides_unbalanced"  # on which basis the parts stand is unknown
    BARE_LABEL = "question.bare_label"
    NOT_PRINTED = "question.label_not_printed"  # nor is the label that is printed clear alone
    PERIOD_UNNAMED = "question.period_unnamed"  # its last day is rounded, its name unknown
    LABEL_TOO_LONG = "question.label_too_long"
    OVERLOADED = "question.overloaded"  # with more qualifiers than a sentence can bear
    VALUE_IN_WORDS = "question.value_in_words"
    NOT_CHECKABLE = "question.not_checkable"


class Level(StrEnum):
    """How hard a question was made on purpose."""

    EASY = "easy"  # one value, in its usual words
    MEDIUM = "medium"  # one value, with means of difficulty
    HARD = "hard"  # two values to combine


class Means(StrEnum):
    """What makes a question harder than one in the usual words."""

    FILER_WORDING = "filer_wording"  # the label that the filing prints, not the database's
    SYNONYM = "synonym"
    UNDATED_PERIOD = "undated_period"  # a part of a fiscal year, without its own dates
    LIKE_NAMED_COMPANY = "like_named_company"  # the database has another one of a like name
    RESTATED = "restated"  # filings give different values; the question names the filing
    TWO_POINTS = "two_points"  # two values to combine


class Operation(StrEnum):
    """How two values make one answer; `first` is the question's own point."""

    DIFFERENCE = "difference"  # first - second
    GROWTH = "growth"  # (first - second) / second, in percent
    RATIO = "ratio"  # first / second, in percent


class LevelConfig(StageConfig):
    """The shares of medium and hard questions; all others are easy.

    Questions are processed in a keyed order. A question that cannot be made harder stays easy, so
    there may be fewer hard ones than requested; the report says how many.
    """

    medium: Share = 0.4
    hard: Share = 0.2

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.medium + self.hard > 1:
            raise ValueError(
                "medium and hard are shares of all questions and must add up to at most 1"
            )
        return self


class QuestionConfig(StageConfig):
    """Settings for the questions stage.

    A statement is taken to report in millions if a share of at least `round_share` of its amounts
    has at most one decimal in millions, and in thousands if that share is whole thousands.
    `max_decimals` limits the decimals that a question asks for, and `max_characters` its length.
    """

    round_share: Share = 0.6
    max_decimals: Count = 3
    max_label_words: Count = 12
    max_characters: Count = 260
    max_sharpenings: Count = 6
    levels: LevelConfig = LevelConfig()


class Sharpening(StrEnum):
    """Words that a question may add, in the order in which each cause tries them."""

    TICKER = "ticker"
    REGISTER = "register"
    WHOLE = "whole"
    STATEMENT = "statement"
    PATH = "path"
    DATES = "dates"
    FILING = "filing"


class FilingKind(StrEnum):
    """What a question calls the value of the filing that it names."""

    REPORTED = "according to its filing"  # a figure of an earlier period beside the filing's own
    RESTATED = "according to the restated figures in its filing"
    ORIGINAL = "according to its original filing"  # a later filing gives another value
    ANNOUNCED = "in its filing"  # a forecast, in the filing that made it


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
    Cause.SERIES: (Sharpening.WHOLE, Sharpening.STATEMENT),
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
    convention: Convention = UNKNOWN


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
    balance: str = ""


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
class Combined:
    """The second value of an answer that combines two, and how."""

    operation: Operation
    series: Series
    point: Point


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer; `text` and `guideline` reveal nothing about the value.

    `point_id` is what was drawn, `point` what is asked for: the same, or the value it replaced.
    `worded` is what it calls the series if not by its label, `means` what makes it harder than its
    level's words; `combined` is the second value.
    """

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
    level: Level = Level.EASY
    means: tuple[Means, ...] = ()
    worded: str = ""
    combined: Combined | None = None


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


class FilterConfig(StageConfig):
    """`reject_implausible`: reject values that a filer cannot have meant."""

    reject_implausible: bool = True
    periods: PeriodConfig = Field(default=PeriodConfig())


class StatementsRecipe(StageConfig):
    """How statements become questions: readers, periods, filters, wording."""

    sec: SecConfig = SecConfig()
    edinet: EdinetConfig = EdinetConfig()
    xbrl: XbrlConfig = XbrlConfig()
    filters: FilterConfig = FilterConfig()
    wording: QuestionConfig = QuestionConfig()
    licence: str | None = None
