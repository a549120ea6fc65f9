"""The network gate on cases written without sight of it: real probe, scripted name and web."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from construction.sessions.gates.network import GATE, NetworkConfig, instance_urls, measure
from construction.sessions.network.probe import Captures, probe_urls
from data.contracts import CutReason, SourceFormat, TaskInstance, UserTurn, Verdict
from tests.construction.sessions.network.wires import AT_ONCE, ScriptedWeb

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "network.jsonl").read_text(encoding="utf-8").splitlines()
]
POLICIES = {"reject": "reject", "keep_unverified": "keep"}


def instance_of(case: dict[str, Any]) -> TaskInstance:
    turns = tuple(
        UserTurn(index, index + 1, turn["text"], turn["text"])
        for index, turn in enumerate(case["turns"])
        if turn["role"] == "user"
    )
    indices = tuple(turn.index for turn in turns)
    started = CutReason.SESSION_START
    return TaskInstance("s_i1", "s", "s", SourceFormat.CHAT, "s", started, turns, indices)


def verdict_of(case: dict[str, Any]) -> Verdict:
    config = NetworkConfig.model_validate({"unverified": POLICIES[case["policy"]]})
    web = ScriptedWeb(case["dns"], case["web"])
    urls = instance_urls(instance_of(case))
    results = probe_urls(urls, config, AT_ONCE, Captures(), wire=web.wire)
    return GATE.judge(measure(urls, results), config)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_case(case: dict[str, Any]) -> None:
    verdict, expected = verdict_of(case), case["expect"]
    counts = ("url_count", "reachable_count", "unreachable_count")
    actual = {"status": verdict.status.value, "reason": verdict.reason} | {
        name: verdict.measures[name] for name in counts
    }
    assert actual == expected, case["why"]


def test_precision_and_recall_of_failed() -> None:
    pairs = [(verdict_of(case).status == "failed", case["expect"]["status"]) for case in CASES]
    said = [truth == "failed" for failed, truth in pairs if failed]
    true = [failed for failed, truth in pairs if truth == "failed"]
    assert len(CASES) >= 40
    assert sum(said) / len(said) >= 0.95
    assert sum(true) / len(true) >= 0.95
