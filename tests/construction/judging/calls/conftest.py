"""The fault server, and clients that speak to it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Mode, Question
from construction.judging.llm import Client

REPO = Path(__file__).parents[4]


class Verdict(BaseModel):
    """What the fault server answers."""

    label: str
    score: int
    why: str


@dataclass(frozen=True)
class Fault:
    """A running fault server."""

    url: str

    def base(self, kind: str = "") -> str:
        return f"{self.url}/{kind}/v1" if kind else f"{self.url}/v1"

    def counts(self) -> Any:
        with urllib.request.urlopen(f"{self.url}/counts", timeout=30) as answer:
            return json.load(answer)

    def set(self, **settings: Any) -> None:
        data = json.dumps(settings).encode()
        urllib.request.urlopen(f"{self.url}/set", data=data, timeout=30).close()

    def client(self, store: Path | None, kind: str = "", **changed: Any) -> Client:
        """A client with quick retries; `changed` holds fields of LlmConfig and LlmRuntime."""
        config = {name: changed.pop(name) for name in set(changed) & set(LlmConfig.model_fields)}
        runtime = {"backoff": 0.01, "timeout": 20.0, "batch_poll": 0.01, **changed}
        return Client(
            LlmConfig.model_validate({"mode": Mode.LIVE, "model": "fake-1", **config}),
            LlmRuntime.model_validate({"base_url": self.base(kind), **runtime}),
            store,
        )


def start_server(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a fault server; its process and address once it listens."""
    port = folder / "port"
    module = "tests.construction.judging.calls.fault_server"
    process = subprocess.Popen([sys.executable, "-m", module, str(port)], cwd=REPO)
    while not port.exists() and process.poll() is None:
        time.sleep(0.01)
    return process, f"http://127.0.0.1:{port.read_text()}"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may use a key of whoever runs it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def fault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fault]:
    process, url = start_server(tmp_path_factory.mktemp("fault"))
    try:
        yield Fault(url)
    finally:
        process.kill()
        process.wait()


def ask(item: str, plan: str = "ok", **more: Any) -> Question:
    """A question about an item whose calls go according to plan."""
    return Question(item, "test", "You judge.", f"item={item} plan={plan}", Verdict, **more)
