"""A run in a process of its own, to be killed or doubled: ADDRESS STORE PREFIX COUNT."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from construction.judging.calls.contracts import Answered, LlmConfig, LlmRuntime, Mode, Question
from construction.judging.llm import Client
from tests.construction.judging.calls.conftest import ask


def questions(prefix: str, count: int) -> list[Question]:
    """What the run asks: 50 ms each."""
    return [ask(f"{prefix}{number}", "slow:0.05") for number in range(count)]


def main(url: str, store: str, prefix: str, count: str) -> None:
    config = LlmConfig(mode=Mode.LIVE, model="fake-1")
    with Client(config, LlmRuntime(base_url=url, concurrency=4), Path(store)) as client:
        outcomes = client.ask(questions(prefix, int(count)))
        answers = [one.value.model_dump() for one in outcomes if isinstance(one, Answered)]
        print(json.dumps({"answers": answers, "replies": client.spent.replies}))


if __name__ == "__main__":
    main(*sys.argv[1:])
