"""Candidate ideas inside the signals lane: by rules and by a model, with books, costs, replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.judging.model.asking import model_costs
from construction.signals.weights import SeedIdea, _gradings
from construction.workflows import candidate_ideas as ideas_module
from construction.workflows.candidate_ideas import (
    IDEAS_FILE,
    _CandidateIdeas,
    candidate_ideas,
    prompts_of_release,
    replace_ideas,
    seeds_of,
    summary,
    write_ideas,
)
from construction.workflows.prefilters import PREFILTER, STAGE, IdeaReason
from data.canonical import canonical_json
from data.errors import InputError
from flows.recipe import Recipe, Runtime
from tests.flows.model_server import lanes, model_server


def seed(pattern: str) -> SeedIdea:
    return SeedIdea(
        pattern, "productivity", "planning_tracking", "coordinate", 0.5, 6, "Plan time",
        "calendar entries", "api", _gradings()[pattern], ("calendar",),
    )  # fmt: skip


def report_of(*seeds: SeedIdea) -> dict[str, Any]:
    """The seeds as `signals.json` tells them."""
    rows = [
        {name: getattr(one, name) for name in SeedIdea.__dataclass_fields__ if name != "grading"}
        | {
            "grading": {
                "evidence": one.grading.evidence.model_dump(),
                "expected": one.grading.expected,
                "graded": one.grading.graded,
                "ungraded": one.grading.ungraded,
            }
        }
        for one in seeds
    ]
    result: dict[str, Any] = orjson.loads(canonical_json({"seeds": rows}))
    return result


REPORT = report_of(seed("calendar_planning"), seed("pdf_work"))


def settings(out: Path, url: str = "", mode: str = "record") -> tuple[Recipe, Runtime]:
    runtime = Runtime.model_validate({"out": out, "quiet": True, "model_calls": {"mode": mode}})
    if not url:
        return Recipe(), runtime
    llm = runtime.llm.model_copy(update={"base_url": url, "attempts": 1})
    recipe = Recipe.model_validate({"judging": {"model": {"name": "fake-1"}}})
    return recipe, runtime.model_copy(update={"llm": llm})


def have_ideas(known: Sequence[str], recipe: Recipe, runtime: Runtime) -> _CandidateIdeas:
    return candidate_ideas(seeds_of(REPORT), known, runtime.judges(recipe))


def known_prompts(recipe: Recipe, runtime: Runtime) -> list[str]:
    return prompts_of_release(runtime.release_before(recipe))


def test_seeds_come_back_from_the_report() -> None:
    assert seeds_of(REPORT) == (seed("calendar_planning"), seed("pdf_work"))


def test_by_rules_the_ideas_are_written_with_their_tables(tmp_path: Path) -> None:
    ideas = have_ideas((), *settings(tmp_path))
    write_ideas(ideas, tmp_path)
    rows = [orjson.loads(line) for line in (tmp_path / IDEAS_FILE).read_bytes().splitlines()]
    assert [row["idea_id"] for row in rows][:2] == ["calendar_planning-1", "calendar_planning-2"]
    assert {row["judge"] for row in rows} == {"rules"}
    alike = [row for row in ideas.proposed.ledger if row.reason == IdeaReason.NEAR_DUPLICATE]
    assert len(rows) == 12 - len(alike)
    tallies = pl.read_parquet(tmp_path / "tallies.parquet").filter(pl.col("n") > 0)
    assert tallies.select("stage", "kind", "unit", "outcome", "n").rows() == [
        (STAGE, "derive", "seed", "consumed", 2),
        (PREFILTER, "filter", "idea", "kept", len(rows)),
        (PREFILTER, "filter", "idea", "rejected", len(alike)),
    ]
    lineage = pl.read_parquet(tmp_path / "lineage_rows.parquet")
    assert lineage["parent"].unique(maintain_order=True).to_list() == [
        "calendar_planning",
        "pdf_work",
    ]
    assert (ideas.costs, ideas.replies) == ((), {})
    assert model_costs([tmp_path]) == []


def test_ideas_replace_those_of_an_earlier_run_and_nothing_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    had = have_ideas((), *settings(tmp_path))
    folder = tmp_path / "ideas"
    folder.mkdir()
    (folder / "mine.txt").write_text("of the user")
    (folder / IDEAS_FILE).write_text("of an earlier run")

    def killed(had: object, out: Path) -> None:
        (out / IDEAS_FILE).write_text("half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(ideas_module, "write_ideas", killed)
        replace_ideas(had, folder)
    assert (folder / IDEAS_FILE).read_text() == "of an earlier run"
    replace_ideas(had, folder)
    assert len((folder / IDEAS_FILE).read_bytes().splitlines()) == len(had.proposed.ideas)
    assert (folder / "mine.txt").read_text() == "of the user"
    assert {path.name for path in tmp_path.iterdir()} == {"ideas"}
    ledgers = {"ledger.parquet", "lineage_rows.parquet", "tallies.parquet"}
    assert {path.name for path in folder.iterdir()} == {"mine.txt", IDEAS_FILE, *ledgers}


def test_a_model_has_the_ideas_and_a_replay_the_same(tmp_path: Path) -> None:
    with model_server(lanes) as served:
        ideas = have_ideas((), *settings(tmp_path, served.url))
        assert len(served.requests) == 2
    again = have_ideas((), *settings(tmp_path, served.url, "replay"))
    assert (again.proposed.ideas, again.replies) == (ideas.proposed.ideas, ideas.replies)
    assert list(ideas.replies) == ["model-replies-ideas"]
    write_ideas(ideas, tmp_path)
    rows = [orjson.loads(line) for line in (tmp_path / IDEAS_FILE).read_bytes().splitlines()]
    assert {row["judge"] for row in rows} == {"model:fake-1"}
    (cost,) = model_costs([tmp_path])
    assert (cost["stage"], cost["items"], cost["prompt_tokens"]) == (STAGE, 2, 200)
    ledger = pl.read_parquet(tmp_path / "ledger.parquet").filter(outcome="rejected")
    assert ledger["reason"].to_list() == [str(IdeaReason.TRIVIAL)] * 2
    line = "10 of 12 candidate ideas passed (judge: model:fake-1): idea.trivial 2"
    assert summary(again) == line


def release(folder: Path, *tasks: tuple[str, str]) -> Path:
    lines = [canonical_json({"lane": lane, "prompt": text}) + b"\n" for lane, text in tasks]
    (folder / "public").mkdir(parents=True)
    (folder / "public" / "tasks.jsonl").write_bytes(b"".join(lines))
    return folder


def test_what_the_last_release_asks_is_not_proposed_again(tmp_path: Path) -> None:
    recipe, runtime = settings(tmp_path / "out")
    before = have_ideas((), recipe, runtime).proposed
    first = before.ideas[0]
    alike = {row.item_id for row in before.ledger if row.reason}
    last = release(
        tmp_path / "last", ("sessions", f"{first.task} Thanks!"), ("questions", "What were sales?")
    )
    after = runtime.model_copy(update={"last_release": last})
    known = known_prompts(recipe, after)
    assert known == [f"{first.task} Thanks!"]
    had = have_ideas(known, recipe, after)
    reasons = {row.item_id: row.reason for row in had.proposed.ledger if row.reason}
    assert set(reasons.values()) == {IdeaReason.NEAR_DUPLICATE}
    assert first.idea_id in reasons.keys() - alike


def test_a_last_release_that_is_none_is_named(tmp_path: Path) -> None:
    recipe, runtime = settings(tmp_path / "out")
    assert known_prompts(recipe, runtime) == []
    broken = release(tmp_path / "last")
    (broken / "public" / "tasks.jsonl").write_text("[1]\n")
    after = runtime.model_copy(update={"last_release": broken})
    with pytest.raises(InputError, match="no list of tasks"):
        known_prompts(recipe, after)
