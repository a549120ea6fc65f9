"""Commands in messages run as they are printed, in an active environment or not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from data.errors import program, runnable


def environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = root / "a b" / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "benchmint"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return folder


def test_the_name_is_enough_where_a_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = environment(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", str(folder))
    assert runnable("Run `benchmint verify` on it.") == "Run `benchmint verify` on it."


def test_else_it_is_the_path_from_here_or_the_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = environment(tmp_path, monkeypatch)
    other = tmp_path / "other"
    other.mkdir()
    (other / "benchmint").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))  # of another environment
    monkeypatch.chdir(tmp_path / "a b")
    assert program() == ".venv/bin/benchmint"
    assert runnable("Run `benchmint verify`.") == "Run `.venv/bin/benchmint verify`."
    monkeypatch.chdir(other)
    assert program() == f"'{folder / 'benchmint'}'"
    other.joinpath("benchmint").unlink()
    other.rmdir()  # a message must not fail where the folder of the run was deleted
    assert program() == f"'{folder / 'benchmint'}'"
