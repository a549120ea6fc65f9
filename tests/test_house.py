"""The rules of the house: who imports whom, how large files and functions are, and names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.sources import source_of

ALLOWED = {
    "data": {"data"},
    "construction": {"construction", "data"},
    "anonymization": {"anonymization", "data"},
    "selection": {"selection", "data"},
    "flows": {"flows", "construction", "anonymization", "selection", "data", "prefect"},
}
WATCHED = {*ALLOWED, "prefect"}
LONGEST_FILE, LONGEST_FUNCTION = 600, 40  # lines
# The one reader of answers, which the questions of `statements` use too, though `grading` uses the
# data tools of `statements`: it imports nothing of grading but what a task is.
OWN_ROOM = "construction.grading.answers"
# Most are commands, whose signature is a table: the options of the command. Others fill a record or
# a page, a line for each of its fields.
LONGER_FUNCTIONS = {
    "selection/evaluation/leaderboard_page.py:_record",
    "selection/evaluation/leaderboard_page.py:_leaderboard_html",
    "construction/sessions/package.py:_package",
    "flows/commands/build.py:build_command",
    "flows/commands/lanes.py:questions_command",
    "flows/commands/lanes.py:signals_command",
    "flows/commands/lanes.py:select_command",
    "flows/commands/lanes.py:workflows_command",
    "flows/commands/releases.py:purge_command",
    "flows/commands/audit.py:audit_command",
    "flows/commands/releases.py:errata_command",
    "flows/commands/evaluate.py:evaluate_command",
    "flows/commands/evaluate.py:grade_command",
    "flows/commands/agents.py:judge_command",
    "flows/commands/agents.py:pilot_command",
    "flows/commands/agents.py:skills_command",
    "flows/commands/evaluate.py:check_command",
    "flows/deployed.py:build_snapshot",
}
# Names that say nothing about what they hold. A comprehension may use them for its loop variable.
VAGUE = {"told", "found", "one", "place", "asked", "left", "books"}
# The word of `[roles]`: a place on a map.
CLEAR = {"construction/analytics/environment/declaration.py: place"}
_VAGUE_WORD = re.compile(rf"\b_*(?:{'|'.join(sorted(VAGUE))})_*\b")
_STRING_OR_COMMENT = re.compile(r'''"""[\s\S]*?"""|"[^"\n]*"|#.*''')
CLEAR_ROOMS = (*ALLOWED, "notebooks", "benchmarks", "tests")


def modules(folder: str) -> list[Path]:
    paths = sorted((REPO / folder).rglob("*.py"))
    assert paths, f"no modules in {folder}"
    return paths


def name_of(path: Path) -> str:
    """The dotted name of a module or package."""
    return ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    for node in source_of(path).imports:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        else:
            assert node.level == 0, f"{path}: relative import"
            yield (node.module or "").split(".")[0]


@cache
def import_graph() -> dict[str, set[str]]:
    """Module -> the modules of this project that it imports, at the top or inside a function."""
    paths = {name_of(path): path for package in ALLOWED for path in modules(package)}
    graph: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in source_of(path).imports:
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & paths.keys()
            elif node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    graph[name] |= {whole if whole in paths else node.module} & paths.keys()
        graph[name].discard(name)
    return graph


def package_of(module: str, depth: int) -> str:
    """The folder that holds a module, at most `depth` levels below the project.

    A room that stands for itself is one at any depth but the first.
    """
    if depth > 1 and module.startswith(OWN_ROOM):
        return OWN_ROOM
    names = module.split(".")[:depth]
    while not (REPO / Path(*names)).is_dir():
        names.pop()
    return ".".join(names)


def packages_both_ways(graph: dict[str, set[str]], depth: int) -> set[tuple[str, str]]:
    """Pairs of packages that import each other; a package and one inside it are no pair."""
    arrows = {
        (package_of(module, depth), package_of(target, depth))
        for module, targets in graph.items()
        for target in targets
    }
    return {
        (first, second)
        for first, second in arrows
        if first < second and (second, first) in arrows and not second.startswith(f"{first}.")
    }


def vague_names(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each variable, parameter, function, class or import alias in VAGUE."""
    if not _VAGUE_WORD.search(_STRING_OR_COMMENT.sub("", source)):
        return  # most modules: to walk a whole tree takes long
    tree = ast.parse(source)
    loops = [node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    allowed = {id(node) for target in loops for node in ast.walk(target)}
    for node in ast.walk(tree):
        name: str | None = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = None if id(node) in allowed else node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.alias):
            name = node.asname
        if name is not None and name.strip("_") in VAGUE:
            yield getattr(node, "lineno", 0), name


