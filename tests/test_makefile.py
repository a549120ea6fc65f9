"""`make clean` keeps what was built; `make clean-demo` removes the demo and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPO


def make(target: str, folder: Path) -> int:
    command = ["make", "-f", str(REPO / "Makefile"), target]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def built(folder: Path, snapshot: str, *, demo: bool) -> Path:
    workspace = folder / "workspace"
    (workspace / "private").mkdir(parents=True)
    (workspace / "private" / "release.key").write_text("5a" * 32)
    (workspace / "snapshots" / snapshot).mkdir(parents=True)
    (workspace / "snapshots" / "latest").symlink_to(snapshot)
    if demo:
        (workspace / "demo-60-7").mkdir()
    return workspace


def test_clean_keeps_keys_and_releases(tmp_path: Path) -> None:
    workspace = built(tmp_path, "benchmint-demo-2026.01.15", demo=True)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    assert make("clean", tmp_path) == 0
    assert (workspace / "private" / "release.key").is_file()
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("snapshot", "demo", "goes"),
    [
        ("benchmint-demo-2026.01.15", True, True),
        ("benchmint-demo-2026.01.15", False, False),  # of logs, before sources had to be declared
        ("benchmint-2026.01.15", True, False),
        ("my-benchmark-2026.01.15", True, False),
    ],
)
def test_clean_demo_refuses_what_is_more_than_the_demo(
    snapshot: str, demo: bool, goes: bool, tmp_path: Path
) -> None:
    workspace = built(tmp_path, snapshot, demo=demo)
    assert (make("clean-demo", tmp_path) == 0) is goes
    assert workspace.exists() is not goes
