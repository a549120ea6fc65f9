"""The sender, channel and time that wrappers state, and the reading of times in message heads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from data.contracts import Attachment
from data.text.dates import MONTH_NAME, month_number
from data.text.lexicon import pattern_of
from data.text.numbers import ONE_TO_TEN
from data.text.scripts import HAN, HAN_KANA

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


def _numbers(text: str) -> list[int]:
    apart = "".join(char if char.isdecimal() else " " for char in text)
    return [int(number) for number in apart.split()]


def _date(parts: dict[str, str]) -> tuple[int, int, int] | None:
    written = parts.get("date") or parts.get("han_date") or ""
    numbers = _numbers(written)
    if len(numbers) == 3:
        return numbers[0], numbers[1], numbers[2]
    if {"year", "month", "day"} <= parts.keys():
        return int(parts["year"]), month_number(parts["month"]), int(parts["day"])
    return None


def _time_of_day(parts: dict[str, str]) -> tuple[int, int, int]:
    clock = parts["clock"]
    numbers = _numbers(clock)
    hour, minute = numbers[0], numbers[1]
    second = numbers[2] if len(numbers) > 2 else 0
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
    digits = "".join(filter(str.isdecimal, name))
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


# Reads and removes attachment markers: `[media attached: …]`, `附件: /root/x.docx`, `[图片]`.

_MEDIA = pattern_of(
    r"\[media attached(?: \d{1,3}/\d{1,3})?:[ \t]*"
    r"((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){1,2000})\][ \t]*\n?"
)
_COUNT = pattern_of(r"\d{1,3} files?")
_WITH_MIME = pattern_of(r"(.*?)[ \t]*\(([a-z]{1,20}/[\w.+-]{1,100})[^()]{0,80}\)")
_HINT = pattern_of(r"^To send an image back, [^\n]*\n?", re.MULTILINE)
_PLACEHOLDER = pattern_of(r"<media:([a-z]{1,20})>[ \t]*(?:\(\d{1,3} \w{1,20}\))?[ \t]*\n?")
_KINDS = {
    "image": "image/*", "photo": "image/*", "picture": "image/*", "图片": "image/*",
    "照片": "image/*", "sticker": "image/*", "表情": "image/*", "video": "video/*",
    "视频": "video/*", "audio": "audio/*", "voice": "audio/*", "voice message": "audio/*",
    "语音": "audio/*", "file": None, "document": None, "attachment": None, "attached": None,
    "文件": None, "文档": None, "附件": None,
}  # fmt: skip
_KIND_WORDS = "|".join(sorted(_KINDS, key=len, reverse=True))
_TAG = pattern_of(
    rf"^[ \t]*[\[【](?:attached |uploaded |上传)?({_KIND_WORDS})(?: attached| ?#\d{{1,3}})?"
    r"(?:[ \t]{0,9}[:：][ \t]{0,9}([^\]】\s][^\]】\n]{0,500}))?[\]】][ \t]*\n?",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = pattern_of(
    r"^[ \t]*[\[【]?(?:附件|attached(?: files?)?|attachments?|attached documents?"
    r"|uploaded files?|📎)"
    rf"[ \t]*[\d{ONE_TO_TEN}]{{0,2}}[ \t]*(?:[:：]|(?<=📎)|[\]】][:：]?)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_MARKS = (":", "：", "]", "】", "📎")
_LABEL_WORDS = ("附件", "ttach", "TTACH", "ploaded", "📎")
_BULLET = pattern_of(r"[ \t]*(?:[-*•]|\d{1,2}[.、)])[ \t]*")
_BREAK = pattern_of(r"[ \t]*(?:[,，、;；|]|和|及| and )[ \t]*")
_AFTER = pattern_of(r"[ \t]*[,，;；。]?[ \t]*")
_SIZE = pattern_of(r"[ \t]*[(（][ \t]*[\d.,]{1,12}[ \t]*(?:[KMGkmg]i?)?[Bb](?:ytes)?[ \t]*[)）]")
_MIME = pattern_of(r"[ \t]*\(([a-z]{1,20}/[\w.+-]{1,100})\)")
_QUOTED = pattern_of(r"[\"“「《`']([^\"”」》`'\n]{1,300})[\"”」》`']")
_END = rf"(?=$|[\s,，、;；|()（）。!！?？{HAN}\]]|\.(?:\s|$))"
_PATH = pattern_of(
    r"(?!https?://)(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}/|file://)?"
    rf"[^\s,，、;；|<>\"“”()（）：]{{1,300}}?\.[A-Za-z][A-Za-z0-9]{{0,7}}{_END}"
)
# A name with spaces must end its line or its list item, and must not begin like a sentence.
_SPACED = pattern_of(
    r"(?!(?:please|kindly|see|find|the|here|this|i|we)\b|https?://)[A-Z0-9_\\/~]"
    rf"[^\n,;|<>\"\u3000-\u303f{HAN_KANA}\uff00-\uffef!?]{{0,200}}?\.[A-Za-z][A-Za-z0-9]{{0,7}}"
    r"(?=[ \t]*$|[ \t]*[,;|(]|[ \t]+and[ \t])",
    re.IGNORECASE | re.MULTILINE,
)
# A path with a root that ends its line may contain spaces and brackets, but no second file name.
_ROOTED = pattern_of(
    r"(?:[A-Za-z]:[\\/]|~?/)(?![^\n]{0,300}?\.[A-Za-z][A-Za-z0-9]{0,7}[ \t(（,，、;；|]+\S)"
    r"[^\n,，、;；|<>\"]{1,300}\.[A-Za-z][A-Za-z0-9]{0,7}(?=[ \t]*$)",
    re.MULTILINE,
)
_FOLDER = pattern_of(r"~?(?:/[^\s/,，、;；|()（）]{1,200}){1,30}/?(?=[\s,，、;；|]|$)")
_NAMES = (_ROOTED, _PATH, _SPACED, _FOLDER)


def strip_media(text: str, envelope: Envelope) -> str:
    """The text without attachment markers; the files they name go to `envelope.attachments`."""
    if "[" in text or "【" in text:
        if "[media attached" in text:
            text = _HINT.sub("", _MEDIA.sub(lambda match: _keep_media(match[1], envelope), text))
        text = _strip_tags(text, envelope)
    if "<" in text and "<media:" in text:
        text = _PLACEHOLDER.sub(lambda match: _keep(None, _KINDS.get(match[1]), envelope), text)
    if _may_hold_label(text):
        text = _strip_labelled(text, envelope)
    return text


def _may_hold_label(text: str) -> bool:
    for word in _LABEL_WORDS:
        if word in text:
            return any(mark in text for mark in _LABEL_MARKS)
    return False


def _keep(path: str | None, mime: str | None, envelope: Envelope) -> str:
    envelope.attachments.append(Attachment(path, mime))
    return ""


def _keep_media(inner: str, envelope: Envelope) -> str:
    """Keep the file of a marker `<path> (<mime>) | <url>`; ignore a leading `2 files`."""
    path = inner.split(" | ")[0].strip()
    if _COUNT.fullmatch(path):
        return ""
    match = _WITH_MIME.fullmatch(path)
    return _keep(match[1], match[2], envelope) if match else _keep(path, None, envelope)


def _strip_tags(text: str, envelope: Envelope) -> str:
    tags = list(_TAG.finditer(text))
    if not tags:
        return text
    # A gateway writes `[图片]` for a picture. In the middle of a text without head it was pasted.
    by_gateway = envelope.sender or envelope.channel or envelope.clock
    sent = tags if by_gateway else _at_edges(text, tags)
    starts = {tag.start() for tag in sent}
    return _TAG.sub(lambda tag: _keep_tag(tag, tag.start() in starts, envelope), text)


def _at_edges(text: str, tags: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The tags at the start and at the end of a text."""
    position = 0
    for tag in tags:
        if text[position : tag.start()].strip():
            break
        yield tag
        position = tag.end()
    position = len(text)
    for tag in reversed(tags):
        if text[tag.end() : position].strip():
            break
        yield tag
        position = tag.start()