def test_arrows_point_one_way() -> None:
    for package in ALLOWED:
        for path in modules(package):
            strays = (set(imports(path)) & WATCHED) - ALLOWED[package]
            assert not strays, f"{path.relative_to(REPO)} imports {sorted(strays)}"


# Python before 3.11.5 matches `(…)++` wrongly where the group can match in several ways
# (github.com/python/cpython/issues/106052); an atomic group, `(?>(…)+)`, it matches rightly.
_POSSESSIVE_GROUP = re.compile(r"(?<!\()\)(?:[+*?]|\{+\d*,?\d*\}+)\+|\}[*+?]\+")


def test_no_pattern_repeats_a_group_possessively() -> None:
    repeated = [
        f"{path.relative_to(REPO).as_posix()}:{number}"
        for package in ALLOWED
        for path in modules(package)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert repeated == []


def test_the_runner_is_imported_where_agents_are_run_and_nowhere_else() -> None:
    importers = {
        path.relative_to(REPO).parts[:2]
        for package in ALLOWED
        for path in modules(package)
        if "inspect_ai" in set(imports(path))
    }
    assert importers == {("flows", "evaluate")}


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_no_two_packages_import_each_other() -> None:
    both = {depth: packages_both_ways(import_graph(), depth) for depth in (1, 2, 3)}
    assert both == {1: set(), 2: set(), 3: set()}


def test_packages_that_import_each_other_are_seen_at_their_depth() -> None:
    graph = {
        "construction.judging.judge": {"construction.sessions.scan"},
        "construction.sessions.shard": {"construction.judging.signals", "data.errors"},
        "data.errors": set[str](),
    }
    pair = ("construction.judging", "construction.sessions")
    assert packages_both_ways(graph, 2) == {pair}
    assert packages_both_ways(graph, 1) == set()


def test_files_stay_small() -> None:
    sizes = {
        path.relative_to(REPO).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for room in CLEAR_ROOMS
        for path in modules(room)
    }
    longer = {name: lines for name, lines in sizes.items() if lines > LONGEST_FILE}
    assert longer == {}


def test_functions_stay_small() -> None:
    lengths = {
        f"{path.relative_to(REPO).as_posix()}:{name}": lines
        for package in ALLOWED
        for path in modules(package)
        for name, lines in source_of(path).functions
    }
    longer = {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION}
    assert {name: n for name, n in longer.items() if name not in LONGER_FUNCTIONS} == {}


def test_names_say_what_they_hold() -> None:
    vague = [
        f"{path.relative_to(REPO).as_posix()}:{line}: {name}"
        for room in CLEAR_ROOMS
        for path in modules(room)
        for line, name in [*vague_names(path.read_text(encoding="utf-8")), (0, path.stem)]
        if name.strip("_") in VAGUE and f"{path.relative_to(REPO).as_posix()}: {name}" not in CLEAR
    ]
    assert vague == []


def test_a_vague_name_is_seen_wherever_it_is_stored() -> None:
    source = """
import json as told
def found(one: int) -> int:
    place = [asked for asked in (one,)]
    return _left(place)
class Record:
    books: int
"""
    names = {name for _, name in vague_names(source)}
    assert names == {"told", "found", "one", "place", "books"}


def test_packages_are_found_beside_a_foreign_data_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.csv").write_text("a,b\n")
    printed = subprocess.run(
        [sys.executable, "-c", "import data, data.canonical; print(data.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(printed.stdout.strip()) == REPO / "data" / "__init__.py"


_FILE = re.compile(r"`([\w./-]+\.(?:py|toml|md|csv))`")


def test_files_that_a_room_names_are_there() -> None:
    """In READMEs of rooms and docstrings of packages; a path is from the room or the project."""
    missing = [
        f"{path.relative_to(REPO).as_posix()}: {name}"
        for room in CLEAR_ROOMS
        for path in [*(REPO / room).rglob("README.md"), *(REPO / room).rglob("__init__.py")]
        for name in _FILE.findall(path.read_text(encoding="utf-8"))
        if not (REPO / name).exists() and not list(path.parent.rglob(Path(name).name))
    ]
    assert missing == []
