"""The replies of an endpoint, and the outcome of a question that follows from them.

A question is settled by at most two replies: the first, and one repair. The outcome depends on
their texts alone, so that a replay gives the same outcome as the run that paid for them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from construction.judging.calls.contracts import (
    Answered,
    CallReason,
    Outcome,
    Question,
    Unanswered,
    Usage,
)
from data.endpoints import plain_name
from data.text.scripts import NAME_RUN

TRIES = 2
_MALFORMED = frozenset({"json_invalid", "missing", "model_type"})
_HINTS = 8  # validation errors that a repair names
_PER_CENT = 100
_MENDS = 200  # places of one answer that are cut or left out
_CODE = re.compile(r"[a-z0-9_]{1,40}")
_TOO_LONG = "context_length_exceeded"  # a code of endpoints; stored as the `finish` of a reply
_FILTERED = "content_filter"
_NOT_TAKEN = "not_taken"
_LENGTHS = frozenset({"length", "max_output_tokens", "max_tokens"})
_NO_ROOM = ("context length", "context size", "context window")
_EMPTY: dict[str, Any] = {"string_type": "", "list_type": [], "tuple_type": []}
_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>")
_DECODER = json.JSONDecoder()
_RAISE = "raise judging.model.max_tokens, or lower judging.model.reasoning_effort"


@dataclass(frozen=True, slots=True)
class Reply:
    """One paid reply. `finish` is the endpoint's finish reason, or "" if it gave none.

    `left_out` names the settings without which it was asked, because the endpoint refused them.
    """

    text: str = field(repr=False)
    finish: str
    refused: bool
    model: str
    usage: Usage
    left_out: tuple[str, ...] = ()


# What is stored where an endpoint does not take a request that is like others which it answers.
NOT_TAKEN = Reply("", _NOT_TAKEN, True, "", Usage())


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


def at(document: Any, *path: str | int) -> Any:
    """What stands in a document under the names and numbers of `path`; None if nothing does."""
    for part in path:
        if isinstance(part, int):
            is_there = isinstance(document, list) and part < len(document)
            document = document[part] if is_there else None
        else:
            document = document.get(part) if isinstance(document, dict) else None
    return document


def _text(document: Any, *path: str | int) -> str:
    value = at(document, *path)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def read_reply(document: Any, worst: Usage, keys: Collection[str] = ()) -> Reply | None:
    """The reply in a chat completion or a response; None if the document is neither.

    An endpoint that reports no usage is charged the reserved worst case, `worst`. Names that it
    gives are replaced if they hold one of the `keys`, or are no plain names.
    """
    if isinstance(at(document, "output"), list):
        text, refusal, finish = _said_in_response(document)
    elif isinstance(at(document, "choices", 0), dict):
        message = at(document, "choices", 0, "message")
        text, refusal = _text(message, "content"), _text(message, "refusal")
        finish = _text(document, "choices", 0, "finish_reason")
    else:
        return None
    refused = bool(refusal) or finish == _FILTERED
    return Reply(
        text="" if refused else text,
        finish=plain_name("length" if finish in _LENGTHS else finish, keys)[:40],
        refused=refused,
        model=plain_name(_text(document, "model"), keys),
        usage=_usage(at(document, "usage"), worst),
    )


def _said_in_response(document: Any) -> tuple[str, str, str]:
    """Text, refusal and finish reason of a response."""
    messages = [item for item in document["output"] if at(item, "type") == "message"]
    parts = [part for message in messages for part in at(message, "content") or ()]
    text, refusal = ("".join(_text(part, kind) for part in parts) for kind in ("text", "refusal"))
    return text, refusal, _text(document, "incomplete_details", "reason") or "stop"


def _usage(usage: Any, worst: Usage) -> Usage:
    """What was billed. Tokens of the total that neither part names were reasoning, and output."""
    prompt, completion, total = (
        next((at(usage, n) for n in names if type(at(usage, n)) is int), None)
        for names in (
            ("prompt_tokens", "input_tokens"),
            ("completion_tokens", "output_tokens"),
            ("total_tokens",),
        )
    )
    if prompt is None or completion is None or min(prompt, completion) < 0:
        return worst
    completion = max(completion, (total or 0) - prompt)
    # The store holds 64-bit integers; no context window comes near this bound.
    return Usage(min(prompt, 10**12), min(completion, 10**12))


def declined(status: int, code: str, message: str) -> Reply | None:
    """The reply to store where an endpoint accepts no text of this kind or length.

    It costs nothing, and asking again would give the same; None: another error.
    """
    words = message[:4000].lower().replace("_", " ")
    if status in {400, 500} and (code == _TOO_LONG or any(said in words for said in _NO_ROOM)):
        return Reply("", _TOO_LONG, False, "", Usage())
    if status == 400 and code == _FILTERED:
        return Reply("", _FILTERED, True, "", Usage())
    return None


def _json_text(text: str) -> str:
    """The one JSON object in a reply, or what follows the reasoning if there is not just one."""
    said = _THOUGHT.split(text)[-1].strip()
    objects: list[str] = []
    start = said.find("{")
    while start >= 0:
        end = start + 1
        try:
            value, end = _DECODER.raw_decode(said, start)
            objects += [said[start:end]] if value else []
        except (ValueError, RecursionError):
            if said[start + 1 :].lstrip().startswith('"'):
                return said  # an object that breaks off: no part of it is the answer
        start = said.find("{", end)
    return objects[0] if len(objects) == 1 else said


def judge(reply: Reply, answer: type[BaseModel], limit: int | None = None) -> BaseModel | Unfit:
    """The validated answer in a reply, or why there is none; `limit` is that of its tokens."""
    if reply.refused:
        return Unfit(CallReason.REFUSED, f"refused, finish {safe_code(reply.finish) or 'unknown'}")
    if reply.finish == _TOO_LONG:
        return Unfit(CallReason.TOO_LONG, "the request does not fit into the model's context")
    text = _json_text(reply.text)
    try:
        # A complete answer counts, even if white space after it reached the limit.
        return answer.model_validate_json(text)
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False)
    if reply.finish == "length":
        return Unfit(CallReason.TRUNCATED, _cut(len(text), reply.usage, limit))
    mended = _mended(text, answer, frozenset({"extra_forbidden"}))
    if mended is not None:
        return mended[0]
    kinds = Counter(one["type"] for one in errors)
    summary = ", ".join(f"{kind}×{count}" for kind, count in sorted(kinds.items()))
    hints = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}"[:200] for one in errors[:_HINTS]]
    return Unfit(
        CallReason.INVALID,
        f"{len(text)} characters: {summary}",
        malformed=not _MALFORMED.isdisjoint(kinds),
        hint="; ".join(hints),
    )


def _cut(characters: int, usage: Usage, limit: int | None) -> str:
    """Which limit cut a reply, and what to do about it."""
    used = f"{characters} characters after {usage.completion_tokens} tokens"
    if limit is None:
        return f"{used}, cut at the endpoint's own limit: set judging.model.max_tokens"
    less = "; the endpoint itself may allow less" if usage.completion_tokens < limit // 2 else ""
    return f"{used}, cut at max_tokens {limit}: {_RAISE}{less}"


def _mended(
    text: str, answer: type[BaseModel], kinds: frozenset[str] | None = None
) -> tuple[BaseModel, tuple[str, ...]] | None:
    """The answer without the parts that do not fit, and which parts; None if too little is left.

    What is only written in another form is put right. Texts and lists are cut to their longest;
    what is missing is empty where it may be; fields that are unknown, or invalid and not required,
    and items of lists with anything else are left out. `kinds`: of these only errors of such types.
    """
    value = parse(text.encode("utf-8", "replace"))
    if isinstance(value, dict) and len(value) == 1 and value.keys().isdisjoint(answer.model_fields):
        (inner,) = value.values()  # such as {"answer": {…}}
        is_answer = isinstance(inner, dict) and not answer.model_fields.keys().isdisjoint(inner)
        value = inner if is_answer else value
    done: list[str] = []
    for _ in range(_MENDS):
        try:
            return answer.model_validate_json(orjson.dumps(value)), tuple(done)
        except ValidationError as invalid:
            error = invalid.errors(include_url=False)[0]
        if not _reformed(value, error):
            is_left = kinds is not None and error["type"] not in kinds
            if is_left or not (_filled(value, error, answer) or _mend_one(value, error)):
                return None
        done.append(f"{'.'.join(map(str, error['loc']))}: {error['type']}")
    return None


def _reformed(value: Any, error: ErrorDetails) -> bool:
    """Put one place right that says what it means in another form."""
    where: tuple[int | str, ...] = error["loc"] or ("",)
    *path, last = where
    box: Any = at(value, *path)
    if not error["loc"] or not isinstance(box, dict if isinstance(last, str) else list):
        return False
    kind, given = error["type"], error["input"]
    new: Any = None
    if kind == "literal_error" and isinstance(given, str):
        plain = "_".join(NAME_RUN.findall(given.casefold()))
        options = re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", "")))
        new = next((one for one in options if one.casefold() == plain), None)
    elif given is None and kind in _EMPTY:
        new = _EMPTY[kind]
    elif kind in ("list_type", "tuple_type") and isinstance(given, str | dict):
        new = [given]
    elif kind == "float_parsing" and str(given).rstrip().endswith("%"):
        new = str(given).rstrip(" %")
    elif kind == "less_than_equal" and error.get("ctx", {}).get("le") == 1:
        share = float(given) / _PER_CENT
        new = share if share <= 1 else None
    if new is None:
        return False
    box[last] = new
    return True


def _filled(value: Any, error: ErrorDetails, answer: type[BaseModel]) -> bool:
    """Put nothing where something is missing, if nothing may stand there."""
    where: tuple[int | str, ...] = error["loc"] or ("",)
    *path, last = where
    box = at(value, *path)
    if error["type"] != "missing" or not isinstance(box, dict):
        return False
    nothing: tuple[Any, ...] = ("", [])
    for empty in nothing:
        box[last] = empty
        try:
            answer.model_validate_json(orjson.dumps(value))
        except ValidationError as invalid:
            errors = invalid.errors(include_input=False, include_url=False)
            if error["loc"] in [one["loc"] for one in errors]:
                continue
        return True
    del box[last]
    return False


def _mend_one(value: Any, error: ErrorDetails) -> bool:
    """Cut or leave out the place of one error; whether it could be done."""
    places: list[tuple[Any, Any]] = []  # a container, and the part of it
    for part in error["loc"]:
        if not isinstance(value, dict | list):
            break  # the names of branches of a union stand after what they are branches of
        named: Any = part
        if named in value if isinstance(value, dict) else isinstance(named, int):
            places.append((value, named))
            value = value[named]
    most = error.get("ctx", {}).get("max_length")
    if error["type"] in {"string_too_long", "too_long"} and places and isinstance(most, int):
        container, part = places[-1]
        container[part] = value[: most - 1] + "…" if isinstance(value, str) else value[:most]
        return True
    if error["type"] == "extra_forbidden" and places:
        del places[-1][0][places[-1][1]]
        return True
    for container, part in reversed(places):
        if isinstance(container, list):
            del container[part]
            return True
    if error["type"] != "missing" and places:  # then it is missing, unless it need not be there
        del places[0][0][places[0][1]]
        return True
    return False


def settle(
    question: Question, replies: Sequence[Reply], limit: int | None = None
) -> Outcome | None:
    """The outcome that follows from the replies so far; None: another reply is needed."""
    if not replies:
        return None
    last, model = replies[-1], question.answer
    mended: tuple[str, ...] = ()
    judged = judge(last, model, limit)
    usage = sum((reply.usage for reply in replies), Usage())
    left_out = tuple(sorted({name for reply in replies for name in reply.left_out}))
    if isinstance(judged, Unfit) and judged.reason is CallReason.TOO_LONG:
        first = judge(replies[0], model, limit)  # a repair is longer than what it repairs
        judged = first if isinstance(first, Unfit) else judged
    elif isinstance(judged, Unfit) and len(replies) < TRIES and last.finish != _NOT_TAKEN:
        return None
    elif isinstance(judged, Unfit) and judged.reason is CallReason.INVALID:
        judged, mended = _mended(_json_text(last.text), model) or (judged, ())
    if isinstance(judged, Unfit):
        return Unanswered(question.item_id, judged.reason, judged.detail, usage, left_out)
    repaired = len(replies) > 1
    return Answered(question.item_id, judged, last.model, usage, repaired, mended, left_out)


def safe_code(word: object) -> str:
    """An endpoint's error code; "" if it does not look like a code and could hold text."""
    return word if isinstance(word, str) and _CODE.fullmatch(word) else ""
