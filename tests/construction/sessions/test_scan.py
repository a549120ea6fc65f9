from __future__ import annotations

import os
from pathlib import Path

import pytest

from construction.sessions.scan import FileReason, ScannedFile, scan
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
