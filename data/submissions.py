"""Submissions: the attempts of one configuration as one archive, and back as hostile input.

    submission.json                     release, configuration, digests of all other files
    attempts/<task>-<epoch>.json        what was done
    outputs/<task>-<epoch>/…            what was delivered

Trajectories, logs and replies stay with whoever ran the agent: nothing is graded from them.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.attempts import (
    FOLDER,
    OUTPUTS,
    AttemptRecord,
    attempt_name,
    goes_on,
    is_configuration_name,
    read_attempt,
)
from data.canonical import file_digest, pretty_json
from data.contracts.attempt import Configuration
from data.errors import InputError
from data.snapshot import layout

MANIFEST = "submission.json"
VERSION = "benchmint-submission/1"
_DATE = (1980, 1, 1, 0, 0, 0)  # of every entry: the same attempts make the same archive
_MOST_FILES, _MOST_BYTES, _LARGEST = 200_000, 20 << 30, 1 << 30
_LARGEST_JSON = 64 << 20  # of the manifest and of an attempt, which are read as a whole
_MOST_EPOCHS = 1_000
_LONGEST_PATH = 1_000  # bytes; systems allow 4,096 with the folder before it
_CHUNK = 1 << 20
_UNREADABLE = (
    OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error,
    lzma.LZMAError, UnicodeDecodeError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Submission:
    """What an archive says of itself; `files` maps a path in it to its SHA-256."""

    version: str
    release: str
    configuration: Configuration
    epochs: int
    files: dict[str, str]


_SUBMISSION = TypeAdapter(Submission)


def bundle(folder: Path, out: Path) -> Submission:
    """Write the attempts of a configuration's folder as an archive.

    Raises InputError if there are none, or some that the infrastructure ended: they are to be run
    again first.
    """
    records = [read_attempt(path) for path in sorted((folder / FOLDER).glob("*.json"))]
    if not records:
        raise InputError(
            str(folder), "no attempts", f"a configuration's folder with {FOLDER}/*.json",
            "Pass ATTEMPTS/<release>/<configuration>.",
        )  # fmt: skip
    if broken := [record for record in records if goes_on(record.attempt)]:
        raise InputError(
            str(folder), f"{len(broken)} incomplete attempts", "completed attempts",
            "Run the same evaluation again to complete them.",
        )  # fmt: skip
    files = dict(_files(folder, records))
    about = Submission(
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


def unpack(archive: Path, folder: Path) -> Submission:
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
    if len(entries) > _MOST_FILES or sum(sizes) > _MOST_BYTES or max(sizes, default=0) > _LARGEST:
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


def _check_files(
    archive: Path, opened: zipfile.ZipFile, names: set[str], about: Submission
) -> None:
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


def _about(archive: Path, content: bytes) -> Submission:
    try:
        about = _SUBMISSION.validate_json(content)
    except ValidationError:
        raise _refused(archive, f"no {MANIFEST}, or a corrupt one") from None
    if about.version != VERSION or not is_configuration_name(about.configuration.name):
        raise _refused(archive, f"a {MANIFEST} from another version, or with no usable name")
    if not 1 <= about.epochs <= _MOST_EPOCHS:
        raise _refused(archive, f"a number of epochs outside 1 to {_MOST_EPOCHS:,}")
    return about


def _check_records(archive: Path, folder: Path, about: Submission) -> None:
    """Every attempt is of the release and the configuration that the manifest states."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        attempt = read_attempt(path).attempt
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
