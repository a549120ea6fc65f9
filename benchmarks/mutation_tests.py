"""The tests of a mutant: nearest first, each run in a copy of the repository with a time limit.

A test file is the nearer to a module the fewer imports lead from one to the other. Tests marked
`slow` run last, however near they are.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

_SLACK_SECONDS = 60.0  # a step may take this much longer than three times its tests unchanged
_NOTHING_SELECTED = 5  # pytest's exit code where all tests of a step are deselected


class Outcome(StrEnum):
    KILLED = "killed"
    TIMED_OUT = "killed by time"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True)
class Step:
    """Test files that run together, and which of their tests."""

    files: tuple[str, ...]
    mark: str
    seconds: float


def matching_files(patterns: Sequence[str], root: Path) -> list[str]:
    """The Python files of folders, files and patterns, sorted.

    Raises FileNotFoundError for a pattern without a Python file: a module that moved would
    otherwise never be changed again.
    """
    paths: set[Path] = set()
    for pattern in patterns:
        matches = list(root.glob(pattern))
        files = [path for path in matches if path.suffix == ".py"]
        files += [path for folder in matches if folder.is_dir() for path in folder.rglob("*.py")]
        if not files:
            raise FileNotFoundError(f"{pattern}: no Python file matches; correct ROOMS")
        paths.update(files)
    return sorted(path.relative_to(root).as_posix() for path in paths)


@cache
def importers(root: Path) -> dict[str, set[str]]:
    """For each Python file of a repository the files that import it; environments do not count."""
    folders = (path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    paths = (*root.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py")))
    files = {path.relative_to(root).as_posix() for path in paths}
    imported_by: dict[str, set[str]] = {file: set() for file in files}
    for file in files:
        for name in _imported_names(ast.parse((root / file).read_text(encoding="utf-8"))):
            path = name.replace(".", "/")
            for imported in (f"{path}.py", f"{path}/__init__.py"):
                if imported in files:
                    imported_by[imported].add(file)
    return imported_by


def _imported_names(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def import_distances(path: str, imported_by: Mapping[str, set[str]]) -> dict[str, int]:
    """How many imports lead to `path`, for every file from which any do."""
    distances: dict[str, int] = {}
    border, distance = {path}, 0
    while border:
        distances.update(dict.fromkeys(border, distance))
        following = {file for name in border for file in imported_by.get(name, ())}
        border, distance = following - set(distances), distance + 1
    return distances


def room_tests(sources: Sequence[str], patterns: Sequence[str], root: Path) -> list[str]:
    """The test files of a room's patterns, and all that import one of its modules."""
    imported_by = importers(root)
    direct = {file for source in sources for file in imported_by.get(source, ())}
    files = direct | set(matching_files(patterns, root))
    return sorted(file for file in files if Path(file).name.startswith("test_"))


def steps(path: str, seconds: Mapping[str, float], root: Path) -> list[Step]:
    """In which steps a mutant of `path` is tried with the tests of its room.

    `seconds`: how long each test file of the room takes on unchanged code.
    """
    distances = import_distances(path, importers(root))
    far = len(distances)
    files = sorted(seconds, key=lambda file: (distances.get(file, far), file))
    nearest = distances.get(files[0], far)
    near = tuple(file for file in files if distances.get(file, far) == nearest)
    rest = tuple(file for file in files if file not in near)
    parts = ((near, "not slow"), (rest, "not slow"), (tuple(files), "slow"))
    return [
        Step(part, mark, _SLACK_SECONDS + 3 * sum(seconds[file] for file in part))
        for part, mark in parts
        if part
    ]


def scratch_copy(repository: Path, folder: Path) -> Path:
    """A copy of all that git knows of a work tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (repository / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, folder / name)
    return folder


def run_tests(
    root: Path, files: Sequence[str], seconds: float, options: Sequence[str] = ()
) -> tuple[Outcome, str]:
    """Run test files in the copy until the first failure, and name the test that failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", *options, *files]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["HYPOTHESIS_STORAGE_DIRECTORY"] = str(root / ".hypothesis")
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return Outcome.TIMED_OUT, ""
    if process.returncode in (0, _NOTHING_SELECTED):
        return Outcome.SURVIVED, ""
    lines = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return Outcome.KILLED, lines[0].split()[1] if lines else "import"


def seconds_by_file(root: Path, room: str, files: Sequence[str]) -> dict[str, float]:
    """How long each test file takes on the code as it is. Raises SystemExit if one fails."""
    times = root / "test_times.xml"
    outcome, by = run_tests(root, files, 3600, [f"--junitxml={times}"])
    if outcome is not Outcome.SURVIVED:
        raise SystemExit(f"the tests of {room} fail on the code as it is: {by or 'no end'}")
    seconds = dict.fromkeys(files, 0.0)
    for case in ElementTree.parse(times).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        if file in seconds:
            seconds[file] += float(case.get("time", 0))
    return seconds
