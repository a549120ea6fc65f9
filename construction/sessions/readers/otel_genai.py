"""Reads OpenTelemetry traces as JSON (OTLP) by the conventions for generative AI.

Also the older ones: events of spans, and the numbered attributes of OpenLLMetry; spans with the
attributes of OpenInference are read by `openinference`, which shares `spans_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from construction.sessions.readers.source import Sample, SourceFile, epoch_seconds, objects
from construction.sessions.readers.talk import Record, dicts, first_text, inner, plain
from construction.sessions.readers.traces import (
    Message,
    Span,
    exchanged,
    listed,
    message_of,
    messages_of,
    sessions_of,
    settle,
    unflattened,
)
from data.contracts import ReadIssue, Session, SourceFormat

_RESOURCES = ("resourceSpans", "resource_spans")
_MARKS = ("gen_ai.", "ai.prompt", "llm.request", "traceloop.")
_DEEPEST = 12


def fits(sample: Sample) -> bool:
    """Spans, in a resource or bare, with `gen_ai.…` attributes or their predecessors."""
    return any(_has_marks(record, _MARKS) for record in sample.records)


def has_attributes(sample: Sample, marks: tuple[str, ...]) -> bool:
    """Whether a span of the sample has an attribute that begins with one of the marks."""
    return any(_has_marks(record, marks) for record in sample.records)


def _has_marks(record: Record, marks: tuple[str, ...]) -> bool:
    return any(key.startswith(marks) for span in _raw_spans(record) for key in attributes_of(span))


def _raw_spans(record: object) -> list[Record]:
    """The spans in a record: those of an export, or the record itself."""
    if not isinstance(record, dict):
        return []
    spans: list[Record] = []
    for resource in _first(record, _RESOURCES) or [record]:
        for scope in _first(resource, ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")):
            spans += dicts(scope.get("spans"))
    if not spans and isinstance(record.get("spans"), list):
        spans = dicts(record["spans"])
    if not spans and isinstance(record.get("attributes"), dict | list):
        spans = [record]
    return spans


def _first(record: Record, keys: tuple[str, ...]) -> list[Record]:
    return next((dicts(record[key]) for key in keys if key in record), [])


def attributes_of(span: Record) -> Record:
    """The attributes as an object, whichever way they are written; nested ones are flattened."""
    held = span.get("attributes")
    if isinstance(held, list):
        return {plain(item.get("key")): _any_value(item.get("value")) for item in dicts(held)}
    flat: Record = {}
    waiting: list[tuple[str, object, int]] = [("", held, 0)]
    while waiting:
        prefix, value, depth = waiting.pop()
        if isinstance(value, dict) and depth < _DEEPEST:
            waiting += [
                (f"{prefix}.{key}" if prefix else key, inside, depth + 1)
                for key, inside in reversed(value.items())
            ]
        else:
            flat[prefix] = value
    return flat


def _any_value(value: object, depth: int = 0) -> object:
    """The value in OTLP's envelope: `{"stringValue": …}`."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return value
    for key in ("stringValue", "string_value", "boolValue", "bool_value", "doubleValue"):
        if key in value:
            return value[key]
    for key in ("intValue", "int_value"):
        if key in value:
            return int(value[key]) if plain(value[key]).lstrip("-").isdecimal() else value[key]
    for key in ("arrayValue", "array_value"):
        if key in value:
            return [_any_value(item, depth + 1) for item in dicts(inner(value, key).get("values"))]
    for key in ("kvlistValue", "kvlist_value"):
        if key in value:
            listed_ = dicts(inner(value, key).get("values"))
            return {
                plain(item.get("key")): _any_value(item.get("value"), depth + 1) for item in listed_
            }
    return value


def _start_of(span: Record) -> float | None:
    """When a span began, in seconds: nanoseconds of OTLP, or a time as text."""
    nano = span.get("startTimeUnixNano", span.get("start_time_unix_nano"))
    if isinstance(nano, int | str) and plain(nano).isdecimal() and len(plain(nano)) < 30:
        return epoch_seconds(int(nano) / 1e9)
    start = span.get("startTime")
    if isinstance(start, list) and start and isinstance(start[0], int):
        return epoch_seconds(start[0])  # seconds and nanoseconds, as the SDK for JavaScript has it
    return epoch_seconds(first_text(span, "start_time", "startTime", "StartTime"))


