"""Task instances as JSON and back: the private payload that stages hand on."""

from __future__ import annotations

import orjson
from pydantic import TypeAdapter

from data.contracts import TaskInstance

_INSTANCE = TypeAdapter(TaskInstance)


def dump_instance(instance: TaskInstance) -> str:
    """An instance as JSON text."""
    return orjson.dumps(instance).decode()


def load_instance(payload: str) -> TaskInstance:
    """The instance that `dump_instance` wrote."""
    return _INSTANCE.validate_json(payload)
