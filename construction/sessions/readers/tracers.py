"""Reads traces as OpenTelemetry (OTLP) and as tracers export the same spans: Langfuse, LangSmith
(with LangGraph), OpenInference.

OpenTelemetry by the conventions for generative AI, and the older ones: events of spans, and the
numbered attributes of OpenLLMetry. Langfuse: traces with their observations, or observations alone.
LangSmith: runs as lines, lists, batches, runs inside runs, and LangGraph's threads. OpenInference:
exports of Phoenix, Arize, OTLP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    settle,
    unflattened,
)
from data.contracts import ReadIssue, Session, SourceFormat

_RESOURCES = ("resourceSpans", "resource_spans")
_GENAI_MARKS = ("gen_ai.", "ai.prompt", "llm.request", "traceloop.")
_DEEPEST = 12


def fits_genai(sample: Sample) -> bool:
    """Spans, in a resource or bare, with `gen_ai.…` attributes or their predecessors."""
    return any(_has_marks(record, _GENAI_MARKS) for record in sample.records)


def _has_attributes(sample: Sample, marks: tuple[str, ...]) -> bool:
    """Whether a span of the sample has an attribute that begins with one of the marks."""
    return any(_has_marks(record, marks) for record in sample.records)


def _has_marks(record: Record, marks: tuple[str, ...]) -> bool:
    return any(key.startswith(marks) for span in _raw_spans(record) for key in _attributes_of(span))


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


def _attributes_of(span: Record) -> Record:
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


def _placed(span: Record, attributes: Record, line: int) -> Span:
    """A span in its trace, and in the conversation that the trace continues."""
    trace = first_text(span, "traceId", "trace_id", "TraceId")
    for key in ("context", "spanContext", "_spanContext"):
        trace = trace or first_text(inner(span, key), "trace_id", "traceId")
    thread = first_text(attributes, "gen_ai.conversation.id", "session.id", "langfuse.session.id")
    return Span(trace or "trace", _start_of(span), thread=thread, line=line)


def read_genai(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace."""
    return _read_spans(source, SourceFormat.OTEL_GENAI, _genai_span)


def _read_spans(
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


def _genai_span(raw: Record, line: int) -> Span | None:
    held = _attributes_of(raw)
    span = _placed(raw, held, line)
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
        name, held = plain(event.get("name")), _attributes_of(event)
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
    if _has_attributes(sample, _MARKS):
        return True
    return any(
        key.startswith(tuple(f"{_COLUMN}{mark}" for mark in _MARKS))
        for record in sample.records
        for key in record
    )


def read_openinference(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """A session for each conversation of each trace."""
    return _read_spans(source, SourceFormat.OPENINFERENCE, _openinference_span, _with_attributes)


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
    held = _attributes_of(raw)
    kind = plain(held.get("openinference.span.kind") or raw.get("span_kind")).upper()
    nested = unflattened(held)
    span = _placed(raw, held, line)
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
