"""Stored snapshots: the same bytes, the latest, and no half, foreign or altered one."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from construction.signals.collect import list_snapshots, load_snapshot, save_snapshot, store
from construction.signals.collect.snapshot import make_snapshot
from data.contracts import Popularity, Signal, SignalProvenance
from data.errors import ConfigError, InputError
from tests.construction.signals.collect.made import DAY, made_snapshot

MAY = dt.date(2026, 5, 1)


def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    full = Signal(
        slug="天气",
        name="Weather 🌦",
        summary="a\n\tb",
        owner="ann",
        popularity={m: n * 10**14 for n, m in enumerate(Popularity)},
        tags=("x", "y"),
        provenance=SignalProvenance("made", DAY, "https://hub.example/a", 3),
        created_at=1767632598.123,
    )
    bare = Signal("bare", "bare", "", None, {Popularity.STARS: 0}, (), full.provenance)
    snapshot = make_snapshot("made", DAY, Popularity.STARS, [full, bare])
    path = save_snapshot(tmp_path, snapshot)
    assert path == tmp_path / "made" / "2026-03-01.parquet"
    assert load_snapshot(tmp_path, "made", DAY) == snapshot


def test_the_same_snapshot_gives_the_same_bytes(tmp_path: Path) -> None:
    first = save_snapshot(tmp_path / "1", made_snapshot({"a": 1, "b": 2}))
    two = save_snapshot(tmp_path / "2", made_snapshot({"b": 2, "a": 1}))
    assert first.read_bytes() == two.read_bytes()
    assert first.with_suffix(".json").read_bytes() == two.with_suffix(".json").read_bytes()


def test_the_digest_covers_all_that_a_snapshot_says() -> None:
    plain = made_snapshot({"a": 1, "b": 2})
    others = [
        made_snapshot({"a": 1, "b": 3}),
        made_snapshot({"a": 1, "c": 2}),
        made_snapshot({"a": 1, "b": 2}, MAY),
        make_snapshot("other", DAY, plain.measure, plain.signals),
        make_snapshot("made", DAY, Popularity.STARS, plain.signals),
    ]
    assert len({plain.digest, *(other.digest for other in others)}) == 6


def test_snapshots_are_listed_by_source_and_date(tmp_path: Path) -> None:
    march, may = made_snapshot({"a": 1, "b": 2}), made_snapshot({"a": 5}, MAY)
    other = make_snapshot("hub", MAY, march.measure, march.signals)
    for snapshot in (may, other, march):
        save_snapshot(tmp_path, snapshot)
    headers = list_snapshots(tmp_path)
    assert [(h.source, h.date) for h in headers] == [("hub", MAY), ("made", DAY), ("made", MAY)]
    assert [(h.signals, h.mass) for h in headers] == [(2, 3), (2, 3), (1, 5)]
    assert [h.digest for h in list_snapshots(tmp_path, "made")] == [march.digest, may.digest]
    assert load_snapshot(tmp_path, "made") == may
    assert list_snapshots(tmp_path / "nothing") == ()


def test_a_stored_snapshot_is_not_overwritten_unasked(tmp_path: Path) -> None:
    first, other = made_snapshot({"a": 1}), made_snapshot({"a": 2})
    path = save_snapshot(tmp_path, first)
    before = path.stat().st_mtime_ns
    assert save_snapshot(tmp_path, first) == path
    assert path.stat().st_mtime_ns == before
    with pytest.raises(InputError, match="found a snapshot with digest"):
        save_snapshot(tmp_path, other)
    assert load_snapshot(tmp_path, "made") == first
    save_snapshot(tmp_path, other, replace=True)
    assert load_snapshot(tmp_path, "made") == other


def test_a_half_written_snapshot_does_not_count(tmp_path: Path) -> None:
    path = save_snapshot(tmp_path, made_snapshot({"a": 1}))
    path.with_suffix(".json").unlink()  # killed between the table and its header
    assert list_snapshots(tmp_path) == ()
    with pytest.raises(InputError, match="found no snapshot; expected at least one"):
        load_snapshot(tmp_path, "made")
    with pytest.raises(InputError, match="no file"):
        load_snapshot(tmp_path, "made", DAY)
    save_snapshot(tmp_path, made_snapshot({"a": 2}))
    assert load_snapshot(tmp_path, "made").signals[0].popularity == {Popularity.DOWNLOADS: 2}


def test_a_kill_while_replacing_leaves_no_header_of_another_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_snapshot(tmp_path, made_snapshot({"a": 1}))

    def killed(path: Path, content: bytes) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(store, "write_bytes", killed)
        save_snapshot(tmp_path, made_snapshot({"a": 2}), replace=True)
    assert list_snapshots(tmp_path) == ()
    save_snapshot(tmp_path, made_snapshot({"a": 2}))
    assert load_snapshot(tmp_path, "made") == made_snapshot({"a": 2})


def test_an_altered_snapshot_is_refused(tmp_path: Path) -> None:
    march = save_snapshot(tmp_path, made_snapshot({"a": 1}))
    may = save_snapshot(tmp_path, made_snapshot({"a": 1}, MAY))
    march.write_bytes(may.read_bytes())
    with pytest.raises(InputError, match="as in the header"):
        load_snapshot(tmp_path, "made", DAY)
    march.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"no table of signals \(ComputeError\)"):
        load_snapshot(tmp_path, "made", DAY)
    march.unlink()
    with pytest.raises(InputError, match=r"no table of signals \(FileNotFoundError\)"):
        load_snapshot(tmp_path, "made", DAY)
    may.with_suffix(".json").rename(march.with_suffix(".json"))
    may.rename(march)
    with pytest.raises(InputError, match="as in the header"):  # May's files under March's name
        load_snapshot(tmp_path, "made", DAY)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"source": "../x"}', b"null"])
def test_a_header_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    path = save_snapshot(tmp_path, made_snapshot({"a": 1}))
    path.with_suffix(".json").write_bytes(content)
    with pytest.raises((InputError, ConfigError)):
        list_snapshots(tmp_path)


def test_a_source_does_not_lead_out_of_the_store(tmp_path: Path) -> None:
    for source in ("../made", "*", "a/b"):
        with pytest.raises(ConfigError, match="source name of"):
            load_snapshot(tmp_path, source)
