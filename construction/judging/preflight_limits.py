"""The limits of the preflight gate and their reasons; `LIMITS` is the order in which they decide.

It is what a reader says first: it is a toy, or no work; something is not there; words lean on talk.
Whom it addresses has been decided before (`construction.sessions.gates.addressee`). Of what is not
there, files, code and pictures come before services, accounts and the web: a request to change a
program often speaks of the systems that the program serves. That nothing is asked for is said late,
for it may only mean that no order was recognized.
"""

from __future__ import annotations

from data.contracts import Bound, GateReason, Limit, Measures, share


class PreflightReason(GateReason):
    CONVERSATION_ONLY = "preflight.conversation_only", "It is conversation, hardly any work."
    NO_REQUEST = "preflight.no_request", "Nothing is asked for."
    TOY = "preflight.toy", "It only tries out whether anything works."
    CHAT = "preflight.chat", "It asks the assistant about itself or for a view, and for no work."
    HARNESS = "preflight.harness", "It is the prompt of a program that tests agents."
    SETUP_CHORE = (
        "preflight.setup_chore",
        "It sets up a machine or the assistant, or deletes files, and leaves nothing to grade.",
    )
    MISSING_INPUTS = "preflight.missing_inputs", "Files that the agent read are not released."
    MISSING_RECORDS = (
        "preflight.missing_records",
        "It needs records or instructions that no released file holds.",
    )
    MISSING_OBJECT = (
        "preflight.missing_object",
        "A file, or the state of the code, that it works on is not among the inputs.",
    )
    UNKNOWN_DAY = "preflight.unknown_day", "It depends on what day it is, which nothing says."
    UNKNOWN_ASKER = "preflight.unknown_asker", "It depends on who asks, which nothing says."
    NEEDS_LIVE_SYSTEM = "preflight.needs_live_system", "It needs an account or a live system."
    NEEDS_NETWORK = "preflight.needs_network", "It needs the web, which the task may not reach."
    LEANS_ON_CONTEXT = "preflight.leans_on_context", "It depends on what was said or shown earlier."


def _thread(seen: Measures) -> bool:
    """Is it a thread to answer? Any question in it can be answered in writing."""
    return bool(seen["thread"])


def _request(seen: Measures) -> bool:
    """Is it a request to the agent? It must stand on its own."""
    return not seen["thread"]


def _only_opinions(seen: Measures) -> bool:
    return _request(seen) and seen["opinions"] == seen["demands"]


def _midway(seen: Measures) -> bool:
    return _request(seen) and seen["has_past"] and seen["opinions"] != seen["demands"]


def _none(key: str, sentence: str, reason: PreflightReason) -> Limit:
    """The limit that there is none of what `key` counts."""
    return Limit(
        key,
        Bound.MAX,
        "expressions",
        sentence,
        reason,
        lambda seen: seen[key],
        at=0,
        movable=False,
    )


def _flag(key: str, sentence: str, reason: PreflightReason) -> Limit:
    """The limit that `key` is false."""
    return Limit(
        f"no {key}",
        Bound.MAX,
        "true or false",
        sentence,
        reason,
        lambda seen: seen[key],
        at=False,
        movable=False,
    )


