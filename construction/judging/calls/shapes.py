"""The three ways to ask for structured output, and which of them an endpoint accepts.

They are tried once per base URL and model: `json_schema`, then `json_object` with the schema, then
a forced tool call. Which one worked is kept in a small file beside the replies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from construction.judging.calls.replies import Unfit
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import pretty_json


class Shape(StrEnum):
    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TOOL = "tool"


_ORDER = tuple(Shape)
_TOOL_NAME = "answer"
_BOUNDS = frozenset({"maxLength", "maxItems"})
_LARGEST = 1000  # largest bound that servers can put into a grammar; llama.cpp fails at 1,500
_UNSUPPORTED = re.compile(
    r"response_format|json_schema|json_object|structured.output|tool_choice|\btools?\b|grammar|guided"
)


def shape_fields(shape: Shape, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a request that asks for `schema` in the given shape.

    Large bounds are left out where servers make a grammar of them; every reply is validated.
    """
    if shape is Shape.SCHEMA:
        named = {"name": _TOOL_NAME, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    schema = _loose(schema)
    if shape is Shape.OBJECT:
        return {"response_format": {"type": "json_object", "schema": schema}}
    function = {"name": _TOOL_NAME, "description": "Give the answer.", "parameters": schema}
    chosen = {"type": "function", "function": {"name": _TOOL_NAME}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": chosen}


def _loose(value: Any) -> Any:
    """A schema without its large bounds."""
    if isinstance(value, Mapping):
        large = {name for name in _BOUNDS & value.keys() if _is_large(value[name])}
        return {name: _loose(part) for name, part in value.items() if name not in large}
    return [_loose(part) for part in value] if isinstance(value, list) else value


def _is_large(bound: Any) -> bool:
    return isinstance(bound, int) and bound > _LARGEST


def is_unsupported(status: int, message: str) -> bool:
    """Whether an endpoint refused the shape of a request (some do so with status 500)."""
    if status not in {400, 404, 415, 422, 500, 501}:
        return False
    return bool(_UNSUPPORTED.search(message[:4000].lower()))


def wants_completion_limit(status: int, message: str) -> bool:
    """Whether the endpoint takes `max_completion_tokens` only (reasoning models)."""
    return status == 400 and "max_completion_tokens" in message[:4000]


class Dialect:
    """What is known of one endpoint and model; `known` after the first well-formed reply.

    An endpoint may refuse one schema and accept others: refusals are remembered per schema.
    """

    def __init__(self, path: Path | None, base_url: str, model: str) -> None:
        self._path, self._name = path, f"{base_url} {model}"
        learnt = _read(path).get(self._name, {})
        self.known = learnt.get("shape") in _ORDER
        self._shape = Shape(learnt["shape"]) if self.known else _ORDER[0]
        self.limit_field = (
            "max_completion_tokens" if learnt.get("completion_limit") is True else "max_tokens"
        )
        self._refused: dict[str, set[Shape]] = {}

    def shape(self, schema: str) -> Shape | None:
        """The shape in which to ask for `schema` (a digest); None if each was refused."""
        refused = self._refused.get(schema, set())
        start = _ORDER.index(self._shape)
        return next((s for s in _ORDER[start:] + _ORDER[:start] if s not in refused), None)

    def learn(self, shape: Shape, judged: BaseModel | Unfit) -> None:
        """Remember whether a reply had the required form."""
        if self.known:
            return
        if not isinstance(judged, Unfit) or judged.is_well_formed:
            self._shape, self.known = shape, True
            self._save()
        elif judged.malformed and shape is not _ORDER[-1]:
            self._leave(shape)

    def adapt(self, status: int, message: str, shape: Shape, schema: str, limit: str) -> bool:
        """Learn from a request that was refused; returns whether to try another form.

        `shape`, `schema` (its digest) and `limit` are those of the request.
        """
        if wants_completion_limit(status, message) and limit == "max_tokens":
            self.limit_field = "max_completion_tokens"
            if self.known:
                self._save()
            return True
        if not is_unsupported(status, message):
            return False
        self._refused.setdefault(schema, set()).add(shape)
        self._leave(shape)
        return True

    def _leave(self, shape: Shape) -> None:
        if not self.known and shape is self._shape:
            self._shape = _ORDER[(_ORDER.index(shape) + 1) % len(_ORDER)]

    def _save(self) -> None:
        if self._path is None:
            return
        learnt = {
            "shape": self._shape.value,
            "completion_limit": self.limit_field == "max_completion_tokens",
        }
        everything = {**_read(self._path), self._name: learnt}
        write_bytes(self._path, pretty_json(everything), mode=PRIVATE_FILE)


def _read(path: Path | None) -> dict[str, Any]:
    """What earlier runs learnt, by endpoint and model; nothing if the file cannot be read."""
    try:
        endpoints = orjson.loads(path.read_bytes()) if path is not None else {}
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    if not isinstance(endpoints, dict):
        return {}
    return {name: told for name, told in endpoints.items() if isinstance(told, dict)}
