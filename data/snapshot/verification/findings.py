"""The report of a verification: one finding per problem, and what was checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from data.figures import amount
from data.neutralise import one_line

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
