"""Reads runs of agents over benchmarks.

- Inspect: logs, `.eval` archives and `.json` documents, a session for each sample. Inspect's own
  reader belongs to an extra, which a build does not need; the archive is plain.
- tau2-bench: results, simulations in which another model plays the person.
- Terminus: rows, as data sets of traces hold them: keys pressed in a terminal. The agent answers in
  JSON with the keys to press; what comes back is what the terminal then showed.
"""

from __future__ import annotations

import re
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
    objects,
)
from construction.sessions.readers.talk import (
    Record,
    Talk,
    Uids,
    decoded,
    dicts,
    first_text,
    inline_media,
    inner,
    kind_of,
    plain,
    type_name,
    without_thought,
)
from data.contracts import Attachment, Origin, ReadIssue, Session, SourceFormat

_SAMPLES, _HEADER, _START = "samples/", "header.json", "_journal/start.json"
_REFERENCE = "attachment://"
_MOST_SAMPLES = 100_000
_MOST_BYTES = 4 * 2**30  # of all samples, inflated
_MEDIA = ("image", "audio", "video", "document")
_BROKEN = (OSError, zipfile.BadZipFile, EOFError, ValueError, RuntimeError, JSONDecodeError)


def fits_inspect(sample: Sample) -> bool:
    """An archive with a header or a journal, or an evaluation document with its plan."""
    if sample.names:
        return _HEADER in sample.names or _START in sample.names
    head = sample.head
    return isinstance(head.get("eval"), dict) and bool(head.keys() & {"plan", "samples", "stats"})


def read_inspect(source: SourceFile) -> Iterator[Session | ReadIssue]:
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
        yield from _inspect_session(source, uids, sample, head)


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
            yield from _inspect_session(source, uids, sample, inner(head))


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


