"""Writing a snapshot: built in a temporary directory, then moved into place in one step."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path, PurePosixPath

import orjson

from data.atomic import PRIVATE_DIR, PRIVATE_FILE, private_dir, replacing_dir
from data.canonical import pretty_json
from data.contracts import Candidate, StageTally
from data.errors import LedgerError, ReleaseError
from data.neutralise import one_line, storable_tree
from data.snapshot import layout
from data.snapshot.card import summarised
from data.snapshot.contents import Contents, OpaqueIds, write_private, write_public
from data.snapshot.ledger import Frames, LedgerCounts, connect, files_in, ledger_frames, write
from data.snapshot.manifest import build as build_manifest
from data.snapshot.release import Release, SnapshotRef
from data.snapshot.verification import VerifyReport

_NAMED = 5  # how many of the differing tasks or files are named
_LATEST = "latest"
_LOCK = ".lock"
_PUBLIC_DIR = 0o755
_PUBLIC_FILE = 0o644


_Guard = Callable[[Path], None]


def write_snapshot(
    release: Release, out: Path, *, revision: bool = False, guard: _Guard | None = None
) -> SnapshotRef:
    """Write `release` to `out/<name>-<date>/` and return its path and digest.

    An existing snapshot of that name with the same digest is left as it is. One with another
    digest is never changed: ReleaseError names the differences, or with `revision` the release is
    written as `-r2`, `-r3`, …. `guard` checks the written snapshot before it is moved into place,
    and raises if it must not be published. Raises LedgerError if the ledger's rows and tallies
    disagree. A killed build leaves no snapshot; the next build removes its temporary files.
    """
    _check(release)
    release = summarised(release)
    frames = ledger_frames(release.ledger_tables)
    out.mkdir(parents=True, exist_ok=True)
    with _locked(out):
        _remove_leftovers(out, release.name)
        for number in count(1):
            done = _publish(release, frames, out, number, guard)
            if isinstance(done, SnapshotRef):
                return done
            if not revision:
                raise ReleaseError(done)
    raise AssertionError("unreachable: there is always a next revision")


def mark_latest(ref: SnapshotRef, report: VerifyReport) -> Path:
    """Point the link `latest` to the snapshot, in one step.

    `report` must be its own verification, without findings. `latest` is not moved back to an
    earlier release that is built again.
    """
    if not report.ok or report.digest != ref.digest:
        raise ReleaseError(
            f"{ref.snapshot}: not marked as latest, verification found {len(report.findings)} "
            "problems. Run `benchmint verify` on it."
        )
    link = ref.path.parent / _LATEST
    if link.exists() and not link.is_symlink():
        raise ReleaseError(f"{link} is not a symbolic link; move it away.")
    if link.exists() and _is_later(link.readlink().name, ref.snapshot):
        return link
    fresh = ref.path.parent / f".{_LATEST}.{os.getpid()}.part"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(ref.path.name)
    fresh.replace(link)
    return link


def _is_later(there: str, snapshot: str) -> bool:
    """Whether `there` is a snapshot of the same name with a later date."""
    theirs, ours = map(layout.snapshot_name, (there, snapshot))
    if theirs is None or ours is None:
        return False
    return theirs.name == ours.name and theirs.date > ours.date


def _publish(
    release: Release, frames: Frames, out: Path, revision: int, guard: _Guard | None
) -> SnapshotRef | str:
    """Write one revision, unless it exists; returns the differences if the existing one differs."""
    snapshot = layout.snapshot_id(release.name, release.released, revision)
    target = out / snapshot
    if not target.exists():
        with replacing_dir(target) as part:
            digest = _build(part, release, frames, revision)
            if guard is not None:
                guard(part)
        return SnapshotRef(snapshot, target, digest, written=True)
    with tempfile.TemporaryDirectory(prefix=f".{snapshot}.", suffix=".part", dir=out) as name:
        again = Path(name)
        digest = _build(again, release, frames, revision)
        if _sums_of(again) == _sums_of(target):
            return SnapshotRef(snapshot, target, digest, written=False)
        return _difference(again, target)


def _build(root: Path, release: Release, frames: Frames, revision: int) -> str:
    """Write both halves and `run.json` into `root`; returns the snapshot digest."""
    public, private = root / layout.PUBLIC, root / layout.PRIVATE
    private_dir(private)
    write(private, frames)
    with connect() as connection:
        counts = LedgerCounts(connection, files_in(private))
        _check_tallies(release.ledger_tables.tallies, counts)
        manifest = build_manifest(release, revision, counts)
        contents = Contents(release, manifest, frames, counts, OpaqueIds(release))
        public_sums = write_public(public, contents)
        private_sums = write_private(private, contents, public_sums)
    digest = layout.snapshot_digest(public_sums, private_sums)
    run = {"snapshot": manifest.snapshot, "digest": digest, **release.run_info}
    (root / layout.RUN).write_bytes(pretty_json(storable_tree(run)))
    _set_modes(public, _PUBLIC_DIR, _PUBLIC_FILE)
    _set_modes(private, PRIVATE_DIR, PRIVATE_FILE)
    return digest


def _set_modes(root: Path, folder: int, file: int) -> None:
    root.chmod(folder)
    for path in root.rglob("*"):
        path.chmod(folder if path.is_dir() else file)


def _sums_of(snapshot: Path) -> dict[str, str]:
    """All files of both halves with their digests from the SHA256SUMS files."""
    all_sums: dict[str, str] = {}
    for half in (layout.PUBLIC, layout.PRIVATE):
        path = snapshot / half / layout.SUMS
        try:
            listed = layout.parse(path.read_bytes())
        except (OSError, layout.SumsError) as error:
            raise ReleaseError(
                f"{snapshot} exists, but {half}/{layout.SUMS} cannot be read "
                f"({type(error).__name__}). Move that directory away."
            ) from error
        all_sums |= {f"{half}/{name}": sha256 for name, sha256 in listed.items()}
    return all_sums


def _difference(fresh: Path, there: Path) -> str:
    """Why `there` was not overwritten: differing manifest fields and tasks, or else files."""
    ours, theirs = _sums_of(fresh), _sums_of(there)
    differing = sorted(
        name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)
    )
    tasks_at = f"{layout.PUBLIC}/{layout.TASKS}/"
    tasks = sorted({name.split("/")[2] for name in differing if name.startswith(tasks_at)})
    fields = _differing_fields(fresh, there)
    causes = [
        f"manifest fields {', '.join(fields)}" if fields else "",
        f"tasks {_some(tasks)}" if tasks else "",
    ]
    summary = "; ".join(cause for cause in causes if cause) or f"files {_some(differing)}"
    return (
        f"{there.name} exists with another digest. It differs in: {summary}. A published "
        "snapshot is never overwritten: write a revision, or choose another name or release date."
    )


def _differing_fields(fresh: Path, there: Path) -> list[str]:
    """Top-level fields in which the two manifests differ; none if one cannot be read."""
    try:
        ours, theirs = (
            orjson.loads((snapshot / layout.PUBLIC / layout.MANIFEST).read_bytes())
            for snapshot in (fresh, there)
        )
    except (OSError, orjson.JSONDecodeError):
        return []
    return sorted(name for name in ours if ours[name] != theirs.get(name))


def _some(names: Sequence[str]) -> str:
    """The first few of `names`, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(one_line(name) for name in names[:_NAMED]) + more


