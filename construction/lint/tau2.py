"""Tasks in the form of tau2-bench: a user to play, and what the world must look like afterwards.

A task is `id, user_scenario, evaluation_criteria{actions, communicate_info, nl_assertions,
env_assertions, reward_basis}`. The names of tools are read from `tools.py` of its domain, if the
checkout that holds the tasks holds it too; which of them write is said by its decorators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from construction.lint.findings import Finding, Report, Row, repeated, words_of
from data.canonical import canonical_json

_KEYS = {"id", "user_scenario", "evaluation_criteria"}
_BASIS = ("DB", "COMMUNICATE")  # where a task states none
_CHECKED = {
    "ACTION": "actions",
    "COMMUNICATE": "communicate_info",
    "ENV_ASSERTION": "env_assertions",
    "NL_ASSERTION": "nl_assertions",
}
_SOURCES = "src/tau2/domains"
_LARGEST = 2 << 20


def recognises(row: Row) -> bool:
    return row.keys() >= _KEYS


def lint(rows: Sequence[Row], path: Path) -> Report:
    """The faults of tasks; `path` is their file, in the folder of their domain."""
    report = Report("tasks of tau2", len(rows))
    named = [(str(row["id"]), row) for row in rows]
    report.defects += repeated([(n, n) for n, _ in named], "record.repeated_id", "the id")
    wanted = [(n, _scenario(row)) for n, row in named]
    report.defects += repeated(wanted, "task.duplicate", "the scenario and criteria")
    tools = _tools(path)
    for name, row in named:
        report.defects += _task(name, row, tools)
    if not tools:
        what = f"no tools of {path.resolve().parent.name} are known here"
        report.unchecked.append(Finding("", "action.unknown_tool", what))
    what = "simulated users and judged assertions need a model, so no conversations were run"
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _scenario(row: Row) -> str:
    parts = (row["user_scenario"], row["evaluation_criteria"], row.get("initial_state"))
    return words_of(canonical_json(parts).decode())


def _task(name: str, row: Row, tools: Mapping[str, bool]) -> Iterator[Finding]:
    criteria = row["evaluation_criteria"]
    if not isinstance(criteria, Mapping) or not criteria:
        yield Finding(name, "grader.passed_by_null", "no criteria, so doing nothing passes")
        return
    actions = [a for a in criteria.get("actions") or () if isinstance(a, Mapping)]
    for action in actions:
        if tools and str(action.get("name")) not in tools:
            yield Finding(name, "action.unknown_tool", f"no tool {action.get('name')}")
    if _is_passed_by_nothing(criteria, actions, tools):
        what = (
            "graded only by the database, which no expected action changes, so changing nothing "
            "passes"
        )
        yield Finding(name, "grader.passed_by_null", what)


def _is_passed_by_nothing(
    criteria: Mapping[str, object], actions: Sequence[Row], tools: Mapping[str, bool]
) -> bool:
    stated = criteria.get("reward_basis")
    basis = {str(each) for each in (stated if isinstance(stated, list) else _BASIS)}
    idle = {name for name, key in _CHECKED.items() if not criteria.get(key)}
    if not basis or not basis <= {"DB"} | idle:
        return False
    return all(tools.get(str(action.get("name"))) is False for action in actions)


def _tools(path: Path) -> dict[str, bool]:
    """Tool -> does it write? Those of the domain that the folder of the file is named after."""
    for parent in path.resolve().parents:
        folder = parent / _SOURCES / path.resolve().parent.name
        if folder.is_dir():
            return _declared(folder)
    return {}


def _declared(folder: Path) -> dict[str, bool]:
    tools: dict[str, bool] = {}
    for source in sorted(folder.glob("*.py")):
        if source.is_symlink() or source.stat().st_size > _LARGEST:
            continue
        try:
            tree = ast.parse(source.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                kinds = [ast.unparse(each) for each in node.decorator_list]
                marked = " ".join(kind for kind in kinds if "tool" in kind)
                if marked:
                    tools[node.name] = "mutates_state=True" in marked or (
                        "WRITE" in marked and "mutates_state=False" not in marked
                    )
    return tools
