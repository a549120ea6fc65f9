"""The tutorial, carried out as it is written: it ends at a leaderboard."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from construction.sandbox.box import bubblewrap
from tests.conftest import REPO
from tests.flows.command import environment

PAGE = (REPO / "docs" / "tutorial.md").read_text("utf-8")
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_what_the_tutorial_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (REPO / "docs" / target).is_file(), target
    assert "tests/test_tutorial.py" in PAGE


@pytest.mark.slow(seconds=60)
def test_the_tutorial_ends_at_a_leaderboard(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="needs the extra `evaluate`")
    if bubblewrap() is None:
        pytest.skip("no bubblewrap on this machine: agents cannot be run")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    commands = "set -e\n" + "\n".join(_BLOCK.findall(PAGE))
    done = subprocess.run(
        ["sh", "-c", commands],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (
        "30 tasks in release/snapshots/my-benchmark-2026.12.01 (written, verified)" in done.stdout
    )
    board = pl.read_parquet(tmp_path / "leaderboard/leaderboard.parquet")
    rates = dict(board.select("configuration", "passed").iter_rows())
    assert rates["oracle"] == 1
    assert rates["null"] == 0
    assert 0 < rates["skill-55"] < 1
    groups = dict(board.select("configuration", "tie_group").iter_rows())
    assert groups["oracle"] != groups["null"]
    assert (tmp_path / "leaderboard/leaderboard.html").stat().st_size > 10_000
