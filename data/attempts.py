"""Attempts on disk: one private JSON file each, their tables, and a run of them as one archive.

    ATTEMPTS/<configuration>/run.json                       what ran
    ATTEMPTS/<configuration>/left_out.json                  tasks that it cannot do, and why
    ATTEMPTS/<configuration>/attempts/<task>-<epoch>.json   one finished attempt
    ATTEMPTS/<configuration>/trajectories/<task>-<epoch>.json   the same for viewers: ATIF
    ATTEMPTS/<configuration>/outputs/<task>-<epoch>/        the files that it delivered
    ATTEMPTS/<configuration>/replies/<task>-<epoch>.jsonl   what its model answered, as it came
    ATTEMPTS/<configuration>/services/<task>-<epoch>.sqlite   the services of a workflow task
    ATTEMPTS/<configuration>/logs/                          the runner's own logs

A file is written once the attempt has ended, synced and moved into place: a killed run leaves whole
files or none. They hold answers and traces, so they are private (law 8).
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb
import orjson
import polars as pl
from pydantic import TypeAdapter, ValidationError

from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.canonical import digest, file_digest, pretty_json
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Score, Submission
from data.errors import InputError
from data.neutralise import storable_tree
from data.schemas import ATTEMPT_TABLES, ATTEMPTS, SCORE_PARTS, SCORES, TOOL_CALLS
from data.snapshot import layout
from data.staging.database import comment_on
from data.tables import frame_of, replace_frames

FOLDER, OUTPUTS, LOGS, RUN = "attempts", "outputs", "logs", "run.json"
LEFT_OUT = "left_out.json"
REPLIES, SERVICES = "replies", "services"
TRAJECTORIES, TABLES_FOLDER = "trajectories", "scores"
_OWN = (FOLDER, OUTPUTS, LOGS, TRAJECTORIES, TABLES_FOLDER, REPLIES, SERVICES)
_LARGEST = 1 << 53  # a number that tables hold, and nothing counts up to
RUN_BUDGET_SPENT = "the budget of the run is spent"  # the error of an attempt that it cut off


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An attempt with what it submitted, except its files, which are in `outputs_folder`."""

    attempt: Attempt
    submission: Submission


_RECORD = TypeAdapter(AttemptRecord)


def attempt_id_of(release_digest: str, task_id: str, configuration: str, epoch: int) -> str:
    """The id of an attempt, 16 hex digits: its scores and verdicts are kept by it."""
    return digest([release_digest, task_id, configuration, epoch])[:16]


def attempt_name(task_id: str, epoch: int) -> str:
    """The name of an attempt's file and of its folder of outputs."""
    return f"{task_id}-{epoch}"


def attempt_file(folder: Path, task_id: str, epoch: int) -> Path:
    """The file of an attempt, below its configuration's folder."""
    return folder / FOLDER / f"{attempt_name(task_id, epoch)}.json"


def outputs_folder(folder: Path, task_id: str, epoch: int) -> Path:
    """Where the files of an attempt are, below its configuration's folder."""
    return folder / OUTPUTS / attempt_name(task_id, epoch)


def write_attempt(folder: Path, record: AttemptRecord) -> Path:
    """Write one attempt below a configuration's folder."""
    return _write(folder / FOLDER, record.attempt, asdict(record))


def write_trajectory(folder: Path, attempt: Attempt, trajectory: Mapping[str, Any]) -> Path:
    """Write the trajectory of an attempt, an ATIF document."""
    return _write(folder / TRAJECTORIES, attempt, trajectory)


def _write(folder: Path, attempt: Attempt, content: Mapping[str, Any]) -> Path:
    path = folder / f"{attempt_name(attempt.task_id, attempt.epoch)}.json"
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
    write_bytes(path, pretty_json(storable_tree(content)), mode=PRIVATE_FILE)
    return path


def previous_attempt(folder: Path, task_id: str, epoch: int) -> Attempt | None:
    """The attempt that is on record from an earlier run; None if it is the first."""
    path = attempt_file(folder, task_id, epoch)
    return _read_attempt(path).attempt if path.exists() else None


