"""The preflight gate: is what is left of an instance solvable as written?

A released task must be a request that a newcomer can meet from the prompt, the input files and
the listed URLs. Much of what people type to an agent is no such thing: replies inside a
conversation, small talk, orders that need an account or yesterday's screen. The gate counts
the demands of the prompt and what stands against each (`reading`), and passes only if most of
them can be met. It prefers to lose a good task over releasing a bad one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from construction.judging.deliverables import ANSWER
from construction.judging.reading import Ask, Reading, read
from construction.sessions.packaging.package import Packaged
from data.contracts import Candidate, Count, Scalar, Share, StageConfig, TaskInstance, Verdict

NAME = "preflight"
_OPENING = 3  # sentences in which a reference to an earlier talk makes the rest hang in the air


class PreflightReason(StrEnum):
    CONVERSATION_ONLY = "preflight.conversation_only"
    NO_REQUEST = "preflight.no_request"
    MISSING_INPUTS = "preflight.missing_inputs"
    NEEDS_LIVE_SYSTEM = "preflight.needs_live_system"
    LEANS_ON_CONTEXT = "preflight.leans_on_context"
    AMONG_OTHERS = "preflight.among_others"


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


def judge(observed: PreflightObservation, config: PreflightConfig) -> Verdict:
    """The first limit that is broken gives the reason and the value that broke it."""
    measures = asdict(observed)
    for reason, value, limit, broken in _checks(observed, config):
        if broken:
            return Verdict.failing(NAME, reason, value, limit, measures)
    met = _share(observed.met, observed.demands + observed.status)
    return Verdict.passing(NAME, met, config.min_met_share, measures)


def _checks(
    observed: PreflightObservation, config: PreflightConfig
) -> Iterator[tuple[PreflightReason, Scalar, Scalar, bool]]:
    """Reason, value, limit, and whether it is broken; in the order in which they decide."""
    reason = PreflightReason
    speechless = observed.chatter == observed.sentences
    yield (
        reason.CONVERSATION_ONLY,
        observed.words,
        config.min_words,
        speechless or observed.words < config.min_words,
    )
    account, accounts = observed.account, config.max_account
    yield reason.NEEDS_LIVE_SYSTEM, account, accounts, account > accounts
    missing, allowed = _share(observed.missing_inputs, observed.inputs), config.max_missing_share
    yield reason.MISSING_INPUTS, missing, allowed, missing > allowed
    yield from (
        _thread_checks(observed, config) if observed.thread else _order_checks(observed, config)
    )


def _thread_checks(
    observed: PreflightObservation, config: PreflightConfig
) -> Iterator[tuple[PreflightReason, Scalar, Scalar, bool]]:
    """An answer can be written to whatever is asked, if enough is told to rest it on."""
    words = observed.told
    wanted = config.min_thread_words_with_files if observed.at_hand else config.min_thread_words
    yield PreflightReason.LEANS_ON_CONTEXT, words, wanted, words < wanted
    yield (
        PreflightReason.AMONG_OTHERS,
        observed.people,
        config.max_thread_people,
        observed.people > config.max_thread_people,
    )


def _order_checks(
    observed: PreflightObservation, config: PreflightConfig
) -> Iterator[tuple[PreflightReason, Scalar, Scalar, bool]]:
    """A request to the agent must stand on its own."""
    reason = PreflightReason
    among = reason.NO_REQUEST if observed.people < 2 else reason.AMONG_OTHERS
    yield among, observed.demands, 1, observed.demands < 1
    for name, part, whole, limit in (
        (reason.NEEDS_LIVE_SYSTEM, observed.live, observed.demands, config.max_live_share),
        (reason.LEANS_ON_CONTEXT, observed.leaning, observed.demands, config.max_leaning_share),
        (
            reason.LEANS_ON_CONTEXT,
            observed.mentions - 1,
            observed.sentences,
            config.max_mentions_share,
        ),
    ):
        share = _share(part, whole)
        yield name, share, limit, share > limit
    yield reason.LEANS_ON_CONTEXT, observed.elsewhere, 0, observed.elsewhere > 0
    yield reason.LEANS_ON_CONTEXT, True, False, observed.opens_midway
    wanted = config.min_words
    if observed.opinions == observed.demands:
        wanted = config.min_opinion_words
    elif observed.has_past:
        wanted = config.min_later_words
    yield reason.LEANS_ON_CONTEXT, observed.words, wanted, observed.words < wanted
    met = _share(observed.met, observed.demands + observed.status)
    yield reason.CONVERSATION_ONLY, met, config.min_met_share, met < config.min_met_share


def _share(part: int, whole: int) -> float:
    return round(part / whole, 9) if whole else 0.0
