"""What a dry run says of a real build: all done, one file changed, one limit changed, never run."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from construction.judging.judge import JudgingConfig
from data.demo import generate
from data.errors import ReleaseError
from data.run_store import RunStore
from flows.configuration import recipe_over
from flows.plan import LANES, PlannedStage, PlanStore, Would, _Walk, plan_build
from flows.plan_reasons import reason
from flows.prefect_adapter import without_prefect
from flows.recipe import Recipe, Runtime
from flows.select_subset import select_subset
from flows.sessions_to_tasks import sessions_to_tasks
from flows.signals_to_mixture import signals_to_mixture

REUSED, RUN, FOLLOW = Would.REUSE, Would.RUN, Would.FOLLOW
AFTER_RECOVER = LANES["sessions"][2:]


def given(folder: Path, out: str = "out") -> tuple[Recipe, Runtime]:
    demo = folder / "demo"
    runtime = Runtime(
        sessions=(demo / "sessions",),
        files=(demo / "files",),
        signals=tuple(sorted((demo / "signals").glob("*.csv"))),
        out=folder / out,
        workers=1,
        quiet=True,
    )
    return recipe_over(demo / "benchmint.toml", Recipe()), runtime


def with_parts(recipe: Recipe, path: str, value: Any) -> Recipe:
    """The recipe with another value at a dotted path."""
    values: Any = value
    for name in reversed(path.split(".")):
        values = {name: values}
    return Recipe.model_validate(merged(recipe.model_dump(exclude_unset=True), values))


def merged(into: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(into)
    for name, value in values.items():
        inner = both.get(name)
        is_deep = isinstance(value, dict) and isinstance(inner, dict)
        both[name] = merged(inner, value) if is_deep and inner else value
    return both


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a demo, and in `out` the stages of a build of it, without a server."""
    folder = tmp_path_factory.mktemp("plan")
    generate(folder / "demo", 6, 7)
    recipe, runtime = given(folder)
    with without_prefect():
        mixture = signals_to_mixture(recipe, runtime)
        pool = sessions_to_tasks(recipe, runtime)
        assert pool is not None
        select_subset(recipe, runtime, pool.candidates, mixture)
    return folder


def tree(folder: Path) -> dict[Path, tuple[int, int]]:
    found = (path for path in folder.rglob("*") if path.exists())
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


def told(plan: list[PlannedStage]) -> dict[str, tuple[Would, str]]:
    return {one.stage: (one.would, one.why) for one in plan}


@pytest.mark.slow
def test_after_a_build_everything_is_there(built: Path) -> None:
    before = tree(built)
    plan = plan_build(*given(built))
    assert tree(built) == before
    assert {one.would for one in plan} == {REUSED}
    folders = {path.name for path in (built / "out" / "private" / "stages").iterdir()}
    assert {one.stage for one in plan} == folders
    assert folders == {*LANES["signals"], *LANES["sessions"], *LANES["selection"]}


