"""Self-containment by rules: the codebook's questions, answered from phrases and counts.

The sentences of a request are read (`reading`), those that want something are counted, and so is
what stands against each. The first reason of the codebook's order whose share is too high is
given (EnterpriseClawBench, app. B.1). An agent that asked back makes the limits stricter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from construction.judging.contracts import Case, Containment, ContainmentReason
from construction.judging.phrases import plain
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.rewriting import rewrite
from construction.judging.rules.sentences import (
    addresses_somebody,
    is_closing,
    is_exchange,
    missing_files,
)
from construction.judging.rules.words import phrases, starts, table
from data.contracts import Count, Share, StageConfig
from data.text.lexicon import has_any

_TABLE = "containment"
_OPENING = 2  # sentences in which a reference to an earlier talk makes the rest hang in the air


class ContainmentConfig(StageConfig):
    """Limits of the judge; shares are of the demands of a request, 0 to 1."""

    min_words: Count = 2
    max_addressed_share: Share = 0.5
    max_account: Count = 0
    max_live_share: Share = 0.34
    max_missing_files: Count = 0
    max_pointing_share: Share = 0.34
    max_leaning_share: Share = 0.34
    max_mentions_share: Share = 0.15  # of all sentences
    max_reacting_share: Share = 0.5  # of the paragraphs after the first
    min_specific_words: Count = 25  # with fewer, vague words leave open what is wanted
    untold_words: Count = 10  # with fewer told beside the demands, "should we" asks insiders
    pasted_words: Count = 60  # told beside the demands: material is at hand
    asked_back_factor: Share = 0.5  # of every limit, where the agent asked back


@dataclass(frozen=True, slots=True)
class ContainmentSignals:
    """What stands for and against a request; counts of sentences unless said otherwise.

    `demands` want something, `addressed` of them call a person, `standing` ask how work stands.
    `live` demands need a system; `account` sentences talk of a customer's account. `pointing`
    demands point at material that is not there, `missing_files` are names, `elsewhere` sentences
    speak of a workspace or of other sessions. `leaning` demands and
    `mentions` (all sentences) need earlier talk; `reacting` of `later` paragraphs answer somebody.
    """

    words: int
    sentences: int
    chatter: int
    demands: int
    directives: int
    addressed: int
    standing: int
    exchange: bool
    account: int
    live: int
    missing_files: int
    elsewhere: int
    pointing: int
    leaning: int
    mentions: int
    opens_midway: bool
    later: int
    reacting: int
    unrelated: int
    vague: int
    unjudged: int
    asked_back: bool
    at_hand: bool


def judge_containment(case: Case, config: ContainmentConfig) -> Containment:
    """Judge one case; the rewritten prompt is given where it is self-contained."""
    told = verdict(case, config)
    if not told.self_contained:
        return told
    return told.model_copy(update={"rewritten_prompt": rewrite(case)})


def verdict(case: Case, config: ContainmentConfig) -> Containment:
    """As `judge_containment`, without a rewritten prompt: that is most of the work."""
    found = measure(case, config)
    for reason, told, strength in _against(found, config):
        return Containment(
            self_contained=False,
            reason_code=reason,
            brief_reason=told,
            confidence=round(0.6 + 0.35 * strength, 9),
        )
    return Containment(
        self_contained=True,
        reason_code=ContainmentReason.SELF_CONTAINED,
        brief_reason=f"{found.demands} demands, and nothing that a newcomer lacks",
        confidence=0.7 if found.asked_back or not found.demands else 0.9,
    )


def measure(case: Case, config: ContainmentConfig) -> ContainmentSignals:
    """Count what stands for and against the request of a case. Linear in its length."""
    exchange = is_exchange(case)
    sentences = read(case.request)
    forms = [plain(sentence.text) for sentence in sentences]
    pairs = list(zip(sentences, forms, strict=True))
    wanted = [(one, form) for one, form in pairs if _wants(one, form)]
    told = sum(one.words for one in sentences) - sum(one.words for one, _ in wanted)
    has_files = bool(case.candidate.fixtures)
    at_hand = has_files or "```" in case.request or told >= config.pasted_words
    heard = [*sentences, *(one for text in case.background for one in read(text))]
    later = [text for text in case.request.split("\n\n")[1:] if not is_closing(text)]
    return ContainmentSignals(
        words=sum(one.words for one in sentences),
        sentences=len(sentences),
        chatter=sum(one.chatter and not _wants(one, form) for one, form in pairs),
        demands=len(wanted) or int(_names_output(case) and not exchange),
        directives=sum(_orders(one, form) for one, form in wanted),
        addressed=sum(addresses_somebody(one.text) for one in sentences),
        # With material at hand it is the material that tells how work stands.
        standing=0 if at_hand else sum(map(_asks_standing, wanted)),
        exchange=exchange,
        account=sum(one.account for one in heard),
        live=sum(_is_live(one, form, has_files) for one, form in wanted),
        missing_files=len(missing_files(case)),
        elsewhere=0 if has_files else sum(one.past_sessions or one.elsewhere for one in sentences),
        pointing=0 if at_hand else sum(_points(one, form) for one, form in wanted),
        leaning=sum(_leans(one, form, at_hand, has_files) for one, form in wanted)
        + (told <= config.untold_words and not has_files and _asks_insiders(wanted)),
        mentions=sum(one.leans for one in sentences),
        opens_midway=_opens_midway(sentences, at_hand),
        later=len(later),
        reacting=sum(has_any(plain(text), starts(_TABLE, "reacts")) for text in later),
        unrelated=_unrelated(sentences, forms),
        vague=sum(has_any(form, phrases(_TABLE, "vague")) for _, form in wanted),
        unjudged=sum(has_any(form, phrases(_TABLE, "unjudged")) for _, form in wanted),
        asked_back=case.asked_back,
        at_hand=at_hand,
    )


def _wants(one: Reading, form: str) -> bool:
    if one.demands:
        return True
    if has_any(form, phrases(_TABLE, "always")) or has_any(form, phrases(_TABLE, "orders")):
        return True
    told = one.chatter or has_any(form, phrases(_TABLE, "informs"))
    return not told and has_any(form, phrases(_TABLE, "wants"))


def _orders(one: Reading, form: str) -> bool:
    return one.ask is Ask.DIRECTIVE or has_any(form, phrases(_TABLE, "orders"))


def _names_output(case: Case) -> bool:
    """A file that the request names as output is a demand, however it is put."""
    return any(
        item.name_hints and item.source != "produced" and item.name_hints != ("answer.md",)
        for item in case.candidate.deliverables
    )


def _composes(form: str) -> bool:
    words = table(_TABLE)
    return not frozenset(words["composes"]).isdisjoint(form.split()) or any(
        word in form for word in words["composes_zh"]
    )


def _is_live(one: Reading, form: str, has_files: bool) -> bool:
    if one.account:
        return True
    if has_files:
        return one.live and not _composes(form)
    needs = one.live or any(has_any(form, phrases(_TABLE, key)) for key in ("machine", "service"))
    return needs and not _composes(form)


def _points(one: Reading, form: str) -> bool:
    return one.points or has_any(form, phrases(_TABLE, "attached"))


def _leans(one: Reading, form: str, at_hand: bool, has_files: bool) -> bool:
    if one.leans:
        return True
    if has_files:
        return False
    return has_any(form, phrases(_TABLE, "context")) or (one.dangling and not at_hand)


def _asks_insiders(wanted: list[tuple[Reading, str]]) -> bool:
    return any(has_any(form, phrases(_TABLE, "insiders")) for _, form in wanted)


def _asks_standing(wanted: tuple[Reading, str]) -> bool:
    return has_any(wanted[1], phrases(_TABLE, "standing"))


def _unrelated(sentences: tuple[Reading, ...], forms: list[str]) -> int:
    """Marks of another piece of work after something was asked for already."""
    count, asked = 0, False
    for one, form in zip(sentences, forms, strict=True):
        count += asked and has_any(form, phrases(_TABLE, "unrelated"))
        asked = asked or one.ask is Ask.DIRECTIVE
    return count


def _opens_midway(sentences: tuple[Reading, ...], at_hand: bool) -> bool:
    """Do the first sentences that say something answer, or point at, what came before?"""
    opening = [one for one in sentences if not one.chatter][:_OPENING]
    if not opening:
        return False
    return any(one.leans for one in opening) or (opening[0].dangling and not at_hand)


def _against(
    found: ContainmentSignals, config: ContainmentConfig
) -> Iterator[tuple[ContainmentReason, str, float]]:
    """Reasons against, in the codebook's order: each with a sentence and its strength, 0 to 1."""
    yield from _no_work(found, config)
    yield from _lacks(found, config)
    yield from _unclear(found, config)


