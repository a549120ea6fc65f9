"""The hard rules of a released task: read from its files, run over outputs, and reported."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from construction.grading.hard_rules import RuleResult, check
from data.contracts import Rule
from data.errors import InputError
from data.figures import amount
from data.neutralise import one_line
from data.snapshot import layout

_RULES = TypeAdapter(tuple[Rule, ...])
_FILE = "rules.json"
_EVERY_TASK = "provenance.json"  # stands in each task's folder of a private half


def task_folder(task: str, snapshot: Path) -> Path:
    """The files of a task by their path, or by its id, or the beginning of it, in a release.

    Raises InputError for an id that the release does not have; it names the nearest one.
    """
    path = Path(task)
    if path.exists() or "/" in task:
        return path
    private = snapshot / layout.PRIVATE
    if not private.is_dir():
        actual = "no such file" if (snapshot / layout.PUBLIC).is_dir() else "no release there"
        expected = "a task's folder, or its id in a release with private/"
        raise InputError(f"{task} in {snapshot}", actual, expected, "Pass it with --snapshot.")
    ids = sorted(file.parent.name for file in private.glob(f"*/{_EVERY_TASK}"))
    chosen = [task] if task in ids else [name for name in ids if name.startswith(task)]
    if len(chosen) == 1:
        return private / chosen[0]
    near = get_close_matches(task, ids, n=1, cutoff=0.5)
    actual = f"{amount(len(chosen), 'task')} that begin so" if chosen else "no such task"
    todo = f"Did you mean {(chosen or near)[0]}?" if chosen or near else f"List them: ls {private}"
    raise InputError(f"{task} in {snapshot}", actual, f"one of its {len(ids)} tasks", todo)


def check_outputs(task: Path, outputs: Path) -> tuple[RuleResult, ...]:
    """The result of each rule of a released task over a folder of outputs. Raises InputError.

    `task` is its folder, its `rules.json`, or a file that is a list of rules alone.
    """
    if not outputs.is_dir():
        raise InputError(str(outputs), "no folder", "the outputs folder", "Check the path.")
    path = task / _FILE if task.is_dir() else task
    try:
        document: Any = orjson.loads(path.read_bytes())
        rules = _RULES.validate_python(
            document["rules"] if isinstance(document, dict) else document
        )
    except OSError as error:
        if path != task and (task / _EVERY_TASK).is_file():
            expected, todo = "a task with hard rules", "This task has none to check."
            raise InputError(str(task), f"no {_FILE}", expected, todo) from None
        actual = "nothing" if isinstance(error, FileNotFoundError) else str(error.strerror)
        todo = "Name the task's folder SNAPSHOT/private/TASK-ID, or its id."
        raise InputError(str(path), actual, f"a task's {_FILE}", todo) from None
    except (orjson.JSONDecodeError, KeyError) as error:
        wrong = f"no rules ({type(error).__name__})"
    except ValidationError as error:
        wrong = amount(error.error_count(), "error")
    else:
        try:
            return check(rules, outputs)
        except (KeyError, TypeError, ValueError) as error:
            wrong = f"parameters that do not fit their rule ({type(error).__name__})"
    raise InputError(str(path), wrong, "a list of rules", "Use the released file.")


def result_line(result: RuleResult) -> str:
    """The result of a rule in a line for a person."""
    name = one_line(result.rule_id)
    if result.passed:
        return f"pass  {name}"
    where = f" in {result.file}" if result.file else ""
    return f"FAIL  {name}  {result.reason}{where}: {result.observed}, limit {result.limit}"
