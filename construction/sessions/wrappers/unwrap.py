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
from construction.sessions.wrappers.envelope import Clock, Envelope, read_clock, strip_media
from data.contracts import Attachment, Origin
from data.text.lexicon import load_table, pattern_of
from data.text.scripts import HAN

# Removes the heads that gateways put before a message: `[Feishu #ops Amy Mon Mar 03 14:13] …`.
#
# A head is at the start of the text; heads of later lines are removed only if there is one (several
# messages in one turn). A bracket that belongs to the request, such as `[Q3 2026] report`, has no
# time of day and no channel, and stays.

_CHANNELS = frozenset(
    "slack discord telegram feishu lark wechat wecom weixin whatsapp signal imessage teams"  # noqa: SIM905
    " msteams dingtalk line matrix mattermost googlechat zalo qq email e-mail mail gmail outlook"
    " sms im webchat tui cli zoom irc 飞书 微信 企业微信 企微 钉钉 邮件 邮箱"
    " 电邮 短信 工单 群聊 私聊 飞书群 微信群 钉钉群 qq群".split()
)

_ZH = load_table(__package__, "names_zh.toml")
_SURNAME = "|".join((*_ZH["compound_surnames"].split(), f"[{''.join(_ZH['surnames'].split())}]"))
_TITLE = "|".join(_ZH["titles"].split())
_HAN_NAME = pattern_of(
    rf"(?:{_SURNAME})(?:[{HAN}]{{1,2}}(?:{_TITLE})?|{_TITLE})"
    rf"|[小老阿][{HAN}]|[{HAN}]{{1,8}}·[{HAN}]{{1,8}}"
)
_HAN_LABELS = frozenset(_ZH["labels"].split())
_USER_ID = pattern_of(r"(?:ou|on|U|W)_?[0-9a-f]{6,64}|U[0-9A-Z]{8,12}")
_LATIN_NAME = pattern_of(r"[A-Z][\w.'-]{0,24}(?: [A-Z][\w.'-]{0,24}){0,2}")
# Words that are common before a colon and are not names.
_LABELS = frozenset(
    "note notes update updates question questions summary task tasks todo goal goals"  # noqa: SIM905
    " context background reminder important warning urgent action actions fyi status result results"
    " input output example examples problem issue issues request requirement requirements title"
    " subject deadline format scope step steps plan report reports answer agenda topic attached"
    " attachment attachments files file link links source sources edit ps eta asap hint correction"
    " clarification decision proposal recap overview objective instructions details data error"
    " errors traceback exception https http please also first second third then finally"
    " next one two three yes no ok okay hi hello thanks team all everyone agent assistant"
    " from to cc bcc date sent re fw fwd time".split()
)


def _is_name(text: str) -> bool:
    """True if the words before a colon look like a person's name or id, not like a label."""
    if _USER_ID.fullmatch(text):
        return True
    if _LATIN_NAME.fullmatch(text):
        return text.split()[0].lower() not in _LABELS
    return text not in _HAN_LABELS and _HAN_NAME.fullmatch(text) is not None


