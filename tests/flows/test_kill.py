"""Killing a build at any moment loses nothing and duplicates nothing (law 6)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.demo import Demo
from tests.flows.command import benchmint, command, environment, sums

pytestmark = [pytest.mark.full, pytest.mark.slow(seconds=200), pytest.mark.timeout(1200)]
# Where something is written when the kill comes, from the first stage to the release.
MOMENTS = (
    "private/stages/signals",
    "private/stages/anonymize-tables",
    "private/stages/masking",
    "private/stages/questions",
    "snapshots",
)


def kill_while_writing(folder: Path, arguments: list[object]) -> None:
    """Start a build, and kill its whole group once it writes into `folder`."""
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )
    try:
        while not any(folder.glob("*")):
            assert process.poll() is None, f"the build ended before it wrote into {folder}"
            time.sleep(0.01)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_build_killed_at_five_points_ends_in_the_same_digest(demo: Demo, tmp_path: Path) -> None:
    """With more workers and the input in another order, neither of which changes a byte."""
    out = tmp_path / "broken"
    arguments = demo.build(out, *reversed(demo.sessions()), "--workers", 3)
    for moment in MOMENTS:
        kill_while_writing(out / moment, arguments)
        assert not (out / "snapshots" / "latest").exists()
    result = benchmint(*arguments)
    assert result.returncode == 0, result.stderr
    assert sums(out) == sums(demo.out)
    snapshots = [path.name for path in (out / "snapshots").iterdir()]
    assert sorted(name for name in snapshots if not name.startswith(".")) == sorted(
        {(demo.out / "snapshots" / "latest").resolve().name, "latest"}
    )
    left_over = list(out.rglob("*.part"))
    assert left_over == []
