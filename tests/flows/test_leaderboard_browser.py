"""The leaderboard page in Chromium with 40 configurations × 1,000 tasks: phone, keyboard, axe.

How fast it is: `python -m benchmarks.leaderboard_page`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from selection.evaluation.board import TaskFacts, board
from selection.evaluation.leaderboard_page import write_board
from tests.flows.browser import chromium, overflow, violations, watched

pytestmark = pytest.mark.slow(seconds=2)
CONFIGURATIONS, TASKS = 40, 1_000


def tables() -> tuple[pl.DataFrame, pl.DataFrame, list[TaskFacts]]:
    draw = np.random.default_rng(40)
    facts = [
        TaskFacts(f"task-{at:04d}", f"c{at % 25}", f"family-{at % 25}", f"role-{at % 7}",
                  deliverable=("md", "xlsx", "pptx")[at % 3])
        for at in range(TASKS)
    ]  # fmt: skip
    rows = []
    for number in range(CONFIGURATIONS):
        passed = draw.random(TASKS) < 0.3 + number / 100
        cost = draw.random(TASKS)
        rows += [
            {"attempt_id": f"{number:02d}-{task.task_id}-0123456789", "task_id": task.task_id,
             "epoch": 1, "configuration": f"harness-model-{number:02d}", "harness": "h",
             "model": "m", "condition": "data", "status": "completed", "steps": 3, "cost": c,
             "seconds": 2.0, "release_digest": "d", "termination": None if p else "gave_up",
             "grader": "g", "judge": None, "passed": bool(p), "overall": float(p),
             "acc": float(p), "operation": None if p else "ranking and selection"}
            for task, p, c in zip(facts, passed, cost, strict=True)
        ]  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame, frame, facts


def large_page(folder: Path) -> Path:
    """The page of 40 configurations on 1,000 tasks."""
    attempts, scores, facts = tables()
    groups = {f.task_id: {"family": f.family, "role": f.role} for f in facts}
    listed = [
        {"configuration": row["configuration"], "task": row["task_id"], "epoch": 1,
         "result": "passed" if row["passed"] else "failed", "groups": groups[row["task_id"]],
         "attempt": row["attempt_id"], "ways": (row["operation"], row["termination"])}
        for row in scores.iter_rows(named=True)
    ]  # fmt: skip
    return write_board(board(attempts, scores, facts), "demo-2026.01.15", folder, listed)[0]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large_page(tmp_path_factory.mktemp("board"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


def test_a_click_on_a_head_sorts_and_another_turns_it_round(browser: Any, page_file: Path) -> None:
    page, trouble = watched(browser, viewport={"width": 1200, "height": 900})
    page.goto(page_file.as_uri())
    shares = []
    for _ in range(2):
        page.click("#table thead th:nth-child(3) button")
        cells = page.locator("#table tbody tr td:nth-child(3)").all_text_contents()
        shares.append([float(cell.removesuffix(" %")) for cell in cells])
    assert shares[0] == sorted(shares[0], reverse=True)
    assert shares[1] == sorted(shares[0])
    assert trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_page_fits_and_everyone_can_use_it(
    browser: Any, page_file: Path, width: int, scheme: str
) -> None:
    page, _ = watched(browser, viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.goto(page_file.as_uri())
    assert overflow(page) == []
    assert violations(page) == []


def test_a_cell_leads_to_its_attempts(browser: Any, page_file: Path) -> None:
    page, _ = watched(browser)
    page.goto(page_file.as_uri())
    page.click("#rates > details:nth-of-type(1) > summary")
    page.click(".heat tbody tr:nth-child(2) td:nth-child(3) button")
    said = page.text_content("#chosen")
    assert said is not None and said.startswith("40 attempts of harness-model-")
    assert page.locator("#attempts tbody tr").count() == TASKS // 25


def test_a_way_to_fail_leads_to_its_attempts(browser: Any, page_file: Path) -> None:
    page, trouble = watched(browser)
    page.goto(page_file.as_uri())
    cell = page.locator("#failures [data-grouping=termination] tbody td button").first
    number = int(cell.text_content() or 0)
    cell.click()
    page.click(f"text=show all {number}")
    assert page.locator("#attempts tbody tr").count() == number > 200
    results = page.locator("#attempts tbody td:nth-child(3)").all_text_contents()
    assert set(results) == {"failed: it said that it could not answer."}
    assert trouble == []


def test_the_list_is_narrowed_by_agent_and_end(browser: Any, page_file: Path) -> None:
    page, trouble = watched(browser)
    page.goto(page_file.as_uri())
    page.select_option("#whose", index=3)
    page.select_option("#way", index=1)
    name = page.input_value("#whose")
    said = page.text_content("#chosen")
    assert said is not None and f"of {name}, end: gave up" in said
    page.select_option("#whose", "")
    said = page.text_content("#chosen")
    assert said is not None and "failed attempts of all configurations, end: gave up" in said
    assert trouble == []


def test_a_way_back_leads_to_the_choice_and_the_attempt(browser: Any, page_file: Path) -> None:
    page, trouble = watched(browser)
    page.goto(page_file.as_uri())
    page.locator("#failures [data-grouping=termination] tbody td button").first.click()
    said = page.text_content("#chosen")
    last = page.locator("#attempts tbody tr").last.get_attribute("id")
    assert last is not None
    page.goto("about:blank")
    page.goto(page_file.as_uri() + f"#{last.replace('-', '=', 1)}")
    assert page.text_content("#chosen") == said
    row = page.locator(f"[id='{last}']")
    top = row.evaluate("(row) => row.getBoundingClientRect().top / innerHeight")
    assert 0 < top < 1
    page.goto("about:blank")
    page.goto(page_file.as_uri() + "#attempt=harness-model")  # of none
    assert page.text_content("#chosen") == said
    assert trouble == []


def test_all_attempts_are_shown_and_back_leads_to_them_again(browser: Any, page_file: Path) -> None:
    page, trouble = watched(browser, viewport={"width": 390, "height": 844})
    page.goto(page_file.as_uri())
    page.click("#table tbody tr:nth-child(1) th button")
    assert page.locator("#attempts tbody tr").count() == 200
    page.click(f"text=show all {TASKS}")
    assert page.locator("#attempts tbody tr").count() == TASKS
    assert page.evaluate("document.getElementById('attempts').clientHeight") > 10_000
    said = page.text_content("#chosen")
    page.goto("about:blank")
    page.go_back()
    assert page.text_content("#chosen") == said
    assert trouble == []
