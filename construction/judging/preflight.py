"""The preflight gate: is what is left of an instance solvable as written?

A released task must be a request that a newcomer can meet from the prompt, the input files and
the listed URLs. Much of what people type to an agent is no such thing: replies inside a
conversation, small talk, orders that need an account or yesterday's screen. The gate counts
the demands of the prompt and what stands against each (`reading`), and passes only if most of
them can be met. It prefers to lose a good task over releasing a bad one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from construction.judging.deliverables import ANSWER
from construction.judging.reading import Ask, Reading, read
from construction.sessions.packaging.package import Packaged
from data.contracts import (
    Bound,
    Candidate,
    Count,
    Gate,
    GateReason,
    Limit,
    Measures,
    Share,
    StageConfig,
    TaskInstance,
    share,
)

_OPENING = 3  # sentences in which a reference to an earlier talk makes the rest hang in the air


class PreflightReason(GateReason):
    CONVERSATION_ONLY = "preflight.conversation_only", "There is little to do but to converse."
    NO_REQUEST = "preflight.no_request", "Nothing is asked for."
    MISSING_INPUTS = "preflight.missing_inputs", "Files that the agent read are not released."
    NEEDS_LIVE_SYSTEM = "preflight.needs_live_system", "It needs an account or a live system."
    LEANS_ON_CONTEXT = "preflight.leans_on_context", "It needs what was said or shown before."
    AMONG_OTHERS = "preflight.among_others", "It may be meant for another person."


class PreflightConfig(StageConfig):
    """Limits of the gate; all shares are of the prompt's demands, 0 to 1."""

    min_words: Count = 4
    max_missing_share: Share = 0.34
    min_opinion_words: Count = 12  # where nothing but a view is asked for
    min_later_words: Count = 8  # in the middle of a session
    max_live_share: Share = 0.34
    max_leaning_share: Share = 0.34
    min_met_share: Share = 0.6
    max_mentions_share: Share = 0.15
    max_account: Count = 0
    min_thread_words: Count = 120  # a thread to be answered must tell what it is about,
    min_thread_words_with_files: Count = 20  # or its files do
    max_thread_people: Count = 1  # among several the question may be for another


@dataclass(frozen=True, slots=True)
class PreflightObservation:
    """Counts over the sentences of the person's part of a prompt.

    `demands` are directives and questions that want something; `status` asks how things stand.
    A demand counts as `met` if nothing stands against it. `leaning` counts the demands that
    need what was said or shown before, `mentions` all sentences that speak of it; `account` and
    `elsewhere` count in all that was said, also before and in turns that were left out, the
    latter for talk of the workspace only if no file is at hand. Where several people write, only
    what calls the agent is a demand. `inputs` are the files that the agent read, `missing_inputs`
    those of them that are not released with the task.
    """

    words: int
    sentences: int
    chatter: int
    demands: int
    status: int
    account: int
    elsewhere: int
    live: int
    leaning: int
    mentions: int
    opinions: int
    met: int
    has_past: bool
    opens_midway: bool
    inputs: int
    missing_inputs: int
    people: int
    thread: bool
    told: int
    at_hand: bool


def measure(packaged: Packaged, instance: TaskInstance) -> PreflightObservation:
    """Read the person's part of a packaged prompt."""
    request, candidate = packaged.request, packaged.candidate
    people = len(packaged.people)
    sentences = read(request)
    demands = [
        item
        for item in sentences
        if item.demands and _for_the_agent(item, people, packaged.in_channel)
    ]
    at_hand = bool(candidate.fixtures) or "```" in request
    texts = (*instance.said_before, *(turn.said for turn in instance.user_turns))
    heard = [item for text in texts for item in read(text)]
    inputs, missing = _unread(candidate, instance)
    by_name = int(not demands and _names_output(candidate))
    if _is_news(packaged, demands):
        demands = []
    leaning = [item for item in demands if item.leans or (item.points and not at_hand)]
    return PreflightObservation(
        words=sum(item.words for item in sentences),
        sentences=len(sentences),
        chatter=sum(item.chatter for item in sentences),
        demands=len(demands) + by_name,
        status=sum(item.ask is Ask.STATUS for item in sentences) if people < 2 else 0,
        account=sum(item.account for item in heard),
        elsewhere=sum(item.past_sessions or (item.elsewhere and not at_hand) for item in heard),
        live=sum(item.live for item in demands),
        leaning=len(leaning),
        mentions=sum(item.leans for item in sentences),
        opinions=sum(item.opinion for item in demands),
        met=by_name + sum(not item.live and item not in leaning for item in demands),
        has_past=bool(instance.said_before),
        opens_midway=_opens_midway(
            sentences, bool(instance.said_before), at_hand or bool(packaged.background)
        ),
        inputs=inputs,
        missing_inputs=missing,
        people=people,
        thread=packaged.thread,
        at_hand=at_hand,
        told=sum(item.words for text in (request, *packaged.background) for item in read(text)),
    )


def _is_news(packaged: Packaged, demands: Sequence[Reading]) -> bool:
    """Messages of a named writer that neither ask nor call the agent: "I want advice first".

    A file that they ask for makes them a request all the same.
    """
    only_answer = all(item.name_hints == (ANSWER,) for item in packaged.candidate.deliverables)
    asks = any(item.ask is Ask.QUESTION or item.to_agent for item in demands)
    return bool(packaged.people) and only_answer and not packaged.thread and not asks