_BRACKET = pattern_of(r"[ \t]*(?:\[([^\[\]\n]{1,200})\]|【([^【】\n]{1,200})】)[ \t]*")
_NEXT = pattern_of(r"\n(?=[ \t]*[\[【])")
# Ids that a gateway adds for its own use, in brackets or alone on a line.
_ID = pattern_of(
    r"(?:message[ _]?id|msg[ _]?id|thread[ _]?(?:id|ts)|chat[ _]?id|channel[ _]?id|user[ _]?id"
    r"|open[ _]?id|event[ _]?id|conversation[ _]?id|消息\s?ID|会话\s?ID|ts)"
    r"\s*[:：=]\s*[\w.:@+=/-]{1,200}",
    re.IGNORECASE,
)
_FROM = pattern_of(
    r"(?:sender|from|发送人|发送者|发件人|来自)(?:\s?\([^)\n]{0,60}\))?\s*[:：]"
    r"\s*(\S[^\n]{0,80})",
    re.IGNORECASE,
)
_SENDER_LINE = pattern_of(
    r"(?:sender|发送人|发送者|来自)(?:\s?\([^)\n]{0,60}\))?\s*[:：]\s*(\S[^\n]{0,80})",
    re.IGNORECASE,
)
_NAME_COLON = pattern_of(
    r"([^\s:：\[\]【】][^:：\[\]【】\n]{0,40}?)(?:\s\(@[\w.]{1,40}\))?\s?[:：](?!//)[ \t]*"
)
# A mention must end at white space or punctuation, or a Han name would include the request. With
# a dot or a slash it is a file (`@main.ts explain this`).
_MENTION = pattern_of(
    r"(?:<at\b[^>\n]{0,200}>[^<\n]{0,80}</at>"
    r"|<(?:@[!&]?|#|!(?=channel|here|everyone|subteam))[\w|^@.\-]{1,80}>"
    rf"|@[A-Za-z0-9_\-]{{1,40}}(?=[\s,，:：{HAN}]|$)"
    r"|@[\w·]{1,12}(?=[\s,，:：])|@[\w·]{1,5}$)"
    r"(?:[ \t]*-{1,2}[ \t]+|[ \t\u2005,，:：]*)"
)
_COPY_MARKS = pattern_of(r"[\[\]|·]|(?<!\S)[—–-](?!\S)")
_LONGEST_LINE = 160
_COMPARED = 60  # characters of an announced message, white space included
_NO_WORDS = ("id:", "(@", "(id")


@dataclass(frozen=True, slots=True)
class _Head:
    sender: str | None = None
    channel: str | None = None
    clock: Clock | None = None
    name_may_follow: bool = False  # the head has no sender: the message may start with "Amy: "


_ID_HEAD = _Head(name_may_follow=True)


def _strip_heads(text: str, envelope: Envelope) -> str:
    """The text without heads, ids and leading mentions; their content goes to `envelope`."""
    start = text.lstrip()
    if not start:
        return start
    if start[0] in "[【":
        headless = _strip_bracketed(start, envelope)
        return headless if headless is start else _strip_line_heads(headless, envelope)
    if start[0] in "@<":
        return start[_after_mentions(start, 0) :]
    return _strip_line_heads(start, envelope)


def _after_mentions(text: str, position: int) -> int:
    while (mention := _MENTION.match(text, position)) is not None:
        position = mention.end()
    return position


def _strip_bracketed(text: str, envelope: Envelope) -> str:
    first, has_head = _strip_from(text, 0, envelope)
    if not has_head:
        return text
    rest = text[first:]
    if "\n" not in rest:
        return rest
    start, *later = _NEXT.split(rest)
    return "\n".join([start, *(line[_strip_from(line, 0, envelope)[0] :] for line in later)])


def _strip_from(text: str, position: int, envelope: Envelope) -> tuple[int, bool]:
    """(offset of the words after the heads at `position`, whether there was a head)."""
    has_head = False
    name_may_follow = False
    while (match := _BRACKET.match(text, position)) is not None:
        head = _read_head(match[1] or match[2])
        if head is None:
            break
        envelope.note(head.sender, head.channel, head.clock)
        name_may_follow = head.name_may_follow or (name_may_follow and head.sender is None)
        has_head, position = True, match.end()
        if text.startswith("\n", position) and head is _ID_HEAD:
            position += 1
    name = _NAME_COLON.match(text, position) if name_may_follow else None
    if name is not None and _is_sender(name, text, envelope.preview):
        envelope.note(name[1], None, None)
        position = name.end()
    return (_after_mentions(text, position) if has_head else position), has_head


def _is_sender(name: re.Match[str], text: str, preview: str) -> bool:
    """True if a name before a colon is the sender.

    If a notice announced the message, its first words decide; otherwise the form of the name.
    """
    announced = _start(preview).rstrip("….")
    if announced and _start(text, name.end()).startswith(announced):
        return True
    if announced and _start(text, name.start()).startswith(announced):
        return False
    return _is_name(name[1])


