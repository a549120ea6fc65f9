"""Opening mail, calendars and captions: what people wrote in them, without the syntax.

Mail and captions without the syntax of their type are read as plain text; what is no calendar does
not open as one, since no program shows an event of it. Runs only in a confined child
(`file_child`) or on files that this project wrote itself.
"""

from __future__ import annotations

import re
from dataclasses import replace

from construction.grading.text_openers import Bounds, Content, decode, open_text, says_nothing

_HEADER = re.compile(r"(?im)^(?:subject|to|cc|from):[ \t]*(.*)$")
_HEADERS = re.compile(r"(?i)\A\s*(?:[a-z][a-z0-9-]{1,40}:.*\r?\n(?:[ \t].*\r?\n)*)+")
_PROPERTY = re.compile(
    r"(?im)^(?:SUMMARY|DESCRIPTION|LOCATION|ATTENDEE|ORGANIZER|DTSTART|DTEND)(?:;[^:\r\n]*)?:(.*)$"
)
_NO_CUE = re.compile(r"(?m)^(?:WEBVTT.*|\d+|(?:\d+:)?\d\d?:\d\d[,.]\d{1,3}\s*-->.*)[ \t]*\r?$")


def open_mail(data: bytes, bounds: Bounds) -> Content:
    """Subject, people and body."""
    text = decode(data)
    headers = _HEADERS.match(text)
    if headers is None:
        return open_text(data, bounds)
    spoken = "\n".join(_HEADER.findall(headers[0]))
    return _holding(data, f"{spoken}\n{text[headers.end() :]}", bounds)


def open_calendar(data: bytes, bounds: Bounds) -> Content:
    """What events say of themselves; lines that were folded are one.

    Raises ValueError if it is no calendar.
    """
    unfolded = re.sub(r"\r?\n[ \t]", "", decode(data))
    if "BEGIN:VCALENDAR" not in unfolded.upper():
        raise ValueError("no calendar")
    said = "\n".join(_PROPERTY.findall(unfolded))
    return _holding(data, said.replace("\\n", "\n").replace("\\,", ","), bounds)


def open_captions(data: bytes, bounds: Bounds) -> Content:
    """What is said, without the numbers and times of the cues."""
    return _holding(data, _NO_CUE.sub("", decode(data)), bounds)


def _holding(data: bytes, text: str, bounds: Bounds) -> Content:
    whole = open_text(data, bounds)
    return replace(whole, text=text[: bounds.text_chars], is_shell=says_nothing(text))
