from __future__ import annotations

from pathlib import Path

import pytest

from data.access_log import BrokenChain, check, record


def test_looks_are_chained(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    for item in ("a", "b", "c"):
        record(log, "audit", item)
    assert check(log) == 3
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("tamper", ["drop", "alter", "garble"])
def test_tampering_is_found_and_stops_further_entries(tmp_path: Path, tamper: str) -> None:
    log = tmp_path / "access.log"
    for item in ("a", "b", "c"):
        record(log, "audit", item)
    lines = log.read_bytes().splitlines(keepends=True)
    changed = {
        "drop": [lines[0], lines[2]],
        "alter": [lines[0], lines[1].replace(b'"b"', b'"x"'), lines[2]],
        "garble": [lines[0], b"null\n", lines[2]],
    }[tamper]
    log.write_bytes(b"".join(changed))
    with pytest.raises(BrokenChain, match=r"access\.log:2"):
        check(log)
    with pytest.raises(BrokenChain):
        record(log, "audit", "d")
