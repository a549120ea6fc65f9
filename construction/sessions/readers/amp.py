"""Reads threads of Amp: one document with messages of typed parts."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers import pieces
from construction.sessions.readers.source import Sample, SourceFile, document_of, epoch_seconds
from construction.sessions.readers.talk import (
    Record,
    Talk,
    block_text,
    dicts,
    first_text,
    inner,
    is_failure,
    kind_of,
    plain,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_FILE = "file://"


def fits(sample: Sample) -> bool:
    """A version `v`, and messages whose results refer to their call by `toolUseID` or by number."""
    head = sample.head
    if "v" not in head or not isinstance(head.get("messages"), list):
        return False
    messages = dicts(head["messages"])[:20]
    return any("messageId" in message for message in messages) or (
        not messages and plain(head.get("id", "")).startswith("T-")
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a thread."""
    thread = inner(document_of(source))
    talk = Talk(source, SourceFormat.AMP)
    for message in dicts(thread.get("messages")):
        _add(talk, message)
    trees = dicts(inner(thread, "env", "initial").get("trees"))
    root = first_text(trees[0], "uri") if trees else None
    yield from talk.session(
        first_text(thread, "id"),
        cwd=root.removeprefix(_FILE) if root else None,
        agent_name="amp",
        started_at=epoch_seconds(thread.get("created")),
    )


def _add(talk: Talk, message: Record) -> None:
    role, content = message.get("role"), message.get("content")
    at = epoch_seconds(inner(message, "meta").get("sentAt"))
    files = [
        Attachment(uri.removeprefix(_FILE))
        for file in dicts(inner(message, "fileMentions").get("files"))
        if (uri := first_text(file, "uri"))
    ]
    model = inner(message, "usage").get("model")
    given = [*files, *pieces.of(talk, content, 0, _piece)]
    if role not in ("user", "assistant"):
        talk.notice(block_text(content), at=at)
        return
    answer = pieces.add(talk, role, given, at=at, model=model)
    if answer is not None:
        answer.stop_reason = first_text(inner(message, "state"), "stopReason")


def _piece(part: Record) -> pieces.Piece:
    kind = kind_of(part)
    if kind in ("manual_bash_invocation", "summary"):
        return pieces.Notice(plain(part.get("args") or part.get("summary")))
    return _result(part) if kind == "tool_result" else pieces.common(part)


def _result(part: Record) -> pieces.Result:
    run = inner(part, "run")
    result = run.get("result")
    if isinstance(result, dict):
        shown = next((result[key] for key in ("content", "output") if key in result), result)
    else:
        shown = result if result is not None else part.get("content")
    code = inner(run, "result").get("exitCode")
    stopped = run.get("status") in ("error", "rejected-by-user", "cancelled")
    failed = stopped or is_failure(code)
    error = run.get("error")
    why = error.get("message") if isinstance(error, dict) else error
    call_id = plain(part.get("toolUseID") or part.get("tool_use_id"))
    return pieces.Result(call_id, plain(shown) or plain(why), failed)