def _no_work(
    found: ContainmentSignals, config: ContainmentConfig
) -> Iterator[tuple[ContainmentReason, str, float]]:
    reason = ContainmentReason.CONVERSATION_ONLY
    if found.chatter == found.sentences or found.words < config.min_words:
        yield reason, "nothing but greetings, thanks or fragments", 1.0
    elif not found.demands:
        yield reason, "nothing is asked for", 0.9
    elif found.exchange and not found.directives:
        yield reason, "messages between people; none orders anything", 0.8
    elif found.standing and found.standing == found.demands:
        yield reason, "asks only how work stands", 0.6
    elif not found.exchange and _over(found.addressed, found.demands, config.max_addressed_share):
        yield reason, f"{found.addressed} sentences call somebody else by name", 0.6


def _lacks(
    found: ContainmentSignals, config: ContainmentConfig
) -> Iterator[tuple[ContainmentReason, str, float]]:
    reason, demands = ContainmentReason, found.demands
    ease = config.asked_back_factor if found.asked_back else 1.0
    if found.account > config.max_account:
        yield reason.DEPENDS_ON_LIVE_SYSTEM, f"{found.account} sentences need an account", 1.0
    if _over(found.live, demands, config.max_live_share * ease):
        yield (
            reason.DEPENDS_ON_LIVE_SYSTEM,
            f"{found.live} of {demands} demands need a system or a moment",
            _share(found.live, demands),
        )
    if found.missing_files > config.max_missing_files:
        yield reason.MISSING_INPUT, f"{found.missing_files} named files are not released", 0.9
    if found.elsewhere:
        yield reason.MISSING_INPUT, "speaks of a workspace or of sessions that are not there", 0.8
    if _over(found.pointing, demands, config.max_pointing_share * ease):
        yield (
            reason.MISSING_INPUT,
            f"{found.pointing} of {demands} demands point at material that is not there",
            _share(found.pointing, demands),
        )
    if found.exchange:
        yield reason.MISSING_CONTEXT, "messages between people who know what it is about", 0.7
    if found.opens_midway:
        yield reason.MISSING_CONTEXT, "opens in the middle of a conversation", 0.7
    for part, whole, limit, told in (
        (found.leaning, demands, config.max_leaning_share * ease, "demands lean on earlier talk"),
        (found.mentions - 1, found.sentences, config.max_mentions_share, "sentences speak of it"),
        (found.reacting, found.later, config.max_reacting_share, "later parts answer somebody"),
    ):
        if _over(part, whole, limit):
            yield reason.MISSING_CONTEXT, f"{part} of {whole} {told}", _share(part, whole)


def _unclear(
    found: ContainmentSignals, config: ContainmentConfig
) -> Iterator[tuple[ContainmentReason, str, float]]:
    reason, demands = ContainmentReason, found.demands
    if found.unrelated:
        yield reason.MULTI_TASK, "a part is said to be a different piece of work", 0.7
    few = found.words < config.min_specific_words and not found.at_hand
    if few and _over(found.vague, demands, 0.0):
        yield reason.AMBIGUOUS_TASK, f"{found.vague} of {demands} demands leave open what", 0.6
    if demands and found.unjudged == demands:
        yield reason.NOT_VERIFIABLE, "asks for a feeling or a view that nobody could judge", 0.8


def _over(part: int, whole: int, limit: float) -> bool:
    return part > 0 and _share(part, whole) > limit


def _share(part: int, whole: int) -> float:
    return round(min(1.0, part / whole), 9) if whole else 0.0