def placed(span: Record, attributes: Record, line: int) -> Span:
    """A span in its trace, and in the conversation that the trace continues."""
    trace = first_text(span, "traceId", "trace_id", "TraceId")
    for key in ("context", "spanContext", "_spanContext"):
        trace = trace or first_text(inner(span, key), "trace_id", "traceId")
    thread = first_text(attributes, "gen_ai.conversation.id", "session.id", "langfuse.session.id")
    return Span(trace or "trace", _start_of(span), thread=thread, line=line)


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace."""
    return read_spans(source, SourceFormat.OTEL_GENAI, _span)


def read_spans(
    source: SourceFile,
    source_format: SourceFormat,
    span_of: Callable[[Record, int], Span | None],
    row: Callable[[Record], Record] = dict,
) -> Iterator[Session | ReadIssue]:
    """The sessions of a file whose records, each as `row` gives it, hold spans."""
    spans: list[Span] = []
    issues: list[ReadIssue] = []
    above: dict[str, str] = {}  # of each span, unless it is an agent's
    below: list[tuple[Span, str]] = []
    for line, record in objects(source, issues):
        for raw in _raw_spans(row(record)):
            span, own = span_of(raw, line), first_text(raw, "spanId", "span_id")
            parent = first_text(raw, "parentSpanId", "parent_id") or ""
            if span is not None and span.is_agent:
                span.id = own
            else:
                above[own or ""] = parent
            if span is not None:
                spans.append(span)
                below.append((span, parent))
    for span, owner in below:
        seen: set[str] = set()
        while owner in above and owner not in seen:
            seen.add(owner)
            owner = above[owner]
        span.owner = owner or None
    yield from issues
    yield from sessions_of(source, source_format, spans)


def _span(raw: Record, line: int) -> Span | None:
    held = attributes_of(raw)
    span = placed(raw, held, line)
    operation = held.get("gen_ai.operation.name")
    tool = first_text(held, "gen_ai.tool.name", "ai.toolCall.name")
    if operation == "execute_tool" or (tool is not None and operation is None):
        span.tool = tool or plain(raw.get("name")).removeprefix("execute_tool ")
        span.call_id = first_text(held, "gen_ai.tool.call.id", "ai.toolCall.id")
        result = held.get("gen_ai.tool.call.result", held.get("ai.toolCall.result"))
        span.result = None if result is None else plain(result)
        span.failed = plain(inner(raw, "status").get("code")) in ("2", "STATUS_CODE_ERROR", "ERROR")
        return span
    span.model = first_text(held, "gen_ai.response.model", "gen_ai.request.model", "ai.model.id")
    span.messages = _messages(raw, held)
    settle(span)
    # The calls of the AI SDK are `ai.….doGenerate` and `ai.….doStream` below one such as these.
    named = plain(held.get("ai.operationId"))
    span.is_agent = operation in ("invoke_agent", "create_agent") or (
        named.startswith("ai.") and named.count(".") == 1
    )
    span.is_root = span.is_agent and not (raw.get("parentSpanId") or raw.get("parent_id"))
    return span if span.messages else None


def _messages(raw: Record, held: Record) -> list[Message]:
    system = messages_of(_instructions(held.get("gen_ai.system_instructions")), "system")
    given = messages_of(held.get("gen_ai.input.messages"))
    made = messages_of(held.get("gen_ai.output.messages"), "assistant")
    if given or made:
        return [*system, *given, *made]
    events = _from_events(raw)
    if events:
        return [*system, *events]
    nested = inner(unflattened(held), "gen_ai")
    prompts = [message_of(item) for item in listed(nested.get("prompt"))]
    answers = [message_of(_answered(item)) for item in listed(nested.get("completion"))]
    messages = [message for message in (*prompts, *answers) if message is not None]
    if messages:
        return messages
    given = messages_of(held.get("ai.prompt.messages")) or exchanged(held.get("ai.prompt"), None)
    calls = messages_of(held.get("ai.response.toolCalls"))
    text = messages_of(held.get("ai.response.text", held.get("ai.response.object")), "assistant")
    return [*given, *text, *calls] if given else []


def _answered(item: object) -> object:
    return {"role": "assistant", **item} if isinstance(item, dict) else item


def _instructions(value: object) -> object:
    parts = [item for item in listed(value) if isinstance(item, dict)]
    return "\n".join(plain(part.get("content") or part.get("text")) for part in parts) or value


def _from_events(raw: Record) -> list[Message]:
    """Messages logged as events of a span: `gen_ai.user.message`, `gen_ai.choice` and so on."""
    messages: list[Message] = []
    for event in dicts(raw.get("events")):
        name, held = plain(event.get("name")), attributes_of(event)
        if name == "gen_ai.client.inference.operation.details":
            messages += messages_of(held.get("gen_ai.input.messages"))
            messages += messages_of(held.get("gen_ai.output.messages"), "assistant")
        elif name == "gen_ai.content.prompt":
            messages += messages_of(held.get("gen_ai.prompt"))
        elif name == "gen_ai.content.completion":
            messages += messages_of(held.get("gen_ai.completion"), "assistant")
        elif name.startswith("gen_ai.") and name.endswith((".message", ".choice")):
            role = "assistant" if name.endswith(".choice") else name.split(".")[1]
            body = unflattened(held)
            inside = body.get("message", body)
            inside = (
                messages_of(inside, role)
                if isinstance(inside, str)
                else [message_of({"role": role, **(inside if isinstance(inside, dict) else {})})]
            )
            messages += [message for message in inside if message is not None]
    return messages
