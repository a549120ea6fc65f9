"""All scenarios by name: those of modules, in the order of their families, then documents.

A module's tasks are small and mostly solved by agents; they are the *smoke* split. Documents make
the *full* one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from construction.workflows.contracts import Draft, Scenario
from construction.workflows.documents.scenario import documents, scenario_of
from construction.workflows.scenarios import (
    chinese_office,
    content_production,
    correspondence,
    data_reporting,
    document_work,
    infrastructure_operations,
    knowledge_keeping,
    media_handling,
    people_administration,
    planning_tracking,
    recruiting_onboarding,
    research_briefing,
    sales_marketing,
    scheduling_events,
    software_engineering,
    web_operation,
)

_MODULES = (
    chinese_office,
    content_production,
    correspondence,
    data_reporting,
    document_work,
    infrastructure_operations,
    knowledge_keeping,
    media_handling,
    people_administration,
    planning_tracking,
    recruiting_onboarding,
    research_briefing,
    sales_marketing,
    scheduling_events,
    software_engineering,
    web_operation,
)
SMOKE: Mapping[str, Scenario] = MappingProxyType(
    {scenario.name: scenario for module in _MODULES for scenario in module.SCENARIOS}
)
FULL: Mapping[str, Scenario] = MappingProxyType(
    {document.name: scenario_of(document) for document in documents()}
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType({**SMOKE, **FULL})
DRAFTS_EACH = 4  # rules of a scenario, and so siblings that differ


def drafts_of(counts: Mapping[str, int], seed: int) -> tuple[Draft, ...]:
    """So many drafts of each scenario, by name; the same arguments make the same drafts."""
    return tuple(
        SCENARIOS[name].build(number, seed)
        for name in sorted(counts)
        for number in range(1, counts[name] + 1)
    )
