"""The limits of the sessions lane's gates as checks, for the what-if of the audit page.

They say again what the gates' `judge` functions decide; a test keeps them equal, and the page
offers none that contradicts a recorded verdict. What masking and the leak check decide has no
limit that may be moved (law 9).
"""

from __future__ import annotations

import polars as pl

from construction.judging.preflight import NAME as PREFLIGHT
from construction.judging.preflight import PreflightConfig
from construction.sessions.config import SessionsConfig
from construction.sessions.gates.fixture import NAME as FIXTURE
from construction.sessions.gates.fixture import FixtureConfig, FixtureReason
from construction.sessions.gates.length import GATE as LENGTH
from construction.sessions.gates.network import NAME as NETWORK
from construction.sessions.gates.network import NetworkConfig, NetworkReason
from construction.sessions.gates.restoration import NAME as RESTORATION
from data.audit_page import OBSERVED, REASON, Bound, Check, GateChecks, measure

MIN, MAX = Bound.MIN, Bound.MAX
_WORDS = measure("words")
_THREAD = measure("thread") != 0


def gate_checks(config: SessionsConfig) -> tuple[GateChecks, ...]:
    """The checks of every gate whose decision follows from recorded numbers."""
    length = Check(
        "min_user_chars",
        "characters that a person typed, at least",
        MIN,
        config.length.min_user_chars,
        OBSERVED,
    )
    restoration = Check(
        "max_unrecoverable",
        "redacted spans that cannot be restored, at most",
        MAX,
        config.restoration.max_unrecoverable,
        OBSERVED,
    )
    return (
        GateChecks(LENGTH.name, (length,)),
        _fixture(config.fixture),
        GateChecks(RESTORATION, (restoration,)),
        _network(config.network),
        GateChecks(
            PREFLIGHT,
            (*_all(config.preflight), *_thread(config.preflight), *_order(config.preflight)),
        ),
    )


def _fixture(config: FixtureConfig) -> GateChecks:
    """A file that was refused fails whatever the limits; so the checks are not complete."""

    plain = REASON.is_null() | (REASON == FixtureReason.UNRESOLVED)
    missing = pl.when(plain).then(measure("declared") - measure("resolved"))
    return GateChecks(
        FIXTURE,
        (
            Check("missing files", "declared files that may be missing, at most", MAX, 0, missing),
            Check(
                "max_total_bytes",
                "bytes of all declared files, at most",
                MAX,
                config.max_total_bytes,
                measure("total_bytes"),
            ),
        ),
        complete=False,
    )


def _network(config: NetworkConfig) -> GateChecks:
    forbidden = (REASON == NetworkReason.FORBIDDEN_ADDRESS).fill_null(value=False)
    checks = [
        Check("private address", "URLs lead to a private address", MAX, 0, forbidden, fixed=True),
        Check(
            "unreachable URLs",
            "URLs that do not answer, at most",
            MAX,
            0,
            measure("unreachable_count"),
        ),
    ]
    if config.unverified == "reject":
        meaning = "URLs that could not be checked, at most"
        checks.append(Check("unverified URLs", meaning, MAX, 0, measure("unverified_count")))
    return GateChecks(NETWORK, tuple(checks))


def _all(config: PreflightConfig) -> tuple[Check, ...]:
    """What preflight asks of every prompt."""

    speechless = measure("chatter") == measure("sentences")
    return (
        Check("only small talk", "nothing but small talk", MAX, 0, speechless, fixed=True),
        Check("min_words", "words of the request, at least", MIN, config.min_words, _WORDS),
        Check(
            "max_account",
            "sentences that need an account, at most",
            MAX,
            config.max_account,
            measure("account"),
        ),
        Check(
            "max_missing_share",
            "share of the files read that is missing, at most",
            MAX,
            config.max_missing_share,
            _share("missing_inputs", "inputs"),
        ),
    )


def _thread(config: PreflightConfig) -> tuple[Check, ...]:
    """What preflight asks of a thread that wants an answer."""
    filed = measure("at_hand") != 0
    return (
        Check(
            "min_thread_words",
            "words that a thread without files tells, at least",
            MIN,
            config.min_thread_words,
            pl.when(_THREAD & ~filed).then(measure("told")),
        ),
        Check(
            "min_thread_words_with_files",
            "words that a thread with files tells, at least",
            MIN,
            config.min_thread_words_with_files,
            pl.when(_THREAD & filed).then(measure("told")),
        ),
        Check(
            "max_thread_people",
            "people in a thread, at most",
            MAX,
            config.max_thread_people,
            pl.when(_THREAD).then(measure("people")),
        ),
    )


def _order(config: PreflightConfig) -> tuple[Check, ...]:
    """What preflight asks of a request to the agent."""

    def check(name: str, meaning: str, bound: Bound, limit: float, value: pl.Expr) -> Check:
        return Check(name, meaning, bound, limit, pl.when(~_THREAD).then(value))

    def fixed(name: str, meaning: str, bound: Bound, limit: float, value: pl.Expr) -> Check:
        return Check(name, meaning, bound, limit, pl.when(~_THREAD).then(value), fixed=True)

    opinions = measure("opinions") == measure("demands")
    later = (measure("has_past") != 0) & ~opinions
    live, leaning = _share("live", "demands"), _share("leaning", "demands")
    mentions = _ratio(measure("mentions") - 1, measure("sentences"))
    met = _ratio(measure("met"), measure("demands") + measure("status"))
    return (
        fixed("a demand", "demands, at least", MIN, 1, measure("demands")),
        check(
            "max_live_share",
            "share of demands on a live system, at most",
            MAX,
            config.max_live_share,
            live,
        ),
        check(
            "max_leaning_share",
            "share of demands that need what was said before, at most",
            MAX,
            config.max_leaning_share,
            leaning,
        ),
        check(
            "max_mentions_share",
            "share of sentences that speak of it, at most",
            MAX,
            config.max_mentions_share,
            mentions,
        ),
        fixed("elsewhere", "sentences about other places", MAX, 0, measure("elsewhere")),
        fixed("opens midway", "opens in the middle of a talk", MAX, 0, measure("opens_midway")),
        check(
            "min_opinion_words",
            "words where only a view is asked for, at least",
            MIN,
            config.min_opinion_words,
            pl.when(opinions).then(_WORDS),
        ),
        check(
            "min_later_words",
            "words in the middle of a session, at least",
            MIN,
            config.min_later_words,
            pl.when(later).then(_WORDS),
        ),
        check(
            "min_met_share",
            "share of demands that can be met, at least",
            MIN,
            config.min_met_share,
            met,
        ),
    )


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Rounded to 1e-9, as the gates do before they decide (law 5); 0 of nothing."""
    return pl.when(whole != 0).then((part / whole).round(9)).otherwise(0.0)


def _share(part: str, whole: str) -> pl.Expr:
    return _ratio(measure(part), measure(whole))
