"""Retention (law 8): removes what is older than a date from the private stores.

The age of a private half is the release date of its snapshot; of stage outputs and captures the
time they were written; of staged runs the time they were built; of model replies the time in their
store (see `flows.commands.releases`). Keys, logs, decisions of people, rounds of consensus, the
pseudonymized tables of a sealed folder and the newest verified release are kept. No link is
followed, and nothing outside the output directory is touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from data import hash_chain
from data.errors import ReleaseError
from data.neutralise import one_line
from data.releases.listing import State, releases
from data.snapshot import layout
from data.snapshot.errata import CORRECTIONS
from data.snapshot.verification import verify

_STAYS = (".key", ".log", ".lock")  # top-level private files that are never removed by date
_PRIVATE, _STAGES, _SNAPSHOTS = "private", "stages", "snapshots"
REPLIES = f"{_PRIVATE}/captures/llm"
_OWN_RULE = (
    f"{_PRIVATE}/review/decisions.log",  # a log of what people decided
    f"{_PRIVATE}/review/rounds.jsonl",  # answers that a rebuild does not request again
    f"{_PRIVATE}/logs/",  # the newest are kept, by number
    f"{REPLIES}/",  # by the times recorded in their store
)
_PSEUDONYMIZED = f"{_PRIVATE}/pseudonymized"
_SEALED = "sealed.json"


class Kind(StrEnum):
    PRIVATE_HALF = "private half"
    LEFTOVER = "left by an interrupted purge"
    STAGE = "stage output"
    FILES = "private files"
    RUN = "staging run"
    REPLIES = "model replies"


@dataclass(frozen=True, slots=True)
class Removal:
    """Something to remove: where (below the output directory), its date, and its size.

    `paths` are the files to remove, if it is not the whole folder.
    """

    kind: Kind
    where: str
    since: date
    files: int
    size: int
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a purge removes, and what it keeps although it is old enough, with the reason."""

    removals: tuple[Removal, ...]
    kept: tuple[tuple[str, str], ...]


def plan_purge(out: Path, before: date | None, keep_runs: int | None) -> Plan:
    """What a purge of `out` removes: everything older than `before`, and all but `keep_runs` runs.

    Raises ReleaseError if a store is a symbolic link.
    """
    for store in (_SNAPSHOTS, _PRIVATE, "staging"):
        if (out / store).is_symlink():
            raise ReleaseError(f"{out / store} is a symbolic link: nothing is purged through it.")
    removals: list[Removal] = []
    kept: list[tuple[str, str]] = []
    if before is not None:
        _halves(out, before, removals, kept)
        _stages(out, before, removals, kept)
        _files(out, before, removals, kept)
    _runs(out, before, keep_runs, removals)
    return Plan(tuple(removals), tuple(kept))


def replies_needed(out: Path, plan: Plan) -> frozenset[str]:
    """Digests of the model replies used by releases whose private half is kept."""
    gone = {removal.where for removal in plan.removals if removal.kind is Kind.PRIVATE_HALF}
    return frozenset(
        sha256
        for release in releases(out / _SNAPSHOTS, check=False)
        if release.private and f"{_SNAPSHOTS}/{release.path.name}/{layout.PRIVATE}" not in gone
        for name, sha256 in release.inputs
        if name.startswith("model-replies")
    )


def carry_out(out: Path, plan: Plan, forget: Callable[[Path], None] | None = None) -> None:
    """Remove what `plan` names, each logged first in `private/access.log`.

    `forget` removes model replies from their store, a folder. The caller holds the build lock.
    Raises ReleaseError if something has become a link meanwhile.
    """
    for removal in plan.removals:
        target = _real(out, removal.where)
        log = out / _PRIVATE / "access.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        removed = f"{removal.where} ({removal.files} files, {removal.size} bytes)"
        hash_chain.record_access(log, f"purge {removal.kind}", one_line(removed))
        if removal.kind is Kind.RUN:
            continue  # removed together below, so that the database is built once
        if removal.kind is Kind.REPLIES:
            if forget is not None:
                forget(target)
        elif removal.kind is Kind.PRIVATE_HALF:
            # In one step, so that a kill leaves a public half and no broken snapshot.
            aside = target.with_name(f".{layout.PRIVATE}.{os.getpid()}.part")
            target.rename(aside)
            shutil.rmtree(aside)
        elif removal.kind is Kind.FILES:
            for path in removal.paths:
                _real(out, path).unlink(missing_ok=True)
        else:
            shutil.rmtree(target)
    runs = [Path(removal.where).name for removal in plan.removals if removal.kind is Kind.RUN]
    if runs:
        from data.staging.runs import drop_runs

        drop_runs(out, runs)


