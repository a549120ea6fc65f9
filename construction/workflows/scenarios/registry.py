"""All scenarios by name, in the order of their families."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from construction.workflows.contracts import Draft, Scenario
from construction.workflows.scenarios import (
    approvals_governance,
    assurance,
    chinese_office,
    content_production,
    correspondence,
    customer_support,
    data_reporting,
    document_work,
    expense_claims,
    finance_accounting,
    infrastructure_operations,
    inventory_procurement,
    knowledge_keeping,
    media_handling,
    people_administration,
    planning_tracking,
    recruiting_onboarding,
    research_briefing,
    response_times,
    sales_marketing,
    scheduling_events,
    service_coordination,
    software_engineering,
    web_operation,
)

_MODULES = (
    approvals_governance,
    assurance,
    chinese_office,
    content_production,
    correspondence,
    customer_support,
    data_reporting,
    document_work,
    expense_claims,
    finance_accounting,
    infrastructure_operations,
    inventory_procurement,
    knowledge_keeping,
    media_handling,
    people_administration,
    planning_tracking,
    recruiting_onboarding,
    research_briefing,
    response_times,
    sales_marketing,
    scheduling_events,
    service_coordination,
    software_engineering,
    web_operation,
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {scenario.name: scenario for module in _MODULES for scenario in module.SCENARIOS}
)
DRAFTS_EACH = 4  # rules of a scenario, and so siblings that differ


def drafts_of(counts: Mapping[str, int], seed: int) -> tuple[Draft, ...]:
    """So many drafts of each scenario, by name; the same arguments make the same drafts."""
    return tuple(
        SCENARIOS[name].build(number, seed)
        for name in sorted(counts)
        for number in range(1, counts[name] + 1)
    )
