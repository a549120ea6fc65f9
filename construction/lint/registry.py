"""Which form a file or a folder of tasks has. One line is one form; what has none is refused."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from construction.lint import claw_eval, harbor, harbor_task, records
from construction.lint.claw_eval import document_of
from construction.lint.findings import (
    Finding,
    Report,
    Row,
    Trials,
    holds_number,
    repeated,
    rows_of,
    words_of,
)
from data.canonical import canonical_json, is_hex
from data.errors import InputError
from data.figures import amount

_SWE_BENCH_KEYS = {"instance_id", "repo", "base_commit", "patch", "problem_statement"}
_COMMIT_CHARS = 40
_TELLING = 25  # characters of a line that is not written twice by chance
_ENOUGH = 3  # such lines of the patch in the statement, if they are at least half of it


def _is_swe_bench(row: Row) -> bool:
    return row.keys() >= _SWE_BENCH_KEYS


def _lint_swe_bench(rows: Sequence[Row], _path: Path) -> Report:
    """What can be seen without the repositories."""
    report = Report("SWE-bench instances", len(rows))
    named = [(str(row["instance_id"]), row) for row in rows]
    report.defects += repeated([(n, n) for n, _ in named], "record.repeated_id", "the id")
    wanted = [(n, words_of(f"{row['repo']} {row['problem_statement']}")) for n, row in named]
    report.defects += repeated(wanted, "task.duplicate", "the statement")
    for name, row in named:
        report.defects += _instance(name, row)
    what = (
        "repositories and images are not available, so no tests were run before or after the patch"
    )
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _instance(name: str, row: Row) -> Iterator[Finding]:
    if not str(row["problem_statement"] or "").strip():
        yield Finding(name, "instruction.empty", "an empty problem statement")
    if not str(row["patch"] or "").strip():
        yield Finding(name, "oracle.missing", "an empty patch")
    if not is_hex(str(row["base_commit"]), _COMMIT_CHARS):
        yield Finding(name, "image.unpinned", "base_commit is not a full commit digest")
    if _is_told(str(row["patch"] or ""), str(row["problem_statement"] or "")):
        yield Finding(
            name, "solution.in_instruction", "the statement contains lines from the patch"
        )
    mended, kept = _tests(row.get("FAIL_TO_PASS")), _tests(row.get("PASS_TO_PASS"))
    if mended is not None and not mended:
        yield Finding(name, "tests.missing", "FAIL_TO_PASS lists no tests, so doing nothing passes")
    if mended and kept and mended & kept:
        yield Finding(name, "tests.contradict", "a test in both FAIL_TO_PASS and PASS_TO_PASS")


def _is_told(patch: str, statement: str) -> bool:
    added = {line[1:].strip() for line in patch.splitlines() if line.startswith("+")}
    telling = {line for line in added if len(line) >= _TELLING}
    n_lines = sum(line in statement for line in telling)
    return n_lines >= _ENOUGH and 2 * n_lines >= len(telling)


def _tests(value: Any) -> set[str] | None:
    """Names of tests: a list, or one as JSON text; None where there is none."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
    return set(map(str, value)) if isinstance(value, list) else None


_TAU2_KEYS = {"id", "user_scenario", "evaluation_criteria"}
_BASIS = ("DB", "COMMUNICATE")  # where a task states none
_CHECKED = {
    "ACTION": "actions",
    "COMMUNICATE": "communicate_info",
    "ENV_ASSERTION": "env_assertions",
    "NL_ASSERTION": "nl_assertions",
}
_SOURCES = "src/tau2/domains"
_LARGEST = 2 << 20


def _is_tau2(row: Row) -> bool:
    return row.keys() >= _TAU2_KEYS


def _lint_tau2(rows: Sequence[Row], path: Path) -> Report:
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


_INSPECT_KEYS = ("input", "target", "choices", "id", "metadata", "files", "setup", "sandbox")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*%?")
_PATH = re.compile(r"[\w./-]+\.[A-Za-z]\w{0,5}")
_SHORT = 400  # characters: longer inputs are passages, which hold their answers on purpose
_OFTEN, _FEW = 0.3, 10  # share of samples, and number of them, from which this looks meant


def _is_inspect(row: Row) -> bool:
    """Has it an input, and no keys that Inspect's `Sample` lacks? (`target` may be absent.)"""
    return "input" in row and row.keys() <= {*_INSPECT_KEYS} and len(row) > 1


