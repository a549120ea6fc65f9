"""Settings of the questions lane, except sampling. Part of the recipe."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from construction.statements.enrichment.picture import EnrichmentConfig
from construction.statements.periods.conventions import PeriodConfig
from construction.statements.questions.contracts import QuestionConfig
from construction.statements.readers.edinet.contracts import EdinetConfig
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.xbrl.source import XbrlConfig
from data.contracts import StageConfig


class FilterConfig(StageConfig):
    """`untranslated`: reject series without an English label, or ask in the local language.
    `keep_auto_generated` names statements whose auto-generated points are kept, such as "Operating
    indicators" for EDINET, which occur only in a filing's summary. `reject_zero`: reject values of
    zero; blank values are always rejected. `reject_implausible`: reject values that a filer cannot
    have meant (`filters`). `periods` must be the same as for `with_periods`."""

    untranslated: Literal["reject", "local"] = "reject"
    keep_auto_generated: tuple[str, ...] = ()
    reject_zero: bool = True
    reject_implausible: bool = True
    periods: PeriodConfig = Field(default=PeriodConfig())


class HierarchyConfig(StageConfig):
    """`max_components`: highest number of components of a name, statement and label included.
    `check_sums`: use sums of values, where available, to confirm or move the start of a section."""

    max_components: int = Field(default=6, ge=3)
    check_sums: bool = True


class StatementsRecipe(StageConfig):
    """How statements become questions: readers, names, periods, filters, wording, pictures."""

    sec: SecConfig = SecConfig()
    edinet: EdinetConfig = EdinetConfig()
    xbrl: XbrlConfig = XbrlConfig()
    hierarchy: HierarchyConfig = HierarchyConfig()
    filters: FilterConfig = FilterConfig()
    wording: QuestionConfig = QuestionConfig()
    enrichment: EnrichmentConfig = EnrichmentConfig()
    licence: str | None = None
