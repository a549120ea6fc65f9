"""The checks of the audit page decide as the gates do, for any observation and any limits."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.judging import preflight
from construction.judging.preflight import PreflightConfig, PreflightObservation
from construction.sessions.config import SessionsConfig
from construction.sessions.gates import fixture, length, network
from construction.sessions.gates.fixture import FixtureConfig, FixtureObservation, FixtureReason
from construction.sessions.gates.length import LengthConfig
from construction.sessions.gates.network import NetworkConfig, NetworkObservation, NetworkReason
from data.audit_page import GateChecks
from data.audit_page.checks import seen
from data.contracts import Status, Verdict
from flows.audit_server.gate_checks import gate_checks

few = st.integers(0, 6)
shares = st.sampled_from([0.0, 0.15, 0.34, 0.5, 0.6, 1.0])
observations = st.builds(
    PreflightObservation,
    **dict.fromkeys(
        ("words", "chatter", "status", "account", "elsewhere", "live", "leaning", "mentions"), few
    ),
    **dict.fromkeys(("sentences", "opinions", "met", "inputs", "missing_inputs", "people"), few),
    demands=few,
    told=few,
    **dict.fromkeys(("has_past", "opens_midway", "thread", "at_hand"), st.booleans()),
)
limits = st.builds(
    PreflightConfig,
    **dict.fromkeys(("min_words", "min_opinion_words", "min_later_words", "max_account"), few),
    **dict.fromkeys(("min_thread_words", "min_thread_words_with_files", "max_thread_people"), few),
    **dict.fromkeys(
        (
            "max_missing_share",
            "max_live_share",
            "max_leaning_share",
            "min_met_share",
            "max_mentions_share",
        ),
        shares,
    ),
)


def of(gate: str, config: SessionsConfig) -> GateChecks:
    return next(known for known in gate_checks(config) if known.gate == gate)


def broken(known: GateChecks, verdict: Verdict) -> bool:
    measures = {name: [value] for name, value in verdict.measures.items()}
    reasons = pl.Series([verdict.reason], dtype=pl.String)
    frame = seen([verdict.observed], reasons, measures, known.checks)
    return any(frame.select(check.broken()).item() for check in known.checks)


@settings(max_examples=400, deadline=None)
@given(observations, limits)
def test_preflight(observation: PreflightObservation, config: PreflightConfig) -> None:
    known = of(preflight.NAME, SessionsConfig(preflight=config))
    verdict = preflight.judge(observation, config)
    assert broken(known, verdict) == (verdict.status is Status.FAILED)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=20), few)
def test_length(said: str, least: int) -> None:
    config = LengthConfig(min_user_chars=least)
    verdict = length.GATE.judge(length.effective_chars(said), config)
    known = of(length.GATE.name, SessionsConfig(length=config))
    assert broken(known, verdict) == (verdict.status is Status.FAILED)


@settings(max_examples=100, deadline=None)
@given(few, few, st.sampled_from([None, *NetworkReason]), st.sampled_from(["keep", "reject"]))
def test_network(
    unreachable: int, unverified: int, reason: NetworkReason | None, policy: str
) -> None:
    failing = {NetworkReason.FORBIDDEN_ADDRESS, NetworkReason.BAD_URL, NetworkReason.UNREACHABLE}
    observation = NetworkObservation(
        url_count=20,
        reachable_count=1,
        unreachable_count=unreachable + 1 if reason in failing else 0,
        unverified_count=0 if reason is None else unverified + (reason not in failing),
        frozen_count=0,
        reason=reason,
        cause=None,
        http_status=None,
    )
    config = NetworkConfig.model_validate({"unverified": policy})
    verdict = network.judge(observation, config)
    told = broken(of(network.NAME, SessionsConfig(network=config)), verdict)
    assert told == (verdict.status is Status.FAILED)


@settings(max_examples=100, deadline=None)
@given(few, few, st.sampled_from(list(FixtureReason)), few)
def test_fixture(declared: int, missing: int, reason: FixtureReason, size: int) -> None:
    missing = min(missing, declared)
    first = reason if missing else None
    observation = FixtureObservation("i", declared, declared - missing, size, first, ())
    config = FixtureConfig(max_total_bytes=3)
    verdict = fixture.judge(observation, config)
    told = broken(of(fixture.NAME, SessionsConfig(fixture=config)), verdict)
    refused = verdict.reason not in (None, FixtureReason.UNRESOLVED) and size <= 3
    assert told == (verdict.status is Status.FAILED and not refused)


def test_nothing_private_has_a_limit_to_move() -> None:
    config = SessionsConfig()
    assert {known.gate for known in gate_checks(config)} == {
        "length", "fixture", "restoration", "network", "preflight",
    }  # fmt: skip
    address = next(check for check in of("network", config).checks if check.fixed)
    reasons = pl.Series([NetworkReason.FORBIDDEN_ADDRESS, None], dtype=pl.String)
    frame = seen([1, 1], reasons, {}, [address])
    assert frame.select(address.broken()).to_series().to_list() == [True, False]
