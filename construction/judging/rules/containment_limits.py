"""The limits of the rules for self-containment, in the order of the codebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from construction.judging.contracts import SelfContainmentReason
from data.contracts import Bound, Limit, Measures, share
from data.contracts.gate import Number


@dataclass(frozen=True, slots=True)
class Ground:
    """A limit with what is said where it is broken (over the counts), and how sure that makes."""

    limit: Limit
    sentence: str
    strength: Callable[[Measures], float]


def _ground(
    limit: tuple[str, Bound, str, str, SelfContainmentReason],
    value: Callable[[Measures], Number],
    sentence: str,
    strength: Callable[[Measures], float],
    **more: Any,
) -> Ground:
    """A limit that no setting holds (`at`) may not be moved."""
    return Ground(Limit(*limit, value, movable="at" not in more, **more), sentence, strength)


def _sure(strength: float) -> Callable[[Measures], float]:
    return lambda _: strength


def _part(part: str, whole: str) -> Callable[[Measures], float]:
    return lambda seen: min(1.0, share(seen[part], seen[whole]))


def _eased(part: str) -> Callable[[Measures], float]:
    """The share of the demands over `ease`, which is as comparing it with the limit times that.

    An ease of 0 allows none: any share becomes more than every limit.
    """
    of_demands = _part(part, "demands")

    def value(seen: Measures) -> float:
        if seen["ease"]:
            return of_demands(seen) / float(seen["ease"])
        return 2.0 if of_demands(seen) > 0 else 0.0

    return value


_REASON, _MIN, _MAX = SelfContainmentReason, Bound.MIN, Bound.MAX
_NO_WORK = (
    _ground(
        (
            "more than small talk",
            _MIN,
            "sentences",
            "At least one sentence is more than greetings, thanks or small talk.",
            _REASON.CONVERSATION_ONLY,
        ),
        lambda seen: seen["telling"],
        "nothing but greetings, thanks or fragments",
        _sure(1.0),
        at=1,
    ),
    _ground(
        (
            "min_words",
            _MIN,
            "words",
            "The request has at least this many words.",
            _REASON.CONVERSATION_ONLY,
        ),
        lambda seen: seen["words"],
        "nothing but greetings, thanks or fragments",
        _sure(1.0),
    ),
    _ground(
        ("a demand", _MIN, "demands", "Something is asked for.", _REASON.CONVERSATION_ONLY),
        lambda seen: seen["demands"],
        "nothing is asked for",
        _sure(0.9),
        at=1,
    ),
    _ground(
        (
            "an order in an exchange",
            _MIN,
            "demands",
            "Messages between people contain at least one order.",
            _REASON.CONVERSATION_ONLY,
        ),
        lambda seen: seen["orders"],
        "messages between people; none orders anything",
        _sure(0.8),
        at=1,
        when=lambda seen: seen["exchange"],
    ),
    _ground(
        (
            "more than a question of status",
            _MIN,
            "demands",
            "At least one demand is not about the status of work.",
            _REASON.CONVERSATION_ONLY,
        ),
        lambda seen: seen["demands"] - seen["standing"],
        "asks only about the status of work",
        _sure(0.6),
        at=1,
        when=lambda seen: seen["standing"] > 0,
    ),
    _ground(
        (
            "max_addressed_share",
            _MAX,
            "sentences per demand",
            "Per demand, at most this many sentences address somebody else by name.",
            _REASON.CONVERSATION_ONLY,
        ),
        _part("addressed", "demands"),
        "{addressed} sentences address somebody else by name",
        _sure(0.6),
        when=lambda seen: not seen["exchange"],
    ),
)
_LACKS = (
    _ground(
        (
            "max_account",
            _MAX,
            "sentences",
            "At most this many sentences need an account.",
            _REASON.DEPENDS_ON_LIVE_SYSTEM,
        ),
        lambda seen: seen["account"],
        "{account} sentences need an account",
        _sure(1.0),
    ),
    _ground(
        (
            "max_live_share",
            _MAX,
            "share of demands",
            "At most this share of the demands needs a live system or a particular moment.",
            _REASON.DEPENDS_ON_LIVE_SYSTEM,
        ),
        _eased("live"),
        "{live} of {demands} demands need a live system or a particular moment",
        _part("live", "demands"),
    ),
    _ground(
        (
            "max_missing_files",
            _MAX,
            "files",
            "At most this many named files are not released.",
            _REASON.MISSING_INPUT,
        ),
        lambda seen: seen["missing_files"],
        "{missing_files} named files are not released",
        _sure(0.9),
    ),
    _ground(
        (
            "elsewhere",
            _MAX,
            "sentences",
            "No sentence refers to a workspace or to sessions that are not available.",
            _REASON.MISSING_INPUT,
        ),
        lambda seen: seen["elsewhere"],
        "refers to a workspace or to sessions that are not available",
        _sure(0.8),
        at=0,
    ),
    _ground(
        (
            "max_pointing_share",
            _MAX,
            "share of demands",
            "At most this share of the demands refers to material that is not available.",
            _REASON.MISSING_INPUT,
        ),
        _eased("pointing"),
        "{pointing} of {demands} demands refer to material that is not available",
        _part("pointing", "demands"),
    ),
    _ground(
        (
            "no exchange",
            _MAX,
            "true or false",
            "It does not consist of messages between people.",
            _REASON.MISSING_CONTEXT,
        ),
        lambda seen: seen["exchange"],
        "messages between people who know what it is about",
        _sure(0.7),
        at=False,
    ),
    _ground(
        (
            "opens midway",
            _MAX,
            "true or false",
            "The first sentences neither answer nor refer to earlier messages.",
            _REASON.MISSING_CONTEXT,
        ),
        lambda seen: seen["opens_midway"],
        "opens in the middle of a conversation",
        _sure(0.7),
        at=False,
    ),
    _ground(
        (
            "max_leaning_share",
            _MAX,
            "share of demands",
            "At most this share of the demands depends on an earlier conversation.",
            _REASON.MISSING_CONTEXT,
        ),
        _eased("leaning"),
        "{leaning} of {demands} demands depend on an earlier conversation",
        _part("leaning", "demands"),
    ),
    _ground(
        (
            "max_mentions_share",
            _MAX,
            "share of sentences",
            "Apart from one, at most this share of the sentences refers to earlier conversations.",
            _REASON.MISSING_CONTEXT,
        ),
        _part("more_mentions", "sentences"),
        "{more_mentions} of {sentences} further sentences refer to an earlier conversation",
        _part("more_mentions", "sentences"),
    ),
    _ground(
        (
            "max_reacting_share",
            _MAX,
            "share of later paragraphs",
            "At most this share of the paragraphs after the first replies to somebody.",
            _REASON.MISSING_CONTEXT,
        ),
        _part("reacting", "later"),
        "{reacting} of {later} later paragraphs reply to somebody",
        _part("reacting", "later"),
    ),
)
_UNCLEAR = (
    _ground(
        (
            "one task",
            _MAX,
            "sentences",
            "It does not call any part a different piece of work.",
            _REASON.MULTI_TASK,
        ),
        lambda seen: seen["unrelated"],
        "calls a part a different piece of work",
        _sure(0.7),
        at=0,
    ),
    _ground(
        (
            "min_specific_words",
            _MIN,
            "words",
            "A request that does not say clearly what is wanted has at least this many words.",
            _REASON.AMBIGUOUS_TASK,
        ),
        lambda seen: seen["words"],
        "{vague} of {demands} demands do not say clearly what is wanted",
        _sure(0.6),
        when=lambda seen: bool(not seen["at_hand"] and seen["vague"] and seen["demands"]),
    ),
    _ground(
        (
            "a demand that can be judged",
            _MIN,
            "demands",
            "At least one demand asks for more than a feeling or an opinion.",
            _REASON.NOT_VERIFIABLE,
        ),
        lambda seen: seen["demands"] - seen["unjudged"],
        "asks for a feeling or an opinion that nobody could judge",
        _sure(0.8),
        at=1,
        when=lambda seen: seen["demands"] > 0,
    ),
)
GROUNDS = (*_NO_WORK, *_LACKS, *_UNCLEAR)
