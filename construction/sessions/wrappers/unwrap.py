"""Extracts what a person typed from a message with transport wrappers, mail and attachments.

Quoted mail history is removed. What a person passes on for the agent to work with is not: it
stays if their own words refer to it ("summarise the thread below") or if it is marked as
forwarded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.sessions.wrappers.blocks import (
    calls_own_command,
    machine_origin,
    strip_blocks,
    strip_cron,
    strip_leading,
    strip_notices,
    typed_command,
)
from construction.sessions.wrappers.envelope import Envelope, read_clock
from construction.sessions.wrappers.heads import strip_heads
from construction.sessions.wrappers.media import strip_media
from data.contracts import Attachment, Origin

_KEYS = {
    "from": "from", "发件人": "from", "寄件者": "from", "to": "to", "收件人": "to", "cc": "cc",
    "bcc": "cc", "抄送": "cc", "密送": "cc", "date": "date", "sent": "date", "发送时间": "date",
    "日期": "date", "时间": "date", "time": "date", "subject": "subject",
    "主题": "subject", "reply-to": "id", "message-id": "id", "in-reply-to": "id",
    "importance": "id", "attachments": "files", "attachment": "files", "附件": "files",
}  # fmt: skip
_FIELD = re.compile(
    rf"[*_]{{0,2}}({'|'.join(_KEYS)})[*_]{{0,2}}[ \t]*[:：][*_]{{0,2}}[ \t]*([^\n]{{0,2000}})",
    re.IGNORECASE,
)
_MOST_FIELDS = 20
_ANSWERED = re.compile(
    r"(?:(?:re|fwd?|回复|答复|转发)\s*(?:\[\d{1,3}\])?\s*[:：]\s*)+", re.IGNORECASE
)
_SEPARATOR = re.compile(
    r"^[ \t]*(?:[-_—]{2,40}[ \t]*(?:original (?:message|appointment)"
    r"|原始邮件|原邮件|邮件原文|历史消息|聊天记录)"
    r"[ \t]*[-_—]{2,40})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_WROTE = re.compile(
    r"^[ \t]*(?:On [^\n]{5,200}(?:\n[^\n]{0,120})? wrote|(?:在 ?|于 ?)?[^\n]{4,120}写道"
    r"|[^\n]{1,80} (?:said|wrote))[ \t]*[:：][ \t]*$",
    re.MULTILINE,
)
_POINTS_AT = re.compile(
    r"\b(?:below|above|following|attached thread"
    r"|this (?:e-?mail|message|thread|text|error|log|quote)"
    r"|summari[sz]e|translate|proofread|rewrite|mean|explain|reply to (?:this|him|her|them|it))\b"
    r"|以下|下面|如下|上面|上述|这封|这段|这个报错|原文|翻译|总结|摘要|润色|改写|解释|什么意思|帮我回|起草",
    re.IGNORECASE,
)
_LONGEST_SIGNATURE = 60
_SIGNATURE = re.compile(
    r"\n[ \t]*(?:Sent from my [^\n]{1,40}|Get Outlook for [^\n]{1,20}|发自我的[^\n]{1,20}"
    r"|从我的[^\n]{1,20}发送)\s*$",
    re.IGNORECASE,
)


def strip_mail(text: str, envelope: Envelope) -> str:
    """The text without mail heads, quoted history and device signatures."""
    start = text.lstrip()
    body = _strip_mail_head(start, envelope)
    if ">" in body or ":" in body or "：" in body or "-" in body or "_" in body or "—" in body:
        body = _strip_history(body)
    if body is not start:
        body = _strip_inner_head(body)
    end = max(0, len(body) - _LONGEST_SIGNATURE)
    signature = _SIGNATURE.search(body, end) if body.find("\n", end) >= 0 else None
    return body[: signature.start()] if signature else body


def _read_fields(text: str, position: int) -> tuple[dict[str, str], int]:
    """The `Key: value` lines from `position` on, and the offset of their end."""
    fields: dict[str, str] = {}
    for _ in range(_MOST_FIELDS):
        match = _FIELD.match(text, position)
        if match is None:
            break
        fields.setdefault(_KEYS[match[1].lower()], match[2].strip())
        position = match.end() + 1
    return fields, min(position, len(text))


def _strip_mail_head(text: str, envelope: Envelope) -> str:
    if ":" not in text[:40] and "：" not in text[:40]:
        return text
    fields, end = _read_fields(text, 0)
    if "from" not in fields or not fields.keys() & {"date", "subject"}:
        return text
    envelope.note(fields["from"] or None, "email", read_clock(fields.get("date", "").split()))
    if "files" in fields:
        strip_media(f"附件: {fields['files']}", envelope)
    body = text[end:].lstrip()
    return body or _ANSWERED.sub("", fields.get("subject", ""))


def _strip_history(text: str) -> str:
    text = _strip_leading_quote(text)
    ruled = "--" in text or "__" in text or "——" in text
    separator = _SEPARATOR.search(text) if ruled else None
    if separator is not None and _is_answer(text[: separator.start()]):
        text = text[: separator.start()]
    wrote = _WROTE.search(text) if "wrote" in text or "写道" in text or "said" in text else None
    return _strip_attributed(text, wrote) if wrote else text


def _is_answer(before: str) -> bool:
    """True if there are words before the quotation that do not refer to it."""
    return bool(before.strip()) and not _POINTS_AT.search(before)


def _strip_leading_quote(text: str) -> str:
    """Take off the `> …` lines with which a chat window quotes above an answer."""
    if not text.startswith(">"):
        return text
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if not _is_quoted(line)), len(lines))
    answer = "\n".join(lines[first:]).lstrip()
    return answer if _is_answer(answer) else text


def _is_quoted(line: str) -> bool:
    """Whether it is a line of a quotation, which Markdown lets stand up to three spaces in."""
    return line[:4].lstrip(" ").startswith(">")


def _strip_attributed(text: str, wrote: re.Match[str]) -> str:
    """Take off the quotation after `… wrote:`, below or above the answer."""
    before, after = text[: wrote.start()], text[wrote.end() :].lstrip("\n")
    if not after.startswith(">"):
        return before if _is_answer(before) else text
    typed = "\n".join(line for line in after.split("\n") if not _is_quoted(line))
    own = f"{before.rstrip()}\n{typed.strip()}"
    return own if _is_answer(own) else text


def _strip_inner_head(text: str) -> str:
    """Take off the mail that was answered, which begins with a second head further down."""
    for match in re.finditer(r"^[*_]{0,2}(?:From|发件人)", text, re.MULTILINE):
        fields, _ = _read_fields(text, match.start())
        if len(fields) >= 3:
            before = text[: match.start()]
            return before.rstrip("_- \n") if _is_answer(before) else text
    return text


_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_TRAILING_ID = re.compile(r"\[(?:message_id|msg_id|id)\s?[:：]\s?[^\]\n]{1,200}\]\s*$")
# Simulated users (tau-bench) close a conversation with a mark that is not part of their words.
_CLOSING_MARKS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The parts of a user's text.

    `said` is what the person typed, without gateway heads, metadata, message ids, leading
    mentions, attachment markers or quoted history. `at` is in seconds since the epoch, UTC, and
    set only if a wrapper gives a full date. `origin` is human unless a machine wrote the text.
    """

    said: str
    origin: Origin = Origin.HUMAN
    sender: str | None = None
    channel: str | None = None
    attachments: tuple[Attachment, ...] = ()
    at: float | None = None


