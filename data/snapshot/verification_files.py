"""Checks the files of a half: against its SHA256SUMS, and that they keep their format.

Only regular files are opened. Tables must be Parquet, and the report must keep its security policy.
The report is not parsed: it must begin with exactly the head that the project writes, so that the
policy applies to everything after it, whatever the page holds. Linear in the size of the page.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb
import orjson

from data.canonical import digest, file_digest
from data.figures import amount
from data.neutralise import one_line
from data.snapshot import layout
from data.snapshot.ledger import LedgerCounts, parquet
from data.snapshot.manifest import Manifest

# The report of a verification: one finding per problem, and what was checked.

_LONGEST_PROBLEM = 400


class Check(StrEnum):
    """What a finding is about. Renaming one is a breaking change."""

    NOT_A_SNAPSHOT = "snapshot.not_one"
    RENAMED = "snapshot.renamed"
    NOT_PART = "snapshot.not_part"
    RUN = "snapshot.run"
    SYMLINK = "path.symlink"
    SPECIAL_FILE = "path.special_file"
    UNSAFE_PATH = "path.unsafe"
    UNREADABLE = "path.unreadable"
    EMPTY_FOLDER = "path.empty_folder"
    OPEN_TO_OTHERS = "path.open_to_others"
    SUMS_MALFORMED = "sums.malformed"
    SUMS_MISSING = "sums.file_missing"
    SUMS_EXTRA = "sums.file_extra"
    SUMS_CHANGED = "sums.file_changed"
    MANIFEST = "manifest.schema"
    MANIFEST_DIGEST = "manifest.digest"
    MANIFEST_COUNT = "manifest.count"
    METADATA = "croissant.incomplete"
    TASK_ROW = "tasks.row"
    TASK_TWICE = "tasks.id_twice"
    TASK_FILES = "tasks.files"
    TASK_TEXT = "tasks.text_differs"
    FIXTURE = "tasks.fixture"
    PRIVATE_FIELD = "private.field_in_public"
    PRIVATE_CONTENT = "private.content_in_public"
    PRIVATE_LINK = "private.other_snapshot"
    CANARY_MISSING = "canary.missing"
    CANARY_IN_INPUTS = "canary.in_inputs"
    LEDGER_ARITHMETIC = "ledger.arithmetic"
    LEDGER_RECOUNT = "ledger.recount"
    STATISTICS = "statistics.recount"
    TABLE = "tables.unreadable"
    REPORT_POLICY = "report.policy"
    UNSIGNED = "signature.missing"
    SIGNER = "signature.other_signer"
    SIGNATURE = "signature.wrong"
    ERRATA = "errata.wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: the check, the path in the snapshot, and a description."""

    check: Check
    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The outcome. `digest` is None unless both halves and their sums are present.

    `public_digest` is that of the public half, by which attempts and exports name their release.
    """

    snapshot: str | None
    digest: str | None
    public_digest: str | None
    with_private: bool
    files: int
    tasks: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return not self.findings


@dataclass(slots=True)
class Findings:
    """Collects findings; paths and problems are made safe to print."""

    items: list[Finding] = field(default_factory=list)

    def add(self, check: Check, path: str, problem: str) -> None:
        self.items.append(Finding(check, one_line(path), one_line(problem)[:_LONGEST_PROBLEM]))


@dataclass(frozen=True, slots=True)
class Half:
    """One half on disk: its regular files by path, their digests, and its SHA256SUMS bytes."""

    name: str
    root: Path
    files: dict[str, Path]
    digests: dict[str, str]
    sums: bytes | None


def report_lines(folder: Path, report: VerifyReport) -> Iterator[str]:
    """The findings about a snapshot and a line of summary, for a person."""
    where = folder.resolve()
    for finding in report.findings:
        yield f"{finding.check}: {finding.path}: {finding.problem}"
    if Check.NOT_A_SNAPSHOT in (finding.check for finding in report.findings):
        yield one_line(f"{where}: no snapshot")
        return
    of = (
        f"{report.snapshot} ({where})"
        if report.snapshot
        else f"{where}, whose manifest cannot be read"
    )
    halves = "both halves" if report.with_private else "the public half alone"
    state = "verified" if report.ok else amount(len(report.findings), "finding")
    what = f"{amount(report.tasks, 'task')}, {amount(report.files, 'file')}, {halves}"
    yield one_line(f"{of}: {what}: {state}")
    recorded = "" if report.ok else "recorded "  # what is there has another one
    if report.digest:
        yield f"{recorded}digest {report.digest}"
    if report.public_digest:
        yield f"{recorded}digest of the public half {report.public_digest}"


OWNER_ONLY = stat.S_IRWXG | stat.S_IRWXO  # forbidden in a private half
NO_WRITING = stat.S_IWOTH  # in a public one
_NAMED = 3  # paths that a finding names
LARGEST_DOCUMENT = 512 * 1024 * 1024  # bytes of a file that is read as a whole
_TEXT_SUFFIXES = (".md", ".json", ".jsonl", ".yaml", ".toml", ".html", ".svg")


def load_half(root: Path, name: str, findings: Findings) -> Half:
    """List and digest the files of a half, comparing them with its SHA256SUMS."""
    files = _regular_files(root, name, findings)
    digests: dict[str, str] = {}
    for path, file in files.items():
        try:
            digests[path] = file_digest(file)
        except OSError as error:
            findings.add(Check.UNREADABLE, f"{name}/{path}", f"{type(error).__name__}")
    content = read(files, layout.SUMS, name, findings)
    if content is not None:
        _compare(name, content, digests, findings)
    return Half(name, root, files, digests, content)


def read(files: Mapping[str, Path], path: str, half: str, findings: Findings) -> bytes | None:
    """The content of a required file; adds a finding and returns None if it cannot be read."""
    file = files.get(path)
    if file is None:
        findings.add(Check.SUMS_MISSING, f"{half}/{path}", "the file is missing")
        return None
    try:
        if file.stat().st_size > LARGEST_DOCUMENT:
            findings.add(Check.UNREADABLE, f"{half}/{path}", "larger than 512 MiB")
            return None
        return file.read_bytes()
    except OSError as error:
        findings.add(Check.UNREADABLE, f"{half}/{path}", f"{type(error).__name__}")
        return None


def read_object(half: Half, path: str, check: Check, findings: Findings) -> dict[str, Any] | None:
    """A JSON object from a required file; adds a finding and returns None for anything else."""
    content = read(half.files, path, half.name, findings)
    if content is None:
        return None
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        findings.add(check, f"{half.name}/{path}", f"{len(content)} bytes that are not JSON")
        return None
    if not isinstance(document, dict):
        actual = type(document).__name__
        findings.add(check, f"{half.name}/{path}", f"found {actual}, expected a JSON object")
        return None
    return document


def check_canary(half: Half, guid: str, findings: Findings) -> None:
    """Every text file written by the project holds the canary, and no input does."""
    for path, file in half.files.items():
        if layout.is_input(path):
            if _holds(file, guid.encode()):
                findings.add(Check.CANARY_IN_INPUTS, f"{half.name}/{path}", "holds the canary")
        elif path in (layout.TASK_LIST, layout.ATTESTATION):
            continue  # `check_tasks` looks at each row; a signature has no text of its own
        elif _is_own_text(path) and not _holds(file, guid.encode()):
            findings.add(Check.CANARY_MISSING, f"{half.name}/{path}", "lacks the canary")


def check_modes(half: Half, forbidden: int, findings: Findings) -> None:
    """No file or folder of a half has one of the `forbidden` bits of its mode."""
    folders = {str(parent) for path in half.files for parent in PurePosixPath(path).parents}
    open_paths = [path for path in sorted({*half.files, *folders}) if _mode(half, path) & forbidden]
    if not open_paths:
        return
    named, more = ", ".join(open_paths[:_NAMED]), len(open_paths) - _NAMED
    problem = f"other users have access: {named}" + (f" and {more} more" if more > 0 else "")
    remedy = "go=" if forbidden & stat.S_IROTH else "o-w"
    findings.add(Check.OPEN_TO_OTHERS, half.name, f"{problem}; run chmod -R {remedy} on it")


def _mode(half: Half, path: str) -> int:
    try:
        return stat.S_IMODE((half.root / path).stat(follow_symlinks=False).st_mode)
    except OSError:  # reported when it was digested
        return 0


def _is_public_text(path: str) -> bool:
    """Whether this file of a half is text written by the project."""
    return _is_own_text(path) and not layout.is_input(path)


def _is_own_text(path: str) -> bool:
    return path == "LICENSE" or path.endswith(_TEXT_SUFFIXES)


def _holds(file: Path, needle: bytes) -> bool:
    try:
        with file.open("rb") as handle:
            if os.fstat(handle.fileno()).st_size == 0:
                return False
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(needle) >= 0
    except OSError:  # reported when it was digested
        return False


def _regular_files(root: Path, name: str, findings: Findings) -> dict[str, Path]:
    """Regular files below `root` by path, sorted; links, devices and unsafe names are findings."""
    files: dict[str, Path] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            findings.add(Check.UNREADABLE, f"{name}/{folder}", f"{type(error).__name__}")
            continue
        if folder and not entries:
            findings.add(Check.EMPTY_FOLDER, f"{name}/{folder}", "an empty folder")
        for entry in entries:
            path = f"{folder}/{entry.name}".lstrip("/")
            if entry.is_symlink():
                findings.add(Check.SYMLINK, f"{name}/{path}", "a symbolic link is never followed")
            elif not layout.is_safe_path(path):
                findings.add(Check.UNSAFE_PATH, f"{name}/{path}", "a name with unsafe characters")
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                files[path] = root / path
            else:
                findings.add(Check.SPECIAL_FILE, f"{name}/{path}", "not a regular file")
    return dict(sorted(files.items()))


def _compare(name: str, content: bytes, digests: Mapping[str, str], findings: Findings) -> None:
    try:
        listed = layout.parse(content)
    except layout.SumsError as error:
        findings.add(Check.SUMS_MALFORMED, f"{name}/{layout.SUMS}", str(error))
        return
    unlisted = layout.UNLISTED if name == layout.PUBLIC else {layout.SUMS}
    there = digests.keys() - unlisted
    for path in sorted(listed.keys() - there):
        findings.add(Check.SUMS_MISSING, f"{name}/{path}", "listed, but missing")
    for path in sorted(there - listed.keys()):
        findings.add(Check.SUMS_EXTRA, f"{name}/{path}", "present, but not listed")
    for path in sorted(there & listed.keys()):
        if listed[path] != digests[path]:
            findings.add(Check.SUMS_CHANGED, f"{name}/{path}", "its digest is not the listed one")


_HEAD = re.compile(
    rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,1000})">\n'
)
_REFRESH = re.compile(rb"http-equiv\s?=\s?[\"']?refresh", re.IGNORECASE)
_FIXED = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
_QUOTE = "&#39;"  # how the template escapes the quotes of the policy
BROKEN = (
    OSError,
    ValueError,
    MemoryError,
    duckdb.Error,
)


def check_report(half: Half, findings: Findings) -> None:
    """`audit/report.html` begins with a strict policy that allows its own style and script."""
    content = read(half.files, layout.REPORT, half.name, findings)
    if content is None:
        return
    head = _HEAD.match(content)
    if head is None:
        where = f"{half.name}/{layout.REPORT}"
        findings.add(Check.REPORT_POLICY, where, "does not begin with a content security policy")
        return
    policy = head.group(1).decode("utf-8", "replace").replace(_QUOTE, "'")
    for problem in _problems(policy, content):
        findings.add(Check.REPORT_POLICY, f"{half.name}/{layout.REPORT}", problem)


def _problems(policy: str, content: bytes) -> list[str]:
    from data.snapshot.pages import block_source

    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    problems = [f"the policy lacks {rule}" for rule in _FIXED if not _has(rules, rule)]
    style = _between(content, content.find(b"<style>"), b"</style>")
    script = _between(content, content.rfind(b"<script>"), b"</script>")
    if rules.get("style-src") != block_source(style):
        problems.append("the policy allows a style other than the page's")
    if rules.get("script-src") != block_source(script):
        problems.append("the policy allows a script other than the page's")
    extra = rules.keys() - {rule.split()[0] for rule in _FIXED}
    extra -= {"style-src", "script-src", "require-trusted-types-for"}
    if extra:
        problems.append(f"the policy has {len(extra)} rules that are not the project's")
    if _REFRESH.search(content):
        problems.append("the page redirects its reader")
    return problems


def _has(rules: dict[str, str], rule: str) -> bool:
    name, _, value = rule.partition(" ")
    return rules.get(name) == value


def _between(content: bytes, start: int, end: bytes) -> str:
    """The text of the element whose opening tag is at `start`."""
    opened = content.find(b">", start) + 1
    return content[opened : content.find(end, opened)].decode("utf-8", "replace")


def check_tables(half: Half, connection: duckdb.DuckDBPyConnection, findings: Findings) -> None:
    """Released tables and the answers are Parquet: their footers are read, not their rows."""
    for path, file in half.files.items():
        problem = _table_problem(file, connection) if _is_table(path) else None
        if problem is not None:
            findings.add(Check.TABLE, f"{half.name}/{path}", problem)


def _is_table(path: str) -> bool:
    alone = (layout.ANSWERS_TABLE, layout.TASK_TABLE)
    return path in alone or path.startswith(f"{layout.TABLES}/")


def _table_problem(file: Path, connection: duckdb.DuckDBPyConnection) -> str | None:
    try:
        columns = parquet(connection, file).columns
    except BROKEN as error:
        return f"is not a Parquet table ({type(error).__name__})"
    return None if columns else "has no columns"


# How the halves fit together ---------------------------------------------------------------------
# How the halves fit together: they belong to each other, and nothing private is in the public one.
#
# These checks compare ids and files. Values inside texts are the subject of the leak scan.

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._#-]{11,}")
_SHORTEST_ID = 12  # shorter ids are words that may occur in any text
# Units whose ids are paths, which public texts may name, and those whose ids are patterns of the
# codebook, which is public.
_NAMED_IN_PUBLIC = ("file", "line", "record", "seed", "idea", "generator")


def check_link(private: Half, public: Half, manifest: Manifest | None, findings: Findings) -> None:
    """The private half was written for this public half."""
    link = read_object(private, layout.HALF_LINK, Check.PRIVATE_LINK, findings)
    if link is None or public.sums is None:
        return
    where = f"{private.name}/{layout.HALF_LINK}"
    if link.get("public_sums_sha256") != digest(public.sums):
        findings.add(Check.PRIVATE_LINK, where, "written for another public half")
    if manifest is not None and link.get("snapshot") != manifest.snapshot:
        findings.add(Check.PRIVATE_LINK, where, "names another snapshot")


def check_content(
    private: Half, public: Half, counts: LedgerCounts | None, task_ids: Set[str], findings: Findings
) -> None:
    """The public half holds no private file, and its texts no private id."""
    owners = {sha256: path for path, sha256 in private.digests.items()}
    for path, sha256 in public.digests.items():
        if sha256 in owners:
            problem = f"the same content as {private.name}/{owners[sha256]}"
            findings.add(Check.PRIVATE_CONTENT, f"{public.name}/{path}", problem)
    if counts is None:
        return
    ids = {one for one in counts.ids(_NAMED_IN_PUBLIC) if len(one) >= _SHORTEST_ID} - task_ids
    for path in filter(_is_public_text, public.files):
        content = read(public.files, path, public.name, findings) or b""
        tokens = _TOKEN.findall(content.decode("utf-8", "replace"))
        leaked_ids = {token for token in tokens if token in ids or token.rstrip(".-_#") in ids}
        if leaked_ids:
            problem = f"holds {len(leaked_ids)} private ids of the ledger"
            findings.add(Check.PRIVATE_CONTENT, f"{public.name}/{path}", problem)


def check_name(folder: str, manifest: Manifest | None, findings: Findings) -> None:
    """A folder with the name of a snapshot has the name of its own snapshot."""
    is_dated = layout.snapshot_name(folder) is not None
    if manifest is not None and is_dated and folder != manifest.snapshot:
        findings.add(Check.RENAMED, folder, f"the manifest is that of {manifest.snapshot}")


def check_root(root: Path, findings: Findings, *, with_private: bool) -> None:
    """There is nothing beside the halves and `run.json`, since no sums would cover it."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        findings.add(Check.UNREADABLE, ".", f"{type(error).__name__}")
        return
    for entry in entries:
        if not _belongs(entry, with_private=with_private):
            findings.add(Check.NOT_PART, entry.name, "not part of a snapshot")


def check_run(
    root: Path, manifest: Manifest | None, digest: str | None, findings: Findings
) -> None:
    """`run.json` names this snapshot and the digest of both halves; optional for one half.

    Its other fields (times, host, tools) cannot be checked.
    """
    file = root / layout.RUN
    if file.is_symlink() or not file.is_file():
        if digest is not None:
            findings.add(Check.RUN, layout.RUN, "missing, so the digest of the release is unknown")
        return
    here = Half(".", root, {layout.RUN: file}, {}, None)
    run = read_object(here, layout.RUN, Check.RUN, findings)
    if run is None:
        return
    if digest is not None and run.get("digest") != digest:
        findings.add(Check.RUN, layout.RUN, "has a digest that differs from that of both halves")
    if manifest is not None and run.get("snapshot") != manifest.snapshot:
        findings.add(Check.RUN, layout.RUN, "names another snapshot")


def _belongs(entry: os.DirEntry[str], *, with_private: bool) -> bool:
    if entry.name == layout.RUN:
        return entry.is_file(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False):
        return False
    # left by a purge that was killed
    purged = not with_private and fnmatch(entry.name, f".{layout.PRIVATE}.[0-9]*.part")
    return purged or entry.name in (layout.PUBLIC, layout.PRIVATE)
