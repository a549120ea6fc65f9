"""The HTML of the audit page and the policy that fits it: no request leaves the page's origin.

Also the rejections of a page as files: CSV that no spreadsheet runs, and JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from data.atomic import write_bytes
from data.audit_page.columns import FAILED, FIELDS, NOT_MEASURED, WORDS, cell
from data.canonical import pretty_json
from data.contracts import TurnedAway
from data.contracts.gate import breaks
from data.figures import number
from data.neutralise import csv_cell, script_json
from data.snapshot.pages import block_source

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("whatif", "rejections", "list", "detail", "knobs", "served", "main")


def audit_page(columns: Mapping[str, Any], *, served: bool) -> str:
    """The page. Served, it asks for its columns and offers evidence and sign-off; else it holds
    the columns itself and works from a file.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["n"] = number
    return environment.get_template("page.html.j2").render(
        about=columns["about"],
        turned_away=str(TurnedAway(columns["about"]["units"], columns["about"]["entries"])),
        served=served,
        policy=_policy(served=served),
        style=_asset("page.css"),
        script=_script(),
        island="" if served else script_json(columns),
    )


def header_policy() -> str:
    """The policy of the served page as a header, which alone can forbid framing."""
    return _policy(served=True) + "; frame-ancestors 'none'"


def _policy(*, served: bool) -> str:
    rules = [
        "default-src 'none'",
        f"style-src {block_source(_asset('page.css'))}",
        f"script-src {block_source(_script())}",
        "img-src data:",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if served else rules)


@cache
def _script() -> str:
    return '"use strict";\n' + "".join(_asset(f"{name}.js") for name in _SCRIPTS)


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def write_page(columns: Mapping[str, Any], target: Path) -> list[Path]:
    """Write `audit.html`, `rejections.csv` and `rejections.json` into `target`; returns them."""
    files = {
        "audit.html": audit_page(columns, served=False).encode(),
        "rejections.csv": as_csv(columns).encode(),
        "rejections.json": as_json(columns),
    }
    for name, content in files.items():
        write_bytes(target / name, content)
    return [target / name for name in files]


def as_csv(columns: Mapping[str, Any]) -> str:
    """All rejections as CSV with a header; cells that look like formulas get an apostrophe."""
    shown = cache(csv_cell)  # most cells repeat
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    writer.writerows(zip(*(map(shown, values) for values in _rows(columns)), strict=True))
    return text.getvalue()


def as_json(columns: Mapping[str, Any]) -> bytes:
    """Facts of the run and all rejections as JSON."""
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*_rows(columns), strict=True)]
    return pretty_json({"about": columns["about"], "rejections": rows})


def _rows(columns: Mapping[str, Any]) -> list[list[Any]]:
    """The values of each field, a place per rejection, words spelled out; null for empty ones."""
    table, words, ids = columns["rejections"], columns["words"], columns["ids"]
    columns_by_name = {name: _spread(table[name], columns["about"]["entries"]) for name in FIELDS}
    columns_by_name["id"] = [ids[place] for place in columns_by_name["id"]]
    for name in WORDS:
        columns_by_name[name] = [words[place] or None for place in columns_by_name[name]]
    return [columns_by_name[name] for name in FIELDS]


def _spread(values: list[Any] | dict[str, Any], n: int) -> list[Any]:
    return [values["same"]] * n if isinstance(values, dict) else values


# The funnel under other limits -------------------------------------------------------------------
# The funnel under other limits, from the recorded observations.
#
# This is what `templates/whatif.js` does in the page, said in Python; a test keeps them equal.
# Both read the columns that `data.audit_page.columns` makes.

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
