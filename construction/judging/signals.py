"""What the sentences of a request say about it, measured once for every judgement.

The preflight gate and the rules for self-containment ask different things, with own limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from construction.judging.addressees import is_for_the_agent
from construction.judging.contracts import Case
from construction.judging.conversation import Conversation, is_single_message
from construction.judging.deliverables import ANSWER
from construction.judging.lexicon import phrases, starts, table
from construction.judging.no_work import NoWork, no_work, task_follows
from construction.judging.reading import (
    Ask,
    Reading,
    asks_of_things,
    orders_in_passing,
    read,
)
from construction.judging.request_counts import (
    Demands,
    Opening,
    Wishes,
    brings_material,
    brings_text,
    words_brought,
)
from construction.judging.rules.sentences import (
    addresses_somebody,
    begins_another,
    is_closing,
    is_exchange,
    missing_files,
    sought_nowhere,
)
from construction.mentions.spans import find_file_spans
from data.text.lexicon import has_any
from data.text.sentences import phrase_form

_TABLE = "containment"


@dataclass(frozen=True, slots=True)
class Signals:
    """Counts over a request, of sentences unless said otherwise.

    `chatter` is small talk, `idle` such small talk as wants nothing. `status` asks how things
    stand; `mentions` refers to what was said before; `addressed` addresses somebody else by name;
    `elsewhere` refers to a workspace or to other sessions, and `unrelated` to another piece of
    work. `reacting` of the `later_parts` (paragraphs after the first) answer somebody.
    `account` and `words_shown` count in request and background; the `_said` counts in all that
    the person typed. Over input files from which a named file is to be made, words such as "order
    number" are of the files, and no account is counted. `missing_files` are named and not released,
    or hold what is asked for and no input does. `has_material`: code or output is pasted.
    """

    conversation: Conversation
    opening: Opening
    demands: Demands
    wishes: Wishes
    words: int
    words_shown: int
    sentences: int
    chatter: int
    idle: int
    status: int
    mentions: int
    addressed: int
    elsewhere: int
    unrelated: int
    account: int
    account_said: int
    past_sessions_said: int
    workspace_said: int
    later_parts: int
    reacting: int
    missing_files: int
    has_files: bool
    has_material: bool
    has_background: bool
    exchange: bool
    asked_back: bool
    no_work: NoWork


Form = tuple[Reading, str]  # a sentence, and its plain form that phrases are looked for in
_ALONE = Conversation()


def measure(case: Case, conversation: Conversation = _ALONE) -> Signals:
    """Count the evidence for and against the request of a case. Linear in its length."""
    sentences = _grounded(case, conversation)
    forms = [(sentence, phrase_form(sentence.text)) for sentence in sentences]
    passing = _orders_over_files(case, forms, conversation)
    wanted = [form for form in forms if _wants(form)] or passing
    shown = [*sentences, *(item for text in case.background for item in read(text))]
    texts = (*conversation.said_before, *conversation.said)
    said = [item for text in texts for item in read(text)]
    works_on_files = bool(case.candidate.fixtures) and _names_output(case)
    later = [text for text in case.request.split("\n\n")[1:] if not is_closing(text)]
    return Signals(
        conversation=conversation,
        opening=_opening(sentences),
        demands=_demands(case, conversation, sentences, bool(passing)),
        wishes=_wishes(case, sentences, wanted),
        words=sum(item.words for item in sentences),
        words_shown=sum(item.words for item in shown),
        sentences=len(sentences),
        chatter=sum(item.chatter for item in sentences),
        idle=sum(item.chatter for item, _ in forms) - sum(item.chatter for item, _ in wanted),
        status=sum(_is_status(case, item, conversation) for item in sentences),
        mentions=sum(item.leans for item in sentences),
        addressed=sum(addresses_somebody(item.text) for item in sentences),
        elsewhere=sum(item.past_sessions or item.elsewhere for item in sentences),
        unrelated=_unrelated(forms),
        account=0 if works_on_files else sum(item.account for item in shown),
        account_said=0 if works_on_files else sum(item.account for item in said),
        past_sessions_said=sum(item.past_sessions for item in said),
        workspace_said=sum(item.elsewhere and not item.past_sessions for item in said),
        later_parts=len(later),
        reacting=sum(has_any(phrase_form(text), starts(_TABLE, "reacts")) for text in later),
        missing_files=len(missing_files(case)) + len(sought_nowhere(case)),
        has_files=bool(case.candidate.fixtures),
        has_material=brings_material(case.request),
        has_background=bool(case.background),
        exchange=is_exchange(case),
        asked_back=case.asked_back,
        no_work=_no_work(case, sentences),
    )


def _grounded(case: Case, conversation: Conversation) -> tuple[Reading, ...]:
    """The sentences of the request; with nothing at hand, more of them lean on earlier talk."""
    sentences = read(case.request)
    is_told = is_single_message(case, conversation) and brings_text(case.request)
    if case.candidate.fixtures or brings_material(case.request) or is_told:
        return sentences
    return tuple(replace(item, leans=item.leans or item.leans_unless_files) for item in sentences)


def _no_work(case: Case, said: Sequence[Reading]) -> NoWork:
    has_files, names_output = bool(case.candidate.fixtures), _names_output(case)
    return no_work(said, has_files=has_files, names_output=names_output)


def _opening(sentences: Sequence[Reading]) -> Opening:
    telling = [item for item in sentences if not item.chatter]
    if not telling:
        return Opening()
    first, leaning = telling[0], (at for at, item in enumerate(telling) if item.leans)
    can_only_answer = sentences[0].answers or first.answers
    return Opening(next(leaning, None), first.reply, first.dangling, can_only_answer)


def _demands(
    case: Case, conversation: Conversation, sentences: Sequence[Reading], orders_in_files: bool
) -> Demands:
    """A file that the request names as output is a demand, however it is put, and so is an order in
    passing where there are input files (`orders_in_files`). A sentence over a named file needs no
    live system.
    """
    demands = [item for item in sentences if item.demands and is_for_the_agent(item, conversation)]
    by_name = int(_names_output(case) or (orders_in_files and not demands))
    if _is_news(case, conversation, demands) or task_follows(sentences):
        demands, by_name = [], 0
    at_hand = bool(case.candidate.fixtures) or brings_material(case.request)
    leaning = [item.leans or (item.points and not at_hand) for item in demands]
    live = [_is_live_demand(item, at_hand) for item in demands]
    obstacles = [needs or leans for needs, leans in zip(live, leaning, strict=True)]
    return Demands(
        count=len(demands) + by_name,
        live=sum(live),
        leaning=sum(leaning),
        opinions=sum(item.opinion for item in demands),
        met=by_name + len(demands) - sum(obstacles),
    )


def _is_news(case: Case, conversation: Conversation, demands: Sequence[Reading]) -> bool:
    """Messages of a named writer that neither ask nor call the agent: "I want advice first".

    A file that they ask for makes them a request all the same.
    """
    if conversation.calling:
        return False
    only_answer = all(item.name_hints == (ANSWER,) for item in case.candidate.deliverables)
    asks = any(item.ask is Ask.QUESTION or item.to_agent for item in demands)
    return conversation.people > 0 and only_answer and not conversation.is_thread and not asks


def _is_live_demand(item: Reading, at_hand: bool) -> bool:
    if at_hand:
        return item.live and not ("." in item.text and find_file_spans(item.text))
    return item.live or item.live_unless_files


def _orders_over_files(case: Case, forms: Sequence[Form], conversation: Conversation) -> list[Form]:
    """The sentences with an order in passing; only over input files is it one.

    With files at hand, what a person opens a session with is what is wanted, however it is put:
    "the totals per month", "Bob's salary should be 500 higher".
    """
    if not case.candidate.fixtures:
        return []
    alone = conversation.opens_alone
    passing = [form for form in forms if orders_in_passing(form[0].text, alone=alone)]
    if passing or not alone:
        return passing
    return [form for form in forms if form[0].tells]


def _is_status(case: Case, item: Reading, conversation: Conversation) -> bool:
    """A question of status; over input files, one of how things are can be answered from them."""
    at_hand, alone = bool(case.candidate.fixtures), conversation.opens_alone
    return item.ask is Ask.STATUS and not (at_hand and asks_of_things(item.text, alone=alone))


def _names_output(case: Case) -> bool:
    return any(
        item.name_hints and item.source != "produced" and item.name_hints != (ANSWER,)
        for item in case.candidate.deliverables
    )


def _wishes(case: Case, sentences: Sequence[Reading], wanted: Sequence[Form]) -> Wishes:
    has_files = bool(case.candidate.fixtures)
    leaning = [_leans(form, has_files) for form in wanted]
    return Wishes(
        count=len(wanted) or int(_names_output(case) and not is_exchange(case)),
        orders=sum(_orders(form) for form in wanted),
        standing=_count(wanted, "standing"),
        live=sum(_is_live(form, has_files) for form in wanted),
        pointing=sum(item.points or _has(form, "attached") for item, form in wanted),
        leaning=leaning.count("leaning"),
        assuming=leaning.count("assuming"),
        dangling=leaning.count("dangling"),
        insiders=_count(wanted, "insiders") > 0,
        vague=_count(wanted, "vague"),
        unjudged=_count(wanted, "unjudged"),
        words_beside=sum(item.words for item in sentences) - sum(item.words for item, _ in wanted),
        brought=words_brought(case.request),
    )


def _has(form: str, key: str) -> bool:
    return has_any(form, phrases(_TABLE, key))


def _count(wanted: Sequence[Form], key: str) -> int:
    return sum(_has(form, key) for _, form in wanted)


def _wants(form: Form) -> bool:
    sentence, text = form
    if sentence.demands or _has(text, "always") or _has(text, "orders"):
        return True
    return not sentence.chatter and not _has(text, "informs") and _has(text, "wants")


def _orders(form: Form) -> bool:
    return form[0].ask is Ask.DIRECTIVE or _has(form[1], "orders")


def _composes(text: str) -> bool:
    words = table(_TABLE)
    return not frozenset(words["composes"]).isdisjoint(text.split()) or any(
        word in text for word in words["composes_zh"]
    )


def _is_live(form: Form, has_files: bool) -> bool:
    sentence, text = form
    if sentence.account:
        return True
    alone = sentence.live_unless_files or _has(text, "machine") or _has(text, "service")
    needs = sentence.live or (not has_files and alone)
    return needs and not _composes(text)


def _leans(form: Form, has_files: bool) -> str:
    """By what a wish needs earlier talk; empty if by nothing."""
    sentence, text = form
    if sentence.leans:
        return "leaning"
    if _has(text, "context") or (not has_files and _has(text, "context_unless_files")):
        return "assuming"
    return "dangling" if sentence.dangling else ""


def _unrelated(forms: Sequence[Form]) -> int:
    """Marks of another piece of work after something was asked for already."""
    count, is_asked = 0, False
    for sentence, text in forms:
        count += is_asked and begins_another(text)
        is_asked = is_asked or sentence.ask is Ask.DIRECTIVE
    return count
