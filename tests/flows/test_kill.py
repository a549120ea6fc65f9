"""Killing a build at any moment loses nothing and duplicates nothing (law 6)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from data.demo import generate
from tests.flows.command import benchmint, command, environment, key_file, sums

pytestmark = pytest.mark.slow
KILLS = 10


def arguments(workspace: Path, out: Path, key: Path) -> list[object]:
    return [
        "build",
        workspace / "sessions",
        "--files",
        workspace / "files",
        "--config",
        workspace / "benchmint.toml",
        "--key",
        key,
        "--out",
        out,
        "--quiet",
    ]


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the flow itself has begun; Prefect's start is not what is tested."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.02)


def kill_after(seconds: float, workspace: Path, out: Path, key: Path) -> bool:
    """Start a build, kill its whole group `seconds` after the flow began; was it killed?"""
    lock = out / "private" / "build.lock"
    lock.unlink(missing_ok=True)
    process = subprocess.Popen(
        command(*arguments(workspace, out, key)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    wait_for(lock, process)
    time.sleep(seconds)
    killed = process.poll() is None
    if killed:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return killed


def test_a_build_killed_ten_times_ends_in_the_same_digest(tmp_path: Path) -> None:
    workspace = tmp_path / "demo"
    generate(workspace, 60, 11)
    key = key_file(tmp_path)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    began = time.perf_counter()
    told = benchmint(*arguments(workspace, whole, key))
    assert told.returncode == 0, told.stderr
    longest = min(6.0, time.perf_counter() - began)
    moments = random.Random(20260115)
    killed = sum(
        kill_after(moments.uniform(0, longest), workspace, broken, key) for _ in range(KILLS)
    )
    assert killed >= KILLS // 2, "the moments must fall into the build"
    told = benchmint(*arguments(workspace, broken, key))
    assert told.returncode == 0, told.stderr
    assert sums(broken) == sums(whole)
    snapshots = [path.name for path in (broken / "snapshots").iterdir()]
    assert sorted(name for name in snapshots if not name.startswith(".")) == sorted(
        {(whole / "snapshots" / "latest").resolve().name, "latest"}
    )
    left_over = list(broken.rglob("*.part"))
    assert left_over == []
