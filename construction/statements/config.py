"""Settings of the questions lane, except sampling. Part of the recipe."""

from __future__ import annotations

from pydantic import Field

from construction.statements.periods.conventions import PeriodConfig
from construction.statements.questions.contracts import QuestionConfig
from construction.statements.readers.edinet.source import EdinetConfig
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.xbrl.source import XbrlConfig
from data.contracts import StageConfig


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
