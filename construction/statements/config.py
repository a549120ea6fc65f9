"""Settings of the questions lane, except sampling. Part of the recipe."""

from __future__ import annotations

from construction.statements.enrichment.contracts import EnrichmentConfig
from construction.statements.filters import FilterConfig
from construction.statements.hierarchy.rebuild import HierarchyConfig
from construction.statements.questions.contracts import QuestionConfig
from construction.statements.readers.edinet.contracts import EdinetConfig
from construction.statements.readers.sec.contracts import SecConfig
from data.contracts import StageConfig


class StatementsRecipe(StageConfig):
    """How statements become questions: readers, names, periods, filters, wording, pictures."""

    sec: SecConfig = SecConfig()
    edinet: EdinetConfig = EdinetConfig()
    hierarchy: HierarchyConfig = HierarchyConfig()
    filters: FilterConfig = FilterConfig()
    wording: QuestionConfig = QuestionConfig()
    enrichment: EnrichmentConfig = EnrichmentConfig()
    licence: str | None = None