@pytest.mark.slow
def test_a_changed_session_is_read_again_and_what_follows_waits(
    built: Path, tmp_path: Path
) -> None:
    recipe, runtime = given(built)
    sessions = tmp_path / "sessions"
    shutil.copytree(runtime.sessions[0], sessions)
    first = sorted(path for path in sessions.rglob("*.jsonl"))[0]
    first.write_bytes(first.read_bytes() + b"\n")
    runtime = runtime.model_copy(update={"sessions": (sessions,)})
    plan = told(plan_build(recipe, runtime))
    n = len([path for path in sessions.rglob("*") if path.is_file()])
    assert plan["signals"] == (REUSED, "")
    assert plan["scan"] == (RUN, f"changed: what it reads (1 of {n})")
    would, why = plan["recover"]
    assert (would, why.startswith("changed: what it reads (1 of ")) == (RUN, True)
    assert {plan[stage] for stage in (*AFTER_RECOVER, "select")} == {(FOLLOW, "")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "stage", "why"),
    [
        (
            "sessions.length.min_user_chars",
            11,
            "recover",
            "changed: [sessions] length.min_user_chars",
        ),
        ("selection.max_tasks", 2, "select", "changed: [selection] max_tasks"),
        ("sessions.network.mode", "check", "network", "addresses have to be probed"),
        (
            "judging.model",
            {"name": "m", "stages": ["self_containment"]},
            "self_containment",
            "the model has not answered all questions",
        ),
    ],
)
def test_one_setting_changed_is_named_where_it_counts(
    built: Path, path: str, value: Any, stage: str, why: str
) -> None:
    recipe, runtime = given(built)
    before = tree(built)
    plan = told(plan_build(with_parts(recipe, path, value), runtime))
    assert tree(built) == before
    stages = list(plan)
    at = stages.index(stage)
    assert plan[stage] == (RUN, why)
    assert {plan[one] for one in stages[:at]} == {(REUSED, "")}
    assert {plan[one] for one in stages[at + 1 :]} <= {(FOLLOW, "")}


@pytest.mark.slow
def test_a_first_build_makes_everything_and_its_plan_nothing(built: Path) -> None:
    plan = told(plan_build(*given(built, "elsewhere")))
    assert not (built / "elsewhere").exists()
    run = {stage for stage, (would, _) in plan.items() if would is RUN}
    assert run == {"signals", "scan", "recover"}
    assert len(plan) == sum(len(LANES[lane]) for lane in ("signals", "sessions", "selection"))
    assert {why for would, why in plan.values() if would is RUN} == {"not made yet"}
    assert {would for would, _ in plan.values()} == {RUN, FOLLOW}


def walk(tmp_path: Path, recipe: Recipe) -> _Walk:
    store = PlanStore(tmp_path / "stages", "v1", tmp_path / "books")
    return _Walk(store, recipe, "key id")


def test_of_several_shards_those_that_are_there_are_counted(tmp_path: Path) -> None:
    done = RunStore(tmp_path / "stages", "v1")
    done.run("recover", done.key("recover", ["a"]), lambda part: None)
    found = walk(tmp_path, Recipe())
    keys = [found.store.key("recover", [name]) for name in ("a", "b", "c")]
    found.lane("sessions", lambda: [found.store.run("recover", k, lambda _: None) for k in keys])
    recover = next(one for one in found.found if one.stage == "recover")
    assert (recover.would, recover.outputs, recover.there) == (RUN, 3, 1)
    assert found.ended
    assert not (tmp_path / "stages" / "recover" / keys[1]).exists()


def test_a_refused_release_is_no_stage_to_run(tmp_path: Path) -> None:
    def refuse() -> None:
        raise ReleaseError("tables refused")

    with pytest.raises(ReleaseError, match="tables refused"):
        walk(tmp_path, Recipe()).lane("tables", refuse)
    asks = Recipe(judging=JudgingConfig.model_validate({"model": {"name": "m"}}))
    with pytest.raises(ReleaseError, match="tables refused"):
        walk(tmp_path, asks).lane("tables", refuse)


def test_reasons_are_in_the_words_of_the_configuration(tmp_path: Path) -> None:
    old = RunStore(tmp_path, "v1")
    old.run("s", old.key("s", Recipe().sessions, "key 1", ["a"]), lambda part: None)
    changed = with_parts(Recipe(), "sessions.length.min_user_chars", 5).sessions
    key = RunStore(tmp_path, "v2").key("s", changed, "key 2", ["a", "b"])
    assert reason(tmp_path, "s", key, "key 2") == (
        "changed: the code, [sessions] length.min_user_chars, the release key, "
        "what it reads (1 of 2)"
    )
    (tmp_path / "t" / "k").mkdir(parents=True)
    assert reason(tmp_path, "t", key, "") == "made by other code"
    assert reason(tmp_path, "u", key, "") == "not made yet"
