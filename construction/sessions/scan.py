"""The scan stage: identifies every input file and gives each one an outcome."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import polars as pl

from construction.sessions.readers.registry import detect, parts_of
from construction.sessions.readers.source import SourceFile
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import digest, file_digest
from data.contracts import LedgerRow, Outcome, SourceFormat, StageKind
from data.errors import InputError
from data.schemas import FILES
from data.stage_tables import write_stage_tables
from data.tables import write_table

STAGE = "scan"
_FILE = "files.parquet"


class FileReason(StrEnum):
    UNSUPPORTED = "file.unsupported_format"
    DUPLICATE = "file.duplicate"
    EMPTY = "file.empty"
    SYMLINK = "file.symlink"
    NOT_REGULAR = "file.not_regular"
    UNREADABLE = "file.unreadable"
    PART = "file.part"
    COPY = "file.copy_of_history"


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One input file: `format` is the format to read it with, None if it is not read.

    `label` is that format or the name of the unsupported one, `note` the reason for the decision.
    `parts` are the other files of its session with their digests.
    """

    path: Path
    relative: str
    bytes: int
    sha256: str | None
    format: SourceFormat | None
    label: str
    outcome: Outcome
    reason: FileReason | None = None
    note: str = ""
    parts: tuple[tuple[Path, str | None], ...] = ()

    @property
    def contents(self) -> tuple[str | None, ...]:
        """The digests of the file and its parts."""
        return (self.sha256, *(sha256 for _, sha256 in self.parts))


def scan(sources: Sequence[Path], forced: SourceFormat | None = None) -> list[ScannedFile]:
    """Identify all files below `sources`, sorted by relative path.

    A relative path starts with the name of its source. Of files with the same content the first
    is kept. `forced` is a format to assume for all files. Raises InputError for a source that
    does not exist.
    """
    paths = sorted(_walk(sources), key=lambda pair: pair[1])
    return list(_without_copies(_with_parts([_identify(*pair, forced) for pair in paths])))


