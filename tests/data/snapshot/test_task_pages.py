"""Pages of tasks: what they show, and that answers are on private ones alone."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from data.snapshot import layout
from data.snapshot.task_pages import (
    Preview,
    TaskView,
    _preview_of,
    _tools_line,
    checked_words,
    preview,
    services_of,
    task_pages,
)
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    return write_snapshot(release(root), root / "out").path


def test_every_task_has_a_page_in_both_halves(snapshot: Path) -> None:
    names = {f"{path.name}.html" for path in (snapshot / "public" / "tasks").iterdir()}
    for half in (layout.PUBLIC, layout.PRIVATE):
        folder = snapshot / half / layout.TASK_PAGES
        assert {path.name for path in folder.iterdir()} == names | {"index.html"}
        listed = (folder / "index.html").read_text()
        assert all(f'href="{name}"' in listed for name in names)
    assert (
        "Answers and checks" in (snapshot / "private" / layout.TASK_PAGES / max(names)).read_text()
    )
    assert (
        "Answers and checks"
        not in (snapshot / "public" / layout.TASK_PAGES / max(names)).read_text()
    )


def test_report_card_and_audit_lead_to_them(snapshot: Path) -> None:
    assert 'href="tasks/index.html"' in (snapshot / "public" / layout.REPORT).read_text()
    assert "(audit/tasks/index.html)" in (snapshot / "public" / "README.md").read_text()
    audit = snapshot / "private" / layout.AUDIT / "index.html"
    assert 'href="tasks/index.html"' in audit.read_text()


def test_previews_are_rows_text_or_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,b\n1,"x\ny"\n' + "2,3\n" * 1_400)
    shown = preview("a.csv", tmp_path / "a.csv")
    assert (shown.rows[:2], len(shown.rows), shown.text) == ([["a", "b"], ["1", "x\ny"]], 12, "")
    assert shown.note == "Beginning of the file only."
    small = _preview_of("a.csv", b"a,b\n" + b"2,3\n" * 40, 164)
    assert (len(small.rows), small.note) == (41, "")  # shown whole
    assert _preview_of("b.txt", b"caf\xc3\xa9", 5).text == "café"
    assert _preview_of("b.txt", b"caf\xc3", 900).text == "caf"  # cut inside a character
    assert _preview_of("b.txt", b"caf\xe9", 4).note.startswith("Not text")
    assert _preview_of("b.xlsx", b"PK\x03\x04\x00", 5).note.startswith("Not text")
    assert _preview_of("b.md", b"\x1b[31m<b>", 8).text == "⟨U+001B⟩[31m<b>"


def test_a_task_with_services_says_what_they_hold(tmp_path: Path) -> None:
    task = max(release(tmp_path).candidates, key=lambda task: task.task_id)
    held = services_of({"state": {"mail": {"messages": {"m": {}, "n": {}}}, "crm": {"a_b": {}}}})
    assert held == [("crm", "0 a b"), ("mail", "2 messages")]
    view = TaskView(task, [], services=held, world="world.json")
    ((_, html), _) = task_pages([view], "demo", "", back=("../index.html", "Back"))
    assert "<dt>mail</dt><dd>2 messages</dd>" in html
    assert 'href="world.json"' in html and "No input files" not in html


def test_many_inputs_and_checks_are_folded(tmp_path: Path) -> None:
    task = max(release(tmp_path).candidates, key=lambda task: task.task_id)
    shown = [Preview(f"{n}.txt", 1, "", text="a", whole=f"files/{n}.txt") for n in range(9)]
    checks = [{"check_id": str(n), "text": f"Check {n}.", "params": {}} for n in range(12)]
    view = TaskView(task, shown, {"checks": checks})
    ((_, html), _) = task_pages([view], "demo", "", back=("../index.html", "Back"))
    assert "<summary>6 more files</summary>" in html and "<summary>2 more</summary>" in html
    assert html.count('">Whole file</a>') == 9


def test_many_tools_are_counted_by_service() -> None:
    assert _tools_line([]) == "none"
    assert _tools_line(["read_file", "run"]) == "read_file, run"
    many = [f"crm_get_{number}" for number in range(7)] + ["kb_find", "kb_get"]
    assert _tools_line(many) == "crm (7), kb (2)"


def test_what_is_checked_is_what_grades_the_task(tmp_path: Path) -> None:
    task = max(release(tmp_path).candidates, key=lambda task: len(task.deliverables))
    n_files = len(task.deliverables)
    assert n_files and checked_words(task, {}) == []
    rubric = {"rubric": {"criteria": [{}, {}]}, "rules": [{}]}
    words = checked_words(task, rubric)
    assert len(words) == 1 + n_files
    assert words[0] == "Its text and files, by a judge with a rubric of 2 criteria."
    looked = checked_words(
        task, {"checks": [{"evidence": "retrieval", "kind": "records_returned"}]}
    )
    assert looked == ["What it looked up: the records that the services returned."]


def test_files_and_programs_among_answers_are_named_and_folded(tmp_path: Path) -> None:
    task = max(release(tmp_path).candidates, key=lambda task: task.task_id)
    program = "import x\n" * 100
    held = {"b.xlsx": base64.b64encode(b"PK\x03\x04" + b"0" * 600).decode()}
    grading = {"checks": [{"params": {"inputs": held, "program": program}}]}
    ((name, shown, long),) = TaskView(task, [], grading).answers
    assert name == "checks" and "b.xlsx: (an Office document or archive of 604 bytes)" in shown
    assert long == [("1 / params / program", "900 characters", program)]
    assert "import x" not in shown
