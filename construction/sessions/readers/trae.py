"""Reads trajectories of Trae Agent: the task, and what the model was sent and answered."""

from __future__ import annotations

from collections.abc import Iterator

from construction.sessions.readers.source import Sample, SourceFile, document_of, epoch_seconds
from construction.sessions.readers.talk import Record, Talk, dicts, first_text, inner, plain
from data.contracts import ReadIssue, Session, SourceFormat


def fits(sample: Sample) -> bool:
    """A `task` next to `agent_steps` and `llm_interactions`."""
    return {"task", "agent_steps", "llm_interactions"} <= sample.head.keys()


def read(source: SourceFile) -> Iterator[Session | ReadIssue]:
    """The session of a run; the steps are read where the exchanges with the model are left out.

    The words of `user` behind the task are the program's own, when an answer calls no tool.
    """
    head = inner(document_of(source))
    talk = Talk(source, SourceFormat.TRAE)
    steps = dicts(head.get("agent_steps"))
    exchanges = dicts(head.get("llm_interactions"))
    sent = [message for e in exchanges[:1] for message in dicts(e.get("input_messages"))]
    for message in sent:
        if message.get("role") == "system":
            talk.system(plain(message.get("content")))
    talk.person(plain(head.get("task")), at=epoch_seconds(head.get("start_time")))
    known = [plain(message.get("content")) for message in sent]
    for exchange in exchanges:
        for message in dicts(exchange.get("input_messages")):
            words = plain(message.get("content"))
            if message.get("role") == "user" and words not in known:
                known.append(words)  # some clients are sent all that was said before
                talk.notice(words)
        _add_answer(talk, inner(exchange, "response"), exchange)
    for step in steps:
        if not exchanges:
            _add_answer(talk, inner(step, "llm_response"), step)
        for result in dicts(step.get("tool_results")):
            _add_result(talk, result)
        if error := first_text(step, "error"):
            talk.notice(error, at=epoch_seconds(step.get("timestamp")))
    yield from talk.session(
        agent_name="trae-agent", started_at=epoch_seconds(head.get("start_time"))
    )


def _add_answer(talk: Talk, response: Record, around: Record) -> None:
    if not response:
        return
    at, model = epoch_seconds(around.get("timestamp")), response.get("model")
    answer = talk.answer(at=at, model=model)
    answer.say(response.get("content"))
    answer.stop_reason = first_text(response, "finish_reason")
    for call in dicts(response.get("tool_calls")) or dicts(around.get("tool_calls")):
        answer.call(call.get("call_id") or call.get("id"), call.get("name"), call.get("arguments"))


def _add_result(talk: Talk, result: Record) -> None:
    shown = "\n".join(filter(None, (plain(result.get(key)) for key in ("result", "error"))))
    own = plain(result.get("call_id") or result.get("id"))
    talk.results.add(own, shown, result.get("success") is False)
