"""The sheet of right answers for people: who is drawn, and that verdicts stay."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from data.errors import InputError
from selection.evaluation.measures import write_sheet

TASKS = [f"q{at:02d}" for at in range(40)]


def scores(names: str = "ab") -> pl.DataFrame:
    """All right but every fourth answer."""
    rows = [
        (f"{name}-{task}", name, task, 1, int(task[1:]) % 4 > 0) for name in names for task in TASKS
    ]
    columns = ["attempt_id", "configuration", "task_id", "epoch", "passed"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def sheet(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_twenty_right_answers_of_each_are_drawn_by_the_release(tmp_path: Path) -> None:
    first, again, other = (tmp_path / f"{name}.csv" for name in "xyz")
    made = write_sheet(first, scores(), TASKS, "digest")
    assert (made.drawn, made.right.n) == (40, 0)
    rows = sheet(first)
    assert [sum(row["configuration"] == name for row in rows) for name in "ab"] == [20, 20]
    assert all(int(row["task_id"][1:]) % 4 for row in rows)
    assert rows[0]["page"] == f"attempts/a/{rows[0]['task_id']}-1.html"
    write_sheet(again, scores("ba").sample(fraction=1, shuffle=True, seed=3), TASKS, "digest")
    assert again.read_bytes() == first.read_bytes()
    write_sheet(other, scores(), TASKS, "another release")
    assert other.read_bytes() != first.read_bytes()
    assert first.stat().st_mode & 0o777 == 0o600


def test_verdicts_stay_and_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, scores("a"), TASKS, "digest")
    lines = path.read_text().splitlines()
    lines[1] += "Right"
    lines[2] += "wrong"
    path.write_text("\n".join(lines))
    made = write_sheet(path, scores("ab"), TASKS, "digest")
    assert (made.drawn, made.right.n, made.right.mean) == (40, 2, 0.5)
    assert sorted(row["verdict"] for row in sheet(path))[-2:] == ["right", "wrong"]
    # a checked row stays although other tasks are asked about
    assert write_sheet(path, scores("a"), TASKS, "another").right.n == 2


def test_a_verdict_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    write_sheet(path, scores("a"), TASKS, "digest")
    path.write_text(path.read_text().replace(".html,", ".html,perhaps", 1))
    with pytest.raises(InputError, match="line 2: found 'perhaps'; expected right, wrong or"):
        write_sheet(path, scores("a"), TASKS, "digest")


def test_nothing_right_leaves_no_sheet(tmp_path: Path) -> None:
    assert write_sheet(tmp_path / "s.csv", scores(), ["q00"], "digest").drawn == 0
    assert not list(tmp_path.iterdir())
