"""A client of services that costs little, and what it saw: what is measured is the server."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from construction.workflows.contracts import Request
from construction.workflows.declaration import operations
from flows.services.serve import _method_of, path_of

ATTEMPTS = 50
READ_BAR, WRITE_BAR = 50.0, 100.0  # ms, p95


@dataclass
class Tally:
    """What the clients of one run saw: latencies in ms, statuses, answers by attempt."""

    reads: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    cut_off: int = 0
    seconds: float = 0.0

    def add(self, number: int, request: Request, spent: float, status: int) -> None:
        """Count an answer to an attempt that took so many seconds."""
        is_read = operations(request.service)[request.operation].is_read
        (self.reads if is_read else self.writes).append(spent * 1000)
        self.statuses[status] += 1
        self.answered[number] += 1


def processor_seconds(pid: int) -> float:
    """Seconds of processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Connection:
    """One HTTP connection that is kept open, with the token of one instance."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def ask(self, request: Request) -> int:
        """The status of the answer. Raises OSError or EOFError where the server is gone."""
        method, target, body = wire(request)
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
        await self._reader.readexactly(length)
        return int(lines[0].split()[1])


def wire(request: Request) -> tuple[str, str, bytes]:
    """Method, target and body of a request to the routes."""
    operation = operations(request.service)[request.operation]
    others = {name: value for name, value in request.arguments.items() if name != "id"}
    identity = quote(str(request.arguments.get("id", "")), safe="")
    target = path_of(operation).replace("{id}", identity)
    if _method_of(operation) in ("GET", "DELETE"):
        plain = {k: json.dumps(v) if isinstance(v, bool) else v for k, v in others.items()}
        return _method_of(operation), f"{target}?{urlencode(plain)}" if plain else target, b""
    return _method_of(operation), target, json.dumps(others).encode()


def load_row(title: str, result: dict[str, Any]) -> list[str]:
    """A row of the table of one run."""
    return [
        title,
        f"{result['requests']:,}",
        f"{result['requests_per_second']:,}",
        f"{result['read_p50']} / {result['read_p95']}",
        f"{result['write_p50']} / {result['write_p95']}",
        f"{result['complete_logs']} of {ATTEMPTS}",
        str(result.get("server_ms", "")),
        str(result.get("load_before", "")),
    ]


def pace(pause: float) -> str:
    """How the requests of an attempt follow one another."""
    return f"every {pause:g} s" if pause else "at once after the answer"


def verdict(load: dict[str, Any]) -> str:
    """Are the bars met?"""
    is_met = load["read_p95"] < READ_BAR and load["write_p95"] < WRITE_BAR
    return "met" if is_met else "missed"
