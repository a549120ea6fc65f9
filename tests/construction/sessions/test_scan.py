from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from construction.sessions.scan import FileReason, ScannedFile, scan
from construction.sessions.stages import log_rows
from data.contracts import Outcome

LOG = b'{"type":"session","version":3,"id":"s","cwd":"/w","timestamp":"2026-01-05T08:00:00Z"}\n'


def _by_name(folder: Path) -> dict[str, ScannedFile]:
    return {file.relative.partition("/")[2]: file for file in scan([folder])}


def test_a_name_that_is_no_utf8_is_told_in_escapes_and_never_shared(tmp_path: Path) -> None:
    for number, name in enumerate((b"bad\xff.jsonl", rb"bad\xff.jsonl")):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(LOG + b"\n" * number)
    scanned = _by_name(tmp_path)
    assert set(scanned) == {r"bad\xff.jsonl", r"bad\\xff.jsonl"}
    assert all(file.outcome is Outcome.KEPT for file in scanned.values())
    assert all(file.path.read_bytes().startswith(LOG) for file in scanned.values())


def test_what_is_no_plain_file_is_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "gone.jsonl").symlink_to("/nonexistent")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "empty.jsonl").touch()
    assert {name: file.reason for name, file in _by_name(tmp_path).items()} == {
        "pipe.jsonl": FileReason.NOT_REGULAR,
        "loop": FileReason.SYMLINK,
        "self": FileReason.SYMLINK,
        "gone.jsonl": FileReason.SYMLINK,
        "empty.jsonl": FileReason.EMPTY,
    }


def test_folders_may_lie_deeper_than_python_recurses(tmp_path: Path) -> None:
    folders = [tmp_path]
    for _ in range(1500):
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    (folders[-1] / "s.jsonl").write_bytes(LOG)
    assert [file.outcome for file in scan([tmp_path])] == [Outcome.KEPT]
    (folders[-1] / "s.jsonl").unlink()
    for folder in reversed(folders[1:]):  # pytest's own removal recurses
        folder.rmdir()


def test_a_folder_that_cannot_be_listed_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    real = os.listdir
    scandir = os.scandir

    def refuse(path: Path) -> None:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")

    def listing(path: Path) -> list[str]:
        refuse(path)
        return real(path)

    def scanning(path: Path) -> object:
        refuse(path)
        return scandir(path)

    monkeypatch.setattr(os, "listdir", listing)
    monkeypatch.setattr(os, "scandir", scanning)
    (file,) = scan([tmp_path])
    assert (file.outcome, file.reason) == (Outcome.ERRORED, FileReason.UNREADABLE)
    assert file.relative.endswith("/closed")


def test_a_dry_run_lists_each_file_as_it_is_read(tmp_path: Path) -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "count"}]}
    goose = [{"working_dir": "/d", "description": "x", "message_count": 1}, said]
    stream = [{"type": "thread.started"}, {"type": "turn.failed", "error": {"message": "x"}}]
    for name, records in {"a.jsonl": goose, "b.jsonl": stream}.items():
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    (tmp_path / "c.txt").write_text("notes", encoding="utf-8")
    folder = tmp_path.name
    reason = "file.unsupported_format: neither JSON lines nor a JSON document"
    assert list(log_rows([tmp_path], None)) == [
        (f"{folder}/a.jsonl", "goose", 1, 1, 0, ""),
        (f"{folder}/b.jsonl", "codex_exec", 1, 0, 0, "no words of a person"),
        (f"{folder}/c.txt", "not_a_session_log", "", "", "", reason),
    ]


def test_logs_of_a_harbor_trial_are_read_from_its_trajectory(tmp_path: Path) -> None:
    agent = tmp_path / "trial__1" / "agent"
    (agent / "sessions").mkdir(parents=True)
    steps = [{"step_id": 1, "source": "user", "message": "count"}]
    for name in ("trajectory.json", "trajectory.cont-1.json"):
        value = {"schema_version": "ATIF-v1.6", "session_id": name, "steps": steps}
        (agent / name).write_text(json.dumps(value), encoding="utf-8")
    said = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "count"}}
    for name in ("claude-code.txt", "sessions/s.jsonl"):
        (agent / name).write_text(json.dumps({**said, "sessionId": name}), encoding="utf-8")
    trial = {"task_name": "t", "trial_name": "t__1", "agent_info": {}}
    (tmp_path / "trial__1" / "result.json").write_text(json.dumps(trial), encoding="utf-8")
    assert {name: file.reason for name, file in _by_name(tmp_path).items()} == {
        "trial__1/agent/trajectory.json": None,
        "trial__1/agent/trajectory.cont-1.json": None,
        "trial__1/agent/claude-code.txt": FileReason.COPY,
        "trial__1/agent/sessions/s.jsonl": FileReason.COPY,
        "trial__1/result.json": FileReason.UNSUPPORTED,
    }
