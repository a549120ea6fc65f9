"""The funnel under other limits; and the page's script counts as the reference does."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

import data.audit_page
from data.audit_page.columns import Shown, build_columns
from data.contracts import Status
from tests.data.audit_page.ledger_rows import (
    CHECKS,
    LANES,
    VERDICTS,
    WORDS,
    columns,
    ledger,
    verdict,
)
from tests.data.audit_page.whatif import KEPT, Neighbour, StepCount, neighbours, recompute

SCRIPT = Path(data.audit_page.__file__).parent / "templates" / "whatif.js"
DRIVER = """
const source = require("fs").readFileSync(process.argv[1], "utf8");
const WhatIf = new Function(source + "return WhatIf")();
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(({ columns, limits }) => {
  const model = WhatIf.prepare(columns);
  const near = columns.steps.flatMap((step, place) =>
    step.checks.map((_, check) => WhatIf.neighbours(model, place, check, 4)));
  for (const [place, check, limit] of limits) WhatIf.move(model, place, check, limit);
  const now = WhatIf.count(model);
  return { ...now, outcomes: [...now.outcomes], near };
})));
"""


def test_without_other_limits_it_is_the_recorded_funnel() -> None:
    now = recompute(columns(), {})
    assert [step["name"] for step in columns()["steps"]] == [
        "length", "fixture", "distinct", "leaks",
    ]  # fmt: skip
    assert now.steps == (
        StepCount(6, 2, 0), StepCount(4, 2, 0), StepCount(1, 1, 0), StepCount(1, 0, 0),
    )  # fmt: skip
    assert now.outcomes == (KEPT, 0, 0, 2, 2, 4)


def test_what_was_never_measured_is_not_called_kept() -> None:
    eased = recompute(columns(), {(0, 0): 8})
    assert eased.outcomes == (KEPT, 5, 2, 2, 2, 4)  # b: nobody knows whether it is a copy
    assert (eased.kept, eased.unmeasured) == (1, 1)


def test_a_gate_is_reached_only_by_what_it_saw() -> None:
    other = verdict("question", "fixture", 0, failed=False)
    now = recompute(build_columns(ledger((*VERDICTS, other)), CHECKS, Shown(), WORDS, LANES), {})
    assert [step.reached for step in now.steps] == [6, 5, 1, 1]
    assert now.kept == 2


def test_what_got_past_a_gate_that_could_not_measure_it_is_kept() -> None:
    waiting = verdict("a", "leaks", None, failed=False) | {"status": Status.NOT_MEASURED}
    rows = (*(row for row in VERDICTS if (row["item"], row["gate"]) != ("a", "leaks")), waiting)
    now = recompute(build_columns(ledger(rows), CHECKS, Shown(), WORDS, LANES), {})
    assert (now.kept, now.unmeasured) == (1, 0)


def test_a_failure_behind_no_limit_stays_and_one_behind_a_limit_is_open() -> None:
    tolerant = recompute(columns(), {(1, 0): 1})
    assert tolerant.outcomes == (KEPT, 0, 0, 3, 2, 4)


def test_stricter_limits_reject_what_was_kept() -> None:
    assert recompute(columns(), {(0, 0): 13}).outcomes == (0, 0, 0, 2, 2, 0)


def test_neighbours_of_a_limit() -> None:
    assert neighbours(columns(), 0, 0, 3) == [Neighbour(8, through=2, kept=0, unmeasured=1)]


def random_case(seed: int) -> dict[str, Any]:
    """Columns of 12 items and 3 steps, not always such as a run would give."""
    draw = random.Random(seed)
    steps: list[dict[str, Any]] = []
    for position in range(3):
        rows = sorted(draw.sample(range(12), draw.randint(0, 12)))
        checks = [
            {
                "bound": draw.choice(["min", "max"]),
                "limit": draw.choice([2, 0.34, 3]),
                "values": [draw.choice([None, 0, 1, 2, 3, 4, 0.34, 0.35, 0.1 + 0.2]) for _ in rows],
            }
            for _ in range(draw.randint(0, 2))
        ]
        steps.append(
            {
                "rows": rows,
                "status": [draw.choice([0, 0, 0, 1, 2, 3]) for _ in rows],
                "whatif": draw.random() < 0.8,
                "complete": draw.random() < 0.6,
                "checks": checks,
                "name": f"step-{position}",
            }
        )
    limits = [
        (position, check, draw.choice([0, 1, 2, 3, 0.3, 0.34, 0.35]))
        for position, step in enumerate(steps)
        for check in range(len(step["checks"]))
        if draw.random() < 0.7
    ]
    return {"columns": {"items": 12, "steps": steps}, "limits": limits}


def test_the_script_counts_as_the_reference() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node: the browser test compares the two on a page")
    cases = [{"columns": columns(), "limits": [(0, 0, 8)]}, *map(random_case, range(150))]
    ran = subprocess.run(
        [node, "-e", DRIVER, str(SCRIPT)],
        input=orjson.dumps(cases),
        capture_output=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    for case, said in zip(cases, orjson.loads(ran.stdout), strict=True):
        recorded = {
            (position, check): step["checks"][check]["limit"]
            for position, step in enumerate(case["columns"]["steps"])
            for check in range(len(step["checks"]))
        }
        limits = {(p, c): limit for p, c, limit in case["limits"] if limit != recorded[p, c]}
        now = recompute(case["columns"], limits)
        assert tuple(said["outcomes"]) == now.outcomes
        assert (said["kept"], said["open"]) == (now.kept, now.unmeasured)
        result = [(step["reached"], step["failed"], step["unmeasured"]) for step in said["steps"]]
        assert result == [(step.reached, step.failed, step.unmeasured) for step in now.steps]
        near = [neighbours(case["columns"], position, check, 4) for position, check in recorded]
        assert [[tuple(line.values()) for line in lines] for lines in said["near"]] == [
            [(line.limit, line.through, line.kept, line.unmeasured) for line in lines]
            for lines in near
        ]