def _read_attempt(path: Path) -> AttemptRecord:
    """The attempt in a file. Raises InputError if it is not one."""
    try:
        problem = "no regular file"
        if path.is_file():
            content = orjson.loads(path.read_bytes())
            orjson.dumps(content)  # not too deep for tables
            record = _RECORD.validate_python(content)
            if _is_plausible(path, record):
                return record
            problem = "another attempt's name or ID, or impossible numbers"
    except (OSError, ValueError, TypeError) as error:
        problem = type(error).__name__
    raise InputError(
        str(path), problem, "an attempt written by `benchmint evaluate`",
        "Delete the file and repeat the run: this attempt is then repeated.",
    )  # fmt: skip


def _is_plausible(path: Path, record: AttemptRecord) -> bool:
    """Are the file's name, the id and the configuration's name the attempt's, and no number odd?

    A submission could state the id of another's attempt, and be judged in its place.
    """
    attempt, calls = record.attempt, record.submission.calls
    numbers: list[float | None] = [attempt.epoch, attempt.steps, attempt.seconds, attempt.retries]
    numbers += [number for number in asdict(attempt.usage).values() if not isinstance(number, str)]
    numbers += [number for call in calls for number in (call.step, call.start_ms, call.duration_ms)]
    return (
        path.stem == attempt_name(attempt.task_id, attempt.epoch)
        and attempt.attempt_id
        == attempt_id_of(
            attempt.release_digest, attempt.task_id, attempt.configuration.name, attempt.epoch
        )
        and layout.is_safe_path(attempt.configuration.name)
        and all(abs(number) <= _LARGEST for number in numbers if number is not None)
    )


def finished(folder: Path) -> set[str]:
    """Names of the attempts of a configuration that need not run again.

    Not among them are those that an infrastructure error or the budget of the run ended.
    """
    return {
        path.stem
        for path in sorted((folder / FOLDER).glob("*.json"))
        if not _goes_on(_read_attempt(path).attempt)
    }


def infra_errors(folder: Path) -> list[str]:
    """How the infrastructure ended attempts of a configuration, by path."""
    attempts = (_read_attempt(path).attempt for path in sorted((folder / FOLDER).glob("*.json")))
    return [a.error or "" for a in attempts if a.status is AttemptStatus.INFRA_ERROR]


def check_name(configuration: str) -> None:
    """Raise InputError for a configuration's name that is no name of a folder of its own."""
    if not _is_configuration_name(configuration):
        raise InputError(
            "--name", repr(configuration), "a folder name, such as react-1, other than "
            + ", ".join(_OWN), "Choose another --name.",
        )  # fmt: skip


def _is_configuration_name(name: str) -> bool:
    """Is it the name of a folder, which is not hidden and not one of a configuration's own?"""
    is_one = layout.is_safe_path(name) and "/" not in name
    return is_one and not name.startswith(".") and name not in _OWN


def _goes_on(attempt: Attempt) -> bool:
    """Does the attempt go on where the run is repeated?"""
    return attempt.status is AttemptStatus.INFRA_ERROR or attempt.error == RUN_BUDGET_SPENT


def read_attempts(logs: Path) -> Iterator[tuple[Path, AttemptRecord]]:
    """All attempts below a folder with their configuration's folder, sorted by path.

    Raises InputError where there are none.
    """
    paths = sorted(path for folder in _own(logs) for path in (folder / FOLDER).glob("*.json"))
    if not paths:
        expected = f"a folder with `{FOLDER}/*.json`"
        raise InputError(str(logs), "no attempts", expected, "Run `benchmint evaluate` first.")
    for path in paths:
        yield path.parent.parent, _read_attempt(path)


def has_attempts(logs: Path) -> bool:
    """Are there files of attempts below a folder, and not their tables alone?"""
    return any(any((folder / FOLDER).glob("*.json")) for folder in _own(logs))


def empty_handed(logs: Path) -> set[tuple[str, str]]:
    """The attempts below a folder that delivered no file: configuration and name of each."""
    return {
        (folder.name, path.stem)
        for folder in _own(logs)
        for path in (folder / FOLDER).glob("*.json")
        if not any(
            made.is_file() and not made.is_symlink()
            for made in (folder / OUTPUTS / path.stem).rglob("*")
        )
    }


