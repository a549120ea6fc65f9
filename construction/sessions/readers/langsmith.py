"""Reads runs of LangSmith (lines, lists, batches, runs inside runs) and LangGraph's threads."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import Record, dicts, first_text, inner, kind_of, plain
from construction.sessions.readers.traces import Span, exchanged, messages_of, sessions_of
from data.contracts import ReadIssue, Session, SourceFormat

_KINDS = frozenset({"human", "ai", "system", "tool"})


def fits(sample: Sample) -> bool:
    """Runs with a `run_type` and a place in a trace, or the `values` of a LangGraph thread."""
    return any(
        _is_run(run) or _is_state(run)
        for record in sample.records
        for run in (record, *_listed(record)[:5])
    )


def _listed(record: Record) -> list[Record]:
    """The runs of an export, or of a batch that a tracer sent with what it sent later of them."""
    return dicts(record.get("runs")) or dicts(record.get("post")) + dicts(record.get("patch"))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and (
        "inputs" in record or bool(record.keys() & {"trace_id", "dotted_order", "child_runs"})
    )


def _is_state(record: Record) -> bool:
    messages = dicts(inner(record, "values").get("messages"))
    return bool(messages) and all(kind_of(m) in _KINDS or "lc" in m for m in messages[:5])


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace or thread, or thread of several traces."""
    spans: list[Span] = []
    issues: list[ReadIssue] = []
    runs: dict[str, tuple[int, Record]] = {}
    for line, record in objects(source, issues):
        if _is_state(record):
            spans.append(_state(record, line))
            continue
        waiting = (_listed(record) or [record])[::-1]
        while waiting:
            run = waiting.pop()
            own = first_text(run, "trace_id") or first_text(run, "id")
            for child in dicts(run.get("child_runs")):
                child.setdefault("trace_id", own)
                waiting.append(child)
            number, before = runs.pop(key := plain(run.get("id") or len(runs)), (line, {}))
            runs[key] = number, before | {k: v for k, v in run.items() if v is not None}
    spans += [span for line, run in runs.values() if (span := _span(run, line)) is not None]
    yield from issues
    yield from sessions_of(source, SourceFormat.LANGSMITH, spans)


def _state(record: Record, line: int) -> Span:
    thread = first_text(inner(record, "metadata"), "thread_id") or f"thread-{line}"
    span = Span(thread, epoch_seconds(record.get("created_at")), is_root=True, line=line)
    span.messages = messages_of(record["values"])
    return span


def _span(run: Record, line: int) -> Span | None:
    metadata = inner(run, "extra", "metadata") or inner(run, "metadata")
    thread = first_text(metadata, "session_id", "thread_id", "conversation_id")
    trace = first_text(run, "trace_id", "id") or "trace"
    span = Span(trace, epoch_seconds(run.get("start_time")), thread=thread, line=line)
    inputs, outputs = run.get("inputs"), run.get("outputs")
    if run.get("run_type") == "tool":
        span.tool = plain(run.get("name"))
        shown = outputs.get("output", outputs) if isinstance(outputs, dict) else outputs
        span.result = plain(shown.get("content") if isinstance(shown, dict) else shown)
        span.call_id = first_text(inner(outputs, "output"), "tool_call_id")
        span.failed = bool(run.get("error"))
        return span
    span.model = first_text(metadata, "ls_model_name")
    span.is_root = not run.get("parent_run_id")
    span.is_agent = run.get("run_type") != "llm"
    if span.is_root or not span.is_agent:
        span.messages = exchanged(inputs, outputs)
    return span if span.messages else None
