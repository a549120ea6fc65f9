"""An agent of Harbor's own, terminus-2, on exported tasks; its model is scripted."""

from __future__ import annotations

import json
import shutil
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from tests.construction.grading.exports.sample import GOLD_TEXT
from tests.construction.grading.exports.test_harbor_runs import (
    finished_trials,
    needs_harbor,
    run_harbor,
)
from tests.construction.statements.tools.tiny import QUANDELL, REVENUE
from tests.flows.json_server import json_server
from tests.needs import needs_box

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="terminus-2 needs tmux")
_CALL = {"company_id": QUANDELL, "series_id": REVENUE, "period": "2024-Q1"}
_LOOK_UP = f"data_tool get_company_fundamentals '{json.dumps(_CALL)}'"
# In the tool's reply the value stands in full; the question asks for millions.
_IN_MILLIONS = "grep -q 125000000 && printf 125 > outputs/answer.txt"


def commands(instruction: str, *, right: bool) -> str:
    """What the scripted model types for a task."""
    if "the revenue of Quandell" in instruction:
        return f"{_LOOK_UP} | {_IN_MILLIONS}" if right else "printf 126 > outputs/answer.txt"
    if "Deliver into outputs/" in instruction:
        return "printf done > answer.txt"
    return f"printf {GOLD_TEXT if right else 'another'} > outputs/answer.txt"


def reply(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage,
    }


@needs_harbor
@needs_box
@needs_tmux
@pytest.mark.full
@pytest.mark.timeout(400)
@pytest.mark.parametrize("right", [True, False])
def test_harbors_own_agent_passes_with_right_answers_alone(
    whole: Path, names: list[str], tmp_path: Path, right: bool
) -> None:
    def play(body: Any, _: Message) -> tuple[int, Any]:
        messages = body["messages"]
        typed = commands(messages[0]["content"], right=right)
        first = len(messages) == 1
        moves = [{"keystrokes": f"{typed}\n", "duration": 3.0}] if first else []
        move = {"analysis": "", "plan": "", "commands": moves, "task_complete": not first}
        return 200, reply(json.dumps(move))

    with json_server(play) as url:
        model = ["-m", "openai/scripted-1", "--ak", f"api_base={url}"]
        quiet = ["--ak", "record_terminal_session=false", "--ak", "enable_summarize=false"]
        run_harbor(whole, whole / "tasks", tmp_path, "-a", "terminus-2", *model, *quiet, "-n", "2")
    trials = finished_trials(tmp_path)
    rewards = {task: reward for task, (reward, _) in trials.items() if task in names}
    question, refused, text = names
    assert rewards == {question: float(right), refused: None, text: float(right)}
    assert "a list of hosts" in str(trials[refused][1])
    others = [trial for task, trial in trials.items() if task not in names]
    assert others == [(0.0, None)] * 2
