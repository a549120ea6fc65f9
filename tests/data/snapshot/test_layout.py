"""Names of a snapshot: each limit holds to the last character and byte."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import ReleaseError
from data.snapshot import layout
from data.snapshot.layout import SumsError, compute, is_safe_path, parse, render, snapshot_digest

# SHA256SUMS: what is written is read back, and nothing else is accepted.

PATHS = st.text(min_size=1, max_size=30).filter(is_safe_path)
DIGESTS = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")


@given(st.dictionaries(PATHS, DIGESTS))
def test_sums_come_back(sums: dict[str, str]) -> None:
    assert parse(render(sums)) == sums


@given(st.dictionaries(PATHS, DIGESTS, min_size=2))
def test_order_does_not_matter(sums: dict[str, str]) -> None:
    assert render(dict(reversed(list(sums.items())))) == render(sums)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"a" * 64 + b" x\n", "not a digest and a path"),
        (b"A" * 64 + b"  x\n", "not a digest and a path"),
        (b"a" * 63 + b"  x\n", "not a digest and a path"),
        (b"a" * 64 + b"  \xff\n", "not a digest and a path"),
        (b"a" * 64 + b"  ../x\n", "leaves the directory"),
        (b"a" * 64 + b"  /x\n", "leaves the directory"),
        (b"a" * 64 + b"  a\\b\n", "leaves the directory"),
        (b"a" * 64 + b"  x", "is incomplete"),
        ((b"a" * 64 + b"  x\n") * 2, "listed twice"),
        (b"\n", "not a digest and a path"),
    ],
)
def test_malformed_lines_are_named(line: bytes, problem: str) -> None:
    with pytest.raises(SumsError, match=problem):
        parse(line)


def test_the_number_of_the_line_is_named() -> None:
    good = b"a" * 64 + b"  x\n"
    for content, number in (
        (b"bad\n" + good, 1),
        (good + b"bad\n", 2),
        (good + b"a" * 64 + b"  y\n" + good, 3),
        (good + b"a", 2),
    ):
        with pytest.raises(SumsError, match=f"^line {number}: "):
            parse(content)
    with pytest.raises(SumsError, match="3 bytes that are not"):
        parse(b"bad\n")
    assert parse(b"") == {}


def test_compute_skips_links_and_the_sums_themselves(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.txt").write_bytes(b"b")
    (tmp_path / "c.txt").write_bytes(b"c")
    (tmp_path / "SHA256SUMS").write_bytes(b"")
    (tmp_path / "link").symlink_to("c.txt")
    assert compute(tmp_path) == {
        "a/b.txt": hashlib.sha256(b"b").hexdigest(),
        "c.txt": hashlib.sha256(b"c").hexdigest(),
    }


def test_the_snapshot_digest_covers_both_halves_in_order() -> None:
    assert snapshot_digest(b"public", b"private") == hashlib.sha256(b"publicprivate").hexdigest()


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