def _for_the_agent(item: Reading, people: int, in_channel: bool) -> bool:
    """Among several writers only what calls the agent; in a channel also an open question."""
    if item.to_agent or (people < 2 and not in_channel):
        return True
    return people < 2 and item.ask is Ask.QUESTION and not item.to_other


def _opens_midway(sentences: Sequence[Reading], has_past: bool, at_hand: bool) -> bool:
    """Do the first sentences that say something answer, or point at, what came before?"""
    opening = [item for item in sentences if not item.chatter][:_OPENING]
    if not opening:
        return False
    first = opening[0]
    leans = any(item.leans for item in opening)
    return leans or (has_past and first.reply) or (first.dangling and (has_past or not at_hand))


def _unread(candidate: Candidate, instance: TaskInstance) -> tuple[int, int]:
    """Files that the agent read before it wrote them: how many, and how many are not released."""
    there = {_base(fixture.path) for fixture in candidate.fixtures}
    read_first: set[str] = set()
    written: set[str] = set()
    for act in instance.acts:
        if act.kind == "wrote":
            written.add(_base(act.path))
        elif act.kind == "read" and _base(act.path) not in written:
            read_first.add(_base(act.path))
    return len(read_first), len(read_first - there)


def _names_output(candidate: Candidate) -> bool:
    """Does the request name a file to be made? That is a demand, however it is put."""
    return any(
        item.name_hints and item.source != "produced" and item.name_hints != (ANSWER,)
        for item in candidate.deliverables
    )


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].lower()


def _thread(seen: Measures) -> bool:
    """Is it a thread to be answered? An answer can be written to whatever is asked."""
    return bool(seen["thread"])


def _request(seen: Measures) -> bool:
    """Is it a request to the agent? It must stand on its own."""
    return not seen["thread"]


def _only_opinions(seen: Measures) -> bool:
    return _request(seen) and seen["opinions"] == seen["demands"]


def _midway(seen: Measures) -> bool:
    return _request(seen) and seen["has_past"] and seen["opinions"] != seen["demands"]


_REASON, _MIN, _MAX = PreflightReason, Bound.MIN, Bound.MAX
_EVERY_PROMPT = (
    Limit(
        "min_words",
        _MIN,
        "words",
        "The request has at least this many words.",
        _REASON.CONVERSATION_ONLY,
        lambda seen: seen["words"],
    ),
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
    Limit(
        "max_account",
        _MAX,
        "sentences",
        "At most this many sentences need an account.",
        _REASON.NEEDS_LIVE_SYSTEM,
        lambda seen: seen["account"],
    ),
    Limit(
        "max_missing_share",
        _MAX,
        "share of the files that the agent read",
        "At most this share of the files that the agent read is not released.",
        _REASON.MISSING_INPUTS,
        lambda seen: share(seen["missing_inputs"], seen["inputs"]),
    ),
)
_THREADS = (
    Limit(
        "min_thread_words",
        _MIN,
        "words",
        "A thread to be answered, without files, tells at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["told"],
        when=lambda seen: _thread(seen) and not seen["at_hand"],
    ),
    Limit(
        "min_thread_words_with_files",
        _MIN,
        "words",
        "A thread to be answered, with files, tells at least this many words.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: seen["told"],
        when=lambda seen: _thread(seen) and bool(seen["at_hand"]),
    ),
    Limit(
        "max_thread_people",
        _MAX,
        "people",
        "At most this many people write in a thread to be answered.",
        _REASON.AMONG_OTHERS,
        lambda seen: seen["people"],
        when=_thread,
    ),
)
_DEMANDS = (
    Limit(
        "a demand",
        _MIN,
        "demands",
        "A single writer asks for something.",
        _REASON.NO_REQUEST,
        lambda seen: seen["demands"],
        when=lambda seen: _request(seen) and seen["people"] < 2,
        at=1,
        movable=False,
    ),
    Limit(
        "a demand among several writers",
        _MIN,
        "demands",
        "Among several writers, somebody asks the agent for something.",
        _REASON.AMONG_OTHERS,
        lambda seen: seen["demands"],
        when=lambda seen: _request(seen) and seen["people"] >= 2,
        at=1,
        movable=False,
    ),
    Limit(
        "max_live_share",
        _MAX,
        "share of demands",
        "At most this share of the demands needs a live system.",
        _REASON.NEEDS_LIVE_SYSTEM,
        lambda seen: share(seen["live"], seen["demands"]),
        when=_request,
    ),
    Limit(
        "max_leaning_share",
        _MAX,
        "share of demands",
        "At most this share of the demands needs what was said or shown before.",
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
        "At most this share of the sentences, but for one, speaks of what was said before.",
        _REASON.LEANS_ON_CONTEXT,
        lambda seen: share(seen["mentions"] - 1, seen["sentences"]),
        when=_request,
    ),
    Limit(
        "elsewhere",
        _MAX,
        "sentences",
        "No sentence speaks of other sessions or of a workspace that is not there.",
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
        "The first sentences do not answer, or point at, what came before.",
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
        "A request for nothing but a view has at least this many words.",
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
GATE = Gate(
    name="preflight",
    stage="package",
    section="sessions.preflight",
    meaning="Could a newcomer do it as written, with the files and URLs that are released?",
    config=PreflightConfig,
    reasons=PreflightReason,
    measure=measure,
    limits=(*_EVERY_PROMPT, *_THREADS, *_DEMANDS, *_CONTEXT),
)
