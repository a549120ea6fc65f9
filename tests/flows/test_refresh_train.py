"""Unattended: two dated captures of a registry become two releases; killed five times, the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.workflows.documents.scenario import scenarios
from data.releases.diff import changes_of
from data.releases.tasks import read_tasks
from data.schemas import ATTEMPTS, SCORE_PARTS, SCORES, TOOL_CALLS
from tests.conftest import REPO
from tests.construction.signals.collect.fake_registry import FakeRegistry
from tests.flows.command import benchmint, environment, key_file
from tests.flows.test_leaderboard_command import complete
from tests.flows.test_refresh import APRIL, MARCH, NEW, OLD
from tests.selection.evaluation.test_board import tables

pytestmark = [pytest.mark.full, pytest.mark.slow(seconds=300), pytest.mark.timeout(1800)]
SMALL = [name for name, each in scenarios().items() if each.split == "smoke"]
RUN = (
    "import sys, orjson\n"
    "from flows.deployed import refresh_and_build\n"
    "from flows.prefect_adapter import without_prefect\n"
    "with without_prefect():\n"
    "    print(refresh_and_build.fn(**orjson.loads(sys.argv[1])).message)\n"
)
# What is there when the kill comes, from the pages of the registry to the release.
MOMENTS = {
    MARCH: ("captures/.registry-*.journal", "private/stages/signals/*", "staging/*"),
    APRIL: ("private/stages/workflows/*", "snapshots/*-2026.04.01"),
}


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    with FakeRegistry(OLD) as served:
        served.before = lambda number: time.sleep(0.2)  # so that a kill finds it at work
        yield served


def started(registry: FakeRegistry, out: Path, key: Path, date: str) -> subprocess.Popen[str]:
    """The deployed flow as a process: captured, weighed, built and verified."""
    limits = {"requests_per_second": 100, "page_size": 2}
    given = {
        "out": str(out),
        "registry": registry.url,
        "date": date,
        "overrides": {
            "workflows": {"drafts": 40, "per_generator": 4, "generators": SMALL},
            "runtime": {"registry": limits, "key_file": str(key), "workers": 1},
        },
    }
    return subprocess.Popen(
        [sys.executable, "-c", RUN, orjson.dumps(given).decode()],
        cwd=REPO, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def run(registry: FakeRegistry, out: Path, key: Path, date: str) -> str:
    process = started(registry, out, key, date)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 0, said
    return said


def kill_at(registry: FakeRegistry, out: Path, key: Path, date: str, moment: str) -> None:
    """Start the flow, and kill its group once something is there that was not."""
    before = set(out.glob(moment))
    process = started(registry, out, key, date)
    try:
        while not set(out.glob(moment)) - before:
            assert process.poll() is None, f"it ended before {moment}: {process.communicate()[0]}"
            time.sleep(0.01)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def sums_of(out: Path) -> Mapping[str, bytes]:
    return {
        f"{path.parent.parent.name}/{path.parent.name}": path.read_bytes()
        for path in sorted((out / "snapshots").glob("benchmint-*/*/SHA256SUMS"))
    }


def attempts_at(releases: list[Path], folder: Path) -> None:
    """Graded attempts of three agents at both releases."""
    for number, path in enumerate(releases):
        release = read_tasks(path)
        named = {f"t{at:03d}": task for at, task in enumerate(sorted(release.tasks))}
        attempts, scores = (
            table.filter(pl.col("task_id").is_in(list(named))).with_columns(
                pl.col("task_id").replace(named), attempt_id=pl.col("attempt_id") + f"-{number}"
            )
            for table in tables()
        )
        nothing = pl.lit(None, dtype=pl.Float64)
        scores = scores.with_columns(
            **dict.fromkeys(("ee", "gpr_direct", "gpr_inferred", "tpe"), nothing)
        )
        attempts = attempts.with_columns(release_digest=pl.lit(release.digest))
        own = folder / str(number) / "scores"
        own.mkdir(parents=True)
        frames = ((ATTEMPTS, attempts), (SCORES, scores), (SCORE_PARTS, pl.DataFrame()),
                  (TOOL_CALLS, pl.DataFrame()))  # fmt: skip
        for table, frame in frames:
            complete(frame, table).write_parquet(own / f"{table.name}.parquet")


def test_two_captures_become_two_linked_releases_whatever_is_killed(
    registry: FakeRegistry, tmp_path: Path
) -> None:
    key, whole, broken = key_file(tmp_path), tmp_path / "whole", tmp_path / "broken"
    for date, skills in ((MARCH, OLD), (APRIL, NEW)):
        registry.skills = skills
        assert "verified" in run(registry, whole, key, date)
        for moment in MOMENTS[date]:
            kill_at(registry, broken, key, date, moment)
        assert "verified" in run(registry, broken, key, date)
    assert sums_of(whole) == sums_of(broken)
    assert len(sums_of(whole)) == 4
    assert not [path for path in broken.rglob("*.part") if "staging" not in path.parts]
    releases = sorted((whole / "snapshots").glob("benchmint-*"))
    for path in releases:
        assert benchmint("verify", path).returncode == 0
    assert "own/shelf/till-watcher" in (whole / "drift.html").read_text()
    changes = changes_of(*releases)
    assert not changes.diff.reused and not changes.diff.renamed
    assert changes.new and all("asked for" in fate.why for fate in changes.new)
    check_page(releases, whole, tmp_path)


def check_page(releases: list[Path], out: Path, folder: Path) -> None:
    """The page of both releases, with the agents that ran both on one scale."""
    attempts_at(releases, folder / "attempts")
    page = folder / "changes.html"
    named: list[Any] = [path.name for path in releases]
    done = benchmint(
        "release", "diff", *named, "--out", out, "--page", page, "--attempts", folder / "attempts"
    )
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "A linked score is the share" in text
    assert text.count('<th scope="row">strong</th>') == 2
