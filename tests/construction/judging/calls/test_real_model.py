"""A real server and a real model: ask, record, replay. The model is tiny: plumbing, not wit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from construction.judging.calls.contracts import (
    Answered,
    LlmConfig,
    LlmRuntime,
    Mode,
    Outcome,
    Question,
    Unanswered,
)
from construction.judging.llm import Client
from data.canonical import canonical_json
from tests.construction.judging.calls.real import MODEL, NOWHERE, needs_model, serving

pytestmark = [pytest.mark.slow, needs_model]
PROMPTS = (
    "Please summarise the attached sales report in two sentences.",
    "请把附件中的合同翻译成英文。",
    "Hello there!",
)


class Judged(BaseModel):
    """A judgement small enough for a tiny model."""

    self_contained: bool
    reason: Literal["complete", "missing_input", "not_a_task"]
    words: list[str] = Field(max_length=3)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    with serving(tmp_path_factory.mktemp("real"), 2048, 120) as url:
        yield url


def run(mode: Mode, url: str, store: Path | None) -> list[Outcome]:
    questions = [
        Question(
            f"item{number}",
            "test",
            "Judge whether the text is a task that can be done with nothing else.",
            text,
            Judged,
            max_tokens=120,
        )
        for number, text in enumerate(PROMPTS)
    ]
    config = LlmConfig(mode=mode, model=MODEL)
    with Client(config, LlmRuntime(base_url=url, concurrency=1), store) as client:
        return client.ask(questions)


def result(outcomes: list[Outcome]) -> bytes:
    """The outcomes as a stage would write them."""
    return canonical_json(
        [
            [one.item_id, one.model, one.value, one.repaired, one.usage.completion_tokens]
            if isinstance(one, Answered)
            else [one.item_id, one.reason, one.detail]
            for one in outcomes
        ]
    )


def test_live_then_recorded_then_replayed(real: str, tmp_path: Path) -> None:
    live = run(Mode.LIVE, real, None)
    recorded = run(Mode.RECORD, real, tmp_path / "store")
    replayed = run(Mode.REPLAY, NOWHERE, tmp_path / "store")
    assert result(recorded) == result(replayed)
    assert any(isinstance(outcome, Answered) for outcome in live)
    assert any(isinstance(outcome, Answered) for outcome in recorded)
    for outcome in (*live, *recorded):
        assert isinstance(outcome, Answered) or outcome.reason.is_settled
    # This server answers json_schema with status 500, and takes json_object with a schema.
    assert '"json_object"' in (tmp_path / "store" / "shapes.json").read_text()
    missing = run(Mode.REPLAY, NOWHERE, tmp_path / "empty")
    assert {one.reason for one in missing if isinstance(one, Unanswered)} == {"call.missing"}
