"""SHA256SUMS: what is written is read back, and nothing else is accepted."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.snapshot.layout import is_safe_path
from data.snapshot.sums import SumsError, compute, parse, render, snapshot_digest

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
