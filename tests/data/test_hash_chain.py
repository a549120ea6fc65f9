from __future__ import annotations

from pathlib import Path

import pytest

from data import hash_chain
from data.hash_chain import BrokenChain, entries, record_access


def test_entries_follow_from_each_other_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = hash_chain.append(log, {"note": "one\ntwo"})
    second = hash_chain.append(log, {"note": "three"})
    assert second["previous"] == first["hash"]
    assert [entry["note"] for entry in hash_chain.entries(log)] == ["one\ntwo", "three"]
    assert log.stat().st_mode & 0o077 == 0


def test_no_file_is_no_entries(tmp_path: Path) -> None:
    assert hash_chain.entries(tmp_path / "none") == []


def test_it_reads_and_continues_the_access_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    hash_chain.record_access(log, "audit", "a")
    hash_chain.append(log, {"action": "audit", "item_id": "b"})
    assert len(hash_chain.entries(log)) == 2
    assert [entry["item_id"] for entry in hash_chain.entries(log)] == ["a", "b"]


@pytest.mark.parametrize("lines", [(0, 2), (1, 2), (0, 1, 1)])
def test_removed_and_repeated_entries_break_it(tmp_path: Path, lines: tuple[int, ...]) -> None:
    log = tmp_path / "log"
    for note in "abc":
        hash_chain.append(log, {"note": note})
    result = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(result[line] for line in lines))
    with pytest.raises(hash_chain.BrokenChain, match=r"log:\d: this entry was altered"):
        hash_chain.entries(log)
    with pytest.raises(hash_chain.BrokenChain):
        hash_chain.append(log, {"note": "d"})


def test_an_entry_without_its_end_is_none_and_goes_with_the_next_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for note in "ab":
        hash_chain.append(log, {"note": note})
    log.write_bytes(log.read_bytes()[:-1])
    assert [entry["note"] for entry in hash_chain.entries(log)] == ["a"]
    hash_chain.append(log, {"note": "c"})
    assert [entry["note"] for entry in hash_chain.entries(log)] == ["a", "c"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        hash_chain.append(tmp_path / "log", {"note": "a"})


def test_looks_are_chained(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    for item in ("a", "b", "c"):
        record_access(log, "audit", item)
    assert len(entries(log)) == 3
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("tamper", ["drop", "alter", "garble"])
def test_tampering_is_found_and_stops_further_entries(tmp_path: Path, tamper: str) -> None:
    log = tmp_path / "access.log"
    for item in ("a", "b", "c"):
        record_access(log, "audit", item)
    lines = log.read_bytes().splitlines(keepends=True)
    changed = {
        "drop": [lines[0], lines[2]],
        "alter": [lines[0], lines[1].replace(b'"b"', b'"x"'), lines[2]],
        "garble": [lines[0], b"null\n", lines[2]],
    }[tamper]
    log.write_bytes(b"".join(changed))
    with pytest.raises(BrokenChain, match=r"access\.log:2"):
        entries(log)
    with pytest.raises(BrokenChain):
        record_access(log, "audit", "d")
