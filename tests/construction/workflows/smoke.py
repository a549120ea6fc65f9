"""The small scenarios and their drafts, for tests of what works on any scenario."""

from __future__ import annotations

from functools import cache

from construction.workflows.contracts import Draft
from construction.workflows.documents.scenario import scenarios
from construction.workflows.runs import Run, perform

SMOKE = {name: each for name, each in scenarios().items() if each.split == "smoke"}
NAMES = sorted(SMOKE)
SEED = 11
NUMBERS = (1, 2, 3)  # the third has a fault


@cache
def draft_of(name: str, number: int = 1) -> Draft:
    return SMOKE[name].build(number, SEED)


@cache
def run_of(name: str, number: int = 1) -> Run:
    """The reference run of a draft."""
    return perform(draft_of(name, number), SMOKE[name])
