"""The type checker reports what it is there for, and no comment silences it in vain."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import REPO

FOLDERS = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]
_ERROR = re.compile(r"^(\S+):(\d+): error: .*\[([\w-]+)\]$", re.MULTILINE)
_SILENCED = re.compile(r" +# type: ignore\[([\w, -]+)\]")
PLANTED = """\
import json
from pydantic import BaseModel, Field

class Share(BaseModel):
    low: float
    high: float = Field(default=1.0, le=1)

def untyped(low, high):  # no-untyped-def
    return low

def loaded(text: str) -> int:
    return json.loads(text)  # no-any-return

def optional(low: float = None) -> list:  # assignment, type-arg
    return [low]

def length(text: str | None) -> int:
    return len(text)  # arg-type

Share(low="0.1")  # arg-type
Share(high=1)  # call-arg
Share(low=0.1, hihg=1)  # call-arg
Share(low=0.1).lwo  # attr-defined
untyped(1, 2)  # no-untyped-call
"""

Errors = dict[tuple[str, int], set[str]]


def errors(folder: Path, *files: str) -> Errors:
    """The codes of what is reported in a folder, by file and line."""
    checker = str(Path(sys.executable).with_name("zuban"))
    call = [checker, "mypy", "--python-executable", sys.executable, *files]
    codes: Errors = {}
    reported = subprocess.run(call, cwd=folder, capture_output=True, text=True).stdout
    for path, line, code in _ERROR.findall(reported):
        codes.setdefault((path, int(line)), set()).add(code)
    return codes


def noted(path: str, text: str, note: re.Pattern[str]) -> Errors:
    """The codes that a file's comments name, by file and line."""
    lines = enumerate(text.splitlines(), 1)
    matches = ((number, note.search(line)) for number, line in lines)
    return {(path, number): set(re.split(", ?", match[1])) for number, match in matches if match}


def test_the_checker_is_strict(tmp_path: Path) -> None:
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    (tmp_path / "planted.py").write_text(PLANTED)
    assert errors(tmp_path, "planted.py") == noted("planted.py", PLANTED, re.compile(r"  # (.+)"))


@pytest.mark.full
def test_each_comment_that_silences_the_checker_is_needed(tmp_path: Path) -> None:
    """zuban reports none that is needless, so all are taken out of a copy."""
    shutil.copy(REPO / "pyproject.toml", tmp_path)
    silenced: Errors = {}
    for folder in FOLDERS:
        shutil.copytree(REPO / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc"))
        for path in (tmp_path / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            silenced |= noted(path.relative_to(tmp_path).as_posix(), text, _SILENCED)
            path.write_text(_SILENCED.sub("", text), "utf-8")
    assert errors(tmp_path) == silenced