def subfolders(folder: Path) -> list[Path]:
    """The folders directly below, but for what agents delivered: they may forge attempts there."""
    is_configuration = (folder / RUN).is_file() or (folder / FOLDER).is_dir()
    return sorted(
        path
        for path in folder.glob("*")
        if path.is_dir()
        and not path.is_symlink()
        and not (is_configuration and path.name == OUTPUTS)
    )


def _own(folder: Path) -> Iterator[Path]:
    """A folder and all below that agents did not make."""
    yield folder
    for inner in subfolders(folder):
        yield from _own(inner)


def write_tables(
    out: Path,
    attempts: Sequence[AttemptRecord],
    scores: Iterable[tuple[Attempt, Score]],
    notice: str | None = None,
) -> None:
    """Write `attempts`, `tool_calls`, `scores` and `score_parts` as Parquet into a folder.

    `notice` is the digest of the errata under which they were graded.
    `attempts` comes last: where it is, the others are too (`data.attempts`).
    """
    graded = list(scores)
    rows = (
        (TOOL_CALLS, (row for record in attempts for row in _call_rows(record))),
        (SCORES, (_score_row(attempt, score) for attempt, score in graded)),
        (SCORE_PARTS, (row for attempt, score in graded for row in _part_rows(attempt, score))),
        (ATTEMPTS, (_attempt_row(record) | {"errata": notice} for record in attempts)),
    )
    replace_frames(out, ((table.name, frame_of(content, table.schema)) for table, content in rows))


def _attempt_row(record: AttemptRecord) -> dict[str, Any]:
    attempt, configuration = record.attempt, record.attempt.configuration
    return {
        **asdict(configuration),
        **asdict(attempt.usage),
        **asdict(attempt),
        "configuration": configuration.name,
        "status": str(attempt.status),
        "termination": str(attempt.termination) if attempt.termination else None,
        "n_calls": len(record.submission.calls),
    }


def _call_rows(record: AttemptRecord) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(record.submission.calls):
        row = asdict(call)
        yield {
            "attempt_id": record.attempt.attempt_id,
            "index": index,
            **row,
            "arguments": orjson.dumps(row["arguments"], option=orjson.OPT_SORT_KEYS).decode(),
        }


def _score_row(attempt: Attempt, score: Score) -> dict[str, Any]:
    return {
        **asdict(score),
        **asdict(score.progress),
        "attempt_id": attempt.attempt_id,
        "configuration": attempt.configuration.name,
        "epoch": attempt.epoch,
    }


def _part_rows(attempt: Attempt, score: Score) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(score.parts):
        row = asdict(part)
        detail = orjson.dumps(row["detail"], option=orjson.OPT_SORT_KEYS).decode()
        yield {"attempt_id": attempt.attempt_id, "index": index, **row, "detail": detail}


# The tables of graded attempts as documented DuckDB views, for `benchmint sql --attempts`.
#
# The Parquet files are the truth; the database is made of them for a query, and removed after it.
# Unlike the staging file it holds what agents were shown and said: it is private (law 8).

_STORED = "stored"  # the schema of the rows; the views of `main` are what is documented


@contextmanager
def attempts_database(folder: Path) -> Iterator[Path]:
    """A DuckDB file with the views of `schemas_attempts` over all that was graded below a folder.

    Raises InputError where nothing was.
    """
    sources = table_folders(folder)
    if not sources:
        raise InputError(
            str(folder), "no tables of graded attempts", f"{TABLES_FOLDER}/{ATTEMPTS.name}.parquet",
            "Run `benchmint grade` first.",
        )  # fmt: skip
    require_current(sources)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "attempts.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE SCHEMA {_STORED}")
            for table in ATTEMPT_TABLES:
                files = [str(source / f"{table.name}.parquet") for source in sources]
                kinds = table.sql_types
                columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
                connection.execute(f'CREATE TABLE {_STORED}."{table.name}" ({columns})')
                connection.execute(
                    f'INSERT INTO {_STORED}."{table.name}" BY NAME '
                    "FROM read_parquet(?, union_by_name = true)",
                    [files],
                )
                connection.execute(f'CREATE VIEW "{table.name}" AS FROM {_STORED}."{table.name}"')
                meanings = {column: text for column, (_, text) in table.columns.items()}
                comment_on(connection, "VIEW", table.name, table.row, meanings)
        yield path


