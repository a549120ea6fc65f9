"""Files into a box of Harbor and out of it: an agent's links and other traps stay inside."""

from __future__ import annotations

import os
import socket
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from construction.grading.exports.writing import TEMPLATES
from tests.construction.grading.exports.sample import contents

SECRET = b"of the host"


@pytest.fixture
def transfer() -> ModuleType:
    loader = SourceFileLoader("transfer", str(TEMPLATES / "transfer.txt"))
    module = ModuleType("transfer")
    loader.exec_module(module)
    return module


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    """The outputs of a box at `tmp_path / "box"`, beside a secret of the host."""
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "box" / "work" / "outputs"
    folder.mkdir(parents=True)
    return folder


def test_regular_files_alone_come_out(
    transfer: ModuleType, outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outputs / "a").mkdir()
    (outputs / "a" / "kept.txt").write_bytes(b"kept")
    (outputs / "file_link").symlink_to(tmp_path / "secret")
    (outputs / "folder_link").symlink_to(tmp_path)
    (outputs / "inner_link").symlink_to("a/kept.txt")
    os.mkfifo(outputs / "fifo")
    monkeypatch.chdir(outputs)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        transfer.copy_folder_out(tmp_path / "box", "/work/outputs", tmp_path / "out")
    out = tmp_path / "out"
    assert [path.relative_to(out).as_posix() for path in sorted(out.rglob("*"))] == [
        "a",
        "a/kept.txt",
    ]
    assert (out / "a" / "kept.txt").read_bytes() == b"kept"


def test_a_file_is_not_read_by_way_of_a_link(
    transfer: ModuleType, outputs: Path, tmp_path: Path
) -> None:
    (outputs / "answer.txt").symlink_to(tmp_path / "secret")
    (outputs / "folder").symlink_to(tmp_path)
    os.mkfifo(outputs / "fifo")
    for name in ("answer.txt", "folder/secret", "fifo"):
        with pytest.raises(OSError):
            transfer.copy_file_out(tmp_path / "box", f"/work/outputs/{name}", tmp_path / "out")
    with pytest.raises(OSError):
        transfer.copy_folder_out(tmp_path / "box", "/work/outputs/folder", tmp_path / "out")
    with pytest.raises(ValueError, match="leaves the environment"):
        transfer.copy_file_out(tmp_path / "box", "/work/../../secret", tmp_path / "out")
    assert not (tmp_path / "out" / "secret").exists()


def test_what_comes_out_is_limited(
    transfer: ModuleType, outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in {"a": 6, "b": 12, "c": 6, "d": 4, "e": 0, "f": 0}.items():
        (outputs / name).write_bytes(b"x" * size)
    monkeypatch.setattr(transfer, "MOST_FILE_BYTES", 10)
    monkeypatch.setattr(transfer, "MOST_BYTES", 10)
    monkeypatch.setattr(transfer, "MOST_FILES", 5)
    transfer.copy_folder_out(tmp_path / "box", "/work/outputs", tmp_path / "out")
    assert [*contents(tmp_path / "out")] == ["a", "d", "e"]


def test_no_tree_is_followed_without_end(
    transfer: ModuleType, outputs: Path, tmp_path: Path
) -> None:
    (outputs / "kept.txt").write_bytes(b"kept")
    deepest = outputs / "/".join("d" * 100)
    deepest.mkdir(parents=True)
    (deepest / "file").write_bytes(b"too deep")
    transfer.copy_folder_out(tmp_path / "box", "/work/outputs", tmp_path / "out")
    assert [*contents(tmp_path / "out")] == ["kept.txt"]


def test_nothing_is_written_by_way_of_a_link(
    transfer: ModuleType, outputs: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "folder").mkdir(parents=True)
    (source / "folder" / "secret").write_bytes(b"overwritten")
    (source / "folder" / "link").symlink_to(tmp_path / "secret")
    box = tmp_path / "box"
    (outputs / "folder").symlink_to(tmp_path)
    with pytest.raises(OSError):
        transfer.copy_folder_in(source, box, "/work/outputs")
    (outputs / "secret").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError):
        transfer.copy_file_in(source / "folder" / "secret", box, "/work/outputs/secret")
    assert (tmp_path / "secret").read_bytes() == SECRET
    transfer.copy_folder_in(source, box, "/tests")
    assert contents(box / "tests") == {"folder/secret": b"overwritten"}


def test_scripts_stay_executable(transfer: ModuleType, outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "test.sh").write_text("#!/bin/sh\n")
    (tmp_path / "test.sh").chmod(0o755)
    transfer.copy_file_in(tmp_path / "test.sh", tmp_path / "box", "/tests/test.sh")
    assert os.access(tmp_path / "box" / "tests" / "test.sh", os.X_OK)
