"""Reads saved states of AutoGen: a team's thread with the contexts of its agents, or one agent's.

A thread may leave out the calls; they stand in the context of the agent that made them.
"""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, document_of, epoch_seconds
from construction.sessions.readers.talk import (
    Record,
    Talk,
    dicts,
    first_text,
    inner,
    kind_of,
    plain,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_PERSON = ("user", "user_proxy")
_REPEATED = "ToolCallSummaryMessage"  # of the results


def fits(sample: Sample) -> bool:
    """A `TeamState` with `agent_states`, or a state whose `llm_context` has messages."""
    head = sample.head
    is_team = kind_of(head) == "TeamState" and isinstance(head.get("agent_states"), dict)
    return is_team or bool(dicts(inner(head, "llm_context").get("messages")))


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of the thread; that of the only context if there is no thread."""
    talk = Talk(source, SourceFormat.AUTOGEN)
    document = document_of(source)
    states = [inner(document, "agent_states", name) for name in inner(document, "agent_states")]
    thread = next((held for s in states if (held := dicts(s.get("message_thread")))), [])
    contexts: dict[str, list[Record]] = {}
    for name, state in zip(inner(document, "agent_states"), states, strict=True):
        context = dicts(inner(state, "agent_state", "llm_context").get("messages"))
        contexts[name.partition("/")[0]] = context
    if not thread:
        own = dicts(inner(document, "llm_context").get("messages"))
        thread = own or next(filter(None, contexts.values()), [])
    has_calls = any(_listed(message) for message in thread)
    for message in thread:
        if not has_calls:
            for made in _calls_before(message, contexts.get(plain(message.get("source")), [])):
                _add(talk, made)
        _add(talk, message)
    yield from talk.session(agent_name="autogen")


def _listed(message: Record) -> list[Record]:
    """The calls or results of a message; none of a message of words and pictures."""
    listed = dicts(message.get("content"))
    return [item for item in listed if {"arguments", "call_id"} & item.keys()]


def _calls_before(message: Record, context: list[Record]) -> list[Record]:
    """The calls and results up to these words of an agent, which are taken out of its context."""
    texts = [entry.get("content") for entry in context]
    said = message.get("content")
    if kind_of(message) == _REPEATED:
        end = next((n for n, entry in enumerate(context) if _listed(entry)), -2) + 2
    else:
        end = texts.index(said) + 1 if said in texts else 0
    taken, context[:] = context[:end], context[end:]
    return [entry for entry in taken if _listed(entry)]


def _add(talk: Talk, message: Record) -> None:
    kind, content = kind_of(message), message.get("content")
    speaker, at = plain(message.get("source")), epoch_seconds(message.get("created_at"))
    text = "\n".join(part for part in _parts(content) if isinstance(part, str))
    if kind == "SystemMessage":
        talk.system(text, at=at)
    elif listed := _listed(message):
        for item in listed:
            if "arguments" in item:
                talk.answer(at=at, key=speaker).call(
                    item.get("id"), item.get("name"), item["arguments"]
                )
            else:
                failed = item.get("is_error") is True
                talk.results.add(plain(item["call_id"]), plain(item.get("content")), failed)
    elif kind == _REPEATED:
        talk.skip()
    elif speaker in _PERSON:
        media = tuple(
            Attachment(None, "image/png", data)
            for part in dicts(content)
            if (data := first_text(part, "data"))
        )
        talk.person(text, at=at, media=media)
    elif kind in ("UserMessage", "StopMessage"):
        talk.notice(text, at=at)  # of another agent, or of the program
    else:
        answer = talk.answer(at=at)
        answer.think(message.get("thought") or (text if kind == "ThoughtEvent" else None))
        answer.say(text if kind != "ThoughtEvent" else None)


def _parts(content: object) -> list[object]:
    return content if isinstance(content, list) else [content]