def _keep_tag(match: re.Match[str], is_sent: bool, envelope: Envelope) -> str:
    mime = _KINDS[match[1].lower()]
    name = (match[2] or "").strip()
    if not name:
        alone = mime is not None or match[0].endswith("\n") or match.end() == len(match.string)
        return _keep(None, mime, envelope) if alone and is_sent else match[0]
    name = name.removeprefix("source:").strip()
    # A phrase in brackets is not a file, and stays.
    return _keep(name, mime, envelope) if _is_file(name) else match[0]


def _is_file(name: str) -> bool:
    return any(pattern.fullmatch(name) for pattern in _NAMES)


def _strip_labelled(text: str, envelope: Envelope) -> str:
    kept: list[str] = []
    position = 0
    for label in _LABEL.finditer(text):
        if label.start() < position:
            continue
        end = _take_files(text, label.end(), envelope)
        if end == label.end():
            continue
        kept.append(text[position : label.start()])
        follows = _AFTER.match(text, end)
        position = follows.end() if follows else end
    return "".join(kept) + text[position:]


def _take_files(text: str, position: int, envelope: Envelope) -> int:
    """Keep the file names after a label, on its line and in a list below; returns their end."""
    end = _take_line(text, position, envelope)
    while text.startswith("\n", end) and (bullet := _BULLET.match(text, end + 1)) is not None:
        after = _take_line(text, bullet.end(), envelope)
        if after == bullet.end():
            break
        end = after
    return end


def _take_line(text: str, position: int, envelope: Envelope) -> int:
    """Keep the file names from `position` on; returns their end, `position` if there is none."""
    end = position
    while (match := _name_at(text, position)) is not None:
        name, end = match
        mime = _MIME.match(text, end)
        extra = mime or _SIZE.match(text, end)
        _keep(name, mime[1] if mime else None, envelope)
        end = extra.end() if extra else end
        separator = _BREAK.match(text, end)
        if separator is None:
            break
        position = separator.end()
    return end


def _name_at(text: str, position: int) -> tuple[str, int] | None:
    """(file name or path at `position`, offset of its end); None if there is none."""
    quoted = _QUOTED.match(text, position)
    if quoted is not None and _is_file(quoted[1]):
        return quoted[1].strip(), quoted.end()
    for pattern in _NAMES:
        match = pattern.match(text, position)
        if match is not None:
            return match[0].strip(), match.end()
    return None
