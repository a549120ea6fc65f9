"""Releases as runners and graders read them: only what was released."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data.errors import InputError
from data.releases.tasks import read_tasks, require_outside
from data.snapshot import layout
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    written = write_snapshot(release(tmp_path), tmp_path / "out").path
    return Path(shutil.copytree(written, tmp_path / "copy"))


def listed_anew(snapshot: Path) -> None:
    """Somebody who alters a release can write its sums too."""
    public = snapshot / layout.PUBLIC
    (public / layout.SUMS).write_bytes(layout.render(layout.compute(public)))


@pytest.mark.parametrize("pattern", ["tasks.jsonl", "tasks/*/instruction.md", "tasks/*/inputs/*"])
def test_what_was_altered_after_the_release_is_not_run(snapshot: Path, pattern: str) -> None:
    read_tasks(snapshot)
    path = next(path for path in (snapshot / "public").glob(pattern) if path.is_file())
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match="a file that differs from the released one"):
        read_tasks(snapshot)


def test_gold_that_was_altered_after_the_release_does_not_grade(snapshot: Path) -> None:
    tasks = read_tasks(snapshot)
    task_id = next(iter(tasks.tasks))
    path = next((snapshot / "private" / task_id).glob("answers.json"))
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match="a file that differs from the released one"):
        tasks.grading(task_id)


@pytest.mark.parametrize("half", [layout.PUBLIC, layout.PRIVATE])
@pytest.mark.parametrize(
    ("content", "problem"), [(None, "No such file"), (b"x\n", "line 1: 1 bytes"), (b"x", "line 1")]
)
def test_sums_that_are_none_are_named(
    snapshot: Path, half: str, content: bytes | None, problem: str
) -> None:
    path = snapshot / half / layout.SUMS
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"{path}: found {problem}"):
        read_tasks(snapshot)


def test_a_task_without_anything_that_grades_it_is_named(snapshot: Path) -> None:
    private = snapshot / layout.PRIVATE
    task_id = next(iter(read_tasks(snapshot).tasks))
    shutil.rmtree(private / task_id)
    (private / layout.SUMS).write_bytes(layout.render(layout.compute(private)))
    tasks = read_tasks(snapshot)
    with pytest.raises(InputError, match=f"{task_id}: found nothing to grade the task with"):
        tasks.grading(task_id)


def test_a_file_that_is_a_link_is_not_read(snapshot: Path) -> None:
    path = next((snapshot / "public").glob("tasks/*/instruction.md"))
    path.rename(snapshot / "elsewhere")
    path.symlink_to(snapshot / "elsewhere")
    with pytest.raises(InputError, match="a file that differs from the released one"):
        read_tasks(snapshot)


@pytest.mark.parametrize(
    ("file", "key"), [(layout.MANIFEST, "snapshot"), (layout.TASK_LIST, "task_id")]
)
def test_names_that_lead_elsewhere_are_refused(snapshot: Path, file: str, key: str) -> None:
    path = snapshot / layout.PUBLIC / file
    content = path.read_text()
    start = content.index(f'"{key}"') + len(key) + 2
    first = content.index('"', start)
    path.write_text(content[: first + 1] + "../../" + content[first + 1 :])
    listed_anew(snapshot)
    with pytest.raises(InputError, match="a release written by"):
        read_tasks(snapshot)


@pytest.mark.parametrize("change", ["altered", "removed", "added", "linked"])
def test_tables_that_are_not_those_released_are_not_served(snapshot: Path, change: str) -> None:
    public = snapshot / layout.PUBLIC
    table = public / layout.TABLES / "points.parquet"
    table.parent.mkdir(exist_ok=True)
    if change != "added":
        table.write_bytes(b"released")
        listed_anew(snapshot)
        read_tasks(snapshot)
    if change == "removed":
        table.unlink()
    elif change == "linked":
        table.rename(snapshot / "elsewhere")
        table.symlink_to(snapshot / "elsewhere")
    else:
        table.write_bytes(b"another")
    with pytest.raises(InputError, match=rf"{table}: found .* expected the digest"):
        read_tasks(snapshot)


def test_nothing_is_written_into_a_release(snapshot: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(snapshot)
    for inside in (snapshot, snapshot / "public" / "exports", link / "attempts"):
        with pytest.raises(InputError, match="a folder in the snapshot"):
            require_outside(link, inside)
    require_outside(link, tmp_path / "attempts")
