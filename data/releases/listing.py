"""The releases in a folder, and which of them verify."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from data.errors import InputError
from data.neutralise import one_line
from data.snapshot import layout
from data.snapshot.verification import verify

_LATEST = "latest"
_LARGEST = 64 << 20
_TRIES = 2


class State(StrEnum):
    """What is known about a release at this moment."""

    VERIFIED = "verified"
    FAILED = "failed"
    NOT_CHECKED = "not checked"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ReleaseInfo:
    """A directory among the snapshots. Without a readable manifest only name and state are set.

    `digest` needs both halves; `findings` counts those of the verification; `latest`: the link
    `latest` points to it; `inputs` are names and digests of what it was made from.
    """

    snapshot: str
    path: Path
    state: State
    latest: bool = False
    released: str | None = None
    revision: int = 1
    version: str | None = None
    digest: str | None = None
    tasks: int | None = None
    privacy: str | None = None
    private: bool = False
    findings: int = 0
    inputs: tuple[tuple[str, str], ...] = ()


def releases(snapshots: Path, *, check: bool = True) -> list[ReleaseInfo]:
    """The releases below `snapshots`, newest first; `check` verifies each (reads every file).

    Links are not followed and hidden names are skipped.
    """
    if not snapshots.is_dir():
        return []
    latest = snapshots / _LATEST
    pointed = latest.readlink().name if latest.is_symlink() else None
    infos = [
        _info_now(Path(entry.path), pointed, check=check)
        for entry in os.scandir(snapshots)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
    ]
    return sorted(infos, key=lambda info: (info.released or "", info.revision, info.snapshot))[::-1]


def _info_now(path: Path, pointed: str | None, *, check: bool) -> ReleaseInfo:
    """As `_info`; tries again if a purge removed the private half while it was read."""
    for _ in range(_TRIES):
        try:
            return _info(path, pointed, check=check)
        except FileNotFoundError:
            continue
    return ReleaseInfo(one_line(path.name), path, State.UNREADABLE)


def _info(path: Path, pointed: str | None, *, check: bool) -> ReleaseInfo:
    manifest = _manifest(path)
    if manifest is None:
        return ReleaseInfo(one_line(path.name), path, State.UNREADABLE)
    report = verify(path) if check else None
    state = State.NOT_CHECKED
    if report is not None:
        state = State.VERIFIED if report.ok else State.FAILED
    private = path / layout.PRIVATE
    if report is not None and report.with_private and not private.is_dir():
        raise FileNotFoundError(private)  # the findings are about the purge, not about the release
    counts, inputs = manifest.get("counts"), manifest.get("inputs")
    return ReleaseInfo(
        snapshot=path.name,
        path=path,
        state=state,
        latest=path.name == pointed,
        released=str(manifest["released"]),
        revision=named.revision if (named := layout.snapshot_name(path.name)) else 1,
        version=one_line(str(manifest.get("version"))),
        digest=report.digest if report else _digest(path),
        tasks=counts.get("tasks") if isinstance(counts, dict) else None,
        privacy=one_line(str(manifest.get("privacy"))),
        private=private.is_dir() and not private.is_symlink(),
        findings=len(report.findings) if report else 0,
        inputs=tuple((k, str(v)) for k, v in inputs.items()) if isinstance(inputs, dict) else (),
    )


def _manifest(path: Path) -> dict[str, Any] | None:
    """The manifest, if it belongs to a release with this name and date and no link leads to it.

    Whether it fits today's contract is checked by `verify`: an old release may not.
    """
    public = path / layout.PUBLIC
    file = public / layout.MANIFEST
    if layout.snapshot_name(path.name) is None or public.is_symlink() or file.is_symlink():
        return None
    try:
        if file.stat().st_size > _LARGEST:
            return None
        manifest: dict[str, Any] = orjson.loads(file.read_bytes())
        released = date.fromisoformat(manifest["released"])
        fits = path.name.startswith(layout.snapshot_id(manifest["name"], released))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None
    return manifest if fits and manifest.get("snapshot") == path.name else None


def _digest(path: Path) -> str | None:
    """The digest from the SHA256SUMS files alone, without reading the other files."""
    files = [path / half / layout.SUMS for half in (layout.PUBLIC, layout.PRIVATE)]
    if any(file.is_symlink() or not file.is_file() for file in files):
        return None
    public, private = (file.read_bytes() for file in files)
    return layout.snapshot_digest(public, private)


def previous_release(snapshots: Path, name: str, released: date) -> Path | None:
    """The newest release of this name with an earlier date; None if there is none.

    The same for every rebuild of a release, no matter what was built after it.
    """
    earlier: list[tuple[str, int, Path]] = []
    for entry in sorted(os.scandir(snapshots), key=lambda e: e.name) if snapshots.is_dir() else ():
        if entry.is_dir(follow_symlinks=False) and entry.name.startswith(f"{name}-"):
            try:
                manifest = orjson.loads(
                    Path(entry.path, layout.PUBLIC, layout.MANIFEST).read_bytes()
                )
                candidate = (str(manifest["released"]), int(manifest["revision"]), Path(entry.path))
            except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                continue  # not a release: `benchmint release list` says why
            if manifest.get("name") == name and candidate[0] < released.isoformat():
                earlier.append(candidate)
    return max(earlier)[-1] if earlier else None


def find_snapshot(name: str, snapshots: Path) -> Path:
    """A snapshot by path, or by its name below `snapshots`. Raises InputError for none."""
    for path in (Path(name), snapshots / name):
        if path.is_dir() and (layout.is_id(name) or path == Path(name)):
            return path
    raise InputError(
        name,
        "nothing",
        "a snapshot, by path or name",
        "List the releases with `benchmint release list`.",
    )
