"""An endpoint that gives every question of judging a fitting answer at once: PORT_FILE."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
from data.canonical import digest
from tests.construction.judging.calls.fault_replies import Said
from tests.construction.judging.calls.fault_server import Server
from tests.construction.judging.model.answers import (
    DIMENSIONS,
    criterion,
    graded,
    screened,
    written,
)

_END = "\n⟦end of material"


class Fitting(Server):
    """The tests' server, with answers of its own."""

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Said:
        requests = json.loads(body)
        schema = requests["response_format"]["json_schema"]["schema"]
        text = json.dumps(_answer(schema["properties"], _material(requests)), ensure_ascii=False)
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4}
        return Said.of(200, {"model": "fake-1", "choices": choices, "usage": usage})


def _material(requests: Any) -> Any:
    """The case that a request is about, out of its block."""
    content = requests["messages"][1]["content"]
    said = content if isinstance(content, str) else content[0]["text"]
    start = said.index("⟧\n") + 2
    return json.loads(said[start : said.index(_END, start)])


def _answer(fields: Any, case: Any) -> dict[str, Any]:
    said = " ".join(one["text"] for one in case["said"])
    if "verdict" in fields:
        return screened(
            verdict="self_contained" if int(digest(said)[:8], 16) % 10 else "ambiguous_task"
        )
    if "difficulty" in fields:
        return written()
    if "criteria" in fields:
        facts = [(file["path"], "") for file in case.get("input_files", ())][:2]
        return graded(*(criterion(name, 0.2, *facts) for name in DIMENSIONS))
    raise ValueError(f"no answer with {sorted(fields)}")


async def serve(server: Server, port_file: Path) -> None:
    """Listen until killed; the port stands in the file once it does."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
    port: Any = listening.sockets[0].getsockname()[1]
    write_bytes(port_file, str(port).encode())
    async with listening:
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Fitting(), Path(sys.argv[1])))
