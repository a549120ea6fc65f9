"""Sets that are large, closed, linked or hostile: each gets one clear line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from construction.lint.registry import lint_path
from data.errors import InputError
from tests.construction.lint.test_harbor import task


def test_names_with_spaces_are_names(tmp_path: Path) -> None:
    task(tmp_path / "my tasks" / "of May").rename(tmp_path / "my tasks" / "a herd")
    report = lint_path(tmp_path / "my tasks", trials=0)
    assert (report.tasks, report.defects) == (1, [])


def test_what_lies_within_a_task_is_no_task(tmp_path: Path) -> None:
    made = task(tmp_path)
    (made / "environment/task.toml").write_text("")
    assert lint_path(tmp_path, trials=0).tasks == 1


def test_links_lead_to_no_other_tasks_and_out_of_no_folder(tmp_path: Path) -> None:
    other = task(tmp_path / "other")
    made = task(tmp_path / "set")
    (tmp_path / "set/linked").symlink_to(other)
    (made / "instruction.md").unlink()
    (made / "instruction.md").symlink_to(other / "instruction.md")
    report = lint_path(tmp_path / "set", trials=0)
    assert [finding.code for finding in report.defects] == ["instruction.empty"]
    assert "1 folder skipped: a link" in [finding.detail for finding in report.unchecked]


def test_a_link_within_the_set_is_followed(tmp_path: Path) -> None:
    made = task(tmp_path)
    (made / "instruction.md").rename(tmp_path / "shared.md")
    (made / "instruction.md").symlink_to(tmp_path / "shared.md")
    assert lint_path(tmp_path, trials=0).defects == []


def test_a_file_that_cannot_be_read_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task(tmp_path)
    read_text = Path.read_text

    def closed(path: Path, *given: str, **named: str) -> str:
        if path.name == "instruction.md":
            raise PermissionError(13, os.strerror(13), str(path))
        return read_text(path, *given, **named)

    monkeypatch.setattr(Path, "read_text", closed)
    report = lint_path(tmp_path, trials=0)
    assert report.defects == []
    assert [f.detail for f in report.unchecked] == ["instruction.md: Permission denied"]


def test_a_bomb_of_anchors_is_refused_by_name(tmp_path: Path) -> None:
    levels = [f"l{n}: &l{n} [*l{n - 1}, *l{n - 1}, *l{n - 1}]" for n in range(1, 30)]
    (tmp_path / "task.yaml").write_text("\n".join(["l0: &l0 x", *levels]))
    (finding,) = lint_path(tmp_path).defects
    assert finding.code == "task.unreadable"
    assert "expected YAML without tags or aliases" in finding.detail


def test_a_folder_without_tasks_says_what_was_passed_by(tmp_path: Path) -> None:
    made = task(tmp_path / "elsewhere")
    (tmp_path / "set").mkdir()
    (tmp_path / "set/linked").symlink_to(made)
    with pytest.raises(InputError, match="no tasks in a known format"):
        lint_path(tmp_path / "set")
