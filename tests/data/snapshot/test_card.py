"""The card of a release: its summary, and what was tried before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from data.contracts import Lane
from data.snapshot.card import summarised
from data.snapshot.ledger import counted, ledger_frames
from data.snapshot.manifest import build as build_manifest
from data.snapshot.manifest import tried_in_sandbox
from data.snapshot.release import CardConfig, GradingFacts
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release


def test_the_card_counts_the_tasks_of_each_lane_unless_it_has_a_summary_of_its_own(
    tmp_path: Path,
) -> None:
    given = release(tmp_path)
    first, *rest = given.candidates
    mixed = replace(given, candidates=[first.model_copy(update={"lane": Lane.QUESTIONS}), *rest])
    said = summarised(mixed).card.summary
    assert said == (
        f"Self-contained tasks for agents: {len(rest)} from recorded work sessions, 1 question "
        "about filed statements. Every rejection is recorded."
    )
    public = write_snapshot(mixed, tmp_path / "out").path / "public"
    assert f"\n{said}\n" in (public / "README.md").read_text()
    assert said in (public / "audit/report.html").read_text()
    own = replace(given, card=CardConfig(summary="Our own words."))
    assert summarised(own) is own


@pytest.mark.parametrize(
    ("sandbox", "verified", "said"),
    [
        ("off", 0, "no: the recipe does not enable it (`[preflight] sandbox`)"),
        ("run", 16, "16 of 16, without a fault"),
        ("run", 12, "12 of 16, without a fault; no sandbox worked for the other 4"),
    ],
)
def test_the_card_says_what_was_run_in_a_sandbox_and_why_not(
    tmp_path: Path, sandbox: str, verified: int, said: str
) -> None:
    given = release(tmp_path)
    grading = GradingFacts(
        formula="weighted_mean", pass_threshold=0.8, null_limit=0.2, deterministic_share=1.0,
        judge_only=0, verified=verified,
    )  # fmt: skip
    with counted(ledger_frames(given.ledger_tables)) as counts:
        manifest = build_manifest(given, 1, counts)
    tallied = manifest.counts.model_copy(update={"tasks": 16})
    assert tried_in_sandbox(manifest) is None
    recipe = {**manifest.recipe, "preflight": {"sandbox": sandbox}}
    tried = manifest.model_copy(update={"grading": grading, "counts": tallied, "recipe": recipe})
    assert tried_in_sandbox(tried) == said
