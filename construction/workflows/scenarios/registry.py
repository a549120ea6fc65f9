"""All scenarios by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from construction.workflows.contracts import Scenario
from construction.workflows.scenarios import customer_support, expense_claims, finance_accounting
from construction.workflows.scenarios import response_times

_MODULES = (customer_support, expense_claims, finance_accounting, response_times)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {scenario.name: scenario for module in _MODULES for scenario in module.SCENARIOS}
)
