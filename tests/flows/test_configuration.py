"""Files that are no configuration, and keys that nobody knows: one line that helps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from data.errors import ConfigError
from flows.recipe import load_settings


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "benchmint.toml"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("[relase]\n", "relase: unknown key; did you mean release?"),
        ("[selection]\nmax_task = 3\n", "selection.max_task: unknown key; did you mean max_tasks?"),
        ("[selection]\nzzz = 3\n", "selection.zzz: unknown key$"),
        ("[selection.lane_shares.questions]\nlo = 0\n", "questions.lo: unknown key$"),
        ("[sessions.length]\nmin_user_chars = -5\n", "min_user_chars: Input should be greater"),
        ("[sessions.recovery]\nthreshold = nan\n", "threshold: Input should be a finite number"),
        (f"a = {'[' * 5000}{']' * 5000}\n", "is nested too deeply"),
        ("name 3\n", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(text: str, result: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=result) as error:
        load_settings(path, environment={})
    assert str(error.value).startswith(f"{path}: ")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path, '[release]\nname = "mine"\n', "utf-8-sig")
    assert load_settings(path, environment={}).release.name == "mine"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ConfigError, match="is not a regular file"):
        load_settings(tmp_path / "pipe.toml", environment={})
