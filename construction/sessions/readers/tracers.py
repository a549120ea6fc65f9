"""Reads what tracers export of the same spans: Langfuse, LangSmith (with LangGraph), OpenInference.

Langfuse: traces with their observations, or observations alone. LangSmith: runs as lines, lists,
batches, runs inside runs, and LangGraph's threads. OpenInference: exports of Phoenix, Arize, OTLP.
"""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.otel_genai import (
    attributes_of,
    has_attributes,
    placed,
    read_spans,
)
from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import Record, dicts, first_text, inner, kind_of, plain
from construction.sessions.readers.traces import (
    Message,
    Span,
    exchanged,
    listed,
    message_of,
    messages_of,
    sessions_of,
    unflattened,
)
from data.contracts import ReadIssue, Session, SourceFormat

_LANGFUSE_KINDS = frozenset(
    {"GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"}
    | {"GUARDRAIL"}
)
_MODELS = frozenset({"GENERATION"})


def fits_langfuse(sample: Sample) -> bool:
    """Traces with `observations`, or observations of their types with a `traceId` and an item."""
    return any(
        _is_observation(item)
        for record in sample.records
        for item in (record, *dicts(record.get("observations"))[:5])
    )


def _is_observation(record: Record) -> bool:
    return kind_of(record) in _LANGFUSE_KINDS and bool({"traceId", "trace_id"} & record.keys())


def read_langfuse(source: SourceFile) -> Iterator[Session | ReadIssue]:
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
            if _is_observation(entry) and (span := _langfuse_span(entry, line)) is not None:
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


def _langfuse_span(item: Record, line: int) -> Span | None:
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


_KINDS = frozenset({"human", "ai", "system", "tool"})


def fits_langsmith(sample: Sample) -> bool:
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


def read_langsmith(source: SourceFile) -> Iterator[Session | ReadIssue]:
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


_MARKS = ("openinference.", "llm.input_messages", "llm.output_messages")
_COLUMN = "attributes."


def fits_openinference(sample: Sample) -> bool:
    """Spans with `openinference.span.kind` or `llm.input_messages`, nested or in columns."""
    if has_attributes(sample, _MARKS):
        return True
    return any(
        key.startswith(tuple(f"{_COLUMN}{mark}" for mark in _MARKS))
        for record in sample.records
        for key in record
    )


def read_openinference(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace."""
    return read_spans(source, SourceFormat.OPENINFERENCE, _openinference_span, _with_attributes)


def _with_attributes(record: Record) -> Record:
    """A row of a table with columns `attributes.…` as a span."""
    if "attributes" in record:
        return record
    held = {k.removeprefix(_COLUMN): v for k, v in record.items() if k.startswith(_COLUMN)}
    if not held:
        return record
    context = {"trace_id": record.get("context.trace_id")}
    return {**record, "attributes": held, "context": inner(record, "context") or context}


def _openinference_span(raw: Record, line: int) -> Span | None:
    held = attributes_of(raw)
    kind = plain(held.get("openinference.span.kind") or raw.get("span_kind")).upper()
    nested = unflattened(held)
    span = placed(raw, held, line)
    given, made = inner(nested, "input").get("value"), inner(nested, "output").get("value")
    if kind == "TOOL":
        span.tool = first_text(held, "tool.name") or plain(raw.get("name"))
        span.call_id = first_text(held, "tool_call.id", "tool.id")
        span.result = None if made is None else plain(made)
        span.failed = plain(raw.get("status_code") or inner(raw, "status").get("code")) == "ERROR"
        return span
    llm = inner(nested, "llm")
    span.model = first_text(llm, "model_name")
    span.messages = _listed_messages(llm.get("input_messages"), "user")
    span.messages += _listed_messages(llm.get("output_messages"), "assistant")
    if not span.messages and kind in ("AGENT", "CHAIN", "LLM"):
        span.is_agent = kind != "LLM"
        span.is_root = not (raw.get("parent_id") or raw.get("parentSpanId"))
        if span.is_root or not span.is_agent:
            span.messages = exchanged(given, made)
    return span if span.messages else None


def _listed_messages(value: object, role: str) -> list[Message]:
    messages: list[Message] = []
    for item in listed(value):
        held = inner(item, "message") or (item if isinstance(item, dict) else {})
        made = {"role": role, **held}
        for key in ("tool_calls", "contents"):
            if key in made:
                made[key] = [inner(c, "tool_call") or c for c in listed(made[key])]
        if "contents" in made and not made.get("content"):
            made["content"] = made.pop("contents")
        message = message_of(made)
        if message is not None:
            messages.append(message)
    return messages
