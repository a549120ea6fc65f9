"""The file names of a snapshot, and the names that are derived from others."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

from data.canonical import digest, file_digest
from data.contracts import Fixture
from data.errors import ReleaseError

PUBLIC = "public"
PRIVATE = "private"
RUN = "run.json"
SUMS = "SHA256SUMS"
MANIFEST = "manifest.json"
ATTESTATION = "attestation.json"  # in public/: the signature, which no sums list
TASK_LIST = "tasks.jsonl"
TASK_TABLE = "tasks.parquet"  # the same rows, for loaders that read one format alone
TASKS = "tasks"
INPUTS = "inputs"
INSTRUCTION = "instruction.md"
TASK_YAML = "task.yaml"
AUDIT = "audit"
TABLES = "tables"
ENVIRONMENTS = "environments"  # in both halves: files that many tasks share
ANSWERS_TABLE = "answers.parquet"
CHANGELOG = "CHANGELOG.md"
REPORT = f"{AUDIT}/report.html"
FUNNEL = f"{AUDIT}/funnel.json"
LEDGER = f"{AUDIT}/ledger.json"
STATISTICS = f"{AUDIT}/statistics.json"
VALIDITY = f"{AUDIT}/validity.json"
VALIDITY_PAGE = f"{AUDIT}/validity.html"
TASK_PAGES = f"{AUDIT}/tasks"  # in both halves; the private ones show answers
PRIVACY = f"{AUDIT}/privacy.json"
PRIVACY_PAGE = f"{AUDIT}/privacy.html"  # where there are anonymized tables
HALF_LINK = "snapshot.json"  # in private/: which public half it belongs to
WORLD = "world.json"  # in private/TASK/: the services of a workflow task at the start
LEDGER_TABLE = "ledger.parquet"
VERDICTS_TABLE = "verdicts.parquet"
LINEAGE_TABLE = "lineage.parquet"
PRIVATE_TABLES = (LEDGER_TABLE, VERDICTS_TABLE, LINEAGE_TABLE)

UNLISTED = frozenset({SUMS, ATTESTATION})  # files that SHA256SUMS leaves out

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SNAPSHOT = re.compile(rf"({_NAME.pattern})-(\d{{4}}\.\d{{2}}\.\d{{2}})(?:-r(\d{{1,4}}))?")
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_UNSAFE_PATH = re.compile(
    "[\x00-\x1f\x7f-\x9f\\\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST_PART = 255  # bytes of one path component on every common file system
# Names that Windows reserves for devices; a release may be unpacked anywhere.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10)}
)
# Other entries of a private half; no task may have such a name.
_RESERVED = frozenset(
    {AUDIT, "views", ENVIRONMENTS, *PRIVATE_TABLES, HALF_LINK, SUMS.lower(), ANSWERS_TABLE}
)
_CANARIES = uuid.UUID("6f1c2f0e-0d2b-5c39-9c3a-7a4d8b5e6f10")


def snapshot_id(name: str, released: date, revision: int = 1) -> str:
    """`<name>-<YYYY.MM.DD>`, from the second revision on with `-r<n>`."""
    tail = f"-r{revision}" if revision > 1 else ""
    return f"{name}-{released:%Y.%m.%d}{tail}"


def release_in(snapshots: Path, name: str, released: date, *, revision: bool) -> str:
    """The release that is built: the one of this name and date, or with `revision` the next.

    A release that is built again, or continued after a kill, is the same one.
    """
    number = 1
    while revision and (snapshots / snapshot_id(name, released, number)).exists():
        number += 1
    return snapshot_id(name, released, number)


def table_path(name: str) -> str:
    """The path of a released table in the public half. Raises ReleaseError for a bad name."""
    if not _TABLE.fullmatch(name):
        raise ReleaseError(f"a table's name of {len(name)} characters; use a-z, 0-9 and _")
    return f"{TABLES}/{name}.parquet"


def input_path(task_id: str, fixture: Fixture) -> str:
    """The path of an input file in the public half: the task's own, or its environment's."""
    if fixture.environment is None:
        return f"{TASKS}/{task_id}/{INPUTS}/{fixture.path}"
    return f"{ENVIRONMENTS}/{fixture.environment}/{fixture.path}"


def is_input(path: str) -> bool:
    """Is a file of the public half one that agents are given, rather than text about them?"""
    parts = path.split("/")
    is_own = len(parts) > 3 and parts[0] == TASKS and parts[2] == INPUTS
    return is_own or (len(parts) > 2 and parts[0] == ENVIRONMENTS)


def canary(snapshot: str, recipe_digest: str) -> str:
    """The GUID that marks the text of one snapshot: UUID 5 of its id and recipe digest."""
    return str(uuid.uuid5(_CANARIES, f"{snapshot}\n{recipe_digest}"))


def canary_sentence(snapshot: str, guid: str) -> str:
    """The sentence in every text file of a snapshot, inside a comment of the format."""
    return f"Benchmark text of {snapshot}: keep out of training data. Canary GUID {guid}"


class _SnapshotName(NamedTuple):
    """The parts of a snapshot's id."""

    name: str
    date: str
    revision: int


