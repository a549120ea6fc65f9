"""Names of a snapshot: each limit holds to the last character and byte."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from data.errors import ReleaseError
from data.snapshot import layout


def test_the_first_revision_has_no_number() -> None:
    day = date(2026, 7, 1)
    assert layout.snapshot_id("demo", day) == "demo-2026.07.01"
    assert layout.snapshot_id("demo", day, 1) == "demo-2026.07.01"
    assert layout.snapshot_id("demo", day, 2) == "demo-2026.07.01-r2"


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("a", True), ("a-1-b", True), ("a" * 64, True), ("a" * 65, False), ("", False),
        ("-a", False), ("a--b", False), ("A", False), ("a_b", False), ("a\n", False),
    ],
)  # fmt: skip
def test_names_of_snapshots(name: str, fits: bool) -> None:
    assert layout.is_name(name) is fits


@pytest.mark.parametrize(
    ("task_id", "fits"),
    [
        ("a", True), ("A1._-", True), ("a" * 128, True), ("a" * 129, False), ("", False),
        (".a", False), ("a.", False), ("a/b", False), ("a b", False), ("con", False),
        ("CON.txt", False), ("com1", False), ("com9.a", False), ("lpt9", False), ("com0", True),
        ("com10", True), ("console", True), ("a.con", True), ("audit", False), ("Views", False),
        ("ledger.parquet", False), ("sha256sums", False), ("SHA256SUMS", False),
        ("snapshot.json", False), ("answers.parquet", False), ("answers", True),
    ],
)  # fmt: skip
def test_names_of_tasks(task_id: str, fits: bool) -> None:
    assert layout.is_id(task_id) is fits


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("a", True), ("a/b c/ü.txt", True), ("a" * 255, True), ("a" * 256, False),
        ("ü" * 127 + "a", True), ("ü" * 128, False), ("a/" + "b" * 256, False), ("", False),
        ("/a", False), ("a/", False), ("a//b", False), ("./a", False), ("a/../b", False),
        ("a\\b", False), ("a\nb", False), ("a\x7f", False), ("a\x9f", False), ("a\u2028b", False),
        ("a\u202eb", False), ("a\u2069b", False), ("a\ud800", False), ("...", True),
    ],
)  # fmt: skip
def test_paths_that_stay_in_their_root(path: str, fits: bool) -> None:
    assert layout.is_safe_path(path) is fits


def test_names_of_tables() -> None:
    assert layout.table_path("a" * 64) == f"tables/{'a' * 64}.parquet"
    for name in ("a" * 65, "1a", "A", "a-b", ""):
        with pytest.raises(ReleaseError, match=f"a table's name of {len(name)} characters"):
            layout.table_path(name)


def test_the_canary_follows_from_the_snapshot_and_its_recipe_alone() -> None:
    guid = layout.canary("demo-2026.07.01", "0" * 64)
    assert guid == layout.canary("demo-2026.07.01", "0" * 64)
    assert guid == "32f3fcb1-05b1-5cdb-9491-3c8c7f9112c7"
    assert guid != layout.canary("demo-2026.07.01", "1" * 64)
    assert guid != layout.canary("demo-2026.07.02", "0" * 64)


def test_a_public_half_by_itself_is_a_snapshot_without_a_private_half(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    assert layout.halves(tmp_path) == (tmp_path / "public", None)
    (tmp_path / "private").mkdir()
    assert layout.halves(tmp_path) == (tmp_path / "public", tmp_path / "private")
    (tmp_path / "manifest.json").touch()  # in a whole snapshot it is no sign of a public half
    assert layout.halves(tmp_path) == (tmp_path / "public", tmp_path / "private")
    (tmp_path / "public" / "manifest.json").touch()
    assert layout.halves(tmp_path / "public") == (tmp_path / "public", None)
    assert layout.halves(tmp_path / "private") == (tmp_path / "private" / "public", None)
