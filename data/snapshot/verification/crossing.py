"""What must not cross from the private half into the public one, and which halves belong together.

This knows ids and files. Values inside texts are the leak scan's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from data.canonical import digest
from data.snapshot import layout
from data.snapshot.ledger_tables import Frames
from data.snapshot.manifest import Manifest
from data.snapshot.verification.files import is_public_text, read, read_object
from data.snapshot.verification.findings import Check, Findings, Half

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._#-]{11,}")
_SHORTEST_ID = 12  # shorter ids are words that any text may hold
# Units named by a path, which a public text may name for good reasons, and those named by a
# pattern of the codebook, which is public.
_NAMED_IN_PUBLIC = ("file", "line", "record", "seed", "idea")


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
    """Each task has a private directory, and each private directory is a task's."""
    folders = {path.partition("/")[0] for path in private.files if "/" in path}
    known = set(task_ids)
    for task_id in sorted(known - folders):
        findings.add(Check.TASK_FILES, f"{private.name}/{task_id}", "the task has no private part")
    for folder in sorted(folders - known - {layout.AUDIT, "views"}):
        findings.add(Check.TASK_FILES, f"{private.name}/{folder}", "belongs to no task")


def check_content(
    private: Half, public: Half, frames: Frames | None, task_ids: Set[str], findings: Findings
) -> None:
    """No private file stands in the public half, and no private id in its texts."""
    owners = {sha256: path for path, sha256 in private.digests.items()}
    for path, sha256 in public.digests.items():
        if sha256 in owners:
            problem = f"the same content as {private.name}/{owners[sha256]}"
            findings.add(Check.PRIVATE_CONTENT, f"{public.name}/{path}", problem)
    if frames is None:
        return
    ids = _private_ids(frames) - task_ids
    for path in filter(is_public_text, public.files):
        content = read(public.files, path, public.name, findings) or b""
        tokens = _TOKEN.findall(content.decode("utf-8", "replace"))
        told = {token for token in tokens if token in ids or token.rstrip(".-_#") in ids}
        if told:
            problem = f"holds {len(told)} private ids of the ledger"
            findings.add(Check.PRIVATE_CONTENT, f"{public.name}/{path}", problem)


def _private_ids(frames: Frames) -> set[str]:
    ids: set[str] = set()
    for frame, unit, column in (
        (frames.ledger, "unit", "item_id"),
        (frames.lineage, "parent_unit", "parent"),
        (frames.lineage, "child_unit", "child"),
    ):
        named = frame.select(unit, column).iter_rows()
        ids.update(item for kind, item in named if kind not in _NAMED_IN_PUBLIC and item)
    return {item for item in ids if len(item) >= _SHORTEST_ID}
