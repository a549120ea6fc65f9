"""The recipes of CONTRIBUTING.md, carried out on a scratch copy of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
GUIDE = (REPO / "CONTRIBUTING.md").read_text("utf-8")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PACKAGES = ("flows", "construction", "anonymization", "selection", "data", "tests")


def recipe(title: str) -> list[tuple[str, str]]:
    """The language and text of each block below a heading."""
    section = GUIDE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [(block[1], block[2]) for block in _BLOCK.finditer(section)]


def new_file(text: str) -> tuple[str, str]:
    """The path in the first line of a block, and the rest of it."""
    first, rest = text.split("\n", 1)
    return first.removeprefix("# "), rest


def changed(text: str, hunks: list[str]) -> str:
    """`text` with the added lines of each hunk after (or before) its lines of context."""
    for hunk in hunks:
        lines = hunk.strip("\n").split("\n")
        before = "".join(f"{line[1:]}\n" for line in lines if line.startswith(" "))
        after = "".join(f"{line[1:]}\n" for line in lines)
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def carry_out(title: str, copy: Path) -> list[str]:
    """Do what a recipe says in `copy`; the test files that it makes."""
    tests = []
    for language, text in recipe(title):
        if language == "diff":
            head, *hunks = text.split("@@\n")
            path = copy / head.split("+++ b/", 1)[1].strip()
            path.write_text(changed(path.read_text("utf-8"), hunks), "utf-8")
        else:
            name, content = new_file(text)
            (copy / name).write_text(content, "utf-8")
            tests += [name] if name.startswith("tests/") else []
    return tests


@pytest.mark.slow
@pytest.mark.parametrize("title", ["Add a gate", "Add a limit", "Add a stage"])
def test_a_recipe_works_as_written(title: str, tmp_path: Path) -> None:
    for package in _PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPO / package, tmp_path / package, ignore=ignored)
    for name in ("pyproject.toml", "requirements.lock", "README.md", "CONTRIBUTING.md"):
        shutil.copy(REPO / name, tmp_path / name)
    shutil.copytree(REPO / "docs", tmp_path / "docs")
    tests = carry_out(title, tmp_path)
    assert tests
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
