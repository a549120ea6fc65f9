"""What chat gateways put around a message before an agent sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import orjson

from data.demo.script import Human, Script

_MEDIA = "[media attached"
_SHORT = 20  # an answer this short comes with the mail it answers


def wrapped(script: Script, human: Human) -> str:
    """A person's text as the channel's gateway hands it on; media markers stay in front."""
    markers, body = _split(human.text)
    return markers + _WRAPPERS[script.channel](script, human, body)


def _split(text: str) -> tuple[str, str]:
    at = 0
    while text.startswith(_MEDIA, at):
        at = text.index("\n", at) + 1
    return text[:at], text[at:]


def _long_time(human: Human, zone: str = "CST", hours: int = 8) -> str:
    """`Mon Mar 03 14:13:19 CST 2025`"""
    moment = datetime.fromtimestamp(human.at, UTC) + timedelta(hours=hours)
    return f"{moment:%a %b %d %H:%M:%S} {zone} {moment:%Y}"


def _key(script: Script, human: Human) -> str:
    return hashlib.blake2b(f"{script.digest}{human.at}".encode(), digest_size=16).hexdigest()


def _slack(script: Script, human: Human, body: str) -> str:
    """The assistant is mentioned, or else it would not listen."""
    sender = human.sender.replace(" ", "_")
    return f"[Slack {sender} {_long_time(human, 'CET', 1)}] <@U0DESK01> {body}"


def _discord(script: Script, human: Human, body: str) -> str:
    return f"[Discord #desk {_long_time(human, 'CET', 1)}] {human.sender}: {body}"


def _telegram(script: Script, human: Human, body: str) -> str:
    return f"[Telegram {human.sender} {_long_time(human, 'UTC', 0)}] {body}"


def _wechat(script: Script, human: Human, body: str) -> str:
    name = "微信" if script.language == "zh" else "WeChat"
    return f"[{name} {human.sender} {_long_time(human)}] {body}"


def _feishu(script: Script, human: Human, body: str) -> str:
    """A notice of the incoming message, and the message with its id."""
    moment = datetime.fromtimestamp(human.at, UTC) + timedelta(hours=8)
    key = _key(script, human)
    first = body.partition("\n")[0][:40]
    notice = f"System: [{moment:%Y-%m-%d %H:%M:%S} GMT+8] Feishu[main] DM from ou_{key}: {first}"
    return f"{notice}\n\n[message_id: om_x{key[:30]}]\n{human.sender}: {body}"


def _feishu_group(script: Script, human: Human, body: str) -> str:
    return f"[Feishu #office {_long_time(human)}] {human.sender}: {body}"


def _webchat(script: Script, human: Human, body: str) -> str:
    """Metadata in fences, what others said since the last reply, then the message."""
    moment = datetime.fromtimestamp(human.at, UTC) + timedelta(hours=1)
    info = {"message_id": _key(script, human), "sender_id": "control-ui", "sender": human.sender}
    blocks = [
        _fence("Conversation info (untrusted metadata):", info),
        _fence("Sender (untrusted metadata):", {"label": human.sender}),
    ]
    if human is not script.human_turns()[0]:
        title = "Chat history since last reply (untrusted, for context):"
        blocks.append(_fence(title, [{"sender": "Desk", "body": _OVERHEARD[script.language]}]))
    return "\n\n".join([*blocks, f"[{moment:%a %Y-%m-%d %H:%M} GMT+1] {body}"])


_OVERHEARD = {"en": "Lunch is at half past twelve today.", "zh": "今天十二点半一起吃饭。"}


def _fence(title: str, value: object) -> str:
    return f"{title}\n```json\n{orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()}\n```"


def _email(script: Script, human: Human, body: str) -> str:
    """Mail head and text; a word of answer comes with the mail that it answers."""
    moment = datetime.fromtimestamp(human.at, UTC)
    head = (
        f"From: {human.sender} <desk{script.number % 1000}@fernmail.example>\n"
        f"To: assistant@fernmail.example\n"
        f"Date: {moment:%a, %d %b %Y %H:%M:%S} +0000\n"
        "Subject: Re: this week\n\n"
    )
    if len(human.said) >= _SHORT:
        return head + body
    quoted = (
        f"\n\nOn {moment:%a, %d %b %Y} at {moment:%H:%M}, Assistant wrote:\n"
        "> The figures of the week are complete and lie in the shared folder.\n"
        "> The summary for the managers follows in the afternoon."
    )
    return head + body + quoted


def _plain(script: Script, human: Human, body: str) -> str:
    return body


_WRAPPERS: dict[str, Callable[[Script, Human, str], str]] = {
    "slack": _slack,
    "discord": _discord,
    "telegram": _telegram,
    "wechat": _wechat,
    "feishu": _feishu,
    "feishu_group": _feishu_group,
    "webchat": _webchat,
    "email": _email,
    "plain": _plain,
}
