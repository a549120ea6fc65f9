"""Files of records: which form they have, and the faults that are seen in each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.lint.findings import Finding, Report
from construction.lint.registry import lint_path
from data.errors import InputError

Row = dict[str, Any]


def lint(folder: Path, *rows: Row) -> Report:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lint_path(path)


def defects(report: Report) -> list[tuple[str, str]]:
    return [(finding.task, finding.code) for finding in report.defects]


SAMPLES: tuple[Row, ...] = (
    {"id": 1, "input": "How many gates has the lock? The plaque says 17 gates.", "target": "17"},
    {"id": 2, "input": "How many gates has the lock at Ternmouth?", "target": "17"},
    {"id": 2, "input": "Which is older?", "target": "B", "choices": ["mill", "weir"]},
    {"id": 3, "input": "Which is newer?", "target": "barn", "choices": ["mill", "weir"]},
    {"id": 4, "input": "Which is newest?", "target": "weir", "choices": ["mill", "weir"]},
    {"id": 5, "input": "Read it.", "target": "4", "files": {"a.csv": "a.csv", "b": "1,2\n3,4"}},
    {"id": 6, "input": "Say it.", "target": " "},
    {"id": 7, "input": "how many gates  has the LOCK at Ternmouth?", "target": "17"},
    {"id": 8, "input": "Is the lock of 1817 still there?", "target": "17"},
)


def test_faults_of_samples_of_inspect(tmp_path: Path) -> None:
    report = lint(tmp_path, *SAMPLES)
    assert report.format == "samples of Inspect"
    assert sorted(defects(report)) == [
        ("1", "answer.in_question"),
        ("2", "record.repeated_id"),
        ("3", "answer.no_choice"),
        ("5", "fixture.missing"),
        ("6", "answer.empty"),
        ("7", "task.duplicate"),
    ]
    assert [finding.code for finding in report.unchecked] == ["grader"]
    (tmp_path / "a.csv").write_text("1")
    assert ("5", "fixture.missing") not in defects(lint(tmp_path, *SAMPLES))


def test_what_a_whole_set_does_is_not_called_a_fault_of_its_samples(tmp_path: Path) -> None:
    rows = [{"input": f"There were {n} boats in bay {n + 50}. How many?", "target": str(n)}
            for n in range(10, 30)]  # fmt: skip
    report = lint(tmp_path, *rows)
    assert report.defects == []
    assert "20 of 20 inputs contain their target" in report.unchecked[0].detail
    open_ended = lint(tmp_path, {"input": "Write a poem.", "id": 1}, {"input": "Sing.", "id": 2})
    assert open_ended.defects == []
    assert [finding.code for finding in open_ended.unchecked] == ["answer.empty", "grader"]


def test_samples_in_a_table_are_read_too(tmp_path: Path) -> None:
    pl.DataFrame([{"id": "1", "input": "What?", "target": ""}, {"id": "2", "input": "Who?",
                  "target": "Ada"}]).write_csv(tmp_path / "rows.csv")  # fmt: skip
    assert defects(lint_path(tmp_path / "rows.csv")) == [("1", "answer.empty")]


PATCH = "+++ b/mill.py\n" + "".join(f"+    wheel_{n} = turn(wheel_{n}, by={n})\n" for n in range(5))
INSTANCE: Row = {
    "instance_id": "mill-1",
    "repo": "example/mill",
    "base_commit": "a" * 40,
    "patch": PATCH,
    "problem_statement": "The wheel turns the wrong way.",
    "FAIL_TO_PASS": '["test_turns"]',
    "PASS_TO_PASS": '["test_stands"]',
}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, []),
        ({"FAIL_TO_PASS": "[]"}, ["tests.missing"]),
        ({"FAIL_TO_PASS": [], "PASS_TO_PASS": []}, ["tests.missing"]),
        ({"PASS_TO_PASS": '["test_turns"]'}, ["tests.contradict"]),
        ({"base_commit": "main"}, ["image.unpinned"]),
        ({"patch": ""}, ["oracle.missing"]),
        (
            {"problem_statement": "Do this:\n" + PATCH.replace("+ ", " ")},
            ["solution.in_instruction"],
        ),
        ({"problem_statement": "wheel_1 = turn(wheel_1, by=1)"}, []),
    ],
)
def test_faults_of_instances_of_swe_bench(tmp_path: Path, change: Row, codes: list[str]) -> None:
    report = lint(tmp_path, {**INSTANCE, **change})
    assert [code for _, code in defects(report)] == codes
    assert [finding.code for finding in report.unchecked] == ["oracle"]


TOOLS = """
class Tools:
    @is_tool(ToolType.READ)
    def get_boat(self): ...
    @is_tool(ToolType.WRITE)
    def sell_boat(self): ...
    @is_tool(ToolType.GENERIC)
    def hand_over(self): ...
