"""Whether a sandbox works where a release is built: found out once, and captured (law 5).

A release that was built without one holds less. So that its digest stays explained, what was found
is an input of the release: the manifest names it, and a rebuild replays it on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from construction.sandbox.sandbox import Box, Sandbox, SandboxFailed
from data.canonical import digest
from data.captures import CaptureFile


class Presence(StrEnum):
    """Is there a sandbox that works? The value is its name among the inputs in the manifest."""

    PRESENT = "sandbox: present"
    ABSENT = "sandbox: absent"

    @property
    def inputs(self) -> dict[str, str]:
        """The entry of the manifest, with its digest."""
        return {str(self): digest(str(self))}


class _Presences(CaptureFile[str, Presence]):
    """What was found, by the name and date of the release."""

    EXPECTED = "whether a release was built with a sandbox"
    REMEDY = "Restore the file, or delete it to look again."

    def _record(self, key: str, outcome: Presence) -> dict[str, Any]:
        return {"release": key, "found": str(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[str, Presence]:
        return str(record["release"]), Presence(record["found"])


def sandbox_problem() -> str | None:
    """Why no sandbox starts here; None if one does. Takes a tenth of a second."""
    try:
        with Sandbox(Box()):
            return None
    except SandboxFailed as error:
        return str(error)


def presence(
    captured: Path, release: str, problem: Callable[[], str | None], *, look_again: bool
) -> Presence:
    """What was captured for a release; to `look_again`, or if nothing was, what holds here now."""
    presences = _Presences.load(captured)
    known = presences.find(release)
    if known is None or look_again:
        known = Presence.PRESENT if problem() is None else Presence.ABSENT
        presences.keep(release, known)
        presences.save()
    return known