_REASON, _MIN, _MAX = PreflightReason, Bound.MIN, Bound.MAX
_NO_WORK = (
    _flag("toy", "The request is more than a trial whether anything works.", _REASON.TOY),
    Limit(
        "more than small talk",
        _MIN,
        "sentences",
        "At least one sentence is more than thanks or small talk.",
        _REASON.CONVERSATION_ONLY,
        lambda seen: seen["sentences"] - seen["chatter"],
        at=1,
        movable=False,
    ),
    _flag(
        "chat", "The request asks for more than a view, or for what the assistant is.", _REASON.CHAT
    ),
    Limit(
        "max_harness_words",
        _MAX,
        "terms",
        "The request has at most this many terms of programs that test agents.",
        _REASON.HARNESS,
        lambda seen: seen["harness"],
    ),
    Limit(
        "max_setup_share",
        _MAX,
        "share of orders",
        "At most this share of the orders sets up a machine or the assistant.",
        _REASON.SETUP_CHORE,
        lambda seen: share(seen["setups"], seen["orders"]),
        when=_request,
    ),
)
_MISSING = (
    Limit(
        "max_missing_share",
        _MAX,
        "share of the files that the agent read",
        "At most this share of the files that the agent read is not released.",
        _REASON.MISSING_INPUTS,
        lambda seen: share(seen["missing_inputs"], seen["inputs"]),
    ),
    _none("missing_objects", "Files to be changed are inputs.", _REASON.MISSING_OBJECT),
    Limit(
        "max_account",
        _MAX,
        "sentences",
        "At most this many sentences need an account.",
        _REASON.NEEDS_LIVE_SYSTEM,
        lambda seen: seen["account"],
    ),
    Limit(
        "max_systems",
        _MAX,
        "systems",
        "At most this many systems are needed that no released file replaces.",
        _REASON.NEEDS_LIVE_SYSTEM,
        lambda seen: seen["systems"],
    ),
    Limit(
        "max_records",
        _MAX,
        "sets of records",
        "At most this many sets of records or instructions are needed that no file can hold.",
        _REASON.MISSING_RECORDS,
        lambda seen: seen["records"],
    ),
    _none("offline", "The task may reach all of the web that it needs.", _REASON.NEEDS_NETWORK),
    Limit(
        "max_live_share",
        _MAX,
        "share of demands",
        "At most this share of the demands needs a live system.",
        _REASON.NEEDS_LIVE_SYSTEM,
        lambda seen: share(seen["live"], seen["demands"]),
        when=_request,
    ),
    _none("unknown_days", "The request says what day it is.", _REASON.UNKNOWN_DAY),
    _none("unknown_askers", "The request says who asks.", _REASON.UNKNOWN_ASKER),
)
_THREADS = (
    Limit(
        "min_thread_words",
        _MIN,
        "words",
        "A thread to answer, without files, has at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["told"],
        when=lambda seen: _thread(seen) and not seen["at_hand"],
    ),
    Limit(
        "min_thread_words_with_files",
        _MIN,
        "words",
        "A thread to answer, with files, has at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["told"],
        when=lambda seen: _thread(seen) and bool(seen["at_hand"]),
    ),
)
_DEMANDS = (
    Limit(
        "min_words",
        _MIN,
        "words",
        "Without input files, the request has at least this many words.",
        _REASON.CONVERSATION_ONLY,
        lambda seen: seen["words"],
        when=lambda seen: not seen["at_hand"],
    ),
    _flag("answers", "It does not begin in the middle of a talk.", _REASON.LEANS_ON_CONTEXT),
    Limit(
        "a demand",
        _MIN,
        "demands",
        "The agent is asked for something.",
        _REASON.NO_REQUEST,
        lambda seen: seen["demands"],
        when=_request,
        at=1,
        movable=False,
    ),
    Limit(
        "max_leaning_share",
        _MAX,
        "share of demands",
        "At most this share of the demands depends on what was said or shown earlier.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: share(seen["leaning"], seen["demands"]),
        when=_request,
    ),
)
_CONTEXT = (
    Limit(
        "max_mentions_share",
        _MAX,
        "share of sentences",
        "Apart from one, at most this share of the sentences refers to what was said earlier.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: share(seen["mentions"] - 1, seen["sentences"]),
        when=_request,
    ),
    Limit(
        "elsewhere",
        _MAX,
        "sentences",
        "No sentence refers to other sessions or to a workspace that is not available.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["elsewhere"],
        when=_request,
        at=0,
        movable=False,
    ),
    Limit(
        "opens midway",
        _MAX,
        "true or false",
        "The first sentences neither answer nor refer to earlier messages.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["opens_midway"],
        when=_request,
        at=False,
        movable=False,
    ),
    Limit(
        "min_opinion_words",
        _MIN,
        "words",
        "A request for an opinion only has at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["words"],
        when=_only_opinions,
    ),
    Limit(
        "min_later_words",
        _MIN,
        "words",
        "A request in the middle of a session has at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["words"],
        when=_midway,
    ),
    Limit(
        "min_met_share",
        _MIN,
        "share of demands",
        "At least this share of the demands and questions can be met.",
        _REASON.CONVERSATION_ONLY,
        lambda seen: share(seen["met"], seen["demands"] + seen["status"]),
        when=_request,
    ),
)
LIMITS = (*_NO_WORK, *_MISSING, *_THREADS, *_DEMANDS, *_CONTEXT)
