"""Mail, calendars and captions are read without the syntax of their type."""

from __future__ import annotations

import pytest

from construction.grading.attacks import holding, shell, stub
from construction.grading.file_look import RuleLimits
from construction.grading.openers import OPENERS, _open_calendar, _open_captions, _open_mail

BOUNDS = RuleLimits().bounds
MAIL = b"MIME-Version: 1.0\r\nSubject: Cars\r\nTo: Tom <tom@mill.example>\r\n\r\nThe red one.\r\n"
EVENT = (
    b"BEGIN:VCALENDAR\r\nPRODID:-//x\r\nBEGIN:VEVENT\r\nSUMMARY;LANGUAGE=en:Mill\r\n visit\r\n"
    b"DTSTART:20300101T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def test_a_mail_says_its_subject_people_and_body() -> None:
    assert _open_mail(MAIL, BOUNDS).text.split() == [
        "Cars",
        "Tom",
        "<tom@mill.example>",
        "The",
        "red",
        "one.",
    ]
    assert _open_mail(b"No header here.", BOUNDS).text == "No header here."


def test_a_calendar_says_its_events_with_folded_lines_joined() -> None:
    assert _open_calendar(EVENT, BOUNDS).text.split() == ["Millvisit", "20300101T090000"]
    assert _open_calendar(b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", BOUNDS).is_shell


def test_what_is_no_calendar_does_not_open_as_one() -> None:
    with pytest.raises(ValueError, match="no calendar"):
        _open_calendar(b"Subject: Mill visit\n\nOn 1 January 2030 at 9.\n", BOUNDS)
    text = "Mill visit\nat nine"
    assert "Mill visit" in _open_calendar(holding("ics", text) or b"", BOUNDS).text


@pytest.mark.parametrize("mark", ["", "WEBVTT\n\n"])
def test_captions_say_what_is_spoken(mark: str) -> None:
    text = f"{mark}1\n00:00:01,000 --> 00:00:02,500\nIn 1999 the mill\nburned.\n\n2\n"
    assert _open_captions(text.encode(), BOUNDS).text.split() == [
        "In",
        "1999",
        "the",
        "mill",
        "burned.",
    ]


@pytest.mark.parametrize("extension", ["eml", "ics", "srt", "vtt"])
def test_a_stub_of_a_message_holds_something_and_a_shell_nothing(extension: str) -> None:
    opener = OPENERS[{"eml": "mail", "ics": "calendar"}.get(extension, "captions")]
    assert not opener(stub(extension) or b"", BOUNDS).is_shell
    assert opener(shell(extension), BOUNDS).is_shell
