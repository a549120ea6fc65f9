"""How the conversation about a task goes: in one message or several, with questions and breaks."""

from __future__ import annotations

from collections.abc import Callable

from data.demo.draft import Draft, Style
from data.demo.material import fill
from data.demo.script import Call, Tool
from data.demo.session_builder import SessionBuilder

Conversation = Callable[[SessionBuilder, Draft, str], None]


def single(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """One request, one delivery."""
    _ask(builder, draft, opening)
    _deliver(builder, draft)


def refined(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """A delivery, then two follow-up requests about the same result."""
    single(builder, draft, opening)
    for wish in _wishes(draft):
        builder.human(wish)
        _adjust(builder, draft)


def refined_once(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """As `refined`, with the first follow-up only."""
    single(builder, draft, opening)
    builder.human(_wishes(draft)[0])
    _adjust(builder, draft)


def clarified(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """The agent asks back before it works."""
    template = draft.material.template
    if template.question is None or template.answer is None:
        raise ValueError(f"{template.key} has no question to ask")
    _ask(builder, draft, opening)
    builder.agent(fill(template.question, draft.material.slots))
    builder.human(fill(template.answer, draft.material.slots))
    _deliver(builder, draft)


def collected(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """The files come one by one, the request with the last message."""
    words, files = builder.words, draft.paths
    builder.human(opening + fill(builder.choose(words.wait), {"count": words.counts[len(files)]}))
    builder.agent(builder.choose(words.received))
    for number, path in enumerate(files, start=1):
        said = fill(builder.choose(words.sent), {"k": str(number)})
        if draft.style is Style.PATH:
            said += f" {draft.named(path)}"
        builder.human(said, draft.with_markers(said, [path]))
        builder.agent(builder.choose(words.received))
    builder.human(words.all_sent + draft.said())
    _deliver(builder, draft)


def aborted(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """The person stops the agent by accident and lets it go on."""
    _ask(builder, draft, opening)
    builder.agent(builder.words.aborted, draft.work()[:1], stop="aborted")
    builder.human(builder.words.resume)
    _deliver(builder, draft)


def rewound(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """A follow-up that the person takes back and rephrases: the first branch is abandoned."""
    single(builder, draft, opening)
    first, second = _wishes(draft)
    builder.abandoned(first, builder.choose(builder.words.adjusted_text))
    builder.human(second)
    _adjust(builder, draft)


def interrupted(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """Machine turns between a delivery and a follow-up; they belong to no task."""
    single(builder, draft, opening)
    heartbeat(builder)
    scheduled(builder)
    builder.human(_wishes(draft)[0])
    _adjust(builder, draft)
    builder.machine("flush", _FLUSH)
    builder.agent("NO_REPLY", (Call(Tool.WRITE, "memory/notes.md", "ok", content="- delivered\n"),))


def compacted(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    """The harness summarises the conversation before the follow-ups."""
    single(builder, draft, opening)
    builder.compaction(fill(draft.material.template.reply, draft.material.slots))
    for wish in _wishes(draft):
        builder.human(wish)
        _adjust(builder, draft)


def heartbeat(builder: SessionBuilder) -> None:
    """A regular check to which the agent has nothing to report."""
    builder.machine("heartbeat", _HEARTBEAT)
    builder.agent("HEARTBEAT_OK")


def scheduled(builder: SessionBuilder) -> None:
    """A prompt sent by a scheduler."""
    job = builder.token("cron", 8)
    builder.machine("cron", f"[cron:{job} morning-digest] {_CRON[builder.language]}")
    builder.agent(_CRON_DONE[builder.language])


def thanked(builder: SessionBuilder) -> None:
    """Thanks at the end; they belong to the task before them."""
    builder.human(builder.choose(builder.words.thanks))
    builder.agent(builder.choose(builder.words.welcome))


_HEARTBEAT = (
    "Read HEARTBEAT.md in the workspace and do what it says. If nothing needs attention, "
    "reply HEARTBEAT_OK."
)
_FLUSH = (
    "Pre-compaction memory flush. Store what must not be lost in memory/notes.md. "
    "If there is nothing to store, reply with NO_REPLY."
)
_CRON = {
    "en": "Collect the open tickets of the support queue and post the list to the channel.",
    "zh": "汇总客服队列里未关闭的工单，发到频道。",
}
_CRON_DONE = {
    "en": "The list of open tickets is posted.",
    "zh": "未关闭的工单清单已发出。",
}

CONVERSATIONS: dict[str, Conversation] = {
    "single": single,
    "refined": refined,
    "refined_once": refined_once,
    "clarified": clarified,
    "collected": collected,
    "aborted": aborted,
    "rewound": rewound,
    "interrupted": interrupted,
    "compacted": compacted,
}


def _wishes(draft: Draft) -> tuple[str, str]:
    first, second = draft.material.template.refine
    return fill(first, draft.material.slots), fill(second, draft.material.slots)


def _ask(builder: SessionBuilder, draft: Draft, opening: str) -> None:
    said = opening + draft.said()
    builder.human(said, draft.with_markers(said, draft.given()))


def _deliver(builder: SessionBuilder, draft: Draft) -> None:
    template = draft.material.template
    calls = draft.work()
    if calls:
        builder.agent(builder.choose(builder.words.started), calls)
    reply = fill(template.reply, draft.material.slots)
    if draft.material.out:
        joint = "" if draft.is_chinese else " "
        reply += joint + fill(builder.words.wrote, {"out": draft.material.out})
    builder.agent(reply)


def _adjust(builder: SessionBuilder, draft: Draft) -> None:
    out = draft.material.out
    if out is None:
        builder.agent(builder.choose(builder.words.adjusted_text))
        return
    builder.agent("", (draft.writing(out),))
    builder.agent(fill(builder.choose(builder.words.adjusted), {"out": out}))
