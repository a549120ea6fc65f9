"""Submissions as hostile input: what an archive may hold, and that all else is refused."""

from __future__ import annotations

import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from data.attempts import MANIFEST, VERSION, AttemptRecord, attempt_id_of, read_attempts, unpack
from data.canonical import digest, pretty_json
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Call,
    Configuration,
    Submission,
    Usage,
)
from data.errors import InputError

RELEASE = "r" * 64


def attempt(name: str = "agent", epoch: int = 1, arguments: Any = None) -> bytes:
    """The file of an attempt at the task `t`."""
    made = Attempt(
        attempt_id_of(RELEASE, "t", name, epoch), RELEASE, "t",
        Configuration(name, "h", "m"), epoch, AttemptStatus.COMPLETED, None,
        1, Usage(), 1.0, 0, "d" * 64,
    )  # fmt: skip
    calls = (Call("c-1", 1, "lookup", arguments or {}, ""),)
    return pretty_json(asdict(AttemptRecord(made, Submission(calls=calls))))


GOOD = {"attempts/t-1.json": attempt()}


def packed(path: Path, files: dict[str, bytes], name: str = "agent", epochs: int = 1) -> Path:
    """An archive whose manifest lists exactly these files."""
    about = {
        "version": VERSION,
        "release": RELEASE,
        "configuration": asdict(Configuration(name, "h", "m")),
        "epochs": epochs,
        "files": {entry: digest(content) for entry, content in files.items()},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, pretty_json(about))
        for entry, content in files.items():
            archive.writestr(entry, content)
    return path


def test_what_is_unpacked_is_what_was_packed(tmp_path: Path) -> None:
    files = {**GOOD, "outputs/t-1/notes/a.md": b"Some notes."}
    unpack(packed(tmp_path / "s.zip", files), tmp_path / "in")
    ((_, record),) = read_attempts(tmp_path / "in")
    assert record.attempt.task_id == "t"
    written = tmp_path / "in" / "outputs" / "t-1" / "notes" / "a.md"
    assert written.read_bytes() == b"Some notes."
    assert written.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"outputs/t-1/a": b"", "outputs/t-1/a/b": b""},
            "does not belong there: 'outputs/t-1/a/b'",
        ),
        ({"outputs/t-1": b"", "outputs/t-1/a": b""}, "does not belong there"),
        ({"outputs/t-1/" + "/".join(["a" * 200] * 25): b""}, "does not belong there"),
        ({"outputs/t-2/a": b""}, "does not belong there"),  # of no attempt
        ({"attempts/x/attempts/t-1.json": attempt("rival")}, "does not belong there"),
        ({"attempts/t-2.txt": b""}, "does not belong there"),
        ({"attempts/t-2.json": attempt(epoch=2)}, "an attempt from another run: t-2"),
        ({"attempts/t-1.json": attempt("rival")}, "an attempt from another run: t-1"),
        ({"attempts/t-1.json": b"[" * 5_000}, "t-1.json: found JSONDecodeError"),
    ],
)
def test_files_that_do_not_belong_to_an_attempt_are_refused(
    tmp_path: Path, more: dict[str, bytes], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        unpack(packed(tmp_path / "s.zip", {**GOOD, **more}), tmp_path / "in")


@pytest.mark.parametrize("name", ["attempts", "outputs", ".hidden", "a/b", ""])
def test_names_of_configurations_are_those_that_a_run_may_have(tmp_path: Path, name: str) -> None:
    files = {"attempts/t-1.json": attempt(name)}
    with pytest.raises(InputError, match="with no usable name"):
        unpack(packed(tmp_path / "s.zip", files, name), tmp_path / "in")


@pytest.mark.parametrize("epochs", [-1, 0, 1_001, 10**15])
def test_numbers_of_epochs_that_no_run_has_are_refused(tmp_path: Path, epochs: int) -> None:
    with pytest.raises(InputError, match="number of epochs"):
        unpack(packed(tmp_path / "s.zip", GOOD, epochs=epochs), tmp_path / "in")


def test_a_file_that_the_manifest_does_not_list_is_refused(tmp_path: Path) -> None:
    archive = packed(tmp_path / "s.zip", GOOD)
    with zipfile.ZipFile(archive, "a") as more:
        more.writestr("outputs/t-1/more.txt", b"")
    with pytest.raises(InputError, match="files other than those it lists"):
        unpack(archive, tmp_path / "in")


def test_an_archive_without_attempts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no attempts"):
        unpack(packed(tmp_path / "s.zip", {}), tmp_path / "in")


def test_numbers_too_large_for_tables_are_read_as_such(tmp_path: Path) -> None:
    content = attempt(arguments={"n": 1}).replace(b'"n": 1', b'"n": 1' + b"0" * 40)
    unpack(packed(tmp_path / "s.zip", {"attempts/t-1.json": content}), tmp_path / "in")
    ((_, record),) = read_attempts(tmp_path / "in")
    assert record.submission.calls[0].arguments == {"n": 1e40}


def test_damage_anywhere_in_an_archive_is_one_refusal(tmp_path: Path) -> None:
    whole = packed(tmp_path / "s.zip", GOOD).read_bytes()
    bad = tmp_path / "bad.zip"
    for at in range(0, len(whole), 3):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            unpack(bad, tmp_path / "in")
        except InputError as error:
            assert "\n" not in str(error)
    bad.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="an archive that cannot be read"):
        unpack(bad, tmp_path / "in")


def test_names_that_are_no_utf_8_are_refused(tmp_path: Path) -> None:
    whole = bytearray(packed(tmp_path / "s.zip", {"attempts/ü-1.json": b""}).read_bytes())
    bad = tmp_path / "bad.zip"
    bad.write_bytes(whole.replace("ü".encode(), b"\xff\xfe"))
    with pytest.raises(InputError, match=r"an archive that cannot be read \(UnicodeDecodeError\)"):
        unpack(bad, tmp_path / "in")


def test_a_large_output_is_never_held_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {**GOOD, "outputs/t-1/zeros": bytes(5 << 20)}
    archive = packed(tmp_path / "s.zip", files)
    largest: list[int] = []
    read = zipfile.ZipExtFile.read

    def watched(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        content = read(self, n)
        largest.append(len(content))
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", watched)
    unpack(archive, tmp_path / "in")
    assert (tmp_path / "in" / "outputs" / "t-1" / "zeros").stat().st_size == 5 << 20
    assert max(largest) <= 1 << 20
