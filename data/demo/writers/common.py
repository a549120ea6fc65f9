"""What the log writers share: JSON lines, times and ids."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson

from data.demo.script import Call, Script, Tool

MODEL = "example-model-1"


def dump(record: Any) -> bytes:
    """One line of JSON without the line feed."""
    return orjson.dumps(record)


def iso(at: int, milliseconds: int = 0) -> str:
    """`2025-03-04T09:15:00.000Z`"""
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}Z"


class Ids:
    """Consecutive ids of one session, which depend on nothing else."""

    def __init__(self, script: Script) -> None:
        self._digest = script.digest
        self._count = 0

    def short(self) -> str:
        """Eight hex digits."""
        self._count += 1
        return f"{self._digest[:4]}{self._count:04x}"

    def uuid(self) -> str:
        self._count += 1
        d = self._digest
        return f"{d[:8]}-{d[8:12]}-4{d[12:15]}-9{d[15:18]}-{self._count:012x}"

    def call(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._digest[:12]}{self._count:06x}"


def named_call(
    call: Call, *, read: str, write: str, fetch: str, run: str
) -> tuple[str, dict[str, Any]]:
    """A call's name, from the harness's names of the four tools, and its arguments."""
    if call.tool is Tool.READ:
        return read, {"path": call.target}
    if call.tool is Tool.WRITE:
        return write, {"path": call.target, "content": call.content}
    if call.tool is Tool.FETCH:
        return fetch, {"url": call.target}
    return run, {"command": call.target}