def unwrap(text: str, dated: bool = True) -> Unwrapped:
    """Take transport wrappers, attachment markers and quoted history off a user's text.

    Linear in the length of `text`. Never fails: unrecognised parts stay. With `dated` false `at`
    is None, which saves time where the log itself records times.
    """
    envelope = Envelope()
    start = text.strip()
    if start.startswith("<command-") and calls_own_command(start):
        return Unwrapped(typed_command(start))
    led = strip_leading(start)
    body, noticed = strip_notices(strip_blocks(led, envelope).lstrip(), envelope)
    headless = _strip_inline(body, envelope)
    body = strip_leading(headless)  # which may stand behind a head, too
    noticed |= led is not start or body is not headless
    scheduled = strip_cron(body)
    if scheduled is not None:
        body, origin = scheduled, Origin.CRON
    elif noticed and not body and not envelope.attachments:
        body, origin = text.strip(), Origin.SYSTEM
    else:
        origin = machine_origin(body) or Origin.HUMAN
    at = envelope.clock.seconds() if dated and envelope.clock else None
    return Unwrapped(
        body, origin, envelope.sender, envelope.channel, tuple(envelope.attachments), at
    )


def _strip_inline(text: str, envelope: Envelope) -> str:
    """Take off wrappers on the lines of the person's words: heads, mail, attachment markers."""
    body = strip_mail(strip_heads(text, envelope), envelope)
    without_media = strip_media(body, envelope)
    if without_media is not body:
        without_media = strip_heads(without_media, envelope)  # markers may precede heads
    body = without_media
    if "[" in body:
        body = _TRAILING_ID.sub("", body)
    if "#" in body:
        for mark in _CLOSING_MARKS:
            body = body.replace(mark, "")
    if len(body) < len(text):
        body = _BLANK_LINES.sub("\n\n", body)
    return body.strip()
