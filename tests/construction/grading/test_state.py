"""Checks on the state of delivered files: forms, kinds, hostile files, programs."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from construction.grading.grade import grade
from construction.grading.programs import Program, Ran, run_here
from construction.grading.spec import CheckSpec, TaskSpec
from construction.grading.state import _judge_in_child, grade_state, judge_here, read_outputs
from construction.grading.state_kinds import StateReason, judge_state, lines_digest, values_digest
from data.contracts.attempt import Submission


def value(file: str, form: str, key: str, wanted: Any) -> tuple[str, dict[str, Any]]:
    return "value", {"file": file, "form": form, "key": key, "is": wanted}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{"a": {"b": [1, 8080]}}'),
        ("toml", "[a]\nb = [1, 8080]\n"),
    ],
)
def test_values_are_found_by_dotted_keys(form: str, text: str) -> None:
    files = {"f": text.encode()}
    assert judge_state(*value("f", form, "a.b.1", 8080), files) is None
    assert judge_state(*value("f", form, "a.b.1", 8081), files) == StateReason.WRONG_VALUE
    assert judge_state(*value("f", form, "a.c", 8080), files) == StateReason.WRONG_VALUE


def test_settings_of_other_forms_are_values_too() -> None:
    files = {
        "s.ini": b"; note\n[Server]\nPort = 81\n",
        "s.env": b'# note\nexport PORT=80\nPORT="81"\n',
        "r.txt": b"# pinned\nSome_Package == 1.2.0  # why\n",
    }
    assert judge_state(*value("s.ini", "ini", "Server.Port", 81), files) is None
    assert judge_state(*value("s.env", "env", "PORT", 81), files) is None
    assert judge_state(*value("r.txt", "requirements", "some-package", "==1.2.0"), files) is None


def test_rows_count_in_any_order_and_each_once() -> None:
    files = {"t.csv": b"id,n,note\nb,2.0,x\na,1,y\n"}
    params = {"file": "t.csv", "columns": ["id", "n"], "rows": [["a", 1], ["b", 2]]}
    assert judge_state("rows", params, files) is None
    assert judge_state("rows", {**params, "ordered": True}, files) == StateReason.WRONG_ROWS
    doubled = {"t.csv": b"id,n\na,1\na,1\n"}
    assert judge_state("rows", params, doubled) == StateReason.WRONG_ROWS


def test_what_must_stay_stays_whatever_its_layout() -> None:
    before = b'{"a": 1, "b": {"c": 2, "d": 3}}'
    digest = values_digest(before, "json", ["b.c"])
    params = {"file": "f", "form": "json", "but": ["b.c"], "digest": digest}
    assert judge_state("keeps_values", params, {"f": b'{"b": {"d": 3, "c": 9}, "a": 1}'}) is None
    changed = {"f": b'{"a": 1, "b": {"c": 9, "d": 4}}'}
    assert judge_state("keeps_values", params, changed) == StateReason.OTHER_CHANGES
    lines = {"file": "f", "but": "job", "digest": lines_digest(b"a\n1 job\n", "job")}
    assert judge_state("keeps_lines", lines, {"f": b"a  \r\n\n2 job\n"}) is None
    assert judge_state("keeps_lines", lines, {"f": b"# put right\na\n1 job\n"}) is None
    for other in (b"1 job\n", b"# a\n1 job\n", b"a\nb\n1 job\n"):
        assert judge_state("keeps_lines", lines, {"f": other}) == StateReason.OTHER_CHANGES


def _tar(mode: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("./bin/run")
        info.mode, info.type, info.linkname = mode, kind, "/etc/passwd"
        archive.addfile(info, io.BytesIO(b""))
    return buffer.getvalue()


def test_modes_are_those_in_the_archive() -> None:
    params = {"file": "a.tar", "entry": "bin/run", "mode": "755"}
    assert judge_state("entry", params, {"a.tar": _tar(0o755)}) is None
    assert judge_state("entry", params, {"a.tar": _tar(0o644)}) == StateReason.WRONG_ENTRY
    assert judge_state("entry", params, {"a.tar": b"no archive"}) == StateReason.UNREADABLE


HOSTILE = [
    ("json", b"[" * 100_000),
    ("json", b"\xff\xfe{}"),
    ("json", b"1" * 5_000),
    ("toml", b"a = " + b"[" * 50_000),
    ("ini", b"[a]\nx = 1\nx = 2\n"),
    ("env", b"no equals sign\n"),
    ("requirements", b"a==1\na==2\n"),
]


@pytest.mark.parametrize(("form", "data"), HOSTILE)
def test_hostile_files_fail_and_never_raise(form: str, data: bytes) -> None:
    assert judge_state(*value("f", form, "a", 1), {"f": data}) in (
        StateReason.UNREADABLE,
        StateReason.WRONG_VALUE,
    )


def test_the_child_answers_for_hostile_files_as_this_process_does() -> None:
    questions = [value(str(n), form, "a", 1) for n, (form, _) in enumerate(HOSTILE)]
    files = {str(n): data for n, (_, data) in enumerate(HOSTILE)}
    assert _judge_in_child(questions, files) == judge_here(questions, files)


def test_the_child_answers_as_this_process_does() -> None:
    questions = [value("f", "json", "a", 1), value("f", "json", "a", 2), value("g", "json", "a", 1)]
    files = {"f": b'{"a": 1}'}
    expected = [None, StateReason.WRONG_VALUE, StateReason.MISSING_FILE]
    assert _judge_in_child(questions, files) == expected == judge_here(questions, files)


# Parts


def check(name: str, kind: str, params: dict[str, Any]) -> CheckSpec:
    return CheckSpec(name, kind, params, name, weight=0.5, required=True)


_KEPT = {"file": "f.json", "form": "json", "but": ["a"],
         "digest": values_digest(b'{"a": 0, "b": 1}', "json", ["a"])}  # fmt: skip
SPEC = TaskSpec(
    "t",
    checks=(
        check("mended", *value("f.json", "json", "a", 5)),
        check("kept", "keeps_values", _KEPT),
    ),
)


@pytest.mark.parametrize(
    ("content", "values", "passed"),
    [
        (b'{"a": 5, "b": 1}', [1.0, 1.0], True),
        (b'{"a": 5, "b": 2}', [1.0, 0.0], False),
        (b'{"a": 0, "b": 1}', [0.0, 0.0], False),  # the input as it was earns nothing
        (b"{}", [0.0, 0.0], False),
    ],
)
def test_what_is_kept_counts_only_beside_a_repair(
    tmp_path: Path, content: bytes, values: list[float], passed: bool
) -> None:
    (tmp_path / "f.json").write_bytes(content)
    score = grade(SPEC, Submission(outputs=str(tmp_path)))
    assert [part.value for part in score.parts] == values
    assert score.passed is passed
    assert score.overall == sum(values) / 2


def test_links_and_folders_are_no_delivered_files(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"a": 5, "b": 1}')
    (tmp_path / "f.json").symlink_to(tmp_path / "real.json")
    assert read_outputs(SPEC, tmp_path) == {}
    assert grade(SPEC, Submission(outputs=str(tmp_path))).passed is False


RUNS = TaskSpec(
    "t",
    checks=(
        check(
            "runs",
            "runs",
            {
                "files": {"in.txt": {"text": "3\n"}, "double.py": {"output": "double.py"}},
                "command": "python3 double.py < in.txt > out.txt; cat out.txt",
                "after": [
                    {"kind": "lines", "params": {"file": "stdout", "is": ["6"]}},
                    {"kind": "lines", "params": {"file": "out.txt", "is": ["6"]}},
                ],
            },
        ),
    ),
)
_DOUBLE = b"print(2 * int(input()))\n"


def test_nothing_is_executed_unless_the_caller_says_where(tmp_path: Path) -> None:
    (tmp_path / "double.py").write_bytes(b"open('/tmp/never', 'w')\n" + _DOUBLE)
    score = grade(RUNS, Submission(outputs=str(tmp_path)))
    assert (score.passed, score.parts[0].value) == (None, None)
    assert score.parts[0].reason == StateReason.NO_BOX


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (_DOUBLE, None),
        (b"print(7)\n", StateReason.WRONG_LINES),
        (b"import sys; sys.exit(2)\n", StateReason.WRONG_LINES),  # `cat` ends with 0
        (b"import os; os.remove('out.txt'); print(6)\n", StateReason.EXIT_CODE),
    ],
)
def test_what_a_program_leaves_decides(script: bytes, reason: StateReason | None) -> None:
    (part,) = grade_state(RUNS, {"double.py": script}, run_here, judge_here)
    assert part.reason == reason


def test_a_missing_program_is_not_replaced() -> None:
    def never(program: Program) -> Ran:
        raise AssertionError

    (part,) = grade_state(RUNS, {}, never, judge_here)
    assert part.reason == StateReason.MISSING_FILE


def test_a_program_that_does_not_end_is_ended() -> None:
    ran = run_here(Program({"a.sh": b"sleep 20\n"}, "exec sh a.sh", seconds=0.3))
    assert ran.timed_out