def require_current(sources: Iterable[Path]) -> None:
    """Raise InputError for a folder whose tables do not have the columns of this version."""
    for source in sources:
        for table in ATTEMPT_TABLES:
            path = source / f"{table.name}.parquet"
            actual = set(pl.read_parquet_schema(path)) if path.is_file() else set()
            lacking = sorted(set(table.columns) - actual)
            if not lacking:
                continue
            raise InputError(
                str(path), f"a table of an older version (no column {lacking[0]})",
                "tables of graded attempts written by this version",
                f"Run `benchmint grade {source.parent} --snapshot SNAPSHOT`; no agents are rerun.",
            )  # fmt: skip


def table_folders(folder: Path) -> list[Path]:
    """The folders of tables below a folder; not those beneath one that has its own.

    A folder's own tables are of all attempts below it, so each attempt is read once.
    """
    own = folder / TABLES_FOLDER
    if (own / f"{ATTEMPTS.name}.parquet").is_file():
        return [own]
    return [source for path in subfolders(folder) for source in table_folders(path)]


MANIFEST = "submission.json"
VERSION = "benchmint-submission/1"
_DATE = (1980, 1, 1, 0, 0, 0)  # of every entry: the same attempts make the same archive
_MOST_FILES, _MOST_BYTES, _LARGEST_ARCHIVE = 200_000, 20 << 30, 1 << 30
_LARGEST_JSON = 64 << 20  # of the manifest and of an attempt, which are read as a whole
_MOST_EPOCHS = 1_000
_LONGEST_PATH = 1_000  # bytes; systems allow 4,096 with the folder before it
_CHUNK = 1 << 20
_UNREADABLE = (
    OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error,
    lzma.LZMAError, UnicodeDecodeError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Archive:
    """What an archive says of itself; `files` maps a path in it to its SHA-256."""

    version: str
    release: str
    configuration: Configuration
    epochs: int
    files: dict[str, str]


_SUBMISSION = TypeAdapter(_Archive)


def bundle(folder: Path, out: Path) -> _Archive:
    """Write the attempts of a configuration's folder as an archive.

    Raises InputError if there are none, or some that the infrastructure ended: they are to be run
    again first.
    """
    records = [_read_attempt(path) for path in sorted((folder / FOLDER).glob("*.json"))]
    if not records:
        raise InputError(
            str(folder), "no attempts", f"a configuration's folder with {FOLDER}/*.json",
            "Pass ATTEMPTS/<release>/<configuration>.",
        )  # fmt: skip
    if broken := [record for record in records if _goes_on(record.attempt)]:
        raise InputError(
            str(folder), f"{len(broken)} incomplete attempts", "completed attempts",
            "Run the same evaluation again to complete them.",
        )  # fmt: skip
    files = dict(_files(folder, records))
    about = _Archive(
        VERSION,
        records[0].attempt.release_digest,
        records[0].attempt.configuration,
        max(record.attempt.epoch for record in records),
        {name: file_digest(path) for name, path in sorted(files.items())},
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, _DATE), pretty_json(asdict(about)))
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    write_bytes(out, buffer.getvalue(), mode=PRIVATE_FILE)
    return about


def _files(folder: Path, records: list[AttemptRecord]) -> Iterator[tuple[str, Path]]:
    for record in records:
        name = attempt_name(record.attempt.task_id, record.attempt.epoch)
        yield f"{FOLDER}/{name}.json", folder / FOLDER / f"{name}.json"
        outputs = folder / OUTPUTS / name
        for path in sorted(outputs.rglob("*")) if outputs.is_dir() else ():
            if path.is_file() and not path.is_symlink():
                yield f"{OUTPUTS}/{name}/{path.relative_to(outputs).as_posix()}", path


