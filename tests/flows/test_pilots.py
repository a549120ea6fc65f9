"""Pilot scores from the analyst's file to the staging views, beside what they decided."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from data.pool import write_pool
from data.stages import Results, run_stage
from data.staging.database import open_read_only
from data.staging.runs import RunFacts, stage_run
from flows.recipe import Recipe, Runtime
from flows.run import open_run
from flows.stages.selection import SELECT
from selection.config import SelectionRecipe
from tests.selection.test_release import SESSIONS

PILOTED = [one.task_id for one in SESSIONS[:12]]
FACTS = RunFacts("demo-2026.01.15", date(2026, 1, 15), "a" * 64, "c0de", "b" * 64, {}, "generated")


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that chose 6 of 14 candidates by two pilots; one of them did not run on the sixth."""
    out = tmp_path_factory.mktemp("pilots")
    listing = out / "scores.csv"
    rows = [(name, "strong", 0.9 if at < 6 else 0.5) for at, name in enumerate(PILOTED)]
    rows += [(name, "weak", 0.5) for at, name in enumerate(PILOTED) if at != 6]
    lines = [f"{name},family-{int(name[-2:]) % 3},{model},{score}" for name, model, score in rows]
    listing.write_text("\n".join(["item,family,model,score", *lines]) + "\n", encoding="utf-8")
    recipe = Recipe(selection=SelectionRecipe(max_tasks=6))
    run = open_run(recipe, Runtime(out=out, scores=listing, workers=1))
    pool = out / "pool"
    pool.mkdir()
    write_pool(pool, SESSIONS, {})
    results = Results(outputs={"sandbox_preflight": (pool,)})
    run_stage(run, SELECT, results)
    stage_run(out, FACTS, results.outputs["select"])
    return out / "staging.duckdb"


def test_each_pilot_has_its_score_on_each_candidate(staged: Path) -> None:
    with open_read_only(staged) as link:
        rows = link.sql("SELECT task_id, model, score FROM scores ORDER BY ALL").fetchall()
    strong = {name: 0.9 if at < 6 else 0.5 for at, name in enumerate(PILOTED)}
    weak = {name: None if at == 6 else 0.5 for at, name in enumerate(PILOTED)}
    assert rows == sorted(
        (name, model, score)
        for model, told in (("strong", strong), ("weak", weak))
        for name, score in told.items()
    )


def test_the_selection_tells_what_the_pilots_scored_and_decided(staged: Path) -> None:
    with open_read_only(staged) as link:
        rows = link.sql(
            """SELECT task_id, outcome, n_pilots, round(mean_score, 9), round(score_spread, 9)
               FROM selection ORDER BY task_id"""
        ).fetchall()
    assert rows[:6] == [(name, "chosen", 2, 0.7, 0.4) for name in PILOTED[:6]]
    assert rows[6] == (PILOTED[6], "not_chosen", 1, 0.5, 0.0)
    assert rows[7:12] == [(name, "not_chosen", 2, 0.5, 0.0) for name in PILOTED[7:]]
    assert rows[12:] == [(one.task_id, "not_chosen", 0, None, None) for one in SESSIONS[12:]]


def test_two_pilots_are_told_apart_by_what_was_chosen(staged: Path) -> None:
    with open_read_only(staged) as link:
        rows = link.sql(
            """SELECT model, round(avg(s.score), 9) FROM scores s JOIN candidates c USING (task_id)
               WHERE c.outcome = 'chosen' GROUP BY model ORDER BY model"""
        ).fetchall()
    assert rows == [("strong", 0.9), ("weak", 0.5)]
