"""Which form a file or a folder of tasks has. One line is one form; what has none is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from construction.lint import (
    claw_eval,
    harbor,
    harbor_task,
    inspect_samples,
    records,
    swe_bench,
    tau2,
)
from construction.lint.claw_eval.reader import document_of
from construction.lint.findings import Report, Row, rows_of
from data.errors import InputError

_LEVELS = ("", "*/", "*/*/", "*/*/*/")
_MOST = 20_000  # task folders


@dataclass(frozen=True, slots=True)
class RecordForm:
    """A form of files of records: what is looked for in a record, and who reads them."""

    name: str
    fields: str
    recognises: Callable[[Row], bool]
    lint: Callable[[Sequence[Any], Path], Report]


RECORDS = (
    RecordForm(
        "SWE-bench", "instance_id, base_commit, patch", swe_bench.recognises, swe_bench.lint
    ),
    RecordForm("tau2", "id, user_scenario, evaluation_criteria", tau2.recognises, tau2.lint),
    RecordForm("DataClawBench", "question, guidelines, answer", records.recognises, records.lint),
    RecordForm("Inspect", "input, target", inspect_samples.recognises, inspect_samples.lint),
)
# Forms that are known and not read: a field that they alone have, and what may be done.
_OTHERS = (
    ("messages", "a log of sessions", "Build tasks of it: `benchmint build --sessions`."),
    ("conversation", "a log of sessions", "Build tasks of it: `benchmint build --sessions`."),
    ("ideal", "samples of OpenAI's evals", "Rename `ideal` to `target`."),
    ("conversations", "training data", "Name a file of tasks."),
)
_KNOWN = (
    "folders of Harbor (task.toml) or Claw-Eval-Live (task.yaml), or records of "
    + ", ".join(f"{form.name} ({form.fields})" for form in RECORDS)
    + ", or what Benchmint wrote"
)


def lint_path(path: Path) -> Report:
    """The findings about what lies there, in its form. Raises InputError for other forms."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise InputError(str(path), "nothing", _KNOWN, "Check the path.")
    if path.name in (harbor_task.TASK, "task.yaml"):
        return _folder(path.parent)
    return _file(path)


def _folder(root: Path) -> Report:
    if folders := _holding(root, harbor_task.TASK):
        return harbor.lint(folders)
    if folders := _holding(root, "task.yaml"):
        if _is_terminal_bench(folders):
            actual, todo = "tasks of Terminal-Bench 1", "Turn them into Harbor tasks first."
            raise InputError(str(root), actual, _KNOWN, todo)
        return claw_eval.lint(folders)
    if (root / "tasks.json").is_file():
        return _file(root / "tasks.json")
    raise InputError(str(root), "no tasks in a form that is known", _KNOWN, "Check the path.")


def _holding(root: Path, name: str) -> list[Path]:
    paths: Iterable[Path] = (path for level in _LEVELS for path in root.glob(f"{level}{name}"))
    return sorted(path.parent for path in islice(paths, _MOST) if path.is_file())


def _is_terminal_bench(folders: Sequence[Path]) -> bool:
    for folder in folders:
        try:
            document = document_of(folder)
        except InputError:
            continue
        return "prompt" not in document and "instruction" in document
    return False


def _file(path: Path) -> Report:
    rows = rows_of(path)
    objects = [row for row in rows if isinstance(row, Mapping)]
    if not rows:
        raise InputError(path.name, "no record", "at least one record", "Name another.")
    for form in RECORDS:
        if objects and 2 * sum(map(form.recognises, objects)) >= len(objects):
            return form.lint(rows, path)
    fields = {str(key) for row in objects for key in row}
    for field, name, todo in _OTHERS:
        if field in fields:
            raise InputError(path.name, name, _KNOWN, todo)
    named = ", ".join(sorted(fields)[:8]) or type(rows[0]).__name__
    raise InputError(path.name, f"records with {named[:200]}", _KNOWN, "Check the path.")