def snapshot_name(text: str) -> _SnapshotName | None:
    """The parts of `text`, if it is the id of a snapshot."""
    match = _SNAPSHOT.fullmatch(text)
    return None if match is None else _SnapshotName(match[1], match[3], int(match[4] or 1))


def is_name(text: str) -> bool:
    """Lower-case words joined by hyphens, at most 64 characters."""
    return len(text) <= 64 and _NAME.fullmatch(text) is not None


def is_id(text: str) -> bool:
    """Whether `text` can name a task directory or an instance page on every file system."""
    stem = text.split(".")[0].lower()
    return (
        _ID.fullmatch(text) is not None
        and not text.endswith(".")
        and stem not in _DEVICES
        and text.lower() not in _RESERVED
    )


def is_safe_path(text: str) -> bool:
    """Whether `text` is a relative POSIX path inside its root without unsafe characters."""
    if not text or _UNSAFE_PATH.search(text):
        return False
    parts = text.split("/")
    return all(
        part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_PART for part in parts
    )


def is_safe_input(fixture: Fixture) -> bool:
    """Does an input file stay in the folder of its task or environment?"""
    environment = fixture.environment
    return is_safe_path(fixture.path) and (environment is None or is_name(environment))


def halves(snapshot: Path) -> tuple[Path, Path | None]:
    """The public and private directory of `snapshot`, which may itself be a public half."""
    if not (snapshot / PUBLIC).is_dir() and (snapshot / MANIFEST).is_file():
        return snapshot, None
    private = snapshot / PRIVATE
    return snapshot / PUBLIC, private if private.is_dir() else None


# SHA256SUMS files: readable by `sha256sum -c`, parsed as untrusted input.

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class SumsError(ValueError):
    """An invalid line of a SHA256SUMS file: its number and what is wrong with it."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")


def compute(root: Path) -> dict[str, str]:
    """Path below `root` -> SHA-256 of every regular file that is listed, sorted."""
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    named = sorted((path.relative_to(root).as_posix(), path) for path in files)
    return {name: file_digest(path) for name, path in named if name not in UNLISTED}


def render(sums: Mapping[str, str]) -> bytes:
    """The content of a SHA256SUMS file, sorted by path."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def parse(content: bytes) -> dict[str, str]:
    """Path -> digest. Raises SumsError for a malformed line, an unsafe path or a repeated one."""
    sums: dict[str, str] = {}
    for number, raw in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            match = _LINE.fullmatch(raw.decode())
        except UnicodeDecodeError:
            match = None
        if match is None:
            raise SumsError(number, f"{len(raw)} bytes that are not a digest and a path")
        name = match.group(2)
        if not is_safe_path(name):
            raise SumsError(
                number, "a path that leaves the directory or contains unusual characters"
            )
        if name in sums:
            raise SumsError(number, "a path listed twice")
        sums[name] = match.group(1)
    if content and not content.endswith(b"\n"):
        raise SumsError(len(sums) + 1, "the last line is incomplete")
    return sums


def snapshot_digest(public: bytes, private: bytes) -> str:
    """The digest of a snapshot: SHA-256 over both SHA256SUMS files, public first."""
    return digest(public + private)
