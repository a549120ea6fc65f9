"""Reads the state that Cursor's editor keeps in SQLite (`state.vscdb`), of a workspace or of all.

A conversation of the composer is a list of bubbles, which stand in it (to 2024) or under keys of
their own that its heads name. A workspace of newer versions names its conversations, which stand
in the state of all workspaces, and holds none. The chat before the composer is a list of tabs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from construction.sessions.readers.source import SourceFile, epoch_seconds
from construction.sessions.readers.talk import Record, Talk, dicts, first_text, inner
from construction.sessions.readers.turns import Uids, decoded, plain
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

Query = Callable[..., Iterator[dict[str, Any]]]

_COMPOSERS = "composer.composerData"
_CHAT = "workbench.panel.aichat.view.aichat.chatdata"
_PERSON = (1, "user")
_AGENT = (2, "ai")
_APPLIED = ("accepted", "completed")  # states of a block of code that is in its file
_FAILED = ("error", "cancelled", "rejected")


def holds(query: Query) -> bool:
    """Whether the state holds conversations, and not only what the editor shows."""
    return next(_composers(query), None) is not None or bool(_tabs(query))


def read(source: SourceFile, query: Query, uids: Uids) -> Iterator[Session | ReadIssue]:
    """A session for each conversation with words of a person."""
    for composer in _composers(query):
        own = plain(composer.get("composerId"))
        talk = Talk(source, SourceFormat.CURSOR, is_typed=True)
        for bubble in _bubbles(query, composer):
            _add(talk, bubble, inner(composer, "codeBlockData"))
        if talk.drafts:
            parent = first_text(inner(composer, "subagentInfo"), "parentComposerId")
            yield from talk.session(
                own or None,
                uids=uids,
                agent_name="cursor",
                started_at=epoch_seconds(composer.get("createdAt")),
                parent_session_id=parent,
            )
    for tab in _tabs(query):
        talk = Talk(source, SourceFormat.CURSOR, is_typed=True)
        for bubble in dicts(tab.get("bubbles")):
            _add(talk, bubble, {})
        if talk.drafts:
            yield from talk.session(first_text(tab, "tabId"), uids=uids, agent_name="cursor")


def _value(query: Query, table: str, key: str) -> Record:
    """The object under a key; empty without one, or without the table."""
    if not _has(query, table):
        return {}
    row = next(query(f"SELECT value FROM {table} WHERE key = ?", key), {})  # noqa: S608
    return inner(decoded(row.get("value")))


def _has(query: Query, table: str) -> bool:
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return next(query(known, table), None) is not None


def _composers(query: Query) -> Iterator[Record]:
    """The conversations with bubbles, of a workspace and then of all."""
    for composer in dicts(_value(query, "ItemTable", _COMPOSERS).get("allComposers")):
        if dicts(composer.get("conversation")):
            yield composer
    if _has(query, "cursorDiskKV"):
        # A range of keys, for which SQLite needs no walk through the table.
        keys = "SELECT key FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;'"
        for row in query(f"{keys} ORDER BY key"):
            composer = _value(query, "cursorDiskKV", plain(row["key"]))
            named = composer.get("conversation") or composer.get("fullConversationHeadersOnly")
            if dicts(named):
                yield {"composerId": plain(row["key"]).partition(":")[2], **composer}


def _tabs(query: Query) -> list[Record]:
    return dicts(_value(query, "ItemTable", _CHAT).get("tabs"))


def _bubbles(query: Query, composer: Record) -> Iterator[Record]:
    if inside := dicts(composer.get("conversation")):
        yield from inside
        return
    kept = inner(composer, "conversationMap")
    for head in dicts(composer.get("fullConversationHeadersOnly")):
        own = plain(head.get("bubbleId"))
        key = f"bubbleId:{plain(composer.get('composerId'))}:{own}"
        yield inner(kept, own) or _value(query, "cursorDiskKV", key)


def _add(talk: Talk, bubble: Record, blocks: Record) -> None:
    kind, at = bubble.get("type"), epoch_seconds(bubble.get("createdAt"))
    text = first_text(bubble, "text", "rawText") or ""
    if kind in _PERSON:
        images = [*dicts(bubble.get("selectedImages")), *dicts(bubble.get("images"))]
        names = (first_text(image, "path") for image in images)
        talk.person(text, at=at, media=tuple(Attachment(name) for name in names if name))
    elif kind in _AGENT:
        model = inner(bubble, "modelInfo").get("modelName") or bubble.get("modelType")
        answer = talk.answer(at=at, key=first_text(bubble, "usageUuid", "serverBubbleId"))
        answer.model = model if isinstance(model, str) else None
        answer.think(inner(bubble, "thinking").get("text"))
        answer.say(text)
        if used := inner(bubble, "toolFormerData"):
            _add_call(talk, used, at)
        elif applied := _applied(bubble, blocks):
            talk.notice("\n".join(f"Applied edit to {path}" for path in applied), at=at)
    elif bubble:
        talk.unexpected(0, "a bubble of an unknown type")
    else:
        talk.skip("lost_bubble")


def _add_call(talk: Talk, used: Record, at: float | None) -> None:
    """Add a call. What the editor made of its arguments has the path that the model left out."""
    given = inner(decoded(used.get("rawArgs"))) or inner(used, "rawArgs")
    made = inner(decoded(used.get("params"))) or inner(used, "params")
    name = first_text(used, "name") or f"tool {plain(used.get('tool'))}"
    served = dicts(made.get("tools"))
    if name.startswith("mcp") and served and not given:
        given = inner(decoded(served[0].get("parameters")))
    answer = talk.answer(at=at)
    own = answer.call(used.get("toolCallId"), name, {**made, **given} if given else made)
    failed = used.get("status") in _FAILED or used.get("userDecision") == "rejected"
    shown = used.get("result") or used.get("error")
    if shown or failed:
        talk.results.add(own, plain(shown), failed)


def _applied(bubble: Record, blocks: Record) -> list[str]:
    """The files into which the editor wrote the blocks of code of an answer."""
    paths: dict[str, None] = {}
    for block in dicts(bubble.get("codeBlocks")):
        uri = inner(block, "uri")
        external = first_text(uri, "external") or f"file://{first_text(uri, 'path')}"
        versions = dicts(blocks.get(external))
        if any(
            kept.get("version") == block.get("version") and kept.get("status") in _APPLIED
            for kept in versions
        ):
            paths[first_text(uri, "fsPath") or unquote(external.removeprefix("file://"))] = None
    return list(paths)
