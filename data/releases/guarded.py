"""May the tasks of a release be shown to agents and to judges that run elsewhere?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from data.contracts import Lane
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot import layout, verify
from data.snapshot.release import PrivacyStamp


def require_guarded(snapshot: Path) -> ReleasedTasks:
    """The tasks of a release that passed the leak scan and the risk gate. Raises InputError.

    A release is written only after both; what is checked here is that this folder is such a
    release, unchanged, and that its own report says so for everything in it.
    """
    report = verify(snapshot)
    if not report.ok:
        raise _refused(snapshot, f"{len(report.findings)} findings of `benchmint verify`")
    release = read_tasks(snapshot)
    public = release.tables.parent
    manifest = orjson.loads((public / layout.MANIFEST).read_bytes())
    if manifest["privacy"] == PrivacyStamp.PUBLIC:
        return release
    path = public / layout.PRIVACY
    privacy: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    if problem := _problem(release, privacy):
        raise _refused(snapshot, problem)
    return release


def _problem(release: ReleasedTasks, privacy: dict[str, Any]) -> str | None:
    """What the privacy report of a release leaves open."""
    has_sessions = any(t.candidate.lane is Lane.SESSIONS for t in release.tasks.values())
    if has_sessions and not (privacy.get("masking") or {}).get("leak_scan"):
        return "tasks from sessions without a report of the leak scan"
    tables = (privacy.get("tables") or {}).get("tables", {})
    for name, table in sorted(tables.items()):
        verdict = table.get("verdict")
        if verdict is not None and verdict.get("status") != "passed":
            return f"table {name}, which did not pass the risk gate"
    return None


def _refused(snapshot: Path, problem: str) -> InputError:
    return InputError(
        str(snapshot), problem, "a pool that passed the leak scan and the risk gate",
        "Build it again: only what passed may be shown to agents and judges.",
    )  # fmt: skip
