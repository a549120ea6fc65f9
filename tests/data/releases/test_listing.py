"""`releases`: newest first, each with what is known of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data.errors import ReleaseError
from data.releases import listing
from data.releases.listing import State, releases
from data.snapshot import verification
from data.snapshot.layout import snapshot_digest
from data.snapshot.verification import VerifyReport, verify
from data.snapshot.verification_files import Findings, Half, check_modes
from data.snapshot.writer import mark_latest
from tests.data.releases import train


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listing")
    for weeks in (0, 1):
        train.written(folder, weeks)
    return folder / "snapshots"


@pytest.fixture
def snapshots(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "snapshots"))


def test_each_is_listed_with_what_is_known_of_it(snapshots: Path) -> None:
    newest, oldest = releases(snapshots)
    assert (newest.snapshot, oldest.snapshot) == ("demo-2026.07.08", "demo-2026.07.01")
    assert (newest.released, newest.tasks, newest.privacy) == ("2026-07-08", 18, "generated")
    assert (newest.state, newest.private, newest.latest) == (State.VERIFIED, True, False)
    both = [(newest.path / half / "SHA256SUMS").read_bytes() for half in ("public", "private")]
    assert newest.digest == snapshot_digest(*both)
    assert [one.digest for one in releases(snapshots, check=False)] == [
        newest.digest,
        oldest.digest,
    ]


def test_latest_moves_only_to_what_verified(snapshots: Path, tmp_path: Path) -> None:
    refs = [train.written(tmp_path, weeks) for weeks in (0, 1)]
    mark_latest(refs[0], verify(refs[0].path))
    (refs[1].path / "public" / "tasks.jsonl").write_bytes(b"{}\n")
    with pytest.raises(ReleaseError, match="not marked as latest"):
        mark_latest(refs[1], verify(refs[1].path))
    with pytest.raises(ReleaseError, match="not marked as latest"):
        mark_latest(refs[1], verify(refs[0].path))
    result = {one.snapshot: (one.state, one.latest) for one in releases(snapshots)}
    assert result == {
        "demo-2026.07.01": (State.VERIFIED, True),
        "demo-2026.07.08": (State.FAILED, False),
    }


def test_a_release_is_never_overwritten(tmp_path: Path) -> None:
    ref = train.written(tmp_path)
    before = {p: p.read_bytes() for p in sorted(ref.path.rglob("*")) if p.is_file()}
    with pytest.raises(ReleaseError, match="never overwritten"):
        train.written(tmp_path, changes=("Other words.",))
    assert {p: p.read_bytes() for p in sorted(ref.path.rglob("*")) if p.is_file()} == before


def test_a_damaged_and_a_public_one_say_so(snapshots: Path) -> None:
    (snapshots / "demo-2026.07.08/public/LICENSE").write_text("none")
    shutil.rmtree(snapshots / "demo-2026.07.01/private")
    newest, oldest = releases(snapshots)
    assert (newest.state, newest.findings > 0) == (State.FAILED, True)
    assert (oldest.state, oldest.private, oldest.digest) == (State.VERIFIED, False, None)
    assert {one.state for one in releases(snapshots, check=False)} == {State.NOT_CHECKED}


def test_what_is_no_release_is_told_and_links_are_passed_over(
    snapshots: Path, tmp_path: Path
) -> None:
    (snapshots / "notes\x1b[2J").mkdir()
    (snapshots / "demo-2026.07.15").mkdir()
    shutil.copytree(snapshots / "demo-2026.07.01", snapshots / "demo-2026.07.22")
    (snapshots / ".hidden-2026.07.01").mkdir()
    (snapshots / "demo-2026.07.29").symlink_to(snapshots / "demo-2026.07.01")
    result = {one.snapshot: one.state for one in releases(snapshots, check=False)}
    assert result == {
        "demo-2026.07.01": State.NOT_CHECKED,
        "demo-2026.07.08": State.NOT_CHECKED,
        "notes⟨U+001B⟩[2J": State.UNREADABLE,
        "demo-2026.07.15": State.UNREADABLE,
        "demo-2026.07.22": State.UNREADABLE,
    }
    assert releases(tmp_path / "gone") == []


def test_a_half_that_is_purged_in_the_middle_of_the_look_is_looked_at_again(
    snapshots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = snapshots / "demo-2026.07.08/private"

    def purged(path: Path) -> VerifyReport:
        if path == half.parent and half.exists():
            shutil.rmtree(half)
            (half / "SHA256SUMS").read_bytes()
        return verify(path)

    monkeypatch.setattr(listing, "verify", purged)
    result = [(one.state, one.private) for one in releases(snapshots)]
    assert result == [(State.VERIFIED, False), (State.VERIFIED, True)]


def test_a_half_that_is_purged_while_it_is_verified_is_no_damage(
    snapshots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def purged_then_looked_at(half: Half, forbidden: int, findings: Findings) -> None:
        if half.root.parent.name == "demo-2026.07.08" and half.name == "private":
            shutil.rmtree(half.root)
        check_modes(half, forbidden, findings)

    monkeypatch.setattr(verification, "check_modes", purged_then_looked_at)
    result = [(one.state, one.private) for one in releases(snapshots)]
    assert result == [(State.VERIFIED, False), (State.VERIFIED, True)]


def test_a_release_that_never_holds_still_stops_no_listing(
    snapshots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moving(path: Path) -> VerifyReport:
        (path / "gone").read_bytes()
        return verify(path)

    monkeypatch.setattr(listing, "verify", moving)
    assert [one.state for one in releases(snapshots)] == [State.UNREADABLE] * 2


def test_a_kill_while_latest_moves_leaves_the_old_pointer_or_the_new(
    snapshots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = [train.written(tmp_path, weeks) for weeks in (0, 1)]
    mark_latest(refs[0], verify(refs[0].path))

    def killed(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", killed)
        mark_latest(refs[1], verify(refs[1].path))
    assert [one.latest for one in releases(snapshots, check=False)] == [False, True]
    mark_latest(refs[1], verify(refs[1].path))
    assert [one.latest for one in releases(snapshots, check=False)] == [True, False]
