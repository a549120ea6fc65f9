"""Hard rules against the result of a reference: what they may not assert of files of any task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from construction.grading.file_look import RuleLimits, look
from construction.grading.file_types import TYPES
from construction.judging.baseline.grade import _hard_rules, same_rule
from construction.judging.checks.held_rules import Held, held
from construction.judging.checks.prove import ProofReason, prove
from construction.judging.model.write import _deliverables_of
from data.contracts import Rule
from tests.construction.judging.checks.test_prove import TASK, run

SALES = b"region,units\nnorth,12\nsouth,9\n"
LOG = b'started\nTraceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3\n'
PROMPT = "Do with sales.csv what I said."


def changed(kind: str, content: bytes) -> Rule:
    form = look(content, TYPES[kind], RuleLimits()).form
    params = {"extensions": list(TYPES[kind].extensions), "forms": [form]}
    return Rule(rule_id=f"changed.{kind}", kind="changed", params=params, text="Some is changed.")


def rules(*names: str, inputs: Mapping[str, bytes]) -> list[Rule]:
    own = [changed(path.rpartition(".")[2], content) for path, content in inputs.items()]
    return [*own, *_hard_rules(_deliverables_of(names), PROMPT)]


@pytest.mark.parametrize(
    ("name", "result", "dropped", "is_kept"),
    [
        ("rename", {"2026-sales.csv": SALES}, {"changed.csv": "rules.unchanged"}, True),
        ("move", {"2026/sales.csv": SALES}, {"changed.csv": "rules.unchanged"}, True),
        ("copy beside a new one", {"sales.csv": SALES, "sums.csv": b"all,units\n1,21\n"}, {}, True),
        ("convert", {"sales.json": b'[{"region": "north", "units": 12}]'}, {}, False),
        ("append", {"sales.csv": SALES + b"east,4\n"}, {}, False),
        ("delete", {"sales.csv": b"region,units\nnorth,12\n"}, {}, False),
        ("save anew", {"sales.csv": SALES + b"\n"}, {"changed.csv": "rules.unchanged"}, False),
    ],
)
def test_what_becomes_of_an_input(
    name: str, result: dict[str, bytes], dropped: dict[str, str], is_kept: bool
) -> None:
    inputs = {"sales.csv": SALES}
    own = rules(*result, inputs={} if name == "convert" else inputs)
    outcome = held(own, PROMPT, inputs, result)
    assert (outcome.fault, dict(outcome.dropped)) == ("", dropped)
    kinds = [rule.kind for rule in outcome.rules]
    assert ("same" in kinds) is is_kept
    assert ("changed" in kinds) is (not dropped and name != "convert")
    assert held(outcome.rules, PROMPT, inputs, result) == Held(outcome.rules)
    if is_kept:
        other = dict.fromkeys(result, b"region,units\nwest,3\n")
        assert "same.csv" in held(outcome.rules, PROMPT, inputs, other).dropped


def test_a_rule_made_unread_is_dropped_and_the_requests_own_word_is_a_fault() -> None:
    own = rules("errors.txt", inputs={})
    outcome = held(own, PROMPT, {}, {"errors.txt": LOG})
    assert dict(outcome.dropped) == {"no_traceback": "rules.traceback"}
    assert [rule.rule_id for rule in outcome.rules] == [
        rule.rule_id for rule in own if rule.rule_id != "no_traceback"
    ]
    missing = held(own, PROMPT, {}, {"other.txt": b"All is well here today.\n"})
    assert (missing.rules, missing.fault.endswith("rules.missing_name")) == ((), True)


def test_a_result_without_work_is_a_fault() -> None:
    outcome = held(rules("sales.csv", inputs={}), PROMPT, {}, {"sales.csv": b"region,units\n"})
    assert (outcome.rules, outcome.fault) == ((), "its result: files.empty_shell")


def test_a_proof_drops_what_its_reference_fails_and_fails_where_a_name_is_missing() -> None:
    wrong = Rule(
        rule_id="holds.csv",
        kind="holds",
        params={"extensions": ["csv"], "texts": ["Goole and Selby"]},
        text="A text stands in it.",
    )
    own = tuple(rules("depots.csv", inputs={}))
    proof = prove(replace(TASK, rules=(*own, wrong)), run)
    assert (proof.reason, proof.rules) == (None, own)
    assert proof.dropped == {"holds.csv": "rules.missing_text"}
    assert proof.expected["boxes of Goole"] == "21"
    other = tuple(rules("totals.csv", inputs={}))
    proof = prove(replace(TASK, rules=other), run)
    assert (proof.reason, proof.rules) == (ProofReason.REFERENCE_FAILED, ())
    assert "named.csv" in proof.detail


def test_a_kept_input_may_be_any_of_its_type() -> None:
    rule = same_rule("csv", [look(SALES, TYPES["csv"], RuleLimits()).form])
    inputs = {"sales.csv": SALES}
    assert held([rule], PROMPT, inputs, {"x/y.csv": SALES}).rules == (rule,)
    altered = held([rule], PROMPT, inputs, {"y.csv": SALES + b"east,1\n"})
    assert dict(altered.dropped) == {"same.csv": "rules.altered"}