def _walk(sources: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    for source, label in _labels(sources):
        if source.is_dir():
            above = len(str(source).rstrip("/")) + 1
            for path in _files_below(source):
                yield path, f"{label}/{_as_text(str(path)[above:] or '.')}"
        else:
            yield source, label


def _labels(sources: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Each source with its label, its own name; a second one of that name gets `~2`, and so on."""
    taken: dict[str, int] = {}
    for source in sorted({path.absolute() for path in sources}):
        if not source.exists():
            raise InputError(
                str(source), "nothing", "a session log or folder of session logs", "Check the path."
            )
        name = _as_text(source.resolve().name or "root")
        taken[name] = taken.get(name, 0) + 1
        yield source, name if taken[name] == 1 else f"{name}~{taken[name]}"


def _files_below(folder: Path) -> Iterator[Path]:
    """All entries below `folder` that are not folders, and the folders that cannot be listed.

    The depth is not limited, and symbolic links are not followed.
    """
    waiting = [folder]
    while waiting:
        parent = waiting.pop()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        yield Path(entry.path)
        except OSError:
            yield parent


def _as_text(path: str) -> str:
    r"""A POSIX path as valid UTF-8: other bytes as `\xff`, a backslash as `\\`."""
    raw = os.fsencode(path.replace("\\", "\\\\"))
    return raw.decode("utf-8", "backslashreplace")


def _identify(path: Path, relative: str, forced: SourceFormat | None) -> ScannedFile:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _not_read(path, relative, 0, FileReason.SYMLINK, "symlink")
        if stat.S_ISDIR(status.st_mode):
            next(path.iterdir(), None)  # raises: only folders that cannot be listed come here
        if not stat.S_ISREG(status.st_mode):
            return _not_read(path, relative, 0, FileReason.NOT_REGULAR, "special file")
        if status.st_size == 0:
            return _not_read(path, relative, 0, FileReason.EMPTY, "empty")
        sha256 = file_digest(path)
        detected = detect(SourceFile(path, relative))
    except OSError as error:
        why = error.strerror or type(error).__name__
        return ScannedFile(
            path, relative, 0, None, None, "unknown", Outcome.ERRORED, FileReason.UNREADABLE, why
        )
    source_format = forced if forced is not None else detected.format
    if source_format is None:
        reason, note = FileReason.UNSUPPORTED, detected.why
        if detected.is_part:
            reason = FileReason.PART
        return _not_read(path, relative, status.st_size, reason, detected.name, sha256, note)
    return ScannedFile(
        path, relative, status.st_size, sha256, source_format, str(source_format), Outcome.KEPT
    )


def _not_read(
    path: Path,
    relative: str,
    size: int,
    reason: FileReason,
    label: str,
    sha256: str | None = None,
    note: str = "",
) -> ScannedFile:
    return ScannedFile(path, relative, size, sha256, None, label, Outcome.REJECTED, reason, note)


def _with_parts(files: Sequence[ScannedFile]) -> list[ScannedFile]:
    """The files, those that belong to the session of another one marked as its parts."""
    known = {file.path: file for file in files}
    parts: dict[Path, ScannedFile] = {}
    heads: dict[Path, ScannedFile] = {}
    for file in files:
        if file.format is None or file.path in parts or file.path in heads:
            continue
        first, *others = parts_of(file.format, file.path) or (file.path,)
        head = known.get(first)
        if head is None or not others:
            continue
        logs = (known[path] for path in others if path in known)
        digests = tuple((log.path, log.sha256) for log in logs if _may_belong(log))
        heads[first] = replace(head, parts=digests)
        parts |= {path: head for path, _ in digests}
    return [
        _part(file, parts[file.path]) if file.path in parts else heads.get(file.path, file)
        for file in files
    ]


def _may_belong(file: ScannedFile) -> bool:
    return file.format is not None or file.reason is FileReason.PART


def _part(file: ScannedFile, head: ScannedFile) -> ScannedFile:
    is_copy = head.format is SourceFormat.ATIF
    reason = FileReason.COPY if is_copy else FileReason.PART
    note = f"the run of {head.relative}" if is_copy else f"read with {head.relative}"
    return _not_read(file.path, file.relative, file.bytes, reason, file.label, file.sha256, note)


def _without_copies(files: Sequence[ScannedFile]) -> Iterator[ScannedFile]:
    first: dict[tuple[str | None, ...], str] = {}
    for file in files:
        if file.format is None or file.sha256 is None:
            yield file
        elif file.contents in first:
            note = f"same content as {first[file.contents]}"
            reason = FileReason.DUPLICATE
            yield _not_read(
                file.path, file.relative, file.bytes, reason, file.label, file.sha256, note
            )
        else:
            first[file.contents] = file.relative
            yield file


def shards(files: Sequence[ScannedFile], shard_bytes: int) -> list[tuple[ScannedFile, ...]]:
    """Group the files to be read, in order, into shards of about `shard_bytes`.

    The grouping depends on the files alone, never on the number of workers.
    """
    groups: list[list[ScannedFile]] = []
    size = 0
    for file in files:
        if file.format is None:
            continue
        if not groups or size + file.bytes > shard_bytes:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.bytes
    return [tuple(group) for group in groups]


def write_scan(files: Sequence[ScannedFile], out: Path) -> None:
    """Write the stage's output: the ledger with every file's outcome, and the table of files."""
    ids, rows = [file.relative for file in files], list(map(_ledger_row, files))
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage=STAGE, unit="file")
    records = (
        {
            "path": file.relative,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "format": file.label,
            "outcome": str(file.outcome),
            "reason": file.reason,
        }
        for file in files
    )
    write_table(out / _FILE, records, FILES.schema)


def _ledger_row(file: ScannedFile) -> LedgerRow:
    evidence = {"path": file.relative, "found": file.label, "note": file.note}
    return LedgerRow(
        STAGE, "file", file.relative, file.outcome, reason=file.reason, evidence=evidence
    )


def write_sources(files: Sequence[ScannedFile], path: Path) -> None:
    """Write each file's path on this machine into a private file, for `audit --private`."""
    paths = {file.relative: str(file.path) for file in files}
    content = json.dumps(paths).encode()  # ASCII, because paths may be invalid UTF-8
    write_bytes(path, content, mode=PRIVATE_FILE)


def read_scan(folder: Path, sources: Path) -> list[ScannedFile]:
    """The scanned files, from the outputs of `write_scan` and `write_sources`."""
    paths = json.loads(sources.read_bytes())  # names that are not UTF-8 hold lone surrogates
    rows = list(pl.read_parquet(folder / _FILE).iter_rows(named=True))
    digests = {Path(paths[row["path"]]): row["sha256"] for row in rows}
    files = []
    for row in rows:
        path = Path(paths[row["path"]])
        source_format = SourceFormat(row["format"]) if row["outcome"] == Outcome.KEPT else None
        _, *others = (parts_of(source_format, path) if source_format else ()) or (path,)
        files.append(
            ScannedFile(
                path=path,
                relative=row["path"],
                bytes=row["bytes"],
                sha256=row["sha256"],
                format=source_format,
                label=row["format"],
                outcome=Outcome(row["outcome"]),
                parts=tuple((part, digests.get(part)) for part in others),
            )
        )
    return files


def scanned_digests(files: Sequence[ScannedFile]) -> dict[str, str]:
    """The digests of the files that are read, for the manifest, under names without information."""
    read = (file.contents for file in files if file.format is not None)
    known = sorted(sha256 for contents in read for sha256 in contents if sha256)
    return {f"session-{number:06d}": sha256 for number, sha256 in enumerate(known, start=1)}


def state_of(roots: Sequence[Path]) -> str:
    """A digest of the names, sizes and times of all files below the roots, not of their contents.

    The contents of the files that are used are digested when they are copied.
    """
    entries = []
    for root in roots:
        for path in sorted(_files_below(root)):
            status = path.lstat()
            name = os.fsencode(path.relative_to(root)).hex()
            entries.append([name, status.st_mode, status.st_size, status.st_mtime_ns])
    return digest(entries)