def _lint_inspect(rows: Sequence[Row], path: Path) -> Report:
    """The faults of samples; `path` is their file, beside which the files of samples lie."""
    report = Report("samples of Inspect", len(rows))
    named = [(str(row.get("id", f"#{number}")), row) for number, row in enumerate(rows, 1)]
    ids = [(name, name) for name, row in named if "id" in row]
    report.defects += repeated(ids, "record.repeated_id", "the id")
    wanted = [(name, words_of(f"{row.get('input')} {row.get('files', '')}")) for name, row in named]
    report.defects += repeated(wanted, "task.duplicate", "the input")
    holding = [Finding(name, "answer.in_question", "the question contains the answer")
               for name, row in named if _holds_answer(row)]  # fmt: skip
    if len(named) >= _FEW and len(holding) > _OFTEN * len(named):
        what = (
            f"{len(holding)} of {len(named)} inputs contain their target: intended, or given away"
        )
        report.unchecked.append(Finding("", "answer.in_question", what))
    else:
        report.defects += holding
    has_targets = any(not _is_empty(row.get("target")) for _, row in named)
    if not has_targets:
        what = "no sample has a target; the scorer decides without one"
        report.unchecked.append(Finding("", "answer.empty", what))
    for name, row in named:
        report.defects += _sample(name, row, path.parent, has_targets=has_targets)
    report.unchecked.append(
        Finding(
            "", "grader", "the scorer is not part of the dataset, so nothing was solved or attacked"
        )
    )
    return report


def _sample(name: str, row: Row, folder: Path, *, has_targets: bool) -> Iterator[Finding]:
    if _is_empty(row.get("input")):
        yield Finding(name, "record.no_input", "an empty input")
    target, choices = row.get("target"), row.get("choices")
    if _is_empty(target) and has_targets:
        yield Finding(name, "answer.empty", "an empty target")
    elif isinstance(choices, list) and choices:
        for each in target if isinstance(target, list) else [target]:
            if not _is_choice(str(each), choices):
                yield Finding(name, "answer.no_choice", "the target is not one of the choices")
    files = row.get("files")
    for value in files.values() if isinstance(files, dict) else ():
        if isinstance(value, str) and _is_lost(value, folder):
            yield Finding(name, "fixture.missing", f"file missing: {value}")


def _is_empty(value: Any) -> bool:
    return value is None or not str(value).strip() or value == []


def _is_choice(target: str, choices: Sequence[Any]) -> bool:
    """A letter of the list, or one of its texts."""
    letters = {chr(ord("A") + place) for place in range(min(len(choices), 26))}
    return target.strip().upper() in letters or target.strip() in {str(c).strip() for c in choices}


def _is_lost(value: str, folder: Path) -> bool:
    """A relative path that leads to no file; texts and data URIs stand for themselves."""
    path = PurePosixPath(value)
    if not _PATH.fullmatch(value) or path.is_absolute() or ".." in path.parts:
        return False
    return not (folder / path).exists()


def _holds_answer(row: Row) -> bool:
    """Does a short question hold the number that it asks for? Names may be those wanted about."""
    text, target = row.get("input"), row.get("target")
    if not isinstance(text, str) or not isinstance(target, str | int | float) or row.get("choices"):
        return False
    number = str(target).strip()
    if isinstance(target, bool) or not _NUMBER.fullmatch(number) or len(number) < 2:
        return False
    return len(text) <= _SHORT and holds_number(text, number)


_RECORDS, _DEEPEST = "tasks.json", 6
_MOST = 20_000  # task folders


@dataclass(frozen=True, slots=True)
class _RecordForm:
    """A form of files of records: what is looked for in a record, and who reads them."""

    name: str
    fields: str
    recognises: Callable[[Row], bool]
    lint: Callable[[Sequence[Any], Path], Report]


RECORDS = (
    _RecordForm("SWE-bench", "instance_id, base_commit, patch", _is_swe_bench, _lint_swe_bench),
    _RecordForm("tau2", "id, user_scenario, evaluation_criteria", _is_tau2, _lint_tau2),
    _RecordForm("DataClawBench", "question, guidelines, answer", records.recognises, records.lint),
    _RecordForm("Inspect", "input, target", _is_inspect, _lint_inspect),
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
