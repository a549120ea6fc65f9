"""On which days the calendars of a task have events."""

from __future__ import annotations

import hashlib
from pathlib import Path

from construction.sessions.packaging.calendar_days import calendar_days, event_days
from data.content_store import ContentStore
from data.contracts import Fixture
from data.survivors import Survivor
from tests.construction.sessions.instances import said

CALENDAR = (
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20310504T080000Z\r\nEND:VEVENT\r\n"
    "BEGIN:VEVENT\r\nDTSTART;TZID=Europe/Vienna:20310503T090000\r\nEND:VEVENT\r\n"
    "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20310503\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def survivor(folder: Path, files: dict[str, str]) -> Survivor:
    store, fixtures = ContentStore(folder), []
    for path, text in files.items():
        data = text.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        store.add(sha256, (data,))
        fixtures.append(Fixture(path=path, sha256=sha256, bytes=len(data), media_type="x/y"))
    store.close()
    return Survivor(said("Add a call for tomorrow."), tuple(fixtures), folder)


def test_days_of_all_calendars_once_and_in_order(tmp_path: Path) -> None:
    files = {"calendar/Jo.ics": CALENDAR, "notes.txt": "DTSTART:20310601", "Bo.ics": "no event"}
    assert calendar_days(survivor(tmp_path / "store", files)) == ("20310503", "20310504")
    assert calendar_days(survivor(tmp_path / "none", {"notes.txt": "DTSTART:20310601"})) == ()


def test_only_events_have_days() -> None:
    zone = "BEGIN:VTIMEZONE\r\nDTSTART:19701025T030000\r\nEND:VTIMEZONE\r\n"
    folded = "BEGIN:VEVENT\r\nDTSTART;TZID=Europe/\r\n Oslo:20310503T090000\r\nEND:VEVENT\r\n"
    small = "begin:vevent\r\ndtstart:20310504\r\nend:vevent\r\n"
    wrong = "BEGIN:VEVENT\r\nDTSTART:99999999\r\nEND:VEVENT\r\n"
    content = (zone + folded + small + wrong).encode()
    assert list(event_days(content)) == ["20310503", "20310504"]