def _start(text: str, position: int = 0) -> str:
    return "".join(text[position : position + _COMPARED].split())[: _COMPARED // 2]


def _read_head(inner: str) -> _Head | None:
    """The content of a bracket that is a head; None if the bracket belongs to the message."""
    tokens = inner.split()
    if len(tokens) > 2 and tokens[-2] == "via":
        del tokens[-2:]
    clock = read_clock(tokens)
    if clock is None and (":" in inner or "：" in inner or "=" in inner):
        if _ID.fullmatch(inner.strip()):
            return _ID_HEAD
        if (sender := _FROM.fullmatch(inner.strip())) is not None:
            return _Head(sender=sender[1].strip())
    who = tokens[: len(tokens) - clock.tokens] if clock else tokens
    who = [token for token in who if not token.lower().startswith(_NO_WORDS)]
    channel, sender_words, known = _channel(who)
    if len(sender_words) > 6:
        return None
    if clock is None:
        return _Head(None, channel, None, True) if known and not sender_words else None
    if who and not known and not (clock.has_date and clock.is_precise):
        return None
    return _Head(" ".join(sender_words) or None, channel, clock, not sender_words)


def _channel(words: list[str]) -> tuple[str | None, list[str], bool]:
    """(channel, words of the sender, whether the channel is known or has a `#`)."""
    if not words:
        return None, words, False
    named = words[0].rstrip(":").lower() in _CHANNELS
    marks = [word for word in words if word.startswith("#")]
    if not named and not marks:
        return (words[0], words[1:], False) if len(words) > 1 else (None, words, False)
    sender = [word for word in words[named:] if not word.startswith("#")]
    if marks and named and len(words) > 2 and words[1] not in marks:
        sender = []  # "Discord <server> #general": the server is not a sender
    return " ".join([*words[:named], *marks]), sender, True


def _strip_line_heads(text: str, envelope: Envelope) -> str:
    """Take off lines with only `Sender: …`, a message id or `Amy  2026-03-02 10:11:22`."""
    copied = False
    position = 0
    while (end := text.find("\n", position, position + _LONGEST_LINE)) >= 0:
        line = text[position:end].strip()
        if _copied_head(line, envelope):
            copied = True
        elif (sender := _SENDER_LINE.fullmatch(line)) is not None:
            envelope.note(sender[1].strip(), None, None)
        elif line and not _ID.fullmatch(line):
            break
        position = end + 1
    rest = text[position:]
    if not copied:
        return rest
    lines = rest.splitlines(keepends=True)
    return "".join(line for line in lines if not _copied_head(line.strip(), envelope))


def _copied_head(line: str, envelope: Envelope) -> bool:
    """True for a line with only a name and a full time, as in text copied from a chat window."""
    if not (3 < len(line) < 80) or ":" not in line:
        return False
    tokens = _COPY_MARKS.sub(" ", line.rstrip(":：")).split()
    clock = read_clock(tokens)
    if clock is None or not (clock.has_date or clock.is_precise):
        return False
    who = tokens[: len(tokens) - clock.tokens]
    channel = who.pop(0) if who and who[0].lower() in _CHANNELS else None
    name = " ".join(who)
    if not _is_name(name):
        return False
    envelope.note(name, channel, clock)
    return True


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


def _strip_mail(text: str, envelope: Envelope) -> str:
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
class _Unwrapped:
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


def unwrap(text: str, dated: bool = True) -> _Unwrapped:
    """Take transport wrappers, attachment markers and quoted history off a user's text.

    Linear in the length of `text`. Never fails: unrecognised parts stay. With `dated` false `at`
    is None, which saves time where the log itself records times.
    """
    envelope = Envelope()
    start = text.strip()
    if start.startswith("<command-") and calls_own_command(start):
        return _Unwrapped(typed_command(start))
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
    return _Unwrapped(
        body, origin, envelope.sender, envelope.channel, tuple(envelope.attachments), at
    )


def _strip_inline(text: str, envelope: Envelope) -> str:
    """Take off wrappers on the lines of the person's words: heads, mail, attachment markers."""
    body = _strip_mail(_strip_heads(text, envelope), envelope)
    without_media = strip_media(body, envelope)
    if without_media is not body:
        without_media = _strip_heads(without_media, envelope)  # markers may precede heads
    body = without_media
    if "[" in body:
        body = _TRAILING_ID.sub("", body)
    if "#" in body:
        for mark in _CLOSING_MARKS:
            body = body.replace(mark, "")
    if len(body) < len(text):
        body = _BLANK_LINES.sub("\n\n", body)
    return body.strip()
