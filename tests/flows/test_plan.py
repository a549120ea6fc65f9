"""What a dry run says of a real build: all done, one file changed, one limit changed, never run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from construction.judging.model.asking import UnansweredError
from construction.sessions.scan import scanned_digests
from construction.sessions.stages import scan_given
from data.canonical import file_digest
from data.run_store import RunStore, StageKey, change_reason
from data.stages import Lane, PlannedStage, PlanWalk, Results, Shard, Stage, Would, run_stage
from flows.build_snapshot import PIPELINE
from flows.plan import kept_build, plan_build
from flows.recipe import Recipe, Runtime, load_settings
from flows.run import Run, Work, open_run
from tests.demo import Demo

REUSED, RUN, FOLLOW = Would.REUSE, Would.RUN, Would.FOLLOW
# Stages that apply to none of the demo's lanes: they need annotators, a model or repositories.
UNUSED = (
    "consensus", "annotation", "divide", "checks",
    "repository_tasks", "repository_tests", "repository_requests",
)  # fmt: skip
READS = {
    stage.name: stage.reads
    for lane in PIPELINE
    for stage in lane.stages
    if stage.name not in UNUSED
}


def given(demo: Demo, out: Path | None = None) -> tuple[Recipe, Runtime]:
    settings = load_settings(demo.config, {"runtime": {"out": out or demo.out, "workers": 1}})
    return settings.recipe, settings.runtime


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


def downstream(changed: str) -> set[str]:
    """The stages that read a stage, or a stage that reads it."""
    followers: set[str] = set()
    for name, reads in READS.items():
        if {changed, *followers}.intersection(reads):
            followers.add(name)
    return followers


def waiting(changed: str, stages: Iterable[str]) -> dict[str, tuple[Would, str]]:
    """The plan of these stages if one of them changed: what depends on it waits, others do not."""
    after = downstream(changed)
    return {name: (FOLLOW if name in after else REUSED, "") for name in stages}


def tree(folder: Path) -> dict[Path, tuple[int, int]]:
    actual = (path for path in folder.rglob("*") if path.exists())
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in actual}


def result(plan: list[PlannedStage]) -> dict[str, tuple[Would, str]]:
    return {one.stage: (one.would, one.why) for one in plan}


@pytest.mark.slow(seconds=1)
def test_after_a_build_everything_is_there(demo: Demo) -> None:
    before = tree(demo.out)
    plan = plan_build(*given(demo)).stages
    assert tree(demo.out) == before
    assert {one.would for one in plan} == {REUSED}
    folders = {path.name for path in (demo.out / "private" / "stages").iterdir()}
    assert {one.stage for one in plan} == folders
    assert folders == READS.keys()


def test_a_kept_build_is_all_there_or_none(demo: Demo, tmp_path: Path) -> None:
    out = Path(shutil.copytree(demo.out, tmp_path / "out", symlinks=True))
    recipe, runtime = given(demo, out)
    kept = kept_build(recipe, runtime)
    assert kept is not None
    assert not kept.snapshot.written
    again = runtime.model_copy(update={"revision": True})
    assert kept_build(recipe, again) is None  # it looks at the machine anew
    assert kept_build(with_parts(recipe, "selection.max_tasks", 2), runtime) is None
    record = out / "private" / "published.json"
    known = record.read_bytes()
    record.unlink()
    assert kept_build(recipe, runtime) is None
    record.write_bytes(known)
    assert kept_build(recipe, runtime) is not None
    output = next((out / "private" / "stages" / "select").glob("*/*.parquet"))
    output.write_bytes(output.read_bytes() + b" ")
    assert kept_build(recipe, runtime) is None
    shutil.rmtree(output.parent)
    assert kept_build(recipe, runtime) is None


@pytest.mark.slow(seconds=1)
def test_a_changed_session_is_read_again_and_what_follows_waits(demo: Demo, tmp_path: Path) -> None:
    recipe, runtime = given(demo)
    shutil.copytree(demo.folder / "sessions", tmp_path / "sessions", symlinks=True)
    sessions = [tmp_path / "sessions" / folder.name for folder in runtime.sessions]
    files = [path for folder in sessions for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = Counter(map(file_digest, files))
    first = next(path for path in files if contents[file_digest(path)] == 1)
    first.write_bytes(first.read_bytes() + b"\n")
    runtime = runtime.model_copy(update={"sessions": tuple(sessions)})
    plan = result(plan_build(recipe, runtime).stages)
    read = len(scanned_digests(scan_given(runtime.sessions, recipe.source.format)))
    assert plan["scan"] == (
        RUN,
        f"changed: input files (1 of {read}), what it reads (1 of {len(files)})",
    )
    would, why = plan["recover"]
    assert (would, why.startswith("changed: what it reads (1 of ")) == (RUN, True)
    after = {name: value for name, value in plan.items() if name not in ("scan", "recover")}
    assert after == waiting("recover", after)
    assert after["signals"] == (REUSED, "")


@pytest.mark.slow(seconds=1)
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
        ("sessions.network.mode", "check", "network", "URLs have to be probed"),
        (
            "judging.model",
            {"name": "m", "stages": ["screen"]},
            "masking",  # masks more where a model is asked
            "changed: what it reads (1 of 10)",
        ),
    ],
)
def test_one_setting_changed_is_named_where_it_counts(
    demo: Demo, path: str, value: Any, stage: str, why: str
) -> None:
    recipe, runtime = given(demo)
    before = tree(demo.out)
    plan = result(plan_build(with_parts(recipe, path, value), runtime).stages)
    assert tree(demo.out) == before
    assert plan == waiting(stage, READS) | {stage: (RUN, why)}


@pytest.mark.slow(seconds=1)
def test_a_first_build_makes_everything_and_its_plan_nothing(demo: Demo, tmp_path: Path) -> None:
    plan = result(plan_build(*given(demo, tmp_path / "elsewhere")).stages)
    assert not (tmp_path / "elsewhere").exists()
    run = {stage for stage, (would, _) in plan.items() if would is RUN}
    # A dry run scans aside, and so sees as far as the stage that reads the scan alone.
    assert run == {name for name, reads in READS.items() if not reads} | {"recover"}
    assert list(plan) == list(READS)
    assert {why for would, why in plan.values() if would is RUN} == {"not made yet"}
    assert {would for would, _ in plan.values()} == {RUN, FOLLOW}


def test_of_several_shards_those_that_are_there_are_counted(tmp_path: Path) -> None:
    run = open_run(Recipe(), Runtime(out=tmp_path, workers=1, quiet=True))

    def shards(names: str) -> Stage[Run]:
        def list_shards(_work: Work) -> list[Shard]:
            return [Shard(name, write_nothing) for name in names]

        return Stage(name="parts", meaning="", units=(), shards=list_shards)

    run_stage(run, shards("a"), Results())
    walk = PlanWalk(run, RunStore(tmp_path / "aside", "v1"))
    lane = Lane("lane", "", (shards("abc"), follower()))
    for stage in lane.stages:
        walk.plan(lane, stage)
    parts, after = walk.planned
    assert (parts.would, parts.outputs, parts.present) == (RUN, 3, 1)
    assert after.would is FOLLOW


def test_questions_of_a_stage_that_asks_are_counted_and_not_asked(tmp_path: Path) -> None:
    counted: list[str] = []

    def compute(_work: Work, _out: Path) -> None:
        counted.append("asked about")
        raise UnansweredError("no answer")

    run = open_run(Recipe(), Runtime(out=tmp_path, workers=1, quiet=True))
    asks: Stage[Run] = Stage(
        name="parts", meaning="", units=(), compute=compute, asks=lambda _: True
    )
    walk = PlanWalk(run, RunStore(tmp_path / "aside", "v1"), {UnansweredError: "asks"})
    lane = Lane("lane", "", (asks, follower()))
    for stage in lane.stages:
        walk.plan(lane, stage)
    assert counted == ["asked about"]
    assert [one.would for one in walk.planned] == [RUN, FOLLOW]


def follower() -> Stage[Run]:
    return Stage(name="after", meaning="", units=(), reads=("parts",), compute=lambda *_: None)


def write_nothing(_out: Path) -> None:
    """A shard without tables."""


def test_reasons_are_in_the_words_of_the_configuration(tmp_path: Path) -> None:
    def key_of(version: str, recipe: Recipe, release_key: str, files: list[str]) -> StageKey:
        settings = {"sessions.length": recipe.sessions.length, "release key": release_key}
        return RunStore(tmp_path, version).key("s", **settings, **{"input files": files})

    RunStore(tmp_path, "v1").run("s", key_of("v1", Recipe(), "key 1", ["a"]), write_nothing)
    changed = with_parts(Recipe(), "sessions.length.min_user_chars", 5)
    key = key_of("v2", changed, "key 2", ["a", "b"])
    assert change_reason(tmp_path, "s", key) == (
        "changed: the code, [sessions] length.min_user_chars, the release key, input files (1 of 2)"
    )
    (tmp_path / "t" / "k").mkdir(parents=True)
    assert change_reason(tmp_path, "t", key) == "made by different code"
    assert change_reason(tmp_path, "u", key) == "not made yet"
