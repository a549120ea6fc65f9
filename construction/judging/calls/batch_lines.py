"""The files of the Batch API: one request a line going out, one reply a line coming back. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from construction.judging.calls.config import LlmConfig, LlmRuntime
from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import TRIES, Reply, declined, parse, read_reply, safe_code
from construction.judging.calls.requests import Turn, body, form, worst_case
from construction.judging.calls.shapes import Dialect, Shape

_URL = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Order:
    """One request of a batch: its question's key, its turn, the form it is asked in."""

    key: str
    turn: Turn
    shape: Shape
    limit_field: str
    worst: Usage
    line: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line that came back: a reply, or a status with a code and the error's message."""

    key: str
    number: int
    reply: Reply | None
    status: int = 0
    code: str = ""
    message: str = field(default="", repr=False)


def order(key: str, turn: Turn, config: LlmConfig, dialect: Dialect) -> Order | None:
    """The request for one turn; None if the endpoint takes no form of it."""
    shape, limit = dialect.shape(form(turn.question.answer).digest), dialect.limit_field
    if shape is None:
        return None
    request = {
        "custom_id": _custom_id(key, turn.number),
        "method": "POST",
        "url": _URL,
        "body": body(turn, config, shape, limit),
    }
    line = orjson.dumps(request) + b"\n"
    return Order(key, turn, shape, limit, worst_case(turn, config), line)


def chunks(orders: Iterable[Order], runtime: LlmRuntime) -> Iterator[list[Order]]:
    """Orders in batches that keep within the endpoint's limits."""
    chunk: list[Order] = []
    size = 0
    for one in orders:
        full = len(chunk) >= runtime.batch_requests or size + len(one.line) > runtime.batch_bytes
        if chunk and full:
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += len(one.line)
    if chunk:
        yield chunk


def total(orders: Sequence[Order]) -> Usage:
    """What a batch can cost at most, before its share of the price."""
    return sum((one.worst for one in orders), Usage())


def read_lines(content: bytes, longest: int) -> Iterator[Line]:
    """The lines of an output or error file; what is none of ours is passed over."""
    for raw in content.split(b"\n"):
        document = parse(raw) if 0 < len(raw) <= longest else None
        place = _place(_at(document, "custom_id"))
        if place is None:
            continue
        response = _at(document, "response")
        reply = read_reply(_at(response, "body"), Usage())
        status = _at(response, "status_code")
        if status == 200 and reply is not None:
            yield Line(*place, reply)
            continue
        error = _at(_at(response, "body"), "error") or _at(document, "error")
        status = status if isinstance(status, int) else 0
        code, message = safe_code(_at(error, "code")), str(_at(error, "message") or "")
        yield Line(*place, declined(status, code, message), status, code, message)


def _at(document: Any, key: str) -> Any:
    return document.get(key) if isinstance(document, dict) else None


def _custom_id(key: str, number: int) -> str:
    """45 characters: endpoints take no more than 64."""
    return f"{base64.urlsafe_b64encode(bytes.fromhex(key)).decode().rstrip('=')}-{number}"


def _place(custom_id: Any) -> tuple[str, int] | None:
    """Key and turn of a custom id; None if it is not one of ours."""
    if not isinstance(custom_id, str) or len(custom_id) != 45 or custom_id[43] != "-":
        return None
    try:
        key = base64.b64decode(custom_id[:43] + "=", altchars=b"-_", validate=True).hex()
    except (binascii.Error, ValueError):
        return None
    number = custom_id[44:]
    return (key, int(number)) if number in map(str, range(TRIES)) else None
