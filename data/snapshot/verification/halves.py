"""How the halves fit together: they belong to each other, and nothing private is in the public one.

These checks compare ids and files. Values inside texts are the subject of the leak scan.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Set
from pathlib import Path

from data.canonical import digest
from data.snapshot import layout
from data.snapshot.ledger_counts import LedgerCounts
from data.snapshot.manifest import Manifest
from data.snapshot.verification.files import is_public_text, read, read_object
from data.snapshot.verification.findings import Check, Findings, Half

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._#-]{11,}")
_SHORTEST_ID = 12  # shorter ids are words that may occur in any text
# Units whose ids are paths, which public texts may name, and those whose ids are patterns of the
# codebook, which is public.
_NAMED_IN_PUBLIC = ("file", "line", "record", "seed", "idea", "generator")
_DATED = re.compile(r".+-\d{4}\.\d{2}\.\d{2}(-r\d+)?")
_PURGED = re.compile(rf"\.{layout.PRIVATE}\.\d+\.part")  # left by a purge that was killed


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


def check_task_folders(private: Half, task_ids: Iterable[str], findings: Findings) -> None:
    """Each task has a private directory, and each private directory belongs to a task."""
    folders = {path.partition("/")[0] for path in private.files if "/" in path}
    known = set(task_ids)
    for task_id in sorted(known - folders):
        findings.add(Check.TASK_FILES, f"{private.name}/{task_id}", "the task has no private part")
    for folder in sorted(folders - known - {layout.AUDIT, layout.ENVIRONMENTS, "views"}):
        findings.add(Check.TASK_FILES, f"{private.name}/{folder}", "belongs to no task")


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
    for path in filter(is_public_text, public.files):
        content = read(public.files, path, public.name, findings) or b""
        tokens = _TOKEN.findall(content.decode("utf-8", "replace"))
        leaked_ids = {token for token in tokens if token in ids or token.rstrip(".-_#") in ids}
        if leaked_ids:
            problem = f"holds {len(leaked_ids)} private ids of the ledger"
            findings.add(Check.PRIVATE_CONTENT, f"{public.name}/{path}", problem)


def check_name(folder: str, manifest: Manifest | None, findings: Findings) -> None:
    """A folder with the name of a snapshot has the name of its own snapshot."""
    if manifest is not None and _DATED.fullmatch(folder) and folder != manifest.snapshot:
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
    purged = not with_private and _PURGED.fullmatch(entry.name) is not None
    return purged or entry.name in (layout.PUBLIC, layout.PRIVATE)
