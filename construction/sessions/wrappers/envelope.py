"""The sender, channel and time that wrappers state, and the reading of times in message heads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from data.contracts import Attachment
from data.text.dates import MONTH_NAME, month_number

# CST is read as China Standard Time, because the chat gateways that print it run in China.
_ZONES = {
    "UTC": 0, "GMT": 0, "CST": 8, "HKT": 8, "SGT": 8, "JST": 9, "KST": 9, "CET": 1, "CEST": 2,
    "BST": 1, "IST": 5.5, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7, "Z": 0,
}  # fmt: skip

# One token of a time; the time of a head is the longest run of such tokens at its end.
_TOKEN = re.compile(
    r"(?P<clock>(?:上午|下午|晚上|早上|中午|凌晨)?\d{1,2}[:：]\d\d(?:[:：]\d\d(?:\.\d+)?)?(?:[AaPp][Mm]|Z)?),?"
    r"|(?P<year>(?:19|20)\d\d)"
    r"|(?P<moment>\d{4}-\d\d-\d\dT\d\d:\d\d\S{0,20})"
    r"|(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}),?"
    r"|(?P<short_date>\d{1,2}/\d{1,2}(?:/\d{2,4})?),?"
    r"|(?P<han_date>(?:\d{4}年)?\d{1,2}月\d{1,2}[日号])"
    r"|(?P<day>\d{1,2})(?:st|nd|rd|th)?,?"
    rf"|(?P<month>{MONTH_NAME})\.?,?"
    r"|(?P<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?,?"
    r"|(?:周|星期|礼拜)[一二三四五六日天])"
    r"|(?P<relative>W\d{1,3}D\d{1,3}|D\d{1,4}|\+\d{1,4}[smhdw]|today|yesterday|今天|昨天)"
    r"|(?P<half>[AaPp]\.?[Mm]\.?|上午|下午|晚上|早上)"
    r"|(?P<zone>(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d\d:?\d\d|Z|(?-i:[A-Z]{2,5}))"
    r"|(?P<word>at)",
    re.IGNORECASE,
)
_DATED = frozenset({"moment", "date", "short_date", "han_date", "month", "weekday", "relative"})
_MOST_TOKENS = 12
_LONGEST_TOKEN = 40


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day with the other parts of the time, such as date and zone.

    `has_date`: a date, a weekday or a day of a scenario; `is_precise`: seconds or a time zone.
    `tokens` is the number of tokens at the end of the head that belong to the time.
    """

    parts: dict[str, str]
    tokens: int

    @property
    def has_date(self) -> bool:
        return not _DATED.isdisjoint(self.parts)

    @property
    def is_precise(self) -> bool:
        clock = self.parts.get("clock", "")
        return "moment" in self.parts or "zone" in self.parts or clock.count(":") > 1

    def seconds(self) -> float | None:
        """Seconds since the epoch, UTC; None if the date is incomplete."""
        try:
            return _seconds(self.parts)
        except ValueError:
            return None  # for example 31 February: still a head, but without a usable time


def read_clock(tokens: list[str]) -> Clock | None:
    """The time at the end of `tokens`; None if there is no time of day."""
    parts: dict[str, str] = {}
    for token in tokens[: -_MOST_TOKENS - 1 : -1]:
        kind, value = _read_token(token)
        if not kind or kind in parts:
            break  # "April Mon Mar 03": the second month is a name
        if kind == "zone" and "clock" in parts:
            break  # a zone follows the time of day; capitals before it are a name
        parts[kind] = value
    if "clock" not in parts and "moment" not in parts:
        return None
    return Clock(parts, len(parts))


@lru_cache(maxsize=4096)
def _read_token(token: str) -> tuple[str, str]:
    """(kind, value) of a token of a time, or two empty strings; cached, since tokens recur."""
    match = _TOKEN.fullmatch(token) if len(token) <= _LONGEST_TOKEN else None
    return (match.lastgroup, match[match.lastgroup]) if match and match.lastgroup else ("", "")


def _seconds(parts: dict[str, str]) -> float | None:
    if "moment" in parts:
        moment = datetime.fromisoformat(parts["moment"].rstrip(","))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    day = _date(parts)
    if day is None:
        return None
    hour, minute, second = _time_of_day(parts)
    zone = timezone(timedelta(hours=_offset(parts.get("zone", "UTC"))))
    return datetime(*day, hour, minute, second, tzinfo=zone).timestamp()


def _date(parts: dict[str, str]) -> tuple[int, int, int] | None:
    written = parts.get("date") or parts.get("han_date") or ""
    numbers = re.findall(r"\d+", written)
    if len(numbers) == 3:
        return int(numbers[0]), int(numbers[1]), int(numbers[2])
    if {"year", "month", "day"} <= parts.keys():
        return int(parts["year"]), month_number(parts["month"]), int(parts["day"])
    return None


def _time_of_day(parts: dict[str, str]) -> tuple[int, int, int]:
    clock = parts["clock"]
    numbers = re.findall(r"\d+", clock)
    hour, minute = int(numbers[0]), int(numbers[1])
    second = int(numbers[2]) if len(numbers) > 2 else 0
    half = (clock + parts.get("half", "")).replace(".", "").lower()
    is_afternoon = half.endswith("pm") or "下午" in half or "晚上" in half
    if is_afternoon and hour < 12:
        hour += 12
    if half.endswith("am") and hour == 12:
        hour = 0
    return hour, minute, second


def _offset(zone: str) -> float:
    """Hours east of Greenwich of `GMT+8`, `+0530` or a zone's name.

    Raises:
        ValueError: unknown zone.
    """
    name = zone.upper()
    if name in _ZONES:
        return _ZONES[name]
    sign = -1 if "-" in name else 1
    digits = re.sub(r"\D", "", name)
    if not digits:
        raise ValueError(f"a zone of {len(name)} letters")
    if len(digits) <= 2:
        return sign * int(digits)
    return sign * (int(digits[:-2]) + int(digits[-2:]) / 60)


@dataclass(slots=True)
class Envelope:
    """Sender, channel and time of a message; of several statements the first counts.

    `preview` is the beginning of a message that a notice announces, without the sender's name.
    """

    sender: str | None = None
    channel: str | None = None
    clock: Clock | None = None
    preview: str = ""
    attachments: list[Attachment] = field(default_factory=list)

    def note(self, sender: str | None, channel: str | None, clock: Clock | None) -> None:
        self.sender = self.sender or sender
        self.channel = self.channel or channel
        self.clock = self.clock or clock
