"""`agents submit` and `check`: what is admitted is graded again, what is forged is refused."""

from __future__ import annotations

import zipfile
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
import typer

from construction.grading.oracle import computable, oracle
from construction.grading.spec import spec_of
from construction.statements.tools.database import open_database
from construction.workflows.engine import changes_of
from data.attempts import (
    MANIFEST,
    AttemptRecord,
    attempt_id_of,
    bundle,
    outputs_folder,
    unpack,
    write_attempt,
)
from data.canonical import pretty_json
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.errors import InputError
from data.releases.tasks import read_tasks
from flows.commands.evaluate import check_command, submit_command
from tests.demo import Demo
from tests.flows.command import invoked
from tests.flows.evaluate.workflow_release import ANSWER, reference, write_release

app = typer.Typer()
app.command(name="submit")(submit_command)
app.command(name="check")(check_command)


run = partial(invoked, app)


@pytest.fixture(scope="module")
def snapshot(demo: Demo) -> Path:
    return demo.out / "snapshots" / "latest"


@pytest.fixture
def attempts(snapshot: Path, tmp_path: Path) -> Path:
    """What the oracle does on each task that it can do, and nothing on the others."""
    release = read_tasks(snapshot)
    database, folder = open_database(release.tables), tmp_path / "mine" / "agent"
    for task_id in release.tasks:
        spec = spec_of(release.grading(task_id))
        done = oracle(spec, database) if computable(spec) else Submission()
        write_attempt(folder, record(release.digest, task_id, done))
    outputs = outputs_folder(folder, next(iter(release.tasks)), 1)
    outputs.mkdir(parents=True)
    (outputs / "notes.md").write_text("Some notes.")
    return folder


def record(release: str, task_id: str, submission: Submission) -> AttemptRecord:
    attempt = Attempt(
        attempt_id_of(release, task_id, "agent", 1), release, task_id,
        Configuration("agent", "h", "m"), 1,
        AttemptStatus.COMPLETED, None, 4, Usage(), 1.0, 0, "d" * 64,
    )  # fmt: skip
    return AttemptRecord(attempt, submission)


def test_what_is_submitted_is_graded_again_and_admitted_once(
    snapshot: Path, attempts: Path, tmp_path: Path
) -> None:
    archive, board = tmp_path / "s.zip", tmp_path / "board"
    assert "agent: " in run("submit", attempts, "--out", archive)
    said = run("check", archive, "--snapshot", snapshot, "--out", board)
    assert "accepted" in said
    (table,) = board.rglob("scores/scores.parquet")
    passed = pl.read_parquet(table)["passed"]
    assert passed.sum() > 0
    with pytest.raises(InputError, match="found attempts with that name"):
        run("check", archive, "--snapshot", snapshot, "--out", board)


