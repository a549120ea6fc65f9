"""Verification: good snapshots pass, and damage that the sums tell is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from data.contracts import PRIVATE_FIELDS
from data.snapshot import verification
from data.snapshot.verification import Check, verify
from data.snapshot.verification_files import Findings, Half, load_half
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.damage import (
    Damage,
    append,
    edit_json,
    failed_checks,
    first_input,
    make_fifo,
    make_folder,
    put,
    reseal,
)
from tests.data.snapshot.sample import release


def test_a_snapshot_as_written_is_good(pristine: Path) -> None:
    report = verify(pristine)
    assert report.findings == ()
    assert report.snapshot == pristine.name
    assert report.with_private
    assert report.tasks == 18
    assert report.digest == orjson.loads((pristine / "run.json").read_bytes())["digest"]


def test_the_public_half_alone_is_good(snapshot: Path) -> None:
    shutil.rmtree(snapshot / "private")
    for folder in (snapshot, snapshot / "public"):
        report = verify(folder)
        assert report.findings == ()
        assert (report.with_private, report.digest, report.tasks) == (False, None, 18)


PLAIN: dict[str, tuple[Damage, Check, str]] = {
    "a changed text": (
        lambda s: append(s / "public/README.md", b"more"),
        Check.SUMS_CHANGED,
        "public/README.md",
    ),
    "a changed input": (
        lambda s: append(first_input(s), b"2,9\n"),
        Check.SUMS_CHANGED,
        "/inputs/orders.csv",
    ),
    "a missing file": (
        lambda s: (s / "public/LICENSE").unlink(),
        Check.SUMS_MISSING,
        "public/LICENSE",
    ),
    "an extra file": (
        lambda s: put(s / "public/audit/extra.json", b"{}"),
        Check.SUMS_EXTRA,
        "public/audit/extra.json",
    ),
    "a changed private table": (
        lambda s: append(s / "private/ledger.parquet", b"x"),
        Check.SUMS_CHANGED,
        "private/ledger.parquet",
    ),
    "no sums": (
        lambda s: (s / "public/SHA256SUMS").unlink(),
        Check.SUMS_MISSING,
        "public/SHA256SUMS",
    ),
    "sums that leave the directory": (
        lambda s: append(s / "public/SHA256SUMS", b"a" * 64 + b"  ../private/ledger.parquet\n"),
        Check.SUMS_MALFORMED,
        "public/SHA256SUMS",
    ),
    "sums with a path twice": (
        lambda s: append(s / "public/SHA256SUMS", (s / "public/SHA256SUMS").read_bytes()),
        Check.SUMS_MALFORMED,
        "public/SHA256SUMS",
    ),
    "sums that are no text": (
        lambda s: append(s / "public/SHA256SUMS", b"\xff\xfe\x00\n"),
        Check.SUMS_MALFORMED,
        "public/SHA256SUMS",
    ),
    "a symbolic link": (
        lambda s: (s / "public/audit/link.json").symlink_to("/etc/hostname"),
        Check.SYMLINK,
        "public/audit/link.json",
    ),
    "a linked directory": (
        lambda s: (s / "public/tables").symlink_to("/etc"),
        Check.SYMLINK,
        "public/tables",
    ),
    "a pipe": (lambda s: make_fifo(s / "public/pipe"), Check.SPECIAL_FILE, "public/pipe"),
    "a name with a line feed": (
        lambda s: put(s / "public/a\nb", b""),
        Check.UNSAFE_PATH,
        "public/a b",
    ),
    "a name that is no text": (
        lambda s: put(s / "public/\udcff", b""),
        Check.UNSAFE_PATH,
        "public/⟨U+DCFF⟩",
    ),
    "an empty folder": (
        lambda s: make_folder(s / "public/audit/later"),
        Check.EMPTY_FOLDER,
        "public/audit/later",
    ),
    "a folder in an empty folder": (
        lambda s: make_folder(s / "public/a/b"),
        Check.EMPTY_FOLDER,
        "public/a/b",
    ),
    "an empty private folder": (
        lambda s: make_folder(s / "private/views"),
        Check.EMPTY_FOLDER,
        "private/views",
    ),
    "a file beside the halves": (
        lambda s: put(s / "NOTES.txt", b"x"),
        Check.NOT_PART,
        "NOTES.txt",
    ),
    "a folder beside the halves": (
        lambda s: make_folder(s / ".private.7.part"),
        Check.NOT_PART,
        ".private.7.part",
    ),
    "run.json with another digest": (
        lambda s: edit_json(s / "run.json", lambda run: run.update(digest="0" * 64)),
        Check.RUN,
        "run.json",
    ),
    "run.json of another snapshot": (
        lambda s: edit_json(s / "run.json", lambda run: run.update(snapshot="other-2026.07.01")),
        Check.RUN,
        "run.json",
    ),
    "run.json that is no JSON": (
        lambda s: put(s / "run.json", b"\xff{"),
        Check.RUN,
        "run.json",
    ),
    "no run.json": (lambda s: (s / "run.json").unlink(), Check.RUN, "run.json"),
    "a private half others may enter": (
        lambda s: (s / "private").chmod(0o755),
        Check.OPEN_TO_OTHERS,
        "private",
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_damage_is_named(snapshot: Path, name: str) -> None:
    damage, check, path = PLAIN[name]
    damage(snapshot)
    hits = [finding for finding in verify(snapshot).findings if finding.check is check]
    assert [path in finding.path for finding in hits] == [True], hits


def test_a_linked_run_json_is_not_followed(snapshot: Path, tmp_path: Path) -> None:
    (snapshot / "run.json").rename(tmp_path / "run.json")
    (snapshot / "run.json").symlink_to(tmp_path / "run.json")
    assert failed_checks(verify(snapshot)) == {Check.NOT_PART, Check.RUN}


@pytest.mark.parametrize("name", ["demo-2026.07.02", "demo-2026.07.01-r2", "other-2026.07.01"])
def test_a_folder_with_the_name_of_another_snapshot(snapshot: Path, name: str) -> None:
    renamed = snapshot.rename(snapshot.with_name(name))
    assert [(f.check, f.path) for f in verify(renamed).findings] == [(Check.RENAMED, name)]


def test_a_copy_under_a_name_of_its_owner_and_a_pointer_are_good(snapshot: Path) -> None:
    link = snapshot.with_name("latest")
    link.symlink_to(snapshot.name)
    assert verify(link).findings == ()
    assert verify(snapshot.rename(snapshot.with_name("downloaded"))).findings == ()


def test_a_revision_is_good(tmp_path: Path) -> None:
    first = release(tmp_path)
    second = replace(first, card=first.card.model_copy(update={"title": "Another"}))
    for given, name, version in (
        (first, "demo-2026.07.01", "20260701.0.0"),
        (second, "demo-2026.07.01-r2", "20260701.1.0"),
        (replace(second, version="3.1.0"), "demo-2026.07.01-r3", "3.1.0"),
    ):
        ref = write_snapshot(given, tmp_path / "out", revision=True)
        assert ref.path.name == name
        croissant = orjson.loads((ref.path / "public/croissant.json").read_bytes())
        assert croissant["version"] == version
        assert verify(ref.path).findings == ()


def test_what_a_killed_purge_left_is_no_damage(snapshot: Path) -> None:
    (snapshot / "private").rename(snapshot / ".private.7.part")
    report = verify(snapshot)
    assert (report.findings, report.with_private) == ((), False)
    put(snapshot / "run.json", b"[]")
    assert failed_checks(verify(snapshot)) == {Check.RUN}


@pytest.mark.parametrize(
    "path",
    ["public/manifest.json", "public/tasks", "private/ledger.parquet", "private", "run.json"],
)
def test_what_vanishes_while_it_is_read_is_a_finding(
    snapshot: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes after its half was listed and digested, before anything looks into it."""
    gone = snapshot / path

    def listed_then_gone(root: Path, name: str, findings: Findings) -> Half:
        half = load_half(root, name, findings)
        if path == "run.json" or path.startswith(name):
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink(missing_ok=True)
        return half

    monkeypatch.setattr(verification, "load_half", listed_then_gone)
    assert verify(snapshot).findings


