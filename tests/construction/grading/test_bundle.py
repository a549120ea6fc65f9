"""The exported graders: self-contained, the same bytes each time, the same verdicts as here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from construction.grading.attacks import look_here
from construction.grading.bundle_command import answer_path, submission_of
from construction.grading.exports.writing import Bundle, _BundleError, bundle_files, write_bundle
from construction.grading.grade import grade
from construction.grading.hard_rules import grade_files
from construction.grading.spec import spec_of
from tests.conftest import REPO
from tests.construction.grading.recording import FOLDER

TASK = {
    "task_id": "t",
    "prompt": "What were the total assets, in millions of US dollars?",
    "answers": [
        {"part": "value", "type": "number", "value": "3633", "unit": "USD", "scale": 1_000_000}
    ],
}
ROOT = Bundle("benchmint_grader", "A bundle of one module", "data.root")
FILES = (
    "answers/test_parts",
    "test_actions",
    "test_milestones",
    "test_hard_rules_files",
    "test_grade",
    "test_attacks",
)


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "grader"
    write_bundle(folder)
    return folder


def run(grader: Path, *arguments: object, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the bundle in isolated mode from a folder without the project."""
    return subprocess.run(
        [sys.executable, "-I", "-B", str(grader), *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        cwd=grader.parent,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Everything that the tests of the graders let them grade, as lines of JSON."""
    folder = tmp_path_factory.mktemp("cases")
    tests = [f"tests/construction/grading/{name}.py" for name in FILES]
    plugin = "tests.construction.grading.recording"
    options = ("-q", "-p", plugin, "-p", "no:cacheprovider", "-n0", "--basetemp", folder / "tmp")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, options), *tests],
        cwd=REPO,
        env={**os.environ, FOLDER: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()


def graded_here(line: str) -> dict[str, Any]:
    case = json.loads(line)
    try:
        spec, submission = spec_of(case["task"]), submission_of(case["submission"])
        score = grade(spec, submission, file_grader=partial(grade_files, look=look_here))
    except ValueError as error:
        return {"error": str(error)}
    result: dict[str, Any] = json.loads(json.dumps(asdict(score)))
    return result


@pytest.mark.slow(seconds=60)
@pytest.mark.timeout(600)
def test_all_planted_cases_have_the_same_parts_and_verdicts(grader: Path, cases: list[str]) -> None:
    done = run(grader, "--cases", text="".join(f"{line}\n" for line in cases))
    assert done.returncode == 0, done.stderr[-2000:]
    scores = [json.loads(line) for line in done.stdout.splitlines()]
    here = [graded_here(line) for line in cases]
    different = [line[:500] for line, a, b in zip(cases, scores, here, strict=True) if a != b]
    assert different == []
    print(len(cases), "cases,", sum('"rule.' in json.dumps(score) for score in here), "with files")
    reasons = {part["reason"] for score in here for part in score.get("parts", ())}
    families = {reason.partition(".")[0] for reason in reasons if reason}
    assert {"answer", "action", "files"} <= families
    assert len(cases) > 300
    assert sum("rule." in json.dumps(score) for score in here) > 30


def test_the_same_code_gives_the_same_bytes(grader: Path, tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "again") == write_bundle(tmp_path / "twice")
    written = {
        path.relative_to(grader).as_posix(): path.read_bytes()
        for path in grader.rglob("*")
        if path.is_file()
    }
    assert written == bundle_files()


def test_nothing_of_this_project_is_imported(grader: Path) -> None:
    code = (
        f"import sys, runpy; sys.argv = ['grader', '--cases']; sys.path.insert(0, {str(grader)!r});"
        "from benchmint_grader.construction.grading.bundle_command import main; main();"
        "from benchmint_grader.construction.grading import hard_rules;"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('construction', 'data', 'flows', 'pydantic', 'orjson', 'polars', 'openpyxl')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", code],
        input="",
        capture_output=True,
        text=True,
        cwd="/",
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import numpy", "found an import of numpy"),
        ("def f() -> None:\n    from polars import Series", "found an import of polars"),
        ("import data.other", "found `import data.other`"),
    ],
)
def test_other_packages_are_refused(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "root.py").write_text(f"{line}\n")
    (tmp_path / "data" / "other.py").write_text("")
    with pytest.raises(_BundleError, match=message):
        bundle_files(ROOT, tmp_path)


def test_imports_in_any_place_are_taken_along_and_rewritten(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "root.py").write_text(
        "from data import other\ndef f() -> None:\n    from data.third import (\n        x)\n"
    )
    (tmp_path / "data" / "other.py").write_text("import json\n")
    (tmp_path / "data" / "third.py").write_text("x = 1\n")
    files = bundle_files(ROOT, tmp_path)
    assert b"from benchmint_grader.data import other" in files["benchmint_grader/data/root.py"]
    assert (
        b"    from benchmint_grader.data.third import (" in files["benchmint_grader/data/root.py"]
    )
    assert {"benchmint_grader/data/third.py", "benchmint_grader/data/__init__.py"} <= files.keys()


def work_folder(tmp_path: Path, task: dict[str, Any], name: str, answer: str) -> list[object]:
    (tmp_path / "work" / "outputs").mkdir(parents=True)
    (tmp_path / "work" / name).write_text(answer)
    (tmp_path / "spec.json").write_text(json.dumps(task))
    spec, work, reward = (tmp_path / part for part in ("spec.json", "work", "reward.json"))
    return ["--spec", spec, "--work", work, "--reward", reward]


@pytest.mark.parametrize(("answer", "value"), [("$3,633 million\n", 1.0), ("3,634", 0.0)])
def test_a_work_folder_is_graded_and_rewarded(
    grader: Path, tmp_path: Path, answer: str, value: float
) -> None:
    arguments = work_folder(tmp_path, TASK, answer_path(has_rules=False), answer)
    done = run(grader, *arguments)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] is bool(value)
    rewards = json.loads((tmp_path / "reward.json").read_text())
    assert rewards == {"reward": value, "undecided": 0.0, "deterministic": value}


def test_the_file_of_the_answer_is_no_deliverable(grader: Path, tmp_path: Path) -> None:
    rule = {"rule_id": "r", "kind": "count", "text": "", "params": {"extensions": ["txt"]}}
    task = {**TASK, "rules": [{**rule, "params": {"extensions": ["txt"], "min": 1}}]}
    assert answer_path(has_rules=True) == "answer.txt"
    arguments = work_folder(tmp_path, task, "answer.txt", "3633")
    parts = {part["name"]: part for part in json.loads(run(grader, *arguments).stdout)["parts"]}
    assert parts["answer.value"]["value"] == 1.0
    assert parts["deliverables"]["value"] == 0.0


def test_links_are_not_followed(grader: Path, tmp_path: Path) -> None:
    arguments = work_folder(tmp_path, TASK, answer_path(has_rules=False), "")
    (tmp_path / "gold").write_text("3633")
    answer = tmp_path / "work" / answer_path(has_rules=False)
    answer.unlink()
    answer.symlink_to(tmp_path / "gold")
    assert json.loads(run(grader, *arguments).stdout)["passed"] is False


def test_a_task_for_a_judge_is_undecided_and_earns_nothing(grader: Path, tmp_path: Path) -> None:
    criterion = {"dimension": "clarity", "weight": 1.0, "text": "?"}
    task = {"task_id": "t", "rubric": {"criteria": [criterion]}}
    arguments = work_folder(tmp_path, task, "outputs/a.md", "words")
    assert json.loads(run(grader, *arguments).stdout)["passed"] is None
    rewards = json.loads((tmp_path / "reward.json").read_text())
    assert rewards == {"reward": 0.0, "undecided": 1.0, "deterministic": 0.0}
