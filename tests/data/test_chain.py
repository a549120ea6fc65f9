from __future__ import annotations

from pathlib import Path

import pytest

from data import access_log, chain


def test_entries_follow_from_each_other_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = chain.append(log, {"note": "one\ntwo"})
    second = chain.append(log, {"note": "three"})
    assert second["previous"] == first["hash"]
    assert [entry["note"] for entry in chain.entries(log)] == ["one\ntwo", "three"]
    assert log.stat().st_mode & 0o077 == 0


def test_no_file_is_no_entries(tmp_path: Path) -> None:
    assert chain.entries(tmp_path / "none") == []


def test_it_reads_and_continues_the_access_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    access_log.record(log, "audit", "a")
    chain.append(log, {"action": "audit", "item_id": "b"})
    assert access_log.check(log) == 2
    assert [entry["item_id"] for entry in chain.entries(log)] == ["a", "b"]


@pytest.mark.parametrize("lines", [(0, 2), (1, 2), (0, 1, 1)])
def test_removed_and_repeated_entries_break_it(tmp_path: Path, lines: tuple[int, ...]) -> None:
    log = tmp_path / "log"
    for note in "abc":
        chain.append(log, {"note": note})
    told = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(told[line] for line in lines))
    with pytest.raises(chain.BrokenChain, match=r"log:\d: this entry was altered"):
        chain.entries(log)
    with pytest.raises(chain.BrokenChain):
        chain.append(log, {"note": "d"})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        chain.append(tmp_path / "log", {"note": "a"})
