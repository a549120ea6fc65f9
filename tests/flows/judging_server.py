"""An endpoint that judges, in a process of its own: fitting answers, some only at the second try.

    python -m tests.flows.judging_server PORT_FILE

`/counts` tells how often each request was answered, by its digest.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.judging_replay_server import Fitting, serve
from data.canonical import digest
from tests.construction.judging.calls.fault_replies import Said

_REPO = Path(__file__).parents[2]
_PAUSE = 0.1  # seconds for each answer, so that a build can be killed between two


class Flaky(Fitting):
    def __init__(self) -> None:
        super().__init__()
        self._asked: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Said:
        if path == "/counts":
            return Said.of(200, self._answered)
        name = digest(json.loads(body)["messages"])
        self._asked[name] += 1
        if self._asked[name] == 1 and int(name[:2], 16) % 3 == 0:
            busy = {"error": {"message": "busy", "type": "busy", "code": "busy"}}
            return Said.of(503, busy, headers={"Retry-After": "0"})
        self._answered[name] += 1
        return replace(await super()._answer(method, path, headers, body), wait=_PAUSE)


@contextmanager
def judging(folder: Path) -> Iterator[str]:
    """The address of a running server, without `/v1`."""
    port = folder / "port"
    command = [sys.executable, "-m", "tests.flows.judging_server", str(port)]
    process = subprocess.Popen(command, cwd=_REPO)
    try:
        while not port.exists() and process.poll() is None:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text()}"
    finally:
        process.kill()
        process.wait()


def answered(url: str) -> dict[str, int]:
    """How often each request was answered."""
    with urllib.request.urlopen(f"{url}/counts", timeout=30) as result:
        return dict(json.load(result))


if __name__ == "__main__":
    asyncio.run(serve(Flaky(), Path(sys.argv[1])))
