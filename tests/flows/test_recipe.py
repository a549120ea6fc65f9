"""The configuration: what nobody declared, which names are known, how a release is dated."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from anonymization.documents.contracts import Pictures
from anonymization.masking_recipe import for_source
from construction.judging.calls.contracts import Mode
from data.contracts import Disclosure
from data.demo.generate import RECORDED_MODEL, REPLIES
from data.errors import ConfigError, InputError
from data.randomness import DEMO_KEY, release_key
from data.snapshot.release import DEMO_DATE, DEMO_NAME, DemoConfig, PrivacyStamp
from flows.plan import _aside
from flows.recipe import Recipe, Runtime, Settings, load_settings
from flows.run import open_run
from flows.source import with_source

DAY = dt.date(2031, 5, 6)


def test_sessions_that_nobody_declared_are_private_and_no_demo(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.touch()
    given = load_settings(
        None, {"runtime": {"sessions": (log,), "out": tmp_path / "out"}}, environment={}
    )
    recipe, _, stamp = with_source(given.recipe, given.runtime)
    assert (recipe.source.disclosure, stamp) == (Disclosure.PRIVATE, PrivacyStamp.MASKED)
    assert "demo" not in (recipe.source.name, *recipe.release.name.split("-"))


def test_the_demo_declares_itself(tmp_path: Path) -> None:
    recipe, _, stamp = with_source(Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path))
    assert (recipe.source.name, recipe.source.disclosure) == ("demo", Disclosure.PUBLIC)
    assert (recipe.release.name, recipe.release.release_date) == (DEMO_NAME, DEMO_DATE)
    assert stamp is PrivacyStamp.GENERATED


def test_recorded_replies_judge_the_demo_unless_a_judge_is_named(tmp_path: Path) -> None:
    def sourced(**model: str) -> tuple[Recipe, Runtime]:
        recipe = Recipe.model_validate({"demo": {"size": 1}, "judging": {"model": model}})
        return with_source(recipe, Runtime(out=tmp_path))[:2]

    recipe, runtime = sourced()
    model = recipe.judging.model
    assert (model.name, model.unrecorded) == (RECORDED_MODEL, "baseline")
    assert (runtime.model_calls.mode, runtime.model_calls.recorded) == (Mode.REPLAY, REPLIES)
    for name in ("", "mine"):
        recipe, runtime = sourced(name=name)
        assert (recipe.judging.model.name, runtime.model_calls.recorded) == (name, None)
    several = {"demo": {"size": 1}, "judging": {"consensus": {"annotators": ["rules", "mine"]}}}
    recipe, runtime, _ = with_source(Recipe.model_validate(several), Runtime(out=tmp_path))
    assert (recipe.judging.model.name, runtime.model_calls.recorded) == ("", None)


def test_the_demo_alone_has_the_published_key(tmp_path: Path) -> None:
    demo = with_source(Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path))
    assert open_run(*demo[:2]).key == DEMO_KEY
    key = tmp_path / "private" / "release.key"
    with pytest.raises(ConfigError, match="the demo's published key"):
        open_run(Recipe(), Runtime(out=tmp_path / "other", key_file=key))
    own = open_run(Recipe(), Runtime(out=tmp_path)).key  # the same output, other material
    assert own == release_key(key) != DEMO_KEY
    assert open_run(*demo[:2]).key == own


@pytest.mark.parametrize("change", ["added", "changed", "linked", "removed", "elsewhere"])
def test_a_demo_that_somebody_changed_is_none(tmp_path: Path, change: str) -> None:
    recipe, runtime = Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path / "out")
    open_run(*with_source(recipe, runtime)[:2])
    demo, mine = tmp_path / "out" / "demo-1-7", tmp_path / "mine.csv"
    mine.write_text("name,salary\nnobody,1\n")
    if change == "added":
        (demo / "files" / "mine.csv").write_bytes(mine.read_bytes())
    elif change == "changed":
        (demo / "tripwires.txt").write_text("another\n")
    elif change == "linked":
        (demo / "files" / "mine.csv").symlink_to(mine)
    elif change == "removed":
        (demo / "truth.json").unlink()
    else:
        demo.replace(tmp_path / "mine")
        (tmp_path / "mine" / "files" / "mine.csv").write_bytes(mine.read_bytes())
        demo.symlink_to(tmp_path / "mine")
    given = with_source(recipe, runtime)
    assert given[2] is PrivacyStamp.MASKED
    assert given[0].judging.model.name == ""
    assert open_run(*given[:2]).key != DEMO_KEY


def test_a_plan_for_other_material_passes_by_the_key_of_the_demo(tmp_path: Path) -> None:
    runtime = Runtime(out=tmp_path / "out")
    open_run(*with_source(Recipe(demo=DemoConfig(size=1)), runtime)[:2])
    (tmp_path / "scratch").mkdir()
    given = _aside(Recipe(), runtime, tmp_path / "scratch" / "out")
    assert open_run(Recipe(), given).key != DEMO_KEY
    assert release_key(tmp_path / "out" / "private" / "release.key", demo=True) == DEMO_KEY


def test_values_that_an_owner_lists_are_not_hidden_by_the_key_of_the_demo(tmp_path: Path) -> None:
    recipe, runtime, _ = with_source(Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path))
    given = runtime.model_copy(update={"private_values": tmp_path / "values.txt"})
    assert open_run(recipe, given).key != DEMO_KEY


@pytest.mark.parametrize("beside", ["sessions", "files", "tables"])
def test_other_material_beside_the_demo_gets_a_key_of_its_own(tmp_path: Path, beside: str) -> None:
    recipe, runtime, _ = with_source(Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path))
    more = {beside: (*getattr(runtime, beside), tmp_path / "mine")}
    assert open_run(recipe, runtime.model_copy(update=more)).key != DEMO_KEY


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "benchmint-demo-2026.01.15"),
        ({"runtime": {"sessions": ("x",)}}, "benchmint-2031.05.06"),
        ({"runtime": {"sec": ("x",)}, "release": {"name": "mine"}}, "mine-2031.05.06"),
        ({"release": {"name": "mine"}}, "mine-2026.01.15"),
    ],
)
def test_a_plan_names_the_snapshot_that_will_be_built(given: dict[str, Any], name: str) -> None:
    assert load_settings(None, given, environment={}).dated(DAY).snapshot_id == name


def test_a_lane_that_does_not_exist_is_refused() -> None:
    shares = {"question": {"high": 0.1}}
    with pytest.raises(ConfigError, match=r"selection\.lane_shares\.question.*one of sessions, "):
        load_settings(None, {"selection": {"lane_shares": shares}}, environment={})
    known = load_settings(None, {"selection": {"lane_shares": {"questions": {}}}}, environment={})
    assert list(known.selection.lane_shares) == ["questions"]


def test_settings_are_the_recipe_and_the_runtime() -> None:
    assert list(Settings.model_fields) == [*Recipe.model_fields, "runtime"]
    given = {"release": {"seed": 3}, "runtime": {"workers": 2}}
    settings = load_settings(None, given, environment={})
    assert settings.recipe.model_dump(exclude_unset=True) == {"release": {"seed": 3}}
    assert settings.recipe.digest() == Recipe.model_validate({"release": {"seed": 3}}).digest()


@pytest.mark.parametrize("lane", ["sessions", "sec", "edinet", "tables"])
def test_real_input_is_dated_by_the_day_unless_configured(lane: str) -> None:
    given = {"runtime": {lane: ("x",)}}
    dated = load_settings(None, given, environment={}).dated(DAY)
    assert dated.recipe.release.release_date == DAY
    assert dated.recipe.model_dump(exclude_unset=True) == {"release": {"release_date": DAY}}
    result = given | {"release": {"release_date": dt.date(2030, 1, 1)}}
    configured = load_settings(None, result, environment={})
    assert configured.dated(DAY).release.release_date == dt.date(2030, 1, 1)
    assert configured.released(DAY).release.release_date == DAY


def test_the_demo_keeps_its_date() -> None:
    settings = load_settings(None, {"runtime": {"files": ("x",)}}, environment={})
    assert settings.dated(DAY) == settings


@pytest.mark.parametrize(
    ("source", "masking", "pictures"),
    [
        ({"disclosure": "public"}, {}, Pictures.PUBLISHED),
        ({"disclosure": "public"}, {"level": "full"}, Pictures.APPROVED),
        ({"disclosure": "public"}, {"documents": {"pictures": "approved"}}, Pictures.APPROVED),
        ({"disclosure": "private"}, {}, Pictures.APPROVED),
        ({"disclosure": "private"}, {"level": "secrets"}, Pictures.APPROVED),
    ],
)
def test_pictures_need_no_approval_where_the_source_is_public(
    source: dict[str, Any], masking: dict[str, Any], pictures: Pictures
) -> None:
    recipe = load_settings(None, {"source": source, "masking": masking}, environment={}).recipe
    assert for_source(recipe.masking, recipe.source.disclosure).documents.pictures is pictures


def test_pictures_of_a_private_source_cannot_be_declared_published() -> None:
    values = {"source": {"disclosure": "private"}}
    masking = {"masking": {"documents": {"pictures": "published"}}}
    with pytest.raises(InputError, match="a source declared public"):
        load_settings(None, {**values, **masking}, environment={}).recipe  # noqa: B018