"""


def scenario(name: str, *actions: str, basis: tuple[str, ...] = ("DB",), **criteria: Any) -> Row:
    listed = [{"name": action, "arguments": {}} for action in actions]
    return {
        "id": name,
        "user_scenario": {"instructions": f"You call about boat {name}."},
        "evaluation_criteria": {"actions": listed, "reward_basis": list(basis), **criteria},
    }


def test_faults_of_tasks_of_tau2(tmp_path: Path) -> None:
    domain, sources = tmp_path / "data/tau2/domains/boats", tmp_path / "src/tau2/domains/boats"
    domain.mkdir(parents=True)
    sources.mkdir(parents=True)
    (sources / "tools.py").write_text(TOOLS)
    rows = [
        scenario("sells", "get_boat", "sell_boat"),
        scenario("looks", "get_boat", "hand_over"),
        scenario("tells", "get_boat", basis=("DB", "COMMUNICATE"), communicate_info=["7"]),
        scenario("says", "get_boat", basis=("DB", "NL_ASSERTION"), nl_assertions=["is polite"]),
        scenario("sinks", "sink_boat", "sell_boat"),
        scenario("empty"),
        scenario("sells", "sell_boat"),
    ]
    (domain / "tasks.json").write_text(json.dumps(rows))
    report = lint_path(domain)
    assert report.format == "tasks of tau2"
    assert defects(report) == [
        ("sells", "record.repeated_id"),
        ("looks", "grader.passed_by_null"),
        ("sinks", "action.unknown_tool"),
        ("empty", "grader.passed_by_null"),
    ]
    (sources / "tools.py").unlink()
    alone = lint_path(domain / "tasks.json")
    assert ("sinks", "action.unknown_tool") not in defects(alone)
    assert ("looks", "grader.passed_by_null") not in defects(alone)
    assert Finding("", "action.unknown_tool", f"no tools of {domain.name} are known here") in (
        alone.unchecked
    )


def test_a_checkout_of_tau2_is_linted_by_domain(tmp_path: Path) -> None:
    for name in ("boats", "ferries"):
        domain = tmp_path / "data/tau2/domains" / name
        domain.mkdir(parents=True)
        (domain / "tasks.json").write_text(json.dumps([scenario("none", basis=("ACTION",))]))
    report = lint_path(tmp_path)
    assert (report.format, report.tasks) == ("tasks of tau2", 2)
    assert defects(report) == [
        ("boats/none", "grader.passed_by_null"),
        ("ferries/none", "grader.passed_by_null"),
    ]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"session_id": "a", "messages": []}, "a session log"),
        ({"input": [{"role": "user", "content": "?"}], "ideal": "x"}, "OpenAI evals samples"),
        ({"gene": "a", "count": 3}, "records with count, gene"),
    ],
)
def test_other_forms_are_refused_by_name(tmp_path: Path, row: Row, name: str) -> None:
    with pytest.raises(InputError, match=f"found {name}; expected Harbor"):
        lint(tmp_path, row)


def test_tasks_of_terminal_bench_are_named(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/task.yaml").write_text("instruction: Do it.\nparser_name: pytest\n")
    with pytest.raises(InputError, match="found Terminal-Bench 1 tasks"):
        lint_path(tmp_path)
