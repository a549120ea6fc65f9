"""How a task is talked through: in one message, in several, with questions, breaks and thanks."""

from __future__ import annotations

from collections.abc import Callable

from data.demo.draft import Draft, Style
from data.demo.material import fill
from data.demo.pen import Pen
from data.demo.script import Call, Tool

Shape = Callable[[Pen, Draft, str], None]


def single(pen: Pen, draft: Draft, opening: str) -> None:
    """One message, one delivery."""
    _ask(pen, draft, opening)
    _deliver(pen, draft)


def refined(pen: Pen, draft: Draft, opening: str) -> None:
    """A delivery and then two wishes about the same result."""
    single(pen, draft, opening)
    for wish in _wishes(draft):
        pen.human(wish)
        _adjust(pen, draft)


def refined_once(pen: Pen, draft: Draft, opening: str) -> None:
    """As `refined`, with the first wish only."""
    single(pen, draft, opening)
    pen.human(_wishes(draft)[0])
    _adjust(pen, draft)


def clarified(pen: Pen, draft: Draft, opening: str) -> None:
    """The agent asks back before it works."""
    template = draft.material.template
    if template.question is None or template.answer is None:
        raise ValueError(f"{template.key} has no question to ask")
    _ask(pen, draft, opening)
    pen.agent(fill(template.question, draft.material.slots))
    pen.human(fill(template.answer, draft.material.slots))
    _deliver(pen, draft)


def collected(pen: Pen, draft: Draft, opening: str) -> None:
    """The files come one by one, the request with the last message."""
    words, files = pen.words, draft.paths
    pen.human(opening + fill(pen.choose(words.wait), {"count": words.counts[len(files)]}))
    pen.agent(pen.choose(words.received))
    for number, path in enumerate(files, start=1):
        said = fill(pen.choose(words.sent), {"k": str(number)})
        if draft.style is Style.PATH:
            said += f" {draft.named(path)}"
        pen.human(said, draft.with_markers(said, [path]))
        pen.agent(pen.choose(words.received))
    pen.human(words.all_sent + draft.said())
    _deliver(pen, draft)


def aborted(pen: Pen, draft: Draft, opening: str) -> None:
    """The person stops the agent by accident and lets it go on."""
    _ask(pen, draft, opening)
    pen.agent(pen.words.aborted, draft.work()[:1], stop="aborted")
    pen.human(pen.words.resume)
    _deliver(pen, draft)


def rewound(pen: Pen, draft: Draft, opening: str) -> None:
    """A wish that the person takes back and puts differently: the first branch is left."""
    single(pen, draft, opening)
    first, second = _wishes(draft)
    pen.abandoned(first, pen.choose(pen.words.adjusted_text))
    pen.human(second)
    _adjust(pen, draft)


def interrupted(pen: Pen, draft: Draft, opening: str) -> None:
    """Machine turns between a delivery and a wish about it: they belong to no task."""
    single(pen, draft, opening)
    heartbeat(pen)
    scheduled(pen)
    pen.human(_wishes(draft)[0])
    _adjust(pen, draft)
    pen.machine("flush", _FLUSH)
    pen.agent("NO_REPLY", (Call(Tool.WRITE, "memory/notes.md", "ok", content="- delivered\n"),))


def compacted(pen: Pen, draft: Draft, opening: str) -> None:
    """The harness sums up the conversation before the wishes."""
    single(pen, draft, opening)
    pen.compaction(fill(draft.material.template.reply, draft.material.slots))
    for wish in _wishes(draft):
        pen.human(wish)
        _adjust(pen, draft)


def heartbeat(pen: Pen) -> None:
    """A regular check to which the agent has nothing to say."""
    pen.machine("heartbeat", _HEARTBEAT)
    pen.agent("HEARTBEAT_OK")


def scheduled(pen: Pen) -> None:
    """A prompt that a schedule sent."""
    job = pen.token("cron", 8)
    pen.machine("cron", f"[cron:{job} morning-digest] {_CRON[pen.language]}")
    pen.agent(_CRON_DONE[pen.language])


def thanked(pen: Pen) -> None:
    """Thanks at the end; they belong to the task before them."""
    pen.human(pen.choose(pen.words.thanks))
    pen.agent(pen.choose(pen.words.welcome))


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

SHAPES: dict[str, Shape] = {
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


def _ask(pen: Pen, draft: Draft, opening: str) -> None:
    said = opening + draft.said()
    pen.human(said, draft.with_markers(said, draft.given()))


def _deliver(pen: Pen, draft: Draft) -> None:
    template = draft.material.template
    calls = draft.work()
    if calls:
        pen.agent(pen.choose(pen.words.started), calls)
    reply = fill(template.reply, draft.material.slots)
    if draft.material.out:
        joint = "" if draft.is_chinese else " "
        reply += joint + fill(pen.words.wrote, {"out": draft.material.out})
    pen.agent(reply)


def _adjust(pen: Pen, draft: Draft) -> None:
    out = draft.material.out
    if out is None:
        pen.agent(pen.choose(pen.words.adjusted_text))
        return
    pen.agent("", (draft.writing(out),))
    pen.agent(fill(pen.choose(pen.words.adjusted), {"out": out}))
