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
# Each recipe, and the tests of the project that say what follows from it.
_DOCS = ("tests/flows/test_docs.py",)
RECIPES = {
    "Add a gate": ("tests/flows/test_gates.py", *_DOCS),
    "Add a limit": ("tests/flows/test_gates.py", *_DOCS),
    "Add a stage": _DOCS,
    "Add a session format": tuple(
        f"tests/construction/sessions/readers/test_{name}.py" for name in ("detect", "registry")
    ),
}
EVERY_TIME = "Add a gate"  # the others run with `make test-full`
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
    """`text` with the lines of each hunk as they are after the change."""
    for hunk in hunks:
        lines = hunk.strip("\n").split("\n")
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
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


def test_the_changes_of_every_recipe_fit_the_code(tmp_path: Path) -> None:
    for title in RECIPES:
        for language, text in recipe(title):
            path = text.split("+++ b/", 1)[1].split("\n", 1)[0] if language == "diff" else None
            if path is not None:
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(REPO / path, tmp_path / path)
            else:
                (tmp_path / new_file(text)[0]).parent.mkdir(parents=True, exist_ok=True)
        assert carry_out(title, tmp_path)


def docs_commands() -> list[str]:
    """The modules that `make docs` runs on pages of its own accord."""
    makefile = (REPO / "Makefile").read_text("utf-8").split("\ndocs:", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"-m (flows\S+)$", makefile, re.MULTILINE)


def written_lines(title: str) -> dict[str, int]:
    """By file, how many lines a recipe writes."""
    written = {}
    for language, text in recipe(title):
        if language == "diff":
            added = [line for line in text.split("\n") if re.match(r"\+(?!\+\+)", line)]
            written[text.split("+++ b/", 1)[1].split("\n", 1)[0]] = len(added)
        else:
            name, content = new_file(text)
            written[name] = len(content.splitlines())
    return written


def test_a_gate_is_three_files_of_sixty_lines_together() -> None:
    written = written_lines("Add a gate")
    assert len(written) == 3
    assert sum(written.values()) <= 60


def run(copy: Path, *arguments: str) -> None:
    """Run a module of the copy, which must end well."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("title", "others"),
    [
        pytest.param(title, others, marks=() if title == EVERY_TIME else pytest.mark.full)
        for title, others in RECIPES.items()
    ],
)
def test_a_recipe_works_as_written(title: str, others: tuple[str, ...], tmp_path: Path) -> None:
    for package in _PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPO / package, tmp_path / package, ignore=ignored)
    for name in ("pyproject.toml", "requirements.lock", "README.md", "CONTRIBUTING.md", "Makefile"):
        shutil.copy(REPO / name, tmp_path / name)
    for folder in ("docs", "benchmarks/results"):  # pages of docs link to results
        shutil.copytree(REPO / folder, tmp_path / folder)
    tests = carry_out(title, tmp_path)
    assert tests
    for command in docs_commands():
        run(tmp_path, command)
    run(tmp_path, "pytest", "-q", "-m", "not slow", *tests, *others)
