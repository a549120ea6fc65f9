"""Publishing: a signed release is copied to a folder or bucket, checked there, then pointed to.

    TARGET/<snapshot>/…                  the public half; with the private half both, and run.json
    TARGET/<snapshot>.errata.json        its errata, if it has any
    TARGET/latest.json                   the pointer, which moves last

Any address that fsspec knows (a path, `s3://bucket/folder`, …). Every file is read back from there;
a copy that was interrupted goes on, and one with other content is never changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from data.atomic import private_dir, write_bytes
from data.canonical import pretty_json
from data.errors import InputError, ReleaseError
from data.neutralise import one_line
from data.snapshot import layout
from data.snapshot.errata import notice_path

POINTER = "latest.json"
_CHUNK = 1 << 20
_LEFTOVER = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.part")  # by tempfile


@dataclass(frozen=True, slots=True)
class Published:
    """Where a release is now, how many files it has, and how many were there before."""

    where: str
    files: int
    already: int


def publish(snapshot: Path, name: str, digest: str, target: str, *, private: bool) -> Published:
    """Copy a verified and signed release to `target` and point to it; `digest`: of its public half.

    Raises InputError if the target cannot be reached, ReleaseError if it holds another release of
    that name, or if what is read back is not what was written.
    """
    root = snapshot.resolve()
    files = _files(root, name, private=private)
    try:
        system, base = _opened(target)
        if _is_local(system) and Path(base).resolve().is_relative_to(root):
            raise ValueError("a folder of the snapshot itself")
        _make_folders(system, base, name, files)
        already = _copied(system, base, name, files)
        pointer = {"snapshot": name, "public_digest": digest, "private": private}
        _write(system, base, POINTER, pretty_json(pointer))
        if orjson.loads(system.cat_file(f"{base}/{POINTER}")) != pointer:
            raise ReleaseError(f"{target}: {POINTER} reads back differently. Publish again.")
    except (OSError, ImportError, ValueError) as error:
        problem = f"{type(error).__name__}: {one_line(str(error))[:200]}"
        raise InputError(
            target, problem, "a folder, or an address that fsspec reaches",
            "Check address, access and the package of its kind (s3fs for s3://).",
        ) from error  # fmt: skip
    return Published(f"{base}/{name}", len(files), already)


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
    notice = notice_path(root, name)
    if notice.is_file():
        files[notice.name] = notice
    return dict(sorted(files.items(), key=lambda item: (item[0].endswith(layout.SUMS), item[0])))


def _opened(target: str) -> tuple[Any, str]:
    """The file system of an address, without listings that it remembers, and the path there."""
    import fsspec  # its kinds of storage are imported when they are used

    if not target or target.endswith("://"):
        raise ValueError("no path")
    system, path = fsspec.core.url_to_fs(target, use_listings_cache=False, skip_instance_cache=True)
    return system, str(path).rstrip("/")


def _copied(system: Any, base: str, name: str, files: Mapping[str, Path]) -> int:
    """Copy what is not there, read all of it back; how many were there before."""
    prefix = f"{base}/"
    there = {str(path).removeprefix(prefix) for path in _listed(system, f"{base}/{name}")}
    if strange := sorted(there - files.keys()):
        raise ReleaseError(
            f"{base}/{name}: holds {one_line(strange[0])[:200]}, which is not of the release. "
            "A published release is never changed: choose another target."
        )
    for path, source in files.items():
        expected, is_notice = _digest_of(source.read_bytes()), path == f"{name}.errata.json"
        where, mode = f"{prefix}{path}", source.stat().st_mode & 0o777
        if path in there and not is_notice:
            if _read_back(system, where) != expected:
                raise ReleaseError(
                    f"{where}: other content is published under this name. A published release is "
                    "never changed: build with another name or revision."
                )
            continue
        _write(system, base, path, source.read_bytes(), mode)
        if _read_back(system, where) != expected:
            raise ReleaseError(f"{where}: reads back differently. Remove it and publish again.")
    return len(there)


def _listed(system: Any, folder: str) -> list[str]:
    return list(system.find(folder)) if system.exists(folder) else []


def _write(system: Any, base: str, path: str, content: bytes, mode: int = 0o644) -> None:
    """Write a whole file or none below `base`: objects are put at once, local files moved there."""
    if _is_local(system):
        write_bytes(Path(base, path), content, mode=mode, aside=Path(base))
    else:
        system.pipe_file(f"{base}/{path}", content)


def _make_folders(system: Any, base: str, name: str, paths: Collection[str]) -> None:
    """Local folders with their modes: nobody else can enter the private half at any moment."""
    if not _is_local(system):
        return
    home, private = Path(base), PurePosixPath(name, layout.PRIVATE)
    home.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(home, {PurePosixPath(path).name for path in paths} | {POINTER})
    (home / name).mkdir(exist_ok=True)
    folders = {parent for path in paths for parent in PurePosixPath(path).parents}
    for folder in sorted(folders):
        if folder.is_relative_to(private):
            private_dir(home / folder)


def _remove_leftovers(home: Path, names: Collection[str]) -> None:
    """Remove what a killed publisher left of these files; others may keep theirs in the folder."""
    for part in home.glob(".*.part"):
        match = _LEFTOVER.fullmatch(part.name)
        if match and match[1] in names and part.is_file():
            part.unlink(missing_ok=True)


def _is_local(system: Any) -> bool:
    protocol = system.protocol
    return "file" in ((protocol,) if isinstance(protocol, str) else tuple(protocol))


def _read_back(system: Any, path: str) -> str:
    digest = hashlib.sha256()
    with system.open(path, "rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
