"""The replies of an endpoint, and the outcome of a question that follows from them.

A question is settled by at most two replies: the first, and one repair. The outcome depends on
their texts alone, so that a replay gives the same outcome as the run that paid for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from construction.judging.calls.contracts import (
    Answered,
    CallReason,
    Outcome,
    Question,
    Unanswered,
    Usage,
)
from data.endpoint_names import plain_name

TRIES = 2
_FENCE = re.compile(r"\A\s*```[a-zA-Z]{0,10}\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_MALFORMED = frozenset({"json_invalid", "missing", "model_type"})
_HINTS = 8  # validation errors that a repair names
_CODE = re.compile(r"[a-z0-9_]{1,40}")
_TOO_LONG = "context_length_exceeded"  # a code of endpoints; stored as the `finish` of a reply
_FILTERED = "content_filter"
_NO_ROOM = re.compile(r"context[ _](?:length|size|window)")
_THOUGHT = "</think>"


@dataclass(frozen=True, slots=True)
class Reply:
    """One paid reply. `finish` is the endpoint's finish reason, or "" if it gave none."""

    text: str = field(repr=False)
    finish: str
    refused: bool
    model: str
    usage: Usage


# What is stored where an endpoint does not take a request that is like others which it answers.
NOT_TAKEN = Reply("", "not_taken", True, "", Usage())


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a reply cannot be used.

    `malformed`: not even an object with the required fields. `hint` tells the model what to
    correct; it may quote the reply, so it is sent to the model only.
    """

    reason: CallReason
    detail: str
    malformed: bool = False
    hint: str = field(default="", repr=False)

    @property
    def is_well_formed(self) -> bool:
        """Whether it is an object with the required fields, if not with valid values."""
        return self.reason is CallReason.INVALID and not self.malformed


def parse(body: bytes) -> Any:
    """The decoded JSON of a body; None if it is no JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def read_reply(document: Any, worst: Usage, keys: Collection[str] = ()) -> Reply | None:
    """The reply in a chat completion; None if the document is not one.

    An endpoint that reports no usage is charged the reserved worst case, `worst`. Names that it
    gives are replaced if they hold one of the `keys`, or are no plain names.
    """
    choices = _get(document, "choices", list)
    if not choices:
        return None
    message = _get(choices[0], "message", dict) or {}
    finish = _get(choices[0], "finish_reason", str) or ""
    refused = bool(_get(message, "refusal", str)) or finish == "content_filter"
    text = _get(message, "content", str) or _tool_arguments(message)
    return Reply(
        text="" if refused else text.encode("utf-8", "replace").decode(),
        finish=plain_name(finish, keys)[:40],
        refused=refused,
        model=plain_name(_get(document, "model", str) or "", keys),
        usage=_usage(_get(document, "usage", dict), worst),
    )


def _get(document: Any, key: str, kind: type) -> Any:
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _tool_arguments(message: Any) -> str:
    calls = _get(message, "tool_calls", list)
    function = _get(calls[0], "function", dict) if calls else None
    return _get(function, "arguments", str) or ""


def _usage(usage: Any, worst: Usage) -> Usage:
    prompt, completion = _get(usage, "prompt_tokens", int), _get(usage, "completion_tokens", int)
    if prompt is None or completion is None or min(prompt, completion) < 0:
        return worst
    # The store holds 64-bit integers; no context window comes near this bound.
    return Usage(min(prompt, 10**12), min(completion, 10**12))


def declined(status: int, code: str, message: str) -> Reply | None:
    """The reply to store where an endpoint accepts no text of this kind or length.

    It costs nothing, and asking again would give the same; None: another error.
    """
    if status in {400, 500} and (code == _TOO_LONG or _NO_ROOM.search(message[:4000].lower())):
        return Reply("", _TOO_LONG, False, "", Usage())
    if status == 400 and code == _FILTERED:
        return Reply("", _FILTERED, True, "", Usage())
    return None


def json_text(text: str) -> str:
    """The JSON in a reply, without reasoning before it and a Markdown fence around it."""
    _, _, said = text.rpartition(_THOUGHT)
    fenced = _FENCE.match(said)
    return (fenced.group(1) if fenced else said).strip()


def judge(reply: Reply, answer: type[BaseModel]) -> BaseModel | Unfit:
    """The validated answer in a reply, or why there is none."""
    if reply.refused:
        return Unfit(CallReason.REFUSED, f"refused, finish {safe_code(reply.finish) or 'unknown'}")
    if reply.finish == _TOO_LONG:
        return Unfit(CallReason.TOO_LONG, "the request does not fit into the model's context")
    text = json_text(reply.text)
    try:
        # A complete answer counts, even if white space after it reached the limit.
        return answer.model_validate_json(text)
    except ValidationError as error:
        if reply.finish == "length":
            return Unfit(CallReason.TRUNCATED, f"{len(text)} characters, cut at max_tokens")
        return _invalid(text, error)


def _invalid(text: str, error: ValidationError) -> Unfit:
    errors = error.errors(include_input=False, include_url=False, include_context=False)
    kinds = Counter(one["type"] for one in errors)
    summary = ", ".join(f"{kind}×{count}" for kind, count in sorted(kinds.items()))
    hints = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}"[:200] for one in errors[:_HINTS]]
    return Unfit(
        CallReason.INVALID,
        f"{len(text)} characters: {summary}",
        malformed=not _MALFORMED.isdisjoint(kinds),
        hint="; ".join(hints),
    )


def settle(question: Question, replies: Sequence[Reply], *, replayed: bool) -> Outcome | None:
    """The outcome that follows from the replies so far; None: another reply is needed."""
    if not replies:
        return None
    judged = judge(replies[-1], question.answer)
    usage = sum((reply.usage for reply in replies), Usage())
    if not isinstance(judged, Unfit):
        repaired, model = len(replies) > 1, replies[-1].model
        return Answered(question.item_id, judged, model, usage, replayed, repaired)
    if judged.reason is CallReason.TOO_LONG:
        first = judge(replies[0], question.answer)  # a repair is longer than what it repairs
        judged = first if isinstance(first, Unfit) else judged
    elif len(replies) < TRIES:
        return None
    return Unanswered(question.item_id, judged.reason, judged.detail, usage, replayed)


def safe_code(word: object) -> str:
    """An endpoint's error code; "" if it does not look like a code and could hold text."""
    return word if isinstance(word, str) and _CODE.fullmatch(word) else ""
