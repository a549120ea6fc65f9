"""Demand: which ideas can be served, and how many drafts each generator makes."""

from __future__ import annotations

from pathlib import Path

import orjson
import polars as pl
import pytest

from construction.signals.codebook import default_codebook, default_crosswalk
from construction.workflows.demand import (
    _chosen_generators,
    _DemandReason,
    _drafts_per_generator,
    _servers_of,
    demanded,
    generators,
    write_demand,
)
from construction.workflows.repair.catalogue import REPAIRS
from construction.workflows.screening import WorkflowsRecipe
from data.canonical import canonical_json
from data.errors import ConfigError
from data.text.lexicon import load_table

FAMILIES = {generator.task_family for generator in generators().values()}


def test_every_generator_has_a_task_family_of_the_crosswalk() -> None:
    assert default_crosswalk().task_families.keys() >= FAMILIES
    assert len(FAMILIES) >= 18


def test_the_table_names_patterns_families_and_kinds_that_there_are() -> None:
    table = load_table("construction.workflows", "serves.toml")
    assert table.keys() <= set(default_codebook().benchmarkable)
    for pattern, served in table.items():
        assert served.keys() <= {"families", "kinds"}, pattern
        assert set(served.get("families", ())) <= default_crosswalk().task_families.keys()
        assert set(served.get("kinds", ())) <= {repair.kind for repair in REPAIRS}


def test_drafts_follow_the_weights_within_the_limit_of_a_generator() -> None:
    weights = {"infrastructure_operations": 0.75, "assurance": 0.25}
    recipe = WorkflowsRecipe(drafts=4, per_generator=2)
    counts = _drafts_per_generator(weights, recipe, 3)
    by_family = dict.fromkeys(weights, 0)
    for name, count in counts.items():
        assert 1 <= count <= 2
        by_family[generators()[name].task_family] += count
    assert by_family == {"infrastructure_operations": 3, "assurance": 1}
    assert _drafts_per_generator(weights, recipe, 3) == counts


def test_no_more_is_made_than_generators_may_make() -> None:
    weights = {"assurance": 1.0, "no_such_family": 2.0}
    own = [each for each in generators().values() if each.task_family == "assurance"]
    counts = _drafts_per_generator(weights, WorkflowsRecipe(drafts=500, per_generator=2), 0)
    assert counts == {each.name: 2 for each in own}


def test_without_weights_all_families_are_alike() -> None:
    counts = _drafts_per_generator({}, WorkflowsRecipe(drafts=len(FAMILIES)), 0)
    assert {generators()[name].task_family for name in counts} == FAMILIES


def test_an_unknown_generator_is_named() -> None:
    with pytest.raises(ConfigError, match="falconry"):
        _chosen_generators(WorkflowsRecipe(generators=("bug_triage", "falconry")))


def test_ideas_that_nothing_serves_are_listed_by_name(tmp_path: Path) -> None:
    ideas = [
        {"idea_id": "repository_work-1", "seed": "repository_work", "title": "Where it broke"},
        {"idea_id": "video_work-1", "seed": "video_work", "title": "Cut to the minute"},
        {"idea_id": "voice_calls-1", "seed": "voice_calls", "title": "Ring back"},
        {"idea_id": "picture_generation-1", "seed": "picture_generation", "title": "A sunset"},
    ]
    needs = {
        "repository_work": {"account": 0.9, "no_grader": 0.0},
        "video_work": {"account": 0.3, "no_grader": 0.4},
        "voice_calls": {"account": 0.5, "no_grader": 0.5},
        "picture_generation": {"account": 0.6, "no_grader": 0.8},
    }
    path = tmp_path / "ideas.jsonl"
    path.write_bytes(b"".join(canonical_json(idea) + b"\n" for idea in ideas))
    recipe = WorkflowsRecipe(drafts=4, generators=("bug_triage", "site_modes"))
    write_demand(path, {"software_engineering": 1.0}, recipe, 0, tmp_path, needs)
    report = orjson.loads((tmp_path / "demand.json").read_bytes())
    assert report["no_scenario"] == [
        {"idea_id": "video_work-1", "seed": "video_work", "title": "Cut to the minute"}
    ]
    assert demanded(tmp_path) == {"bug_triage": 3} == report["drafts"]
    ledger = pl.read_parquet(tmp_path / "ledger.parquet")
    assert ledger.select("item_id", "outcome", "reason").rows() == [
        ("repository_work-1", "consumed", None),
        ("video_work-1", "rejected", str(_DemandReason.NO_SCENARIO)),
        ("voice_calls-1", "rejected", str(_DemandReason.NEEDS_ACCOUNT)),
        ("picture_generation-1", "rejected", str(_DemandReason.NO_GRADER)),
    ]
    assert report["unbuildable"] == {
        "voice_calls-1": "idea.needs_account", "picture_generation-1": "idea.no_grader",
    }  # fmt: skip
    lineage = pl.read_parquet(tmp_path / "lineage_rows.parquet")
    assert lineage.select("parent", "child").rows() == [("repository_work-1", "bug_triage")]


def test_a_repair_serves_by_its_kind_and_a_scenario_by_its_family() -> None:
    available = _chosen_generators(WorkflowsRecipe())
    assert "bug_triage" in _servers_of("repository_work", available)
    assert "site_modes" in _servers_of("file_management", available)
    assert "crontab_times" not in _servers_of("file_management", available)
    assert _servers_of("video_work", available) == ["subtitler"]
    assert _servers_of("smart_devices", available) == []
