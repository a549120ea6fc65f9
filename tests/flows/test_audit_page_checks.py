"""What the audit page replays follows from the gates, for any observation and any limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.sessions.config import SessionsConfig
from construction.sessions.gates import fixture, length, network, restoration
from construction.sessions.gates.fixture import FixtureConfig, FixtureObservation, FixtureReason
from construction.sessions.gates.length import Length, LengthConfig
from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from data.audit_page.columns import _checks_of, _contradictions, _Judged, _judged
from data.contracts import Gate, StageConfig, Status, Verdict, gates_in
from data.tables import VERDICTS, verdict_record
from flows.gates import GATES

few = st.integers(0, 6)


def recorded(verdicts: Sequence[Verdict]) -> _Judged:
    """The verdicts as the page reads them from staging."""
    frame = pl.DataFrame([verdict_record("i", one) for one in verdicts], schema=dict(VERDICTS))
    return _judged(frame.rename({"item_id": "item"}))


def replays(gate: Gate[Any, Any], config: StageConfig, seen: Sequence[Any]) -> bool:
    """Do the limits, applied to what was recorded, decide as the gate did?"""
    verdicts = [gate.judge(observation, config) for observation in seen]
    rows = recorded(verdicts)
    checks = _checks_of(gate, config, rows)
    assert checks
    return _contradictions(gate, checks, rows.status) == 0


@settings(max_examples=50)
@given(st.lists(st.text(max_size=20), min_size=1), few)
def test_length(said: list[str], least: int) -> None:
    seen = [Length(length.effective_chars(text), len(text)) for text in said]
    config = LengthConfig(min_user_chars=least, max_chars=15)
    assert replays(length.GATE, config, seen)


causes = st.lists(st.none() | st.sampled_from(list(Cause)), max_size=3)


@settings(max_examples=100)
@given(st.lists(causes, min_size=1, max_size=4), st.sampled_from(["keep", "reject"]))
def test_network(items: list[list[Cause | None]], policy: str) -> None:
    config = NetworkConfig.model_validate({"unverified": policy})
    seen = []
    for actual in items:
        results = {
            f"https://{n}.example/": ProbeResult(f"https://{n}.example/", cause)
            for n, cause in enumerate(actual)
        }
        seen.append(network.measure(results, results))
    assert replays(network.GATE, config, seen)


@settings(max_examples=100)
@given(few, few, few, few, few)
def test_fixture(resolved: int, absent: int, refused: int, unverified: int, size: int) -> None:
    reason = FixtureReason.SYMLINK if refused else FixtureReason.UNRESOLVED if absent else None
    declared = resolved + absent + refused
    counts = (declared, resolved, refused, absent, unverified)
    seen = FixtureObservation("i", *counts, size, reason, ())
    assert replays(fixture.GATE, FixtureConfig(max_total_bytes=3), [seen])


def test_other_limits_than_those_of_the_run_are_contradicted() -> None:
    rows = recorded(
        [length.GATE.judge(Length(chars, chars), LengthConfig()) for chars in (3, 9, 10, 400)]
    )
    other = LengthConfig(min_user_chars=9)
    checks = _checks_of(length.GATE, other, rows)
    assert _contradictions(length.GATE, checks, rows.status) == 1


def test_verdicts_without_the_measures_that_a_limit_compares_offer_no_check() -> None:
    old = Verdict("fixture", Status.PASSED, None, 2, 2, {"declared": 2, "resolved": 2})
    assert _checks_of(fixture.GATE, FixtureConfig(), recorded([old])) == ()


def test_what_was_not_measured_has_no_value() -> None:
    rows = recorded([Verdict.blocked("restoration", "length")])
    (check,) = _checks_of(restoration.GATE, restoration.RestorationConfig(), rows)
    assert check.values.to_list() == [None]


def test_nothing_private_has_a_limit_to_move() -> None:
    movable = {
        gate.name
        for gate in GATES
        if gate.replayable and any(limit.movable for limit in gate.limits)
    }
    assert movable >= {gate.name for gate in gates_in(SessionsConfig)}
    assert not movable & {"masking", "leaks"}