def test_the_same_attempts_make_the_same_archive(attempts: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        bundle(attempts, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_forged_answer_of_a_tool_is_refused(
    snapshot: Path, attempts: Path, tmp_path: Path
) -> None:
    release = read_tasks(snapshot)
    database = open_database(release.tables)
    specs = [spec_of(release.grading(task_id)) for task_id in release.tasks]
    spec = next(spec for spec in specs if computable(spec))
    done = oracle(spec, database)
    calls = (replace(done.calls[0], output=done.calls[0].output + " "), *done.calls[1:])
    write_attempt(attempts, record(release.digest, spec.task_id, replace(done, calls=calls)))
    bundle(attempts, tmp_path / "s.zip")
    said = run(
        "check", tmp_path / "s.zip", "--snapshot", snapshot, "--out", tmp_path / "board", code=1
    )
    assert f"{spec.task_id}: discover_companies does not return the recorded response" in said
    assert not (tmp_path / "board").exists()


def test_the_id_of_another_attempt_is_refused(
    snapshot: Path, attempts: Path, tmp_path: Path
) -> None:
    release = read_tasks(snapshot)
    task_id = next(iter(release.tasks))
    given = record(release.digest, task_id, Submission())
    stolen = attempt_id_of(release.digest, task_id, "rival", 1)
    path = attempts / "attempts" / f"{task_id}-1.json"
    archive = tmp_path / "s.zip"
    bundle(attempts, archive)
    content = pretty_json(asdict(replace(given, attempt=replace(given.attempt, attempt_id=stolen))))
    bad = repacked(archive, tmp_path / "bad.zip", f"attempts/{path.name}", content, listed=True)
    with pytest.raises(InputError, match=rf"{path.name}: found another attempt's name or ID"):
        run("check", bad, "--snapshot", snapshot, "--out", tmp_path / "board")
    assert not (tmp_path / "board").exists()


def test_missing_attempts_are_refused_unless_a_part_is_admitted(
    snapshot: Path, attempts: Path, tmp_path: Path
) -> None:
    first = sorted((attempts / "attempts").glob("*.json"))[0]
    first.unlink()
    bundle(attempts, tmp_path / "s.zip")
    arguments = ("check", tmp_path / "s.zip", "--snapshot", snapshot, "--out", tmp_path / "board")
    assert f"first {first.stem}" in run(*arguments, code=1)
    assert "accepted" in run(*arguments, "--partial")


def repacked(archive: Path, out: Path, name: str, content: bytes, *, listed: bool) -> Path:
    """The archive with another file in it, which its manifest lists or does not list."""
    from data.canonical import digest

    with zipfile.ZipFile(archive) as source:
        files = {entry: source.read(entry) for entry in source.namelist()}
    if listed:
        about = orjson.loads(files[MANIFEST])
        about["files"][name] = digest(content)
        files[MANIFEST] = pretty_json(about)
    files[name] = content
    with zipfile.ZipFile(out, "w") as target:
        for entry, data in files.items():
            target.writestr(entry, data)
    return out


@pytest.mark.parametrize(
    ("name", "listed", "problem"),
    [
        ("attempts/../../escaped.json", True, "a name that does not belong there"),
        ("/etc/passwd", True, "a name that does not belong there"),
        ("scores/scores.parquet", True, "a name that does not belong there"),
        ("outputs/x/more.txt", True, "a name that does not belong there"),
        ("attempts/x-1.json", True, "x-1.json: found ValidationError"),
    ],
)
def test_hostile_archives_write_nothing(
    attempts: Path, tmp_path: Path, name: str, listed: bool, problem: str
) -> None:
    bundle(attempts, tmp_path / "s.zip")
    bad = repacked(tmp_path / "s.zip", tmp_path / "bad.zip", name, b"{}", listed=listed)
    with pytest.raises(InputError, match=problem):
        unpack(bad, tmp_path / "in" / "folder")
    assert not (tmp_path / "escaped.json").exists()


def test_a_file_that_was_changed_and_no_archive_at_all_are_refused(
    attempts: Path, tmp_path: Path
) -> None:
    about = bundle(attempts, tmp_path / "s.zip")
    name = next(name for name in about.files if name.startswith("attempts/"))
    bad = repacked(tmp_path / "s.zip", tmp_path / "bad.zip", name, b"{}", listed=False)
    with pytest.raises(InputError, match="digest does not match the listed one"):
        unpack(bad, tmp_path / "folder")
    (tmp_path / "none.zip").write_bytes(b"no archive")
    with pytest.raises(InputError, match="an archive that cannot be read"):
        unpack(tmp_path / "none.zip", tmp_path / "folder")
    assert asdict(about)["version"].startswith("benchmint-submission/")


@pytest.mark.parametrize(
    ("forged", "problem"),
    [
        ({}, None),
        ({"changes": ()}, "replaying its calls does not end in the recorded state"),
        ({"audit": ()}, "replaying its calls does not end in the recorded state"),
    ],
)
def test_the_services_of_a_workflow_task_are_asked_again(
    tmp_path: Path, forged: dict[str, Any], problem: str | None
) -> None:
    released, task_id = write_release(tmp_path / "workflow")
    client = reference()
    done = Submission(answer=ANSWER, audit=client.audit, changes=changes_of(client.world))
    folder = tmp_path / "agent"
    digest = read_tasks(released).digest
    write_attempt(folder, record(digest, task_id, replace(done, **forged)))
    bundle(folder, tmp_path / "s.zip")
    arguments = ("check", tmp_path / "s.zip", "--snapshot", released, "--out", tmp_path / "board")
    said = run(*arguments, "--partial", code=0 if problem is None else 1)
    assert (f"{task_id}: {problem}" in said) == (problem is not None)
