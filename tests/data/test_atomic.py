from __future__ import annotations

import stat
from pathlib import Path

import pytest

from data import atomic
from data.atomic import private_dir, remove_leftovers, replacing, replacing_dir, write_bytes


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    target = tmp_path / "f"
    write_bytes(target, b"old")
    with pytest.raises(RuntimeError), replacing(target) as part:
        part.write_bytes(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_failed_directory_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), replacing_dir(tmp_path / "d") as part:
        (part / "f").write_bytes(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "kept").write_bytes(b"1")
    with pytest.raises(OSError), replacing_dir(tmp_path / "d") as part:
        (part / "f").write_bytes(b"2")
    assert [p.name for p in (tmp_path / "d").iterdir()] == ["kept"]


def test_folders_are_synced_as_the_files_in_them_before_the_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def note(path: Path) -> None:
        assert path.exists()
        synced.append(path.name)

    monkeypatch.setattr(atomic, "_sync", note)
    with replacing_dir(tmp_path / "d") as part:
        (part / "tasks" / "t1").mkdir(parents=True)
        (part / "tasks" / "t1" / "task.yaml").write_bytes(b"1")
        aside = part.name
    assert sorted(synced[:-1]) == sorted(["tasks", "t1", "task.yaml", aside])  # several at once
    assert synced[-1] == tmp_path.name


def test_more_files_than_one_batch_are_all_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(atomic, "_BATCH", 3)
    monkeypatch.setattr(atomic, "_sync", lambda path: synced.append(path.name))
    with replacing_dir(tmp_path / "d") as part:
        for number in range(8):
            (part / str(number)).touch()
    assert sorted(synced[:8]) == [str(number) for number in range(8)]


def test_private_files_are_private(tmp_path: Path) -> None:
    folder = private_dir(tmp_path / "p")
    write_bytes(folder / "key", b"k", mode=0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600


def test_only_leftovers_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".f.abc.part").write_bytes(b"half")
    (tmp_path / ".d.abc.part").mkdir()
    (tmp_path / "report.part").write_bytes(b"a file of the user")
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.part"]


def test_leftovers_of_one_name_are_removed_and_no_others(tmp_path: Path) -> None:
    (tmp_path / ".out.abcd_123.part.wal").touch()
    names = [".out.abcd_123.part", ".out.2.abcd_123.part", ".other.abcd_123.part", ".out.mine.part"]
    for name in names:
        (tmp_path / name).mkdir()
    remove_leftovers(tmp_path, "out")
    assert {path.name for path in tmp_path.iterdir()} == set(names[1:])
