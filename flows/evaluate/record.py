"""From a sample of Inspect's log to an attempt: status, usage, calls, statements, answer."""

from __future__ import annotations

from collections.abc import Iterator

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from data.attempts import AttemptRecord
from data.canonical import digest
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Call,
    Configuration,
    Submission,
    Usage,
)
from data.neutralise import one_line

_STATUS_OF_LIMIT = {
    "time": AttemptStatus.TIMEOUT,
    "working": AttemptStatus.TIMEOUT,
    "token": AttemptStatus.BUDGET,
    "cost": AttemptStatus.BUDGET,
    "message": AttemptStatus.BUDGET,
    "turn": AttemptStatus.BUDGET,
}
_LONGEST_ERROR = 300


def record_of(
    sample: EvalSample, configuration: Configuration, release_digest: str
) -> AttemptRecord:
    """The attempt of one sample, ended in whichever way."""
    task_id, epoch = str(sample.id), sample.epoch
    identity = [release_digest, task_id, configuration.name, epoch]
    submission = Submission(
        answer=sample.output.completion if sample.output.choices else None,
        statements=tuple(_statements(sample)),
        calls=tuple(_calls(sample)),
        steps=len(list(_inferences(sample))),
    )
    models = [event for event in sample.events if isinstance(event, ModelEvent)]
    error = sample.error.message if sample.error else None
    attempt = Attempt(
        attempt_id=digest(identity)[:16],
        release_digest=release_digest,
        task_id=task_id,
        configuration=configuration,
        epoch=epoch,
        status=_status(sample),
        termination=None,
        steps=submission.steps,
        usage=_usage(sample),
        seconds=round(sample.total_time or 0.0, 3),
        retries=sum(event.retries or 0 for event in models),
        log_digest=digest(sample.model_dump(mode="json", exclude={"timelines"})),
        error=one_line(error)[:_LONGEST_ERROR] if error else None,
    )
    return AttemptRecord(attempt, submission)


def _status(sample: EvalSample) -> AttemptStatus:
    """An error that stopped the sample is the infrastructure's: agents' errors are answers."""
    if sample.error is not None:
        return AttemptStatus.INFRA_ERROR
    if sample.limit is not None:
        return _STATUS_OF_LIMIT.get(sample.limit.type, AttemptStatus.BUDGET)
    return AttemptStatus.COMPLETED


def _usage(sample: EvalSample) -> Usage:
    used = list(sample.model_usage.values())
    costs = [item.total_cost for item in used if item.total_cost is not None]
    return Usage(
        input_tokens=sum(item.input_tokens for item in used),
        cached_tokens=sum(item.input_tokens_cache_read or 0 for item in used),
        output_tokens=sum(item.output_tokens for item in used),
        reasoning_tokens=sum(item.reasoning_tokens or 0 for item in used),
        cost=sum(costs) if costs else None,
    )


def _inferences(sample: EvalSample) -> Iterator[ChatMessageAssistant]:
    yield from (item for item in sample.messages if isinstance(item, ChatMessageAssistant))


def _statements(sample: EvalSample) -> Iterator[tuple[int, str]]:
    for step, message in enumerate(_inferences(sample), 1):
        if message.text.strip():
            yield step, message.text


def _calls(sample: EvalSample) -> Iterator[Call]:
    results = {
        item.tool_call_id: item for item in sample.messages if isinstance(item, ChatMessageTool)
    }
    events = {event.id: event for event in sample.events if isinstance(event, ToolEvent)}
    for step, message in enumerate(_inferences(sample), 1):
        for call in message.tool_calls or ():
            if call.function == "submit":
                continue
            yield _call(sample, step, call, results.get(call.id), events.get(call.id))


def _call(
    sample: EvalSample,
    step: int,
    call: ToolCall,
    result: ChatMessageTool | None,
    event: ToolEvent | None,
) -> Call:
    error = result.error if result is not None else None
    shown = result.text if result is not None else ""
    start, duration = _times(sample, event)
    return Call(
        call_id=call.id,
        step=step,
        name=call.function,
        arguments=call.arguments,
        output=shown or (error.message if error is not None else ""),
        is_error=result is None or error is not None,
        error_message=error.message if error is not None else None,
        start_ms=start,
        duration_ms=duration,
    )


def _times(sample: EvalSample, event: ToolEvent | None) -> tuple[float | None, float | None]:
    """Milliseconds from the start of the attempt, and how long the tool worked."""
    first = next(iter(sample.events), None)
    if event is None or first is None:
        return None, None
    start = (event.timestamp - first.timestamp).total_seconds() * 1000
    return round(start, 1), round((event.working_time or 0.0) * 1000, 1)
