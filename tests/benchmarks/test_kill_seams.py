"""A part of the kills at the seams; `python -m benchmarks.kill_seams` has all of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.kill_seams_work import SEAMS
from tests.conftest import REPO

KILLS = 3


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize("seam", [seam.name for seam in SEAMS])
def test_a_kill_leaves_the_old_state_or_the_new_and_the_work_can_be_repeated(seam: str) -> None:
    """In a process of its own: it forks, and pytest's process has threads."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill_seams", "--kills", str(KILLS), "--seam", seam],
        cwd=REPO,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(f"| {KILLS} | 0 | 0 |")
