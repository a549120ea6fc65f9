"""What leaves for other runners: an image with the environment, the solution, rows of SWE-bench."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from construction.repositories.candidates import ARCHIVE, PATCH, harbor_files, swe_bench_lines
from construction.repositories.contracts import ProofOfTests
from data.canonical import canonical_json, file_digest
from data.contracts import Candidate
from data.errors import InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks
from tests.construction.repositories.test_proof import World, candidate_in, reference_of

_PRIVATE = ("checks", "steps", "rubric")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def released(world: World, folder: Path, candidate: Candidate | None = None) -> ReleasedTasks:
    """A release of the invented task, as far as exports read it."""
    plan = replace(world.suite.plan, fail_to_pass=("a",), pass_to_pass=("b",))
    candidate = candidate or candidate_in(world, ProofOfTests(world.task.task, "abc", plan))
    whole = candidate.model_dump(mode="json")
    private = folder / "private"
    (private / "r-1").mkdir(parents=True)
    for name in _PRIVATE:
        (private / f"r-1/{name}.json").write_bytes(canonical_json({name: whole[name]}))
    (private / "r-1/provenance.json").write_bytes(
        canonical_json({"provenance": whole["provenance"]})
    )
    (folder / ARCHIVE).write_bytes(world.tar)
    sums = {f"r-1/{name}.json": file_digest(private / f"r-1/{name}.json") for name in _PRIVATE}
    task = ReleasedTask(candidate, candidate.prompt, {ARCHIVE: folder / ARCHIVE})
    return ReleasedTasks("demo-1", "0" * 64, {"r-1": task}, folder / "tables", private, sums)


def test_harbor_gets_an_image_with_what_was_built_and_the_solution(
    world: World, tmp_path: Path
) -> None:
    files = harbor_files(released(world, tmp_path))["r-1"]
    assert files["environment/requirements.txt"] == "pytest==9\n"
    assert "COPY inputs/ inputs/" in files["environment/Dockerfile"]
    assert files[f"solution/{PATCH}"].encode() == reference_of(world)
    assert files["solution/solve.sh"].startswith("#!/bin/sh\n")


def test_rows_of_swe_bench_hold_patches_that_git_applies(world: World, tmp_path: Path) -> None:
    (line,) = swe_bench_lines(released(world, tmp_path))
    row = orjson.loads(line)
    assert (row["repo"], row["base_commit"]) == ("tally", world.task.base.commit)
    assert (row["FAIL_TO_PASS"], row["PASS_TO_PASS"]) == (["a"], ["b"])
    tree = tmp_path / "tree"
    tree.mkdir()
    subprocess.run(["tar", "xf", str(tmp_path / ARCHIVE), "-C", str(tree)], check=True)
    for name in ("patch", "test_patch"):
        (tmp_path / name).write_text(row[name])
        subprocess.run(["git", "apply", str(tmp_path / name)], cwd=tree, check=True)
    assert "sums.mean" in (tree / "tests/test_sums.py").read_text()
    assert "def mean" in (tree / "tally/sums.py").read_text()


def test_a_release_without_such_tasks_has_no_rows(world: World, tmp_path: Path) -> None:
    empty = replace(released(world, tmp_path), tasks={})
    with pytest.raises(InputError, match="no repository tasks"):
        list(swe_bench_lines(empty))
