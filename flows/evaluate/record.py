"""From a sample of Inspect's log to an attempt: status, usage, calls, statements, answer.

`trajectory_of` is its trajectory as an ATIF document, in the shape in which sessions are exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalSample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ContentReasoning,
)
from inspect_ai.tool import ToolCall

from construction.sandbox.sandbox import SandboxFailed
from construction.sessions.export_atif import to_atif
from construction.sessions.readers.talk import agent_turn, system_turn, user_turn
from data.attempts import FOLDER, AttemptRecord, attempt_id_of, attempt_name
from data.canonical import digest
from data.contracts import Session, SourceFormat, Turn
from data.contracts import ToolCall as SessionCall
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Call,
    Submission,
    Usage,
)
from data.endpoints import Tokens
from data.neutralise import one_line
from flows.evaluate.budget import Account, Spending, tokens_of
from flows.evaluate.plan import Plan
from flows.evaluate.programs import BEGUN, FAILED
from flows.evaluate.tools import kept

_VERSION = f"inspect-ai {version('inspect-ai')}"  # what runs the agent


_STATUS_OF_LIMIT = {
    "time": AttemptStatus.TIMEOUT,
    "working": AttemptStatus.TIMEOUT,
    "token": AttemptStatus.BUDGET,
    "cost": AttemptStatus.BUDGET,
    "message": AttemptStatus.BUDGET,
    "turn": AttemptStatus.BUDGET,
}
_LONGEST_ERROR = 300
_LONGEST_TEXT = 1_000_000  # characters of an answer, a statement or an output; the rest is cut
_BROKEN = AttemptStatus.INFRA_ERROR
_FREE = Spending()  # no price is known


def record_of(
    sample: EvalSample, plan: Plan, account: Account | None, before: Attempt | None
) -> AttemptRecord:
    """The attempt of one sample, ended in whichever way.

    `account` is None for an agent without a model; `before` is what is on record of an earlier run.
    """
    task_id, epoch = str(sample.id), sample.epoch
    served = kept(sample.store)
    submission = Submission(
        answer=shortened(sample.output.completion) if sample.output.choices else None,
        statements=tuple(statements_of(sample)),
        calls=tuple(_program_calls(sample) if plan.program is not None else calls_of(sample)),
        audit=served.audit,
        changes=served.changes,
        steps=len(list(inferences_of(sample))),
    )
    earlier = before.retries + 1 if before is not None and before.status is _BROKEN else 0
    replayed, repeated = (
        (account.journal.replayed_seconds, account.repeated) if account is not None else (0.0, 0)
    )
    attempt = Attempt(
        attempt_id=attempt_id_of(plan.release.digest, task_id, plan.configuration.name, epoch),
        release_digest=plan.release.digest,
        task_id=task_id,
        configuration=plan.configuration,
        epoch=epoch,
        status=status_of(sample, submission.steps, before),
        termination=None,
        steps=submission.steps,
        usage=usage_of(sample, plan.spending, account),
        seconds=round((sample.total_time or 0.0) + replayed, 3),
        retries=earlier + repeated,
        log_digest=digest(sample.model_dump(mode="json", exclude={"timelines"})),
        error=error_of(sample),
    )
    return AttemptRecord(attempt, submission)


def shortened(text: str) -> str:
    """A text as it is recorded: no answer that can be right is longer."""
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}… (+{len(text) - _LONGEST_TEXT} characters)"


def status_of(sample: EvalSample, steps: int, before: Attempt | None = None) -> AttemptStatus:
    """How a sample ended.

    An error that stopped it is the infrastructure's: agents' errors are answers. But if the same
    replies end the sandbox again, it is the agent's doing; so it is if a program ends it again that
    has asked for none.
    """
    if sample.error is not None:
        is_sandbox = SandboxFailed.__name__ in sample.error.traceback
        if is_sandbox and before is not None and (before.status, before.steps) == (_BROKEN, steps):
            return AttemptStatus.AGENT_ERROR if steps or BEGUN in sample.store else _BROKEN
        return _BROKEN
    if FAILED in sample.store:
        return AttemptStatus.AGENT_ERROR
    if sample.limit is not None:
        return _STATUS_OF_LIMIT.get(sample.limit.type, AttemptStatus.BUDGET)
    return AttemptStatus.COMPLETED


def error_of(sample: EvalSample) -> str | None:
    """What ended it early, in one line."""
    if sample.error is not None:
        return one_line(sample.error.message)[:_LONGEST_ERROR]
    if sample.limit is not None:
        return sample.limit.reason
    return sample.store.get(FAILED)


def usage_of(
    sample: EvalSample, spending: Spending = _FREE, account: Account | None = None
) -> Usage:
    used = list(sample.model_usage.values())
    unknown = 0 if account is None else account.journal.unknown
    tokens = sum(map(tokens_of, used), Tokens())
    priced = spending.price is not None and not unknown
    return Usage(
        input_tokens=tokens.input + tokens.cache_write,
        cached_tokens=tokens.cache_read,
        output_tokens=tokens.output,
        reasoning_tokens=sum(item.reasoning_tokens or 0 for item in used),
        cost=float(spending.amount(tokens).cost) if priced else None,
        price_date=spending.price_date,
        unknown_calls=unknown,
    )


def inferences_of(sample: EvalSample) -> Iterator[ChatMessageAssistant]:
    yield from (item for item in sample.messages if isinstance(item, ChatMessageAssistant))


def statements_of(sample: EvalSample) -> Iterator[tuple[int, str]]:
    for step, message in enumerate(inferences_of(sample), 1):
        if message.text.strip():
            yield step, shortened(message.text)


def calls_of(sample: EvalSample) -> Iterator[Call]:
    results = {
        item.tool_call_id: item for item in sample.messages if isinstance(item, ChatMessageTool)
    }
    events = {event.id: event for event in sample.events if isinstance(event, ToolEvent)}
    for step, message in enumerate(inferences_of(sample), 1):
        for call in message.tool_calls or ():
            if call.function == "submit":
                continue
            yield _call(sample, step, call, results.get(call.id), events.get(call.id))


def _program_calls(sample: EvalSample) -> Iterator[Call]:
    """The calls of a program, with those of the task's tools as the runner answered them.

    A program names and shows them in its own way, and one whose model writes code may make calls
    that no message holds: these belong to the inference that was under way.
    """
    answered = [event for event in sample.events if isinstance(event, ToolEvent)]
    for call in calls_of(sample):
        event = next((event for event in answered if _is_of(event, call)), None)
        if event is None:
            yield call
        else:
            answered.remove(event)
            yield _answered(sample, event, call.step)
    for event in answered:
        before = sample.events[: sample.events.index(event)]
        step = sum(isinstance(item, ModelEvent) for item in before)
        yield _answered(sample, event, max(step, 1))


def _is_of(event: ToolEvent, call: Call) -> bool:
    """Is it the runner's side of a call?

    Not every protocol has ids for calls, and some programs call all tools by a tool of their own.
    """
    return event.id == call.call_id or event.arguments in (
        call.arguments if call.name.endswith(event.function) else None,
        *call.arguments.values(),
    )


def _answered(sample: EvalSample, event: ToolEvent, step: int) -> Call:
    error = event.error.message if event.error is not None else None
    start, duration = _times(sample, event)
    return Call(
        call_id=event.id,
        step=step,
        name=event.function,
        arguments=event.arguments,
        output=shortened(error if error is not None else str(event.result)),
        is_error=error is not None,
        error_message=error,
        start_ms=start,
        duration_ms=duration,
    )


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
        output=shortened(shown or (error.message if error is not None else "")),
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


def trajectory_of(sample: EvalSample, record: AttemptRecord) -> dict[str, Any]:
    """The ATIF document of a sample: its messages with calls and results, tokens of each step."""
    attempt = record.attempt
    configuration = attempt.configuration
    name = attempt_name(attempt.task_id, attempt.epoch)
    turns = tuple(_turns(sample))
    session = Session(
        uid=attempt.attempt_id,
        session_id=name,
        source_format=SourceFormat.ATIF,
        source_path=f"{FOLDER}/{name}.json",
        turns=turns,
        started_at=turns[0].at if turns else None,
        agent_name=configuration.harness,
        agent_version=_VERSION,
    )
    document = to_atif(session)
    document["agent"]["model_name"] = configuration.model
    document["extra"]["release_digest"] = attempt.release_digest
    inferences = [step for step in document["steps"] if step["source"] == "agent"]
    for step, tokens in zip(inferences, _tokens_of_steps(sample), strict=False):
        step["metrics"] = {
            "prompt_tokens": tokens.total - tokens.output,
            "completion_tokens": tokens.output,
            "cached_tokens": tokens.cache_read,
        }
    document["final_metrics"] = _final_metrics(attempt.usage, len(document["steps"]))
    return document


def _turns(sample: EvalSample) -> Iterator[Turn]:
    results = {
        message.tool_call_id: message
        for message in sample.messages
        if isinstance(message, ChatMessageTool)
    }
    said = [item for item in sample.messages if not isinstance(item, ChatMessageTool)]
    for index, message in enumerate(said):
        if isinstance(message, ChatMessageSystem):
            yield system_turn(index, shortened(message.text), 0)
        elif isinstance(message, ChatMessageAssistant):
            yield _agent_turn(index, message, results)
        else:
            yield user_turn(index, shortened(message.text), 0)


def _agent_turn(
    index: int, message: ChatMessageAssistant, results: Mapping[str | None, ChatMessageTool]
) -> Turn:
    calls = (
        SessionCall(call.id, call.function, call.arguments, *_shown(results.get(call.id)))
        for call in message.tool_calls or ()
    )
    content = message.content if isinstance(message.content, list) else []
    thinking = [part.reasoning for part in content if isinstance(part, ContentReasoning)]
    return agent_turn(
        index,
        shortened(message.text),
        0,
        thinking="\n".join(thinking),
        model=message.model,
        tool_calls=tuple(calls),
    )


def _shown(result: ChatMessageTool | None) -> tuple[str | None, bool]:
    """What a call showed, and whether it failed."""
    if result is None:
        return None, False
    error = result.error.message if result.error is not None else None
    return shortened(result.text or error or ""), error is not None


def _tokens_of_steps(sample: EvalSample) -> Iterator[Tokens]:
    for event in sample.events:
        if isinstance(event, ModelEvent) and event.output.usage is not None:
            yield tokens_of(event.output.usage)


def _final_metrics(usage: Usage, steps: int) -> dict[str, Any]:
    metrics = {
        "total_prompt_tokens": usage.input_tokens + usage.cached_tokens,
        "total_completion_tokens": usage.output_tokens,
        "total_cached_tokens": usage.cached_tokens,
        "total_steps": steps,
    }
    return metrics if usage.cost is None else {**metrics, "total_cost_usd": usage.cost}
