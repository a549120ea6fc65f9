"""An OpenAI-compatible endpoint that misbehaves on demand, in a process of its own.

    python -m tests.construction.judging.calls.fault_server PORT_FILE

The user message says how: `item=a plan=429,drop,ok` makes the first call about item `a` fail with
status 429, the second break off, and every later one succeed. What the endpoint as a whole can do
stands in the path: `/v1` everything, `/noschema/v1` no `json_schema`, … (see `fault_replies`).
`/counts` tells calls and served replies by item, and the tokens that were billed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
from tests.construction.judging.calls.fault_batches import Batches
from tests.construction.judging.calls.fault_replies import Counts, Said, say

_HEAD = 64 * 1024


class Server:
    def __init__(self) -> None:
        self.counts = Counts()
        self.batches = Batches(self.counts)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = head.split("\r\n", 1)[0].split(" ")
        headers = dict(
            line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
        )
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        said = await self._answer(method, path, headers, body)
        if said.wait:
            await asyncio.sleep(said.wait)
        if said.content is None:
            return False
        lines = [f"HTTP/1.1 {said.status} Said", f"Content-Length: {len(said.content)}"]
        lines += [f"{name}: {value}" for name, value in said.headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + said.content[: said.sent])
        await writer.drain()
        return said.sent is None

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Said:
        where, _, _ = path.partition("?")
        if where == "/counts":
            return Said.of(200, self.counts.as_json())
        if where == "/set":
            self.batches.settings = json.loads(body)
            return Said.of(200, {})
        if where.endswith(("/chat/completions", "/responses")):
            self.counts.authorizations.add(headers.get("authorization", ""))
            return say(where, json.loads(body), self.counts)
        return self.batches.answer(method, where, body)


async def main(port_file: Path) -> None:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=_HEAD, backlog=1024)
    port: Any = listening.sockets[0].getsockname()[1]
    write_bytes(port_file, str(port).encode())
    async with listening:
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
