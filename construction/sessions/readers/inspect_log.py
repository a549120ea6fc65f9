"""Reads logs of Inspect: `.eval` archives and `.json` documents, a session for each sample.

Inspect's own reader belongs to an extra, which a build does not need; the archive is plain.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from orjson import JSONDecodeError

from construction.sessions.readers import pieces
from construction.sessions.readers.source import (
    LARGEST_DOCUMENT,
    Sample,
    SourceFile,
    document_of,
    epoch_seconds,
    loads,
    no_records,
)
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    dicts,
    first_text,
    inline_media,
    inner,
    kind_of,
    plain,
)
from data.contracts import Attachment, ReadIssue, Session, SourceFormat

_SAMPLES, _HEADER, _START = "samples/", "header.json", "_journal/start.json"
_REFERENCE = "attachment://"
_MOST_SAMPLES = 100_000
_MOST_BYTES = 4 * 2**30  # of all samples, inflated
_MEDIA = ("image", "audio", "video", "document")
_BROKEN = (OSError, zipfile.BadZipFile, EOFError, ValueError, RuntimeError, JSONDecodeError)


def fits(sample: Sample) -> bool:
    """An archive with a header or a journal, or an evaluation document with its plan."""
    if sample.names:
        return _HEADER in sample.names or _START in sample.names
    head = sample.head
    return isinstance(head.get("eval"), dict) and bool(head.keys() & {"plan", "samples", "stats"})


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each sample and epoch."""
    uids = Uids(source.relative)
    with suppress(ImportError):
        # Of the extra `evaluate`: teaches zipfile Zstandard.
        import zipfile_zstd  # noqa: F401
    with suppress(zipfile.BadZipFile, NotImplementedError):  # damaged, or of a version to come
        with zipfile.ZipFile(source.path) as archive:
            yield from _read_archive(source, archive, uids)
        return
    head = inner(document_of(source))
    samples = dicts(head.get("samples"))
    if not samples:
        yield no_records(source, "an evaluation with samples")
        return
    for sample in samples:
        yield from _session(source, uids, sample, head)


def _read_archive(
    source: SourceFile, archive: zipfile.ZipFile, uids: Uids
) -> Iterator[Session | ReadIssue]:
    members = [member for member in archive.infolist() if member.filename.startswith(_SAMPLES)]
    members = sorted(members, key=lambda member: member.filename)[:_MOST_SAMPLES]
    head: Any = {}
    budget = _MOST_BYTES
    with suppress(KeyError, *_BROKEN):
        names = archive.namelist()
        head = loads(_member(archive, archive.getinfo(_HEADER if _HEADER in names else _START))[0])
    if not members:
        yield no_records(source, "an archive with samples")
    for number, member in enumerate(members, start=1):
        try:
            raw, budget = _member(archive, member, budget)
            sample = loads(raw)
        except NotImplementedError:
            actual = "samples compressed with Zstandard"
            expected = "`pip install benchmint[evaluate]`, which can inflate them"
            yield ReadIssue("file", source.relative, 0, "file.zstd", actual, expected)
            return
        except _BROKEN as error:
            actual = f"sample {number}: {type(error).__name__}"
            yield ReadIssue(
                "record", source.relative, 0, "record.unreadable", actual, "a JSON sample in limits"
            )
            continue
        if isinstance(sample, dict):
            yield from _session(source, uids, sample, inner(head))


def _member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: int = LARGEST_DOCUMENT
) -> tuple[bytes, int]:
    """The bytes of a member, and how many more may be inflated. Raises ValueError beyond."""
    limit = min(LARGEST_DOCUMENT, budget)
    handle: IO[bytes]
    with archive.open(member) as handle:
        raw = handle.read(limit + 1)
    if len(raw) > limit:
        raise ValueError("more than the limit")
    return raw, budget - len(raw)


def _session(
    source: SourceFile, uids: Uids, sample: Record, head: Record
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.INSPECT)
    kept = inner(sample, "attachments")
    messages = dicts(sample.get("messages")) or dicts(sample.get("input"))
    if not messages and isinstance(sample.get("input"), str):
        messages = [{"role": "user", "content": sample["input"]}]
        messages += [inner(c, "message") for c in dicts(inner(sample, "output").get("choices"))]
    if not any(message.get("role") == "assistant" for message in messages):
        events = dicts(sample.get("events"))
        outputs = [inner(event, "output") for event in events if event.get("event") == "model"]
        messages += [inner(c, "message") for o in outputs for c in dicts(o.get("choices"))[:1]]
    has_source = any(message.get("source") == "input" for message in messages)
    for message in messages:
        _add(talk, message, kept, has_source=has_source)
    evaluated = inner(head, "eval")
    name = f"{plain(sample.get('id'))}_epoch_{plain(sample.get('epoch') or 1)}"
    yield from talk.session(
        name,
        uids=uids,
        agent_name=first_text(evaluated, "task"),
        started_at=epoch_seconds(sample.get("started_at"))
        or epoch_seconds(evaluated.get("created")),
    )


def _add(talk: Talk, message: Record, kept: Record, *, has_source: bool) -> None:
    role = message.get("role")
    content = message.get("content")
    shown = _kept(content, kept) if isinstance(content, str) else content
    given = list(pieces.of(talk, shown, 0, lambda part: _piece(part, kept)))
    if role == "assistant":
        answer = talk.answer(key=first_text(message, "id"), model=message.get("model"))
        pieces.add_to(talk, answer, given, 0)
        for call in dicts(message.get("tool_calls")):
            name = call.get("function")
            named = name if isinstance(name, str) else inner(call, "function").get("name")
            answer.call(call.get("id"), named, call.get("arguments"))
    elif role == "tool":
        error = inner(message, "error").get("message")
        call_id = plain(message.get("tool_call_id"))
        talk.results.add(
            call_id, pieces.text(given) or plain(error), isinstance(message.get("error"), dict)
        )
    elif role == "user" and has_source and message.get("source") not in ("input", "operator"):
        talk.notice(pieces.text(given))  # a solver wrote it: "Please proceed to the next step"
    else:
        pieces.add(talk, role, given)


def _piece(part: Record, kept: Record) -> pieces.Piece:
    """The piece of a part, with what the log stores once and refers to."""
    kind = kind_of(part)
    if kind == "tool_use":
        shown, failed = plain(part.get("result")), bool(part.get("error"))
        return pieces.Call(part.get("id"), part.get("name"), part.get("arguments"), shown, failed)
    if kind in _MEDIA:
        held = inline_media(_kept(plain(part.get(kind)), kept))
        return Attachment(first_text(part, "filename") or held.path, held.mime, held.data)
    if kind in ("text", "reasoning"):
        text = _kept(plain(part.get(kind)), kept)
        return pieces.Text(text) if kind == "text" else pieces.Thought(text)
    return pieces.SILENT if kind == "data" else pieces.UNKNOWN


def _kept(text: str, kept: Record) -> str:
    if not text.startswith(_REFERENCE):
        return text
    held = kept.get(text.removeprefix(_REFERENCE))
    return held if isinstance(held, str) else text
