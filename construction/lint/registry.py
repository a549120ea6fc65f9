"""Which form a file or a folder of tasks has. One line is one form; what has none is refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from construction.lint.findings import Finding, Report, Row, Trials, rows_of
from data.errors import InputError
from data.figures import amount

_RECORDS, _DEEPEST = "tasks.json", 6
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
    ("messages", "a session log", "Build tasks from it: `benchmint build --sessions`."),
    ("conversation", "a session log", "Build tasks from it: `benchmint build --sessions`."),
    ("ideal", "OpenAI evals samples", "Rename `ideal` to `target`."),
    ("conversations", "training data", "Pass a file of tasks."),
)
_KNOWN = (
    "Harbor (task.toml) or Claw-Eval-Live (task.yaml) folders, or records of "
    + ", ".join(f"{form.name} ({form.fields})" for form in RECORDS)
    + ", or output of Benchmint"
)


def lint_path(path: Path, trials: int | None = None) -> Report:
    """The findings about what lies there, in its form; `trials` is how many tasks are tried in a
    sandbox. Raises InputError for other forms.
    """
    if path.is_dir():
        return _folder(path, trials)
    if not path.is_file():
        raise InputError(str(path), "nothing", _KNOWN, "Check the path.")
    if path.name in (harbor_task.TASK, "task.yaml"):
        return _folder(path.parent, trials)
    return _file(path)


def _folder(root: Path, trials: int | None) -> Report:
    for name, lint in ((harbor_task.TASK, harbor.lint), ("task.yaml", claw_eval.lint)):
        seen = _holding(root, name)
        if seen.folders:
            if name == "task.yaml" and _is_terminal_bench(seen.folders):
                actual, todo = "Terminal-Bench 1 tasks", "Convert them to Harbor tasks first."
                raise InputError(str(root), actual, _KNOWN, todo)
            report = lint(seen.folders, root, Trials(trials))
            report.unchecked += seen.passed()
            return report
    seen = _holding(root, _RECORDS)
    read = [(folder, _records(folder)) for folder in seen.folders]
    reports = [(folder, report) for folder, report in read if report is not None]
    if reports:
        return _together(reports)
    actual = "no tasks in a known format"
    if passed := seen.passed():
        actual += f" ({passed[0].detail})"
    raise InputError(str(root), actual, _KNOWN, "Check the path.")


@dataclass(slots=True)
class _Seen:
    """Folders that have a file of a name, and how many were passed by."""

    folders: list[Path] = field(default_factory=list)
    n_links: int = 0
    n_closed: int = 0

    def passed(self) -> list[Finding]:
        counts = [(self.n_links, "a link"), (self.n_closed, "not to be read")]
        return [
            Finding("", "task.passed_by", f"{amount(n, 'folder')} skipped: {what}")
            for n, what in counts
            if n
        ]


def _holding(root: Path, name: str) -> _Seen:
    """Folders with such a file, some levels down; what lies within a task is part of it."""
    seen = _Seen()

    def closed(_error: OSError) -> None:
        seen.n_closed += 1

    for here_name, folders, files in os.walk(root, onerror=closed):
        here = Path(here_name)
        if name in files:
            seen.folders.append(here)
        is_end = name in files or len(here.relative_to(root).parts) >= _DEEPEST
        kept = [] if is_end else sorted(each for each in folders if not each.startswith("."))
        seen.n_links += sum(
            (here / each).is_symlink() and (here / each / name).exists() for each in kept
        )
        folders[:] = kept
        if len(seen.folders) == _MOST:
            break
    seen.folders.sort()
    return seen


def _records(folder: Path) -> Report | None:
    """The findings about a file of records, if its form is known."""
    try:
        return _file(folder / _RECORDS)
    except InputError:
        return None


def _together(reports: Sequence[tuple[Path, Report]]) -> Report:
    """One report of several files; tasks are named after their folders."""
    if len(reports) == 1:
        return reports[0][1]
    formats = dict.fromkeys(report.format for _, report in reports)
    whole = Report(", ".join(formats), sum(report.tasks for _, report in reports))
    for folder, report in reports:
        for kept, findings in zip(whole.lists().values(), report.lists().values(), strict=True):
            kept += [replace(each, task=f"{folder.name}/{each.task}") for each in findings]
    return whole


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
        raise InputError(path.name, "no record", "at least one record", "Choose another one.")
    for form in RECORDS:
        if objects and 2 * sum(map(form.recognises, objects)) >= len(objects):
            return form.lint(rows, path)
    fields = {str(key) for row in objects for key in row}
    for other, name, todo in _OTHERS:
        if other in fields:
            raise InputError(path.name, name, _KNOWN, todo)
    named = ", ".join(sorted(fields)[:8]) or type(rows[0]).__name__
    raise InputError(path.name, f"records with {named[:200]}", _KNOWN, "Check the path.")
