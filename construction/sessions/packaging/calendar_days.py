"""The days that the calendars among a task's files are of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.file_types import extension_of
from data.content_store import unpack
from data.survivors import Survivor

_FOLDED = re.compile(r"\r?\n[ \t]")  # RFC 5545, 3.1: a long line goes on behind a blank
_LINE = re.compile(r"(?im)^(?:(BEGIN|END):(VEVENT)\b|DTSTART(?:[;][^:\r\n]{0,200})?:(\d{8})(?!\d))")
_MOST = 1_000_000  # bytes of a calendar that are read


def calendar_days(survivor: Survivor) -> tuple[str, ...]:
    """The days on which events of its calendars begin, as written there, each once, sorted."""
    digests = sorted({f.sha256 for f in survivor.fixtures if extension_of(f.path) == "ics"})
    if not digests:
        return ()
    with TemporaryDirectory() as folder:
        unpack(survivor.store, digests, Path(folder))
        contents = [(Path(folder) / name).read_bytes()[:_MOST] for name in digests]
    return tuple(sorted({day for content in contents for day in event_days(content)}))


def event_days(content: bytes) -> Iterator[str]:
    """The days on which the events of a calendar (iCalendar, UTF-8) begin.

    The start of a time zone's rule is none, nor is what no calendar has (`20319999`).
    """
    text = _FOLDED.sub("", content.decode("utf-8", errors="replace"))
    is_event = False
    for match in _LINE.finditer(text):
        if match[2]:
            is_event = match[1].upper() == "BEGIN"
        elif is_event and _is_day(match[3]):
            yield match[3]


def _is_day(digits: str) -> bool:
    try:
        date.fromisoformat(digits)
    except ValueError:
        return False
    return True