def unpack(archive: Path, folder: Path) -> _Archive:
    """Unpack a submission into `folder`, which is made anew. Raises InputError.

    Nothing is written unless every entry is listed, has a safe name and the digest that is stated.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            names = _names(archive, opened)
            about = _about(archive, opened.read(MANIFEST) if MANIFEST in names else b"")
            _check_files(archive, opened, names - {MANIFEST}, about)
    except _UNREADABLE as error:
        raise _refused(
            archive, f"an archive that cannot be read ({type(error).__name__})"
        ) from None
    if folder.exists():
        shutil.rmtree(folder)
    with zipfile.ZipFile(archive) as opened:
        for name in about.files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_DIR)
            with opened.open(name) as source, open(path, "xb", opener=_private) as target:
                shutil.copyfileobj(source, target, _CHUNK)
    _check_records(archive, folder, about)
    return about


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE)


def _names(archive: Path, opened: zipfile.ZipFile) -> set[str]:
    """The names of all entries, each of them safe and of a size that is allowed."""
    entries = opened.infolist()
    sizes = [entry.file_size for entry in entries]
    if (
        len(entries) > _MOST_FILES
        or sum(sizes) > _MOST_BYTES
        or max(sizes, default=0) > _LARGEST_ARCHIVE
    ):
        raise _refused(archive, "more than the limits of a submission")
    names = {entry.filename for entry in entries}
    if len({name.lower() for name in names}) < len(entries):
        raise _refused(archive, "two files with the same name")
    attempts = {name for name in names if _is_attempt(name)}
    for entry in entries:
        name = entry.filename
        kind, _, rest = name.partition("/")
        of_attempt = kind == OUTPUTS and f"{FOLDER}/{rest.partition('/')[0]}.json" in attempts
        if not _is_safe(name, names) or not (name == MANIFEST or name in attempts or of_attempt):
            raise _refused(archive, f"a name that does not belong there: {name[:80]!r}")
        if kind != OUTPUTS and entry.file_size > _LARGEST_JSON:
            raise _refused(archive, f"a file of more than {_LARGEST_JSON:,} bytes: {name[:80]!r}")
    if not attempts:
        raise _refused(archive, "no attempts")
    return names


def _is_attempt(name: str) -> bool:
    """Directly in the folder of attempts: what is deeper could pass for another configuration's."""
    kind, _, rest = name.partition("/")
    return kind == FOLDER and rest.endswith(".json") and "/" not in rest


def _is_safe(name: str, names: set[str]) -> bool:
    """Inside the folder, not too long, and below nothing that is a file itself."""
    above = (str(parent) for parent in PurePosixPath(name).parents)
    fits = layout.is_safe_path(name) and len(name.encode()) <= _LONGEST_PATH
    return fits and not any(parent in names for parent in above)


def _check_files(archive: Path, opened: zipfile.ZipFile, names: set[str], about: _Archive) -> None:
    """The files are those that the manifest lists, and each has the digest that it states."""
    if names != about.files.keys():
        raise _refused(archive, "files other than those it lists")
    for name, expected in about.files.items():
        actual = hashlib.sha256()
        with opened.open(name) as content:
            while chunk := content.read(_CHUNK):
                actual.update(chunk)
        if actual.hexdigest() != expected:
            raise _refused(
                archive, f"a file whose digest does not match the listed one: {name[:80]!r}"
            )


def _about(archive: Path, content: bytes) -> _Archive:
    try:
        about = _SUBMISSION.validate_json(content)
    except ValidationError:
        raise _refused(archive, f"no {MANIFEST}, or a corrupt one") from None
    if about.version != VERSION or not _is_configuration_name(about.configuration.name):
        raise _refused(archive, f"a {MANIFEST} from another version, or with no usable name")
    if not 1 <= about.epochs <= _MOST_EPOCHS:
        raise _refused(archive, f"a number of epochs outside 1 to {_MOST_EPOCHS:,}")
    return about


def _check_records(archive: Path, folder: Path, about: _Archive) -> None:
    """Every attempt is of the release and the configuration that the manifest states."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        attempt = _read_attempt(path).attempt
        same = (attempt.release_digest, attempt.configuration) == (
            about.release, about.configuration,
        )  # fmt: skip
        if not same or not 1 <= attempt.epoch <= about.epochs:
            raise _refused(archive, f"an attempt from another run: {path.stem[:80]}")


def _refused(archive: Path, problem: str) -> InputError:
    return InputError(
        str(archive), problem, "a submission written by `benchmint agents submit`",
        "Ask for the archive again.",
    )  # fmt: skip