def test_halves_of_different_snapshots_do_not_fit(snapshot: Path) -> None:
    append(snapshot / "public/README.md", b"more")
    link = snapshot / "private/snapshot.json"
    before = link.read_bytes()
    reseal(snapshot)
    link.write_bytes(before)
    assert Check.PRIVATE_LINK in failed_checks(verify(snapshot))


def test_a_directory_that_is_no_snapshot(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        report = verify(folder)
        assert [finding.check for finding in report.findings] == [Check.NOT_A_SNAPSHOT]


def test_linked_halves_are_refused(snapshot: Path, tmp_path: Path) -> None:
    (snapshot / "private").rename(tmp_path / "elsewhere")
    (snapshot / "private").symlink_to(tmp_path / "elsewhere")
    report = verify(snapshot)
    assert [(finding.check, finding.path) for finding in report.findings] == [
        (Check.SYMLINK, "private")
    ]


def test_an_empty_public_half_is_all_findings(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    report = verify(tmp_path)
    assert not report.ok
    assert "public/manifest.json" in {finding.path for finding in report.findings}


def test_no_private_field_is_told_anywhere_in_public(pristine: Path) -> None:
    rows = (pristine / "public/tasks.jsonl").read_text()
    assert not [name for name in PRIVATE_FIELDS if f'"{name}":' in rows]
    for path in (pristine / "public").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"secret-folder" not in content, path
            assert b"weekly-review" not in content, path
