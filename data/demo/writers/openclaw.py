"""OpenClaw logs (version 3, a tree of records) and pi logs (version 1, a plain list)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from data.demo.script import (
    Abandoned,
    Agent,
    Call,
    Compaction,
    Flavor,
    Human,
    Machine,
    Script,
)
from data.demo.writers.common import MODEL, Ids, dump, iso, named_call

_MEDIA = "[media attached"
_SHORT = 20  # so short an answer quotes the mail it answers
_OVERHEARD = {"en": "Lunch is at half past twelve today.", "zh": "今天十二点半一起吃饭。"}


def write(script: Script) -> list[bytes]:
    """The lines of one session log."""
    log = _Log(script)
    log.head()
    for event in script.events:
        if isinstance(event, Human):
            log.user(event.at, wrapped(script, event))
        elif isinstance(event, Agent):
            log.answer(event)
        elif isinstance(event, Machine):
            log.user(event.at, event.text)
        elif isinstance(event, Compaction):
            log.compaction(event)
        else:
            log.abandoned(event)
    return log.lines


def arguments(call: Call) -> tuple[str, dict[str, Any]]:
    """A call's name and arguments in this harness."""
    return named_call(call, read="read", write="write", fetch="web_fetch", run="exec")


class _Log:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._is_tree = script.flavor is Flavor.OPENCLAW
        self._ids = Ids(script)
        self._parent: str | None = None
        self._first_message: str | None = None
        self._n_messages = 0
        self.lines: list[bytes] = []

    def head(self) -> None:
        script = self._script
        header: dict[str, Any] = {"type": "session", "id": script.session_id}
        if self._is_tree:
            header["version"] = 3
        header |= {"timestamp": iso(script.started), "cwd": script.cwd}
        self.lines.append(dump(header))
        if self._is_tree:
            model = {"provider": "example", "modelId": MODEL}
            self._add("model_change", script.started, model)
            self._add("thinking_level_change", script.started, {"thinkingLevel": "low"})
            snapshot = {"customType": "model-snapshot", "data": model}
            self._add("custom", script.started, snapshot)

    def _add(self, kind: str, at: int, fields: dict[str, Any], milliseconds: int = 0) -> str:
        """Append a record below the last one; returns its id, if the version has ids."""
        record: dict[str, Any] = {"type": kind}
        own = self._ids.short()
        if self._is_tree:
            record |= {"id": own, "parentId": self._parent}
        record["timestamp"] = iso(at, milliseconds)
        record |= fields
        self.lines.append(dump(record))
        self._parent = own
        return own

    def _message(self, at: int, message: dict[str, Any]) -> None:
        self._n_messages += 1
        message["timestamp"] = at * 1000
        own = self._add("message", at, {"message": message})
        self._first_message = self._first_message or own

    def user(self, at: int, text: str) -> None:
        self._message(at, {"role": "user", "content": [{"type": "text", "text": text}]})

    def answer(self, agent: Agent) -> None:
        """One message per call, each followed by its result; the text goes with the first."""
        blocks: list[dict[str, Any]] = []
        if agent.thinking:
            blocks.append({"type": "thinking", "thinking": agent.thinking})
        if agent.text:
            blocks.append({"type": "text", "text": agent.text})
        if not agent.calls:
            self._assistant(agent.at, blocks, agent.stop)
            return
        for call in agent.calls:
            name, given = arguments(call)
            call_id = self._ids.call("call_")
            block = {"type": "toolCall", "id": call_id, "name": name, "arguments": given}
            stop = agent.stop if agent.stop != "stop" else "toolUse"
            self._assistant(agent.at, [*blocks, block], stop)
            blocks = []
            if agent.stop == "stop":
                self._result(agent.at, call_id, name, call.result)

    def _assistant(self, at: int, blocks: list[dict[str, Any]], stop: str) -> None:
        usage = {"input": 1200 + self._n_messages, "output": 80, "totalTokens": 1280}
        self._message(
            at,
            {
                "role": "assistant",
                "content": blocks,
                "api": "openai-completions",
                "provider": "example",
                "model": MODEL,
                "usage": usage,
                "stopReason": stop,
            },
        )

    def _result(self, at: int, call_id: str, name: str, text: str) -> None:
        self._message(
            at,
            {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": name,
                "content": [{"type": "text", "text": text}],
                "isError": False,
            },
        )

    def compaction(self, event: Compaction) -> None:
        kept: dict[str, Any] = {"firstKeptEntryIndex": 1}
        if self._is_tree:
            kept = {"firstKeptEntryId": self._first_message, "fromHook": False}
        summed_up = {"summary": event.summary, "tokensBefore": 90_000}
        self._add("compaction", event.at, {**summed_up, **kept})

    def abandoned(self, event: Abandoned) -> None:
        """A branch that is not continued."""
        head = self._parent
        self.user(event.at, event.text)
        self.answer(Agent(event.at, event.answer))
        self._parent = head


def wrapped(script: Script, human: Human) -> str:
    """A person's text as the channel's gateway passes it on; media markers stay in front."""
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
    """The assistant must be mentioned, otherwise it does not respond."""
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


def _fence(title: str, value: object) -> str:
    return f"{title}\n```json\n{orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()}\n```"


def _email(script: Script, human: Human, body: str) -> str:
    """Mail header and text; a short answer quotes the mail that it answers."""
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
