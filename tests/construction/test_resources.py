"""What holds a sandbox to its limits: cgroups of both versions, else a watchdog."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from construction.sandbox.resources import Limits, enforcer

SMALL = Limits(memory_bytes=128 << 20, processes=32)


def test_without_cgroups_there_is_a_watchdog(tmp_path: Path) -> None:
    assert enforcer(SMALL, tmp_path).name == "watchdog"


def test_cgroups_of_both_versions_get_the_limits(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    new.mkdir()
    (new / "cgroup.controllers").write_text("cpu memory pids")
    assert enforcer(SMALL, new).name == "cgroup v2"
    assert [path.read_text() for path in new.glob("*/memory.max")] == [str(128 << 20)]
    (old / "memory").mkdir(parents=True)
    (old / "pids").mkdir()
    assert enforcer(SMALL, old).name == "cgroup v1"
    assert [path.read_text() for path in old.glob("pids/*/pids.max")] == ["32"]


def test_cgroups_of_killed_runs_are_removed_and_of_running_ones_stay(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    leftover = tmp_path / f"pids/benchmint-{ended.pid}-a"
    running = tmp_path / f"pids/benchmint-{os.getpid()}-b"
    for folder in (leftover, running):
        folder.mkdir(parents=True)
    enforcer(SMALL, tmp_path)
    assert (leftover.exists(), running.exists()) == (False, True)