def _halves(out: Path, before: date, removals: list[Removal], kept: list[tuple[str, str]]) -> None:
    """Private halves of releases before the date, except of the newest that verifies."""
    protected: str | None = None
    for release in releases(out / _SNAPSHOTS, check=False):
        where = f"{_SNAPSHOTS}/{release.path.name}"
        if release.state is State.UNREADABLE:
            kept.append((one_line(where), "its manifest cannot be read; check it by hand"))
            continue
        removals += [
            _folder(out, f"{where}/{part.name}", Kind.LEFTOVER, before)
            for part in sorted(release.path.glob(f".{layout.PRIVATE}.*.part"))
            if not part.is_symlink()
        ]
        if protected is None and verify(release.path).ok:
            protected = release.snapshot
        since = date.fromisoformat(release.released or "")
        half = release.path / layout.PRIVATE
        if since >= before or not (half.exists() or half.is_symlink()):
            continue
        if half.is_symlink():
            kept.append((f"{where}/{layout.PRIVATE}", "a symbolic link is never followed"))
        elif release.snapshot == protected:
            kept.append((where, "the newest release that verifies"))
        elif release.latest:
            kept.append((where, "`latest` points to it"))
        else:
            removals.append(_folder(out, f"{where}/{layout.PRIVATE}", Kind.PRIVATE_HALF, since))
            removals += _corrections(out, f"{where}{CORRECTIONS}", since)


def _corrections(out: Path, where: str, since: date) -> list[Removal]:
    """The answers that errata corrected go with the private half."""
    path = out / where
    if path.is_symlink() or not path.is_file():
        return []
    return [Removal(Kind.FILES, where, since, 1, path.stat().st_size, (where,))]


def _stages(out: Path, before: date, removals: list[Removal], kept: list[tuple[str, str]]) -> None:
    """Stage outputs written before the date; the next build computes them again."""
    for stage in _entries(out / _PRIVATE / _STAGES):
        where = f"{_PRIVATE}/{_STAGES}/{stage.name}"
        if stage.is_symlink():
            kept.append((one_line(where), "a symbolic link is never followed"))
            continue
        for output in _entries(Path(stage.path)) if stage.is_dir() else ():
            name = f"{where}/{output.name}"
            if output.is_symlink():
                kept.append((one_line(name), "a symbolic link is never followed"))
            elif output.is_dir() and (since := _written(output)) < before:
                removals.append(_folder(out, name, Kind.STAGE, since))


def _files(out: Path, before: date, removals: list[Removal], kept: list[tuple[str, str]]) -> None:
    """Other files of the private store written before the date, grouped by folder."""
    for entry in _entries(out / _PRIVATE):
        where = f"{_PRIVATE}/{entry.name}"
        if entry.name == _STAGES:
            continue
        if entry.is_symlink():
            kept.append((one_line(where), "a symbolic link is never followed"))
            continue
        if entry.is_file() and entry.name.endswith(_STAYS):
            if _written(entry) < before:
                kept.append(
                    (where, "keys and logs are kept; `benchmint privacy seal` destroys the key")
                )
            continue
        old = [
            file
            for file in _below(entry)
            if _written(file) < before and not _has_own_rule(out, file)
        ]
        if old and where == _PSEUDONYMIZED and (out / _SEALED).is_file():
            kept.append((where, "sealed: a rebuild starts from these tables"))
            continue
        if old:
            paths = tuple(Path(file.path).relative_to(out).as_posix() for file in old)
            since = min(_written(file) for file in old)
            size = sum(file.stat(follow_symlinks=False).st_size for file in old)
            removals.append(Removal(Kind.FILES, where, since, len(old), size, paths))


def _has_own_rule(out: Path, file: os.DirEntry[str]) -> bool:
    return Path(file.path).relative_to(out).as_posix().startswith(_OWN_RULE)


def _runs(out: Path, before: date | None, keep: int | None, removals: list[Removal]) -> None:
    """Staged runs built before the date or beyond the newest `keep`; the newest is always kept."""
    from data.staging.runs import staged_runs

    runs = staged_runs(out)
    for age, run in enumerate(reversed(runs)):
        since = datetime.fromtimestamp(run.row["built_at"], UTC).date()
        too_old = before is not None and since < before
        if age and (too_old or (keep is not None and age >= keep)):
            where = run.folder.relative_to(out).as_posix()
            files = sum(1 for _ in run.folder.iterdir())
            removals.append(Removal(Kind.RUN, where, since, files, run.size))


def _folder(out: Path, where: str, kind: Kind, since: date) -> Removal:
    files = size = 0
    for folder, _, names in os.walk(out / where):
        files += len(names)
        size += sum(os.lstat(Path(folder, name)).st_size for name in names)
    return Removal(kind, where, since, files, size)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(os.scandir(folder), key=lambda entry: entry.name)


def _below(entry: os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    """The regular files at or below an entry; links are not followed."""
    if entry.is_symlink():
        return
    if entry.is_dir():
        for inner in _entries(Path(entry.path)):
            yield from _below(inner)
    elif entry.is_file():
        yield entry


def _written(entry: os.DirEntry[str]) -> date:
    return datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC).date()


def _real(out: Path, where: str) -> Path:
    """`out/where`, inside `out` and without links. Raises ReleaseError otherwise."""
    path = out
    for part in where.split("/"):
        if part in ("", ".", ".."):
            raise ReleaseError(f"{one_line(where)}: not a path inside the output directory.")
        path = path / part
        if path.is_symlink():
            raise ReleaseError(f"{path} is a symbolic link: nothing is purged through it.")
    return path
