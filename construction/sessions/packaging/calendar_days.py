"""The days that the calendars among a task's files are of."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.file_types import extension_of
from data.content_store import unpack
from data.survivors import Survivor

_BEGINS = re.compile(rb"(?m)^DTSTART[^:\r\n]{0,100}:(\d{8})")
_MOST = 1_000_000  # bytes of a calendar that are read


def calendar_days(survivor: Survivor) -> tuple[str, ...]:
    """The days on which events of its calendars begin, as written there, each once, sorted."""
    digests = sorted({f.sha256 for f in survivor.fixtures if extension_of(f.path) == "ics"})
    if not digests:
        return ()
    with TemporaryDirectory() as folder:
        unpack(survivor.store, digests, Path(folder))
        contents = [(Path(folder) / name).read_bytes()[:_MOST] for name in digests]
    return tuple(sorted({day.decode() for text in contents for day in _BEGINS.findall(text)}))