def _inspect_session(
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
        _add_inspect(talk, message, kept, has_source=has_source)
    evaluated = inner(head, "eval")
    name = f"{plain(sample.get('id'))}_epoch_{plain(sample.get('epoch') or 1)}"
    yield from talk.session(
        name,
        uids=uids,
        agent_name=first_text(evaluated, "task"),
        started_at=epoch_seconds(sample.get("started_at"))
        or epoch_seconds(evaluated.get("created")),
    )


def _add_inspect(talk: Talk, message: Record, kept: Record, *, has_source: bool) -> None:
    role = message.get("role")
    content = message.get("content")
    shown = _kept(content, kept) if isinstance(content, str) else content
    given = list(pieces.of(talk, shown, 0, lambda part: _inspect_piece(part, kept)))
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


def _inspect_piece(part: Record, kept: Record) -> pieces.Piece:
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


_MARKS = frozenset({"###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"})


def fits_tau2(sample: Sample) -> bool:
    """`simulations` next to tasks or info, or one simulation with its task's ID and reward."""
    return any(
        (isinstance(record.get("simulations"), list) and bool(record.keys() & {"tasks", "info"}))
        or _is_simulation(record)
        for record in sample.records
    )


def _is_simulation(record: Record) -> bool:
    return {"task_id", "messages"} <= record.keys() and bool(
        record.keys() & {"termination_reason", "reward_info"}
    )


def read_tau2(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each simulation; the calls of the one who plays the person are left out."""
    uids = Uids(source.relative)
    issues: list[ReadIssue] = []
    for line, held in objects(source, issues):
        for run in dicts(held.get("simulations")) or [held]:
            yield from _simulation(source, uids, run, inner(held, "info"), line)
    yield from issues


def _simulation(
    source: SourceFile, uids: Uids, run: Record, info: Record, line: int
) -> Iterator[Session | ReadIssue]:
    talk = Talk(source, SourceFormat.TAU2)
    model = first_text(inner(info, "agent_info"), "llm")
    for message in dicts(run.get("messages")):
        _add_tau2(talk, message, line, model)
    trial = f"_trial_{run['trial']}" if isinstance(run.get("trial"), int) else ""
    name = first_text(run, "id") or f"task_{plain(run.get('task_id'))}{trial}"
    reward = inner(run, "reward_info").get("reward")
    yield from talk.session(
        name,
        uids=uids,
        agent_name="tau2",
        started_at=epoch_seconds(run.get("start_time")),
        extra={"reward": reward} if isinstance(reward, int | float) else {},
    )


def _add_tau2(talk: Talk, message: Record, line: int, model: str | None) -> None:
    role, text = message.get("role"), plain(message.get("content"))
    at = epoch_seconds(message.get("timestamp"))
    calls = dicts(message.get("tool_calls"))
    if role == "assistant":
        answer = talk.answer(line, at=at, model=model)
        answer.say(text)
        for call in calls:
            function = inner(call, "function") or call
            answer.call(call.get("id"), function.get("name"), function.get("arguments"), line)
    elif role == "user":
        if calls:
            talk.dropped["call_of_user"] += len(calls)
        if text.strip() in _MARKS:
            talk.notice(text, line, at=at)
        else:
            talk.person(text, line, at=at)
    elif role == "tool":
        for result in dicts(message.get("tool_messages")) or [message]:
            if result.get("requestor") == "user":
                talk.skip("result_of_user")
                continue
            call_id = plain(result.get("id") or result.get("tool_call_id"))
            talk.results.add(call_id, plain(result.get("content")), result.get("error") is True)
    elif role == "system":
        talk.system(text, line, at=at)
    else:
        talk.unexpected(line, f"a message of role {type_name(role)}")


_TASK = re.compile(
    r"^Task Description:\n(.*?)(?=^Current [Tt]erminal [Ss](?:tate|creen):|\Z)", re.DOTALL | re.M
)


def fits_terminus(sample: Sample) -> bool:
    """A row with `conversations` in roles, and an agent name such as `terminus-2`."""
    return any(
        kind_of(record, "agent").startswith("terminus")
        and any("role" in message for message in dicts(record.get("conversations")))
        for record in sample.records
    )


def read_terminus(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each row."""
    uids = Uids(source.relative)
    for line, row in Talk(source, SourceFormat.TERMINUS).records():
        talk = Talk(source, SourceFormat.TERMINUS)
        for message in dicts(row.get("conversations")):
            _add_terminus(talk, kind_of(message, "role"), plain(message.get("content")), line)
        name = "-".join(filter(None, (first_text(row, "trial_name"), first_text(row, "episode"))))
        yield from talk.session(
            name or None,
            uids=uids,
            agent_name=first_text(row, "agent"),
            started_at=epoch_seconds(row.get("date")),
        )


def _add_terminus(talk: Talk, role: str, text: str, line: int) -> None:
    if role == "assistant":
        _add_answer(talk, text, line)
    elif role == "system":
        talk.system(text, line)
    elif not talk.drafts:
        task = _TASK.search(text)
        talk.person(text, line, said=task[1].strip() if task else None)
    elif talk.open:
        # The terminal shows all keys of an answer at once, after the last of them.
        *silent, last = talk.open
        for _ in silent:
            talk.result("")
        talk.result(text, call_id=last)
    else:
        talk.person(text, line, origin=Origin.AGENT)  # another agent hands the work over


def _add_answer(talk: Talk, text: str, line: int) -> None:
    answer = talk.answer(line)
    thought, text = without_thought(text)
    answer.think(thought)
    held = _object(text)
    answer.say(first_text(held, "analysis", "state_analysis") or (text if not held else ""))
    answer.say(first_text(held, "plan", "explanation"))
    for command in dicts(held.get("commands")):
        given = {"command": plain(command.get("keystrokes")).rstrip("\n")}
        answer.call(None, "terminal", given, line)


def _object(text: str) -> Record:
    """The object in an answer, which words or a fence may surround."""
    start, end = text.find("{"), text.rfind("}")
    return inner(decoded(text[start : end + 1]))
