"""What holds for every gate of the registry, so that a new one needs no test of its own for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter

from data.audit_page.columns import _checks_of, _contradictions, read_books
from data.contracts import Bound, Gate, Limit, StageConfig
from data.reasons import sentences
from flows.build_snapshot import PIPELINE
from flows.docs import _gate_table, _is_adjustable, _limit_table, _reason_table
from flows.gates import GATE_ORDER, GATES, SESSION_GATES, TABLE_GATES
from flows.recipe import Recipe
from tests.demo import Demo

EACH = pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
LIMITS = [
    pytest.param(gate, limit, id=f"{gate.name}-{limit.name}-{limit.policy}")
    for gate in GATES
    for limit in gate.limits
]
STAGES = [stage.name for lane in PIPELINE for stage in lane.stages]


def settings_of(gate: Gate[Any, Any], recipe: Recipe) -> Any:
    """The section of a recipe that the gate names."""
    return reduce(getattr, gate.section.split("."), recipe)


@EACH
def test_the_settings_of_a_gate_are_a_section_of_the_recipe(gate: Gate[Any, Any]) -> None:
    assert issubclass(gate.config, StageConfig)
    settings, default = settings_of(gate, Recipe()), gate.config()
    assert isinstance(settings, gate.config)
    assert all(getattr(settings, n) == getattr(default, n) for n in gate.config.model_fields)


@EACH
def test_a_gate_says_what_it_asks_and_why_it_rejects(gate: Gate[Any, Any]) -> None:
    assert "?" in gate.meaning
    assert gate.limits
    assert len(gate.reasons)
    assert [str(reason) for reason in gate.reasons if not reason.meaning.endswith(".")] == []


@pytest.mark.parametrize(("gate", "limit"), LIMITS)
def test_a_limit_has_a_value_a_direction_a_unit_and_a_meaning(
    gate: Gate[Any, Any], limit: Limit
) -> None:
    assert (limit.at is None) == (limit.name in gate.config.model_fields)
    assert isinstance(limit.allowed(gate.config()), int | float)
    assert limit.bound in Bound
    assert limit.unit
    assert limit.meaning.endswith(".")
    assert limit.reason is None or limit.reason in list(gate.reasons)
    if limit.policy is not None:
        field, value = limit.policy
        annotation = gate.config.model_fields[field].annotation
        assert TypeAdapter(annotation).validate_python(value) == value


def test_names_and_reasons_belong_to_one_gate() -> None:
    names = [gate.name for gate in GATES]
    reasons = [str(reason) for gate in GATES for reason in gate.reasons]
    assert len({*names}) == len(names)
    assert len({*reasons}) == len(reasons)


def test_the_gates_of_the_sessions_lane_are_in_the_order_of_their_stages() -> None:
    assert {gate.stage for gate in GATES} <= {*STAGES, "gates"}
    names = tuple(gate.name for gate in SESSION_GATES)
    assert GATE_ORDER[: len(names)] == names
    assert {gate.name for gate in TABLE_GATES}.isdisjoint(GATE_ORDER)
    steps = [
        STAGES.index("recover" if gate.stage == "gates" else gate.stage) for gate in SESSION_GATES
    ]
    assert all(first <= second for first, second in pairwise(steps))


@EACH
def test_every_limit_and_reason_of_a_gate_is_in_the_docs(gate: Gate[Any, Any]) -> None:
    adjustable = filter(_is_adjustable, gate.limits)
    assert all(limit.meaning in _limit_table(GATES) for limit in adjustable)
    assert all(
        f"| `{reason}` | {reason.meaning} |" in _reason_table(sentences(GATES))
        for reason in gate.reasons
    )
    assert f"| {gate.name} | {gate.meaning} |" in _gate_table(GATES)


@pytest.mark.slow(seconds=60)
def test_the_limits_repeat_every_verdict_of_the_demo(demo: Demo) -> None:
    manifest = demo.out / "snapshots" / "latest" / "public" / "manifest.json"
    recipe = Recipe.model_validate(orjson.loads(manifest.read_bytes())["recipe"])
    recorded = read_books(demo.out / "staging.duckdb").gates
    replayed = []
    for gate in (gate for gate in movable(GATES) if gate.name in recorded):
        checks = _checks_of(gate, settings_of(gate, recipe), recorded[gate.name])
        assert checks, gate.name
        assert _contradictions(gate, checks, recorded[gate.name].status) == 0, gate.name
        replayed.append(gate.name)
    assert replayed == [gate.name for gate in GATES if gate.replayable]


def movable(gates: Sequence[Gate[Any, Any]]) -> list[Gate[Any, Any]]:
    """The gates whose verdicts can be replayed, as if each limit could be moved."""
    return [
        replace(gate, limits=tuple(replace(limit, movable=True) for limit in gate.limits))
        for gate in gates
        if gate.replayable
    ]
