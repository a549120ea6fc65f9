"""Publishing: a signed release is copied to a folder or bucket, checked there, then pointed to.

    TARGET/<snapshot>/…                  the public half; with the private half both, and run.json
    TARGET/<snapshot>.errata.json        its errata, if it has any; with the private half also
    TARGET/<snapshot>.errata.private.json  the corrected answers
    TARGET/latest.json                   the pointer, which moves last

Any address that fsspec knows (a path, `s3://bucket/folder`, …). Every file is read back from there;
a copy that was interrupted goes on, and a file with other content is never changed. Errata there
are only replaced by those that were made from them. Publishers into one folder take turns; in a
bucket each file is created by one of them, and the others compare.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from data.atomic import PRIVATE_FILE, private_dir
from data.canonical import pretty_json
from data.errors import InputError, ReleaseError
from data.neutralise import one_line
from data.releases.tasks import ReleasedTasks, read_tasks
from data.remote_folder import NEW, RemoteFolder, open_folder, reaching
from data.snapshot import layout
from data.snapshot.errata import (
    Action,
    Notice,
    corrections_path,
    errata_lines,
    notice_in,
    notice_path,
)
from data.snapshot.signature import key_id
from data.snapshot.verification import Check, Finding, VerifyReport

POINTER = "latest.json"
_LOCK = ".publish.lock"
_LEFTOVER = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.part")  # by tempfile
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class _Published:
    """Where a release is now, how many files it has, and how many were there before."""

    where: str
    files: int
    already: int


def publish(snapshot: Path, release: ReleasedTasks, target: str, *, private: bool) -> _Published:
    """Copy a verified and signed release to `target` and point to it; `release` is its content.

    Raises InputError if the target cannot be reached, ReleaseError if it holds another release of
    that name or errata that this one does not know, or if what is read back is not what was
    written.
    """
    root, name = snapshot.resolve(), release.snapshot
    files = _files(root, name, private=private)
    pointer = {"snapshot": name, "public_digest": release.digest, "private": private}
    with reaching(target, "a folder, or a URL that fsspec can reach"):
        there = open_folder(target)
        if there.is_local and Path(there.base).is_relative_to(root):
            raise ValueError("a folder inside the snapshot itself")
        with _turn(there, name, files):
            already = _copied(there, name, files)
            if release.notice is not None:
                _copy_errata(there, release, release.notice, private=private)
            _point(there, pointer)
    return _Published(there.at(name), len(files), already)


def _files(root: Path, name: str, *, private: bool) -> dict[str, Path]:
    """What is published, by its path at the target; sums come after what they list."""
    public, other = layout.halves(root)
    halves = {layout.PUBLIC: public} | ({layout.PRIVATE: other} if private and other else {})
    files = {
        f"{name}/{half}/{path.relative_to(folder).as_posix()}": path
        for half, folder in halves.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    if private and (root / layout.RUN).is_file():
        files[f"{name}/{layout.RUN}"] = root / layout.RUN
    return dict(sorted(files.items(), key=lambda item: (item[0].endswith(layout.SUMS), item[0])))


@contextmanager
def _turn(there: RemoteFolder, name: str, paths: Collection[str]) -> Iterator[None]:
    """While no other publisher writes into a local folder; its folders are made, with their modes.

    Nobody else can enter the private half at any moment.
    """
    if not there.is_local:
        yield
        return
    home, private = Path(there.base), PurePosixPath(name, layout.PRIVATE)
    home.mkdir(parents=True, exist_ok=True)
    lock = os.open(home / _LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, _READABLE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folders = {parent for path in paths for parent in PurePosixPath(path).parents}
        _refuse_links(home, name, [*map(str, folders), *paths, POINTER])
        _remove_leftovers(home, name, {PurePosixPath(path).name for path in paths})
        (home / name).mkdir(exist_ok=True)
        for folder in sorted(folders):
            if folder.is_relative_to(private):
                private_dir(home / folder)
        yield
    finally:
        os.close(lock)


def _refuse_links(home: Path, name: str, paths: Collection[str]) -> None:
    """Raise ReleaseError if something of the release is a link: it would be written elsewhere."""
    errata = notice_path(home / name, name)
    for path in (*(home / path for path in paths if path != "."), errata, corrections_path(errata)):
        if path.is_symlink():
            raise ReleaseError(
                f"{one_line(str(path))[:300]}: a symbolic link, so the release would end up "
                "elsewhere. Remove it, or publish to the folder that it points to."
            )


def _remove_leftovers(home: Path, name: str, names: Collection[str]) -> None:
    """Remove what a killed publisher left of these files; others may keep theirs in the folder."""
    notice = notice_path(home / name, name)
    own = {*names, POINTER, notice.name, corrections_path(notice).name}
    for part in home.glob(".*.part"):
        match = _LEFTOVER.fullmatch(part.name)
        if match and match[1] in own and part.is_file():
            part.unlink(missing_ok=True)


def _copied(there: RemoteFolder, name: str, files: Mapping[str, Path]) -> int:
    """Copy what is not there, read all of it back; how many were there before."""
    known = there.listed(name)
    if strange := sorted(known - files.keys()):
        raise ReleaseError(
            f"{there.at(name)}: holds {one_line(strange[0])[:200]}, which is not part of the "
            "release. A published release is never changed: choose another target."
        )
    for path, source in files.items():
        content = source.read_bytes()
        is_new = path not in known and _created(there, path, content, source.stat().st_mode & 0o777)
        if there.digest(path) == hashlib.sha256(content).hexdigest():
            continue
        if is_new:
            raise ReleaseError(
                f"{there.at(path)}: reads back differently. Remove it and publish again."
            )
        raise ReleaseError(
            f"{there.at(path)}: other content is published under this name. A published release is "
            "never changed: build with another name or revision."
        )
    return len(known)


def _created(there: RemoteFolder, path: str, content: bytes, permissions: int) -> bool:
    """Write a file that nobody has written; False if another publisher was first."""
    try:
        there.write(path, content, permissions, NEW)
    except FileExistsError:
        return False
    return True


def _copy_errata(
    there: RemoteFolder, release: ReleasedTasks, notice: Notice, *, private: bool
) -> None:
    """Copy the notice, and what it corrects before it, unless the errata there are other ones."""
    name, corrections = notice.path.name, corrections_path(notice.path)
    state = there.state(name)  # before it is read: what changes in between is noticed
    if (before := there.content(name)) is not None:
        known = notice_in(before, Path(there.at(name)), release.about)
        if known.digest not in (notice.digest, *notice.earlier):
            raise ReleaseError(
                f"{there.at(name)}: errata that the local notice is not based on. Copy it (and "
                f"{corrections.name}) next to the snapshot, repeat your errata and publish again."
            )
    if private and corrections.is_file():
        kept = there.state(corrections.name)
        _replace(there, corrections.name, corrections.read_bytes(), PRIVATE_FILE, kept)
    _replace(there, name, notice.path.read_bytes(), _READABLE, state)


def _replace(
    there: RemoteFolder, path: str, content: bytes, permissions: int, state: Mapping[str, str]
) -> None:
    """Write a file of the errata if it is still in that state, and read it back."""
    if there.content(path) == content:
        return
    try:
        there.write(path, content, permissions, state)
    except OSError as error:
        if there.state(path) == state:  # nobody else wrote it: the storage is at fault
            raise
        raise ReleaseError(
            f"{there.at(path)}: another publisher has just written it. Publish again."
        ) from error
    if there.content(path) != content:
        raise ReleaseError(f"{there.at(path)}: reads back differently. Publish again.")


def _point(there: RemoteFolder, pointer: Mapping[str, Any]) -> None:
    """Move the pointer; that another publisher moves it on at once is no fault."""
    there.write(POINTER, pretty_json(pointer), _READABLE, {})
    got = orjson.loads(there.content(POINTER) or b"null")
    is_pointer = isinstance(got, dict) and got.keys() == pointer.keys()
    if got != pointer and (not is_pointer or got["snapshot"] == pointer["snapshot"]):
        raise ReleaseError(f"{there.at(POINTER)}: reads back differently. Publish again.")


def check_errata(
    snapshot: Path, trusted: Sequence[Ed25519PublicKey], report: VerifyReport
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Lines about the errata of a snapshot, and findings; both empty where there are none.

    Without `trusted` keys the signer is named, but not checked. Nothing of the snapshot raises.
    """
    if report.snapshot is None:
        return (), ()
    path = notice_path(snapshot, report.snapshot)
    if not path.exists() and not path.is_symlink():
        return (), ()
    try:
        notice = read_tasks(snapshot).notice
        assert notice is not None
        findings = tuple(_findings(notice, trusted, with_private=report.with_private))
    except InputError as error:
        return (), (_finding(error),)
    checked = "checked" if trusted and not findings else "not checked: pass the signer's --key"
    return (f"errata signed by {notice.signer}, {checked}", *errata_lines(notice)), findings


def _findings(
    notice: Notice, trusted: Sequence[Ed25519PublicKey], *, with_private: bool
) -> list[Finding]:
    """Another signer than those that were given, and corrections that are not here or open."""
    findings = []
    if trusted and notice.signer not in map(key_id, trusted):
        problem = f"signed by {notice.signer}, whose key was not provided"
        findings.append(Finding(Check.SIGNER, notice.path.name, problem))
    for entry in notice.of(Action.CORRECTED) if with_private else ():
        try:
            notice.grading(entry.task_id)
        except InputError as error:
            findings.append(_finding(error))
    return findings


def _finding(error: InputError) -> Finding:
    return Finding(Check.ERRATA, Path(error.path).name, f"found {error.actual}")
