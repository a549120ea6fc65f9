"""Reads traces of Langfuse: traces with their observations, or observations alone."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import Record, dicts, first_text, inner, kind_of, plain
from construction.sessions.readers.traces import Span, exchanged, sessions_of
from data.contracts import ReadIssue, Session, SourceFormat

_KINDS = frozenset(
    {"GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"}
    | {"GUARDRAIL"}
)
_MODELS = frozenset({"GENERATION"})


def fits(sample: Sample) -> bool:
    """Traces with `observations`, or observations of their types with a `traceId` and an item."""
    return any(
        _is_observation(item)
        for record in sample.records
        for item in (record, *dicts(record.get("observations"))[:5])
    )


def _is_observation(record: Record) -> bool:
    return kind_of(record) in _KINDS and bool({"traceId", "trace_id"} & record.keys())


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace, or of each session of several traces."""
    spans: list[Span] = []
    issues: list[ReadIssue] = []
    threads: dict[str, str] = {}
    for line, record in objects(source, issues):
        if "observations" in record or not _is_observation(record):
            head = inner(record, "trace") or record
            trace = first_text(head, "id") or f"trace-{line}"
            if thread := first_text(head, "sessionId", "session_id"):
                threads[trace] = thread
            spans.append(_root(head, trace, line))
        for entry in dicts(record.get("observations")) or [record]:
            if _is_observation(entry) and (span := _span(entry, line)) is not None:
                spans.append(span)
    for span in spans:
        span.thread = threads.get(span.trace)
    yield from issues
    yield from sessions_of(source, SourceFormat.LANGFUSE, spans)


def _root(record: Record, trace: str, line: int) -> Span:
    span = Span(trace, epoch_seconds(record.get("timestamp")), is_root=True, line=line)
    span.is_agent = True
    span.messages = exchanged(record.get("input"), record.get("output"))
    return span


def _span(item: Record, line: int) -> Span | None:
    trace = first_text(item, "traceId", "trace_id") or "trace"
    span = Span(trace, epoch_seconds(item.get("startTime", item.get("start_time"))), line=line)
    kind = kind_of(item)
    if kind == "TOOL":
        span.tool = plain(item.get("name"))
        held = item.get("output")
        span.result = plain(held.get("content", held) if isinstance(held, dict) else held)
        span.call_id = first_text(inner(item, "output"), "tool_call_id")
        span.failed = item.get("level") == "ERROR"
        return span
    span.is_agent = kind not in _MODELS
    if kind in _MODELS or (kind == "AGENT" and not item.get("parentObservationId")):
        span.model = first_text(item, "model", "providedModelName")
        span.messages = exchanged(item.get("input"), item.get("output"))
    return span if span.messages else None