def _check(release: Release) -> None:
    """Raise ReleaseError for names that are invalid as directories, clash, or leave their root."""
    if not layout.is_name(release.name):
        raise ReleaseError(
            f"snapshot name of {len(release.name)} characters: expected lower-case words joined "
            "by hyphens, at most 64 characters."
        )
    seen: set[str] = set()
    shared: dict[str, str] = {}
    for task in release.candidates:
        if not layout.is_id(task.task_id):
            raise ReleaseError(
                f"task id of {len(task.task_id)} characters: expected letters, digits, '.', '_' "
                "and '-', at most 128, and no reserved name."
            )
        if task.task_id.lower() in seen:
            raise ReleaseError(f"task {task.task_id}: the id occurs twice (ignoring case).")
        seen.add(task.task_id.lower())
        _check_paths(task, shared)


def _check_paths(task: Candidate, shared: dict[str, str]) -> None:
    """`shared`: the digests of the files of environments, by path, over all tasks so far."""
    files: set[str] = set()
    folders: set[str] = set()
    for fixture in task.fixtures:
        if not layout.is_safe_input(fixture):
            raise ReleaseError(
                f"task {task.task_id}: fixture {fixture.sha256[:12]} has an unsafe path of "
                f"{len(fixture.path)} characters; expected a relative POSIX path without '..', "
                "backslashes and control characters."
            )
        where = layout.input_path(task.task_id, fixture)
        if fixture.environment and shared.setdefault(where, fixture.sha256) != fixture.sha256:
            raise ReleaseError(
                f"task {task.task_id}: fixture {fixture.sha256[:12]} of environment "
                f"{fixture.environment} is another file than other tasks have there."
            )
        path = fixture.path.lower()
        if path in files:
            raise ReleaseError(
                f"task {task.task_id}: two fixtures share the path of {fixture.sha256[:12]} "
                "(ignoring case)."
            )
        files.add(path)
        folders.update(str(parent) for parent in PurePosixPath(path).parents)
    if files & folders:
        raise ReleaseError(f"task {task.task_id}: a fixture's path is a directory of another's.")


def _check_tallies(tallies: Sequence[StageTally], counts: LedgerCounts) -> None:
    """Raise LedgerError unless the ledger's rows are exactly those the tallies count."""
    counted: dict[tuple[str, str, str], int] = {}
    for tally in tallies:
        if sum(tally.counts.values()) != tally.n_in:
            raise LedgerError(
                f"stage {tally.stage}: {tally.n_in} {tally.unit}s came in, but "
                f"{sum(tally.counts.values())} have an outcome"
            )
        for outcome, n in tally.counts.items():
            if n:
                counted[(tally.stage, tally.unit, str(outcome))] = n
    written = counts.outcomes()
    wrong = sorted(
        key for key in counted.keys() | written.keys() if counted.get(key) != written.get(key)
    )
    if wrong:
        stage, unit, which = wrong[0]
        raise LedgerError(
            f"stage {stage}: the tally counts {counted.get(wrong[0], 0)} {unit}s {which}, the "
            f"ledger has {written.get(wrong[0], 0)} rows ({len(wrong)} counts disagree)"
        )


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Hold the exclusive write lock of `out`."""
    with (out / _LOCK).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _remove_leftovers(out: Path, name: str) -> None:
    """Remove what killed builds left behind; the lock excludes other writers."""
    for path in out.glob(f".{name}-*.part"):
        shutil.rmtree(path, ignore_errors=True)
    for link in out.glob(f".{_LATEST}.*.part"):
        link.unlink(missing_ok=True)
