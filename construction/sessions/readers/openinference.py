"""Reads spans with OpenInference's attributes: exports of Phoenix, Arize and OTLP."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.otel_genai import (
    attributes_of,
    has_attributes,
    placed,
    read_spans,
)
from construction.sessions.readers.source import Sample, SourceFile
from construction.sessions.readers.talk import Record, first_text, inner, plain
from construction.sessions.readers.traces import (
    Message,
    Span,
    exchanged,
    listed,
    message_of,
    unflattened,
)
from data.contracts import ReadIssue, Session, SourceFormat

_MARKS = ("openinference.", "llm.input_messages", "llm.output_messages")
_COLUMN = "attributes."


def fits(sample: Sample) -> bool:
    """Spans with `openinference.span.kind` or `llm.input_messages`, nested or in columns."""
    if has_attributes(sample, _MARKS):
        return True
    return any(
        key.startswith(tuple(f"{_COLUMN}{mark}" for mark in _MARKS))
        for record in sample.records
        for key in record
    )


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace."""
    return read_spans(source, SourceFormat.OPENINFERENCE, _span, _with_attributes)


def _with_attributes(record: Record) -> Record:
    """A row of a table with columns `attributes.…` as a span."""
    if "attributes" in record:
        return record
    held = {k.removeprefix(_COLUMN): v for k, v in record.items() if k.startswith(_COLUMN)}
    if not held:
        return record
    context = {"trace_id": record.get("context.trace_id")}
    return {**record, "attributes": held, "context": inner(record, "context") or context}


def _span(raw: Record, line: int) -> Span | None:
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
