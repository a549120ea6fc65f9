"""Reads sessions of Qwen Code: a tree of records whose messages have Gemini's parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from construction.sessions.readers import pieces
from construction.sessions.readers.claude_log import trees
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, json_lines
from construction.sessions.readers.talk import Record, Talk, first_text, inner, kind_of, type_name
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_TURNS = frozenset({"user", "assistant", "tool_result"})
_TYPED = frozenset({None, "mid_turn_user_message", "queued_user_message"})
_FRAMES = ("<qwen:", "<system-reminder>")


def fits(sample: Sample) -> bool:
    """A `sessionId` next to messages made of parts, or next to a `systemPayload`."""
    return any(
        "sessionId" in record
        and (isinstance(inner(record, "message").get("parts"), list) or "systemPayload" in record)
        for record in sample.records
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session on its active branch: the one that ends last in the file."""
    talk = Talk(source, SourceFormat.QWEN)
    kept: list[tuple[int, Record]] = []
    relays: dict[str, str | None] = {}
    seen: set[str] = set()
    for line, record in talk.records(json_lines):
        kind, own = kind_of(record), first_text(record, "uuid")
        if kind in _TURNS:
            if own is not None and own in seen:
                relays[f"{own}#{len(kept)}"] = own
                record["uuid"] = f"{own}#{len(kept)}"  # one answer in several records
            kept.append((line, record))
            seen.add(own or "")
        elif kind == "system":
            if own is not None:
                relays[own] = first_text(record, "parentUuid")
            talk.skip()
        else:
            talk.unexpected(line, f"a record of type {type_name(kind)}")
    path = _active(kept, relays)
    if abandoned := len(kept) - len(path):
        talk.dropped["abandoned_branch"] = abandoned
    head: Record = kept[path[0]][1] if path else {}
    for position in path:
        _add(talk, *kept[position])
    yield from talk.session(
        first_text(head, "sessionId"),
        cwd=first_text(head, "cwd"),
        agent_name="qwen-code",
        agent_version=first_text(head, "version"),
    )


def _active(kept: list[tuple[int, Record]], relays: dict[str, str | None]) -> list[int]:
    ids = [first_text(record, "uuid") for _, record in kept]
    parents = [first_text(record, "parentUuid") for _, record in kept]
    forest = trees(ids, parents, [""] * len(kept), relays)
    chosen = {position for tree in forest for position in tree.path}
    # The records of one answer share a parent, so that all but the last look abandoned.
    answers = {(ids[p] or "").partition("#")[0] for p in chosen}
    return [
        p for p in range(len(kept)) if p in chosen or (ids[p] or "").partition("#")[0] in answers
    ]


def _add(talk: Talk, line: int, record: Record) -> None:
    kind, message = kind_of(record), inner(record, "message")
    at = epoch_seconds(record.get("timestamp"))
    given = list(pieces.of(talk, message.get("parts"), line, pieces.gemini))
    if inner(record, "toolCallResult").get("status") == "error":
        given = [replace(p, failed=True) if isinstance(p, pieces.Result) else p for p in given]
    if kind == "assistant":
        key = (first_text(record, "uuid") or "").partition("#")[0] or None
        pieces.add(talk, kind, given, line, at=at, key=key, model=record.get("model"))
        return
    pieces.add(talk, "tool", [piece for piece in given if isinstance(piece, pieces.Result)])
    if kind == "user":
        _add_prompt(talk, record, given, line, at)


def _add_prompt(
    talk: Talk, record: Record, given: list[pieces.Piece], line: int, at: float | None
) -> None:
    texts = [piece.text for piece in given if isinstance(piece, pieces.Text)]
    said = [text for text in texts if not text.lstrip().startswith(_FRAMES)]
    shown = first_text(inner(record, "systemPayload"), "displayText")
    media = tuple(piece for piece in given if isinstance(piece, Attachment))
    text = "\n".join(texts)
    if first_text(record, "subtype") in _TYPED and (said or media):
        origin = Origin.AGENT if record.get("isSidechain") is True else None
        words = shown if shown and not said else "\n".join(said)
        talk.person(text, line, at=at, said=words, media=media, origin=origin)
    else:
        talk.notice(text, line, at=at)
