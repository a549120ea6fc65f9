"""The limits of the sessions lane's gates as checks, for the what-if of the audit page.

They say again what the gates' `judge` functions decide; a test keeps them equal, and the page
offers none that contradicts a recorded verdict. What masking and the leak check decide has no
limit that may be moved (law 9).
"""

from __future__ import annotations

from collections.abc import Callable

from construction.judging.preflight import NAME as PREFLIGHT
from construction.judging.preflight import PreflightConfig
from construction.sessions.config import SessionsConfig
from construction.sessions.gates.fixture import NAME as FIXTURE
from construction.sessions.gates.fixture import FixtureConfig, FixtureReason
from construction.sessions.gates.length import NAME as LENGTH
from construction.sessions.gates.network import NAME as NETWORK
from construction.sessions.gates.network import NetworkConfig, NetworkReason
from construction.sessions.gates.restoration import NAME as RESTORATION
from data.audit_page import Bound, Check, GateChecks, Seen

MIN, MAX = Bound.MIN, Bound.MAX
Value = Callable[[Seen], float | None]


def gate_checks(config: SessionsConfig) -> tuple[GateChecks, ...]:
    """The checks of every gate whose decision follows from recorded numbers."""
    length = Check(
        "min_user_chars",
        "characters that a person typed, at least",
        MIN,
        config.length.min_user_chars,
        _observed,
    )
    restoration = Check(
        "max_unrecoverable",
        "redacted spans that cannot be restored, at most",
        MAX,
        config.restoration.max_unrecoverable,
        _observed,
    )
    return (
        GateChecks(LENGTH, (length,)),
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

    def missing(seen: Seen) -> float | None:
        if seen.reason not in (None, FixtureReason.UNRESOLVED):
            return None
        return seen.number("declared") - seen.number("resolved")

    return GateChecks(
        FIXTURE,
        (
            Check("missing files", "declared files that may be missing, at most", MAX, 0, missing),
            Check(
                "max_total_bytes",
                "bytes of all declared files, at most",
                MAX,
                config.max_total_bytes,
                _measure("total_bytes"),
            ),
        ),
        complete=False,
    )


def _network(config: NetworkConfig) -> GateChecks:
    def forbidden(seen: Seen) -> float:
        return float(seen.reason == NetworkReason.FORBIDDEN_ADDRESS)

    checks = [
        Check("private address", "URLs lead to a private address", MAX, 0, forbidden, fixed=True),
        Check(
            "unreachable URLs",
            "URLs that do not answer, at most",
            MAX,
            0,
            _measure("unreachable_count"),
        ),
    ]
    if config.unverified == "reject":
        meaning = "URLs that could not be checked, at most"
        checks.append(Check("unverified URLs", meaning, MAX, 0, _measure("unverified_count")))
    return GateChecks(NETWORK, tuple(checks))


def _all(config: PreflightConfig) -> tuple[Check, ...]:
    """What preflight asks of every prompt."""

    def speechless(seen: Seen) -> float:
        return float(seen.number("chatter") == seen.number("sentences"))

    return (
        Check("only small talk", "nothing but small talk", MAX, 0, speechless, fixed=True),
        Check("min_words", "words of the request, at least", MIN, config.min_words, _WORDS),
        Check(
            "max_account",
            "sentences that need an account, at most",
            MAX,
            config.max_account,
            _measure("account"),
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
    bare = _only(lambda seen: _thread_of(seen) and not seen.number("at_hand"), _measure("told"))
    filed = _only(lambda seen: _thread_of(seen) and bool(seen.number("at_hand")), _measure("told"))
    return (
        Check(
            "min_thread_words",
            "words that a thread without files tells, at least",
            MIN,
            config.min_thread_words,
            bare,
        ),
        Check(
            "min_thread_words_with_files",
            "words that a thread with files tells, at least",
            MIN,
            config.min_thread_words_with_files,
            filed,
        ),
        Check(
            "max_thread_people",
            "people in a thread, at most",
            MAX,
            config.max_thread_people,
            _only(_thread_of, _measure("people")),
        ),
    )


def _order(config: PreflightConfig) -> tuple[Check, ...]:
    """What preflight asks of a request to the agent."""

    def check(name: str, meaning: str, bound: Bound, limit: float, value: Value) -> Check:
        return Check(name, meaning, bound, limit, _only(_is_order, value))

    def fixed(name: str, meaning: str, bound: Bound, limit: float, value: Value) -> Check:
        return Check(name, meaning, bound, limit, _only(_is_order, value), fixed=True)

    live, leaning = _share("live", "demands"), _share("leaning", "demands")
    opinion, later = _only(_opinions, _WORDS), _only(_later, _WORDS)
    return (
        fixed("a demand", "demands, at least", MIN, 1, _measure("demands")),
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
            _mentions,
        ),
        fixed("elsewhere", "sentences about other places", MAX, 0, _measure("elsewhere")),
        fixed("opens midway", "opens in the middle of a talk", MAX, 0, _measure("opens_midway")),
        check(
            "min_opinion_words",
            "words where only a view is asked for, at least",
            MIN,
            config.min_opinion_words,
            opinion,
        ),
        check(
            "min_later_words",
            "words in the middle of a session, at least",
            MIN,
            config.min_later_words,
            later,
        ),
        check(
            "min_met_share",
            "share of demands that can be met, at least",
            MIN,
            config.min_met_share,
            _met,
        ),
    )


def _observed(seen: Seen) -> float | None:
    return float(seen.observed) if isinstance(seen.observed, int | float) else None


def _measure(name: str) -> Value:
    return lambda seen: seen.number(name)


_WORDS = _measure("words")


def _ratio(part: float, whole: float) -> float:
    return round(part / whole, 9) if whole else 0.0


def _share(part: str, whole: str) -> Value:
    return lambda seen: _ratio(seen.number(part), seen.number(whole))


def _only(applies: Callable[[Seen], bool], value: Value) -> Value:
    return lambda seen: value(seen) if applies(seen) else None


def _thread_of(seen: Seen) -> bool:
    return bool(seen.number("thread"))


def _is_order(seen: Seen) -> bool:
    return not _thread_of(seen)


def _opinions(seen: Seen) -> bool:
    return seen.number("opinions") == seen.number("demands")


def _later(seen: Seen) -> bool:
    return bool(seen.number("has_past")) and not _opinions(seen)


def _mentions(seen: Seen) -> float:
    return _ratio(seen.number("mentions") - 1, seen.number("sentences"))


def _met(seen: Seen) -> float:
    return _ratio(seen.number("met"), seen.number("demands") + seen.number("status"))
