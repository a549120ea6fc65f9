"""The funnel of the audit page under other limits, from the recorded observations.

What `templates/whatif.js` does in the page, said in Python; a test keeps them equal. Both read the
columns that `data.audit_page.columns` makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.audit_page.columns import FAILED, NOT_MEASURED, Column
from data.contracts.gate import breaks

PASSES, FAILS, UNKNOWN = 0, 1, 2
KEPT = -1
# Limits by place of the step and place of the check in it.
Limits = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class StepCount:
    """One step: items that reach it, fail it, or were never measured by it.

    What it never saw and lets through is no business of it, such as the tasks of another lane.
    A stage records only what it turns away, so that only that is known to reach it.
    """

    reached: int
    failed: int
    unmeasured: int


@dataclass(frozen=True, slots=True)
class Funnel:
    """Counts per step; `outcomes` holds per item KEPT, 2·step if it fails there, 2·step + 1 if
    it would reach that step but was not measured by it: what becomes of it is not known.
    """

    steps: tuple[StepCount, ...]
    outcomes: tuple[int, ...]

    @property
    def kept(self) -> int:
        return self.outcomes.count(KEPT)

    @property
    def unmeasured(self) -> int:
        return sum(step.unmeasured for step in self.steps)


def recompute(columns: Mapping[str, Any], limits: Limits) -> Funnel:
    """The funnel of all items under `limits`; those not named stay as recorded."""
    steps = columns["steps"]
    states, seen = _states(columns, limits), [set(step["rows"]) for step in steps]
    reached, failed, unmeasured = ([0] * len(steps) for _ in range(3))
    outcomes = []
    for item in range(columns["items"]):
        outcome = KEPT
        for step_number in range(len(steps)):
            state = states[step_number][item]
            reached[step_number] += item in seen[step_number] or state != PASSES
            if state == FAILS:
                failed[step_number] += 1
                outcome = 2 * step_number
                break
            if state == UNKNOWN:
                unmeasured[step_number] += 1
                outcome = 2 * step_number + 1
                break
        outcomes.append(outcome)
    counts = zip(reached, failed, unmeasured, strict=True)
    return Funnel(tuple(StepCount(*count) for count in counts), tuple(outcomes))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """With the limit of one check moved to `limit`: how many of those that break it now would
    pass it, how many more items would be kept, and how many more were never measured further.
    """

    limit: float
    through: int
    kept: int
    unmeasured: int


def neighbours(
    columns: Mapping[str, Any], step_number: int, check: int, most: int
) -> list[Neighbour]:
    """The rejected values nearest to the limit of a check, the nearest first."""
    step = columns["steps"][step_number]
    limit_check = step["checks"][check]
    values = [cell(limit_check["values"], row) for row in range(len(step["rows"]))]
    broken = [
        value for value in values if breaks(limit_check["bound"], value, limit_check["limit"])
    ]
    before = recompute(columns, {})
    neighbours_found = []
    for limit in sorted(set(broken), reverse=limit_check["bound"] == "min")[:most]:
        after = recompute(columns, {(step_number, check): limit})
        through = sum(not breaks(limit_check["bound"], value, limit) for value in broken)
        gained = after.unmeasured - before.unmeasured
        neighbours_found.append(Neighbour(limit, through, after.kept - before.kept, gained))
    return neighbours_found


def _states(columns: Mapping[str, Any], limits: Limits) -> list[list[int]]:
    """Per step and item: passes, fails or unknown.

    An item that got past a step that did not measure it was let through, with a row or without.
    """
    steps, n = columns["steps"], columns["items"]
    decided = [len(steps)] * n
    for step_number in reversed(range(len(steps))):
        for row, item in enumerate(steps[step_number]["rows"]):
            if cell(steps[step_number]["status"], row) == FAILED:
                decided[item] = step_number
    states = []
    for step_number, step in enumerate(steps):
        state = [PASSES if step_number < decided[item] else UNKNOWN for item in range(n)]
        for row, item in enumerate(step["rows"]):
            if cell(step["status"], row) != NOT_MEASURED:
                state[item] = _row_state(step_number, step, row, limits)
        states.append(state)
    return states


def _row_state(step_number: int, step: Mapping[str, Any], row: int, limits: Limits) -> int:
    status = cell(step["status"], row)
    checks: Sequence[Mapping[str, Any]] = step["checks"]
    moved = step["whatif"] and any((step_number, i) in limits for i in range(len(checks)))
    if not moved:
        return FAILS if status == FAILED else PASSES
    broke = False
    for i, check in enumerate(checks):
        value = cell(check["values"], row)
        if breaks(check["bound"], value, limits.get((step_number, i), check["limit"])):
            return FAILS
        broke = broke or breaks(check["bound"], value, check["limit"])
    if status != FAILED:
        return PASSES
    if not broke:
        return FAILS  # for a reason that has no limit here
    return PASSES if step["complete"] else UNKNOWN


def cell(values: Column, row: int) -> Any:
    """The value of a column at a row."""
    return values["same"] if isinstance(values, dict) else values[row]
