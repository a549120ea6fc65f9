"""The addressee gate: is anything asked of the agent, or do people talk among themselves?

An agent that sits in a channel, or answers somebody's mail, logs what people write to each other.
None of it is a request to the agent, whatever files, systems or earlier talks it speaks of; so this
gate decides before the gates that look for what is missing. It says nothing about words that
nobody is known to have sent: what a person types to an agent names no sender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from construction.judging.addressees import (
    Called,
    called,
    calls_people,
    lines_of_speakers,
    signature,
)
from construction.judging.lexicon import phrases_of
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.sentences import named_files
from construction.mentions.intent import Intent
from construction.sessions.recovery.shell import WROTE
from construction.sessions.wrappers.envelope import Envelope
from construction.sessions.wrappers.heads import strip_heads
from data.contracts import (
    Bound,
    Gate,
    GateReason,
    Limit,
    Measures,
    Share,
    StageConfig,
    TaskInstance,
    UserTurn,
    share,
)
from data.text.lexicon import load_table
from data.text.sentences import phrase_form

_SEVERAL = 2  # writers
_NEXT = re.compile(r"\n(?=[ \t]*[\[【])")  # several messages in one turn, each with its head
_MENTION = re.compile(r"[\]】]\s*@([\w·-]{1,40})")
_CHANNEL = re.compile(r"\[[^\]#]{0,40}#\S")
# Words of a wish that no list of verbs knows, so that nobody is said to ask for nothing who does.
_WISH = re.compile(
    r"(?i)\b(?:please|pls|plz|(?:can|could|would) (?:yo)?u|bitte|(?:kannst|könntest) du"
    r"|(?:können|könnten) sie)\b|请|麻烦|帮我|帮忙|顺便"
    r"|(?:^|[.!?:,] )(?:erstell|schreib|fass|prüf|mach|korrigier|übersetz|sortier|berechn|vergleich"
    r"|lies|such|zeig|gib|füg|lösch|änder)e?\b"
    r"|(?:^|[，。：；！？\s])(?:先|再|并|然后)?(?:把|将|算|查|找|写|做|画|列|改|删|存|整理|汇总|翻译|提取)"
)
# Work on a talk that the message quotes: "summarise this chat".
_THIS_TALK = re.compile(
    r"(?i)\b(?:this|the above|these|dies(?:e[mnrs]?)?) (?:[\w-]+ )?"
    r"(?:chat|talk|conversation|thread|discussion|exchange|transcript|messages|gespräch"
    r"|unterhaltung|diskussion|verlauf|nachrichten)\b"
    r"|(?:以上|上述|上面|下面|这段|这个|这些)的?(?:群聊|聊天|对话|讨论|消息)"
)
# Who offers something asks for nothing.
_OFFERS = re.compile(
    r"(?i)\b(?:do|would) you (?:want|like|need|prefer) (?:me to|to join|any|some|anything)\b"
    r"|\blet me know if you (?:need|want|have)\b|\bshall i\b|要不要我|需要我|要我[^，。？]{1,12}吗"
    r"|\bsoll ich\b|\bmöchtest du, dass ich\b"
)
_TAKES_ON = re.compile(
    r"(?i)\W{0,3}(?:sure|of course|certainly|absolutely|gladly|here(?:['’]s| is| are)|done\b|on it"
    r"|i['’]ve (?:drafted|written|created|fixed|updated|added|made)|klar|gern|natürlich|erledigt"
    r"|hier (?:ist|sind)|当然|没问题|已(?:经)?(?:完成|写好|整理|生成|修复|更新)|以下是)"
)

_WORDS = {
    name: "|".join(words) for name, words in load_table(__package__, "addressee.toml").items()
}
# A text that one colleague asks of another, and the agent that writes it for the one who is asked.
_TEXT = rf"(?:{_WORDS['texts']})s?"
_ASKS_FOR_TEXT = re.compile(
    r"(?i)\b(?:(?:can|could|would|will) you|please|(?:need|want) you to|you to)\b[^.?!]{0,30}"
    rf"\b(?:{_WORDS['asks']})\b"
    rf"(?:[^.?!]{{0,60}}\b{_TEXT}\b|(?<=summarise)|(?<=summarize))"
    rf"|(?:能不能|能否|可以|麻烦|请|帮|你)[^。？！]{{0,12}}(?:{_WORDS['asks_zh']})"
    rf"[^。？！]{{0,20}}(?:{_WORDS['texts_zh']})"
    rf"|\b(?:kannst|könntest) du\b[^.?!]{{0,80}}\b(?:{_WORDS['asks_de']})\b"
)
_WRITES = re.compile(
    r"(?i)\bI(?:['’]ll| will|['’]m(?: now)?) (?:\w+ )?"
    rf"(?:{_WORDS['writes']})|^\W*(?:Subject:|Dear |#+ )"
    rf"|我(?:来|会|这就|马上|先|将|现在)+(?:为|给|帮)?[^，。]{{0,6}}(?:{_WORDS['writes_zh']})"
    rf"|草稿如下|初稿如下|\bich (?:{_WORDS['writes_de']})\b"
)
_BEGINNING = 200  # characters of a reply in which an agent says what it takes on


class AddresseeReason(GateReason):
    AMONG_OTHERS = (
        "addressee.among_others",
        "People write to each other, and none of them asks the agent for anything.",
    )
    NO_REQUEST = (
        "addressee.no_request",
        "A person tells of something, or asks what the agent is, and asks for no work.",
    )


class AddresseeConfig(StageConfig):
    """How much of what people ask in a talk they have to ask of the agent; a share of sentences."""

    min_agent_share: Share = 0.34


@dataclass(frozen=True, slots=True)
class Addressing:
    """Whom the messages of an instance are for.

    `people` named writers; `to_people`: messages that call a person, a group or everybody;
    `to_agent`: messages that call the agent. `asks` are the sentences that want something of
    whomever, `of_agent` those of them that want it of the agent. `in_channel`: sent to several.
    """

    people: int
    in_channel: bool
    to_people: int
    to_agent: int
    asks: int
    of_agent: int


@dataclass(frozen=True, slots=True)
class _Message:
    """A message: who wrote it, whom it calls, and whether the agent wrote a file upon it."""

    writer: str | None
    said: str
    calls: Called
    is_done: bool


def measure(instance: TaskInstance) -> Addressing:
    """Read whom an instance's messages call and what they want. Linear in their length."""
    turns, messages = instance.user_turns, tuple(_messages(instance))
    people = {message.writer for message in messages if message.writer} | set(instance.people)
    in_channel = any(_CHANNEL.match(turn.text) for turn in turns)
    alone = len(people) < _SEVERAL and not in_channel
    calls = [message.calls for message in messages]
    before = (instance.opening, *instance.said_before) if alone else ()
    calls += [called(said) for said in before if said not in (turn.said for turn in turns)]
    # Who writes to nobody else writes to the agent, and so does whoever gets the work done.
    is_to_agent = Called.AGENT in calls or Called.PEOPLE not in calls
    is_text = _is_text_taken_on(messages[-1].said, instance.reply) if messages else False
    is_taken_on = is_text or _TAKES_ON.match(instance.reply) is not None
    all_to_agent = alone and (is_to_agent or is_taken_on)
    asks = sum(len(_asks(message)) or int(_gets_a_file(message)) for message in messages)
    return Addressing(
        people=len(people),
        in_channel=in_channel,
        to_people=calls.count(Called.PEOPLE),
        to_agent=calls.count(Called.AGENT),
        asks=asks or int(alone and is_taken_on),  # an order whose words do not read as one
        of_agent=sum(
            len(_asks(message))
            if all_to_agent or (is_text and message is messages[-1])
            else _asks_of_agent(message)
            for message in messages
        ),
    )


def _is_text_taken_on(said: str, reply: str) -> bool:
    """Does a message ask for a text, of whomever, and does the agent take on to write it?"""
    asks = _ASKS_FOR_TEXT.search(said) is not None
    return asks and _WRITES.search(reply[:_BEGINNING]) is not None


def _asks(message: _Message) -> list[Reading]:
    """The sentences that want something of whomever, if only an answer."""
    return [item for item in read(message.said) if not item.chatter and _wants(item)]


def _gets_a_file(message: _Message) -> bool:
    """Is a file to be made, or was one made, though no sentence reads as an order?"""
    made = (Intent.OUTPUT, Intent.EITHER)
    return message.is_done or any(intent in made for _, intent in named_files(message.said))


def _wants(item: Reading) -> bool:
    if _OFFERS.search(item.text) or phrases_of("no_work.toml", "itself").search(
        phrase_form(item.text)
    ):
        return False
    return item.ask is not Ask.NONE or item.requires or _WISH.search(item.text) is not None


def _asks_of_agent(message: _Message) -> int:
    """In a talk of several: what a message asks that calls the agent, and not of somebody else."""
    if message.calls is Called.AGENT:
        return sum(not calls_people(item.text) for item in _asks(message))
    return len(_asks(message)) if _is_carried_out(message) else 0


def _is_carried_out(message: _Message) -> bool:
    """Did the agent write a file upon an order that calls nobody? It also keeps minutes unasked."""
    is_order = any(item.ask is Ask.DIRECTIVE and not item.to_other for item in read(message.said))
    return message.is_done and is_order and message.calls is Called.NOBODY


def _messages(instance: TaskInstance) -> Iterator[_Message]:
    """The messages in order; a turn may hold several, each with a head or a speaker."""
    turns = instance.user_turns
    ends = [*(turn.index for turn in turns[1:]), max(instance.turn_indices, default=0) + 1]
    for turn, end in zip(turns, ends, strict=True):
        is_done = any(
            act.kind == WROTE and turn.index < act.turn_index < end for act in instance.acts
        )
        for writer, said, mention in _parts(turn):
            yield _Message(writer, said, called(said, mention), is_done)


def _parts(turn: UserTurn) -> list[tuple[str | None, str, str]]:
    """(writer, words, mention at their head) of each message in a turn."""
    parts: list[tuple[str | None, str, str]] = []
    texts = _NEXT.split(turn.text)
    orders = _orders_on_talk(turn.said) if len(texts) > 1 else ""
    if orders:
        return [(None, orders, "")]
    for text in texts:
        envelope = Envelope()
        said = strip_heads(text, envelope)
        mention = _MENTION.search(text[: len(text) - len(said)])
        if envelope.sender or not parts:
            parts.append((envelope.sender, said, mention[1] if mention else ""))
        else:
            parts[-1] = (parts[-1][0], f"{parts[-1][1]}\n{text}", parts[-1][2])
    # Other wrappers repeat the sender and the words, and hold one message for all their heads.
    words = "\n".join(said for _, said, _ in parts).split()
    if len(parts) == 1 or (turn.said != turn.text and words != turn.said.split()):
        sender = turn.sender or signature(turn.said)
        spoken = () if sender else lines_of_speakers(turn.said)
        return [(name, said, "") for name, said in spoken] or [(sender, turn.said, parts[0][2])]
    return parts


def _orders_on_talk(said: str) -> str:
    """What asks for work on a talk as a whole: then its messages are what is worked on."""
    return "\n".join(
        item.text
        for item in read(said)
        if item.ask is Ask.DIRECTIVE and not item.to_other and _THIS_TALK.search(item.text)
    )


def _is_among_people(seen: Measures) -> bool:
    """Is it a talk of several, or of one who writes to somebody by name or to a channel?"""
    return seen["people"] >= _SEVERAL or bool(
        seen["to_people"] and (seen["people"] or seen["in_channel"])
    )


GATE = Gate(
    name="addressee",
    stage="gates",
    section="sessions.addressee",
    meaning="Is anything asked of the agent, or do people talk among themselves?",
    config=AddresseeConfig,
    reasons=AddresseeReason,
    measure=measure,
    limits=(
        Limit(
            "min_agent_share",
            Bound.MIN,
            "share of what is asked",
            "Of what people ask in a talk, at least this share is asked of the agent.",
            AddresseeReason.AMONG_OTHERS,
            lambda seen: share(seen["of_agent"], seen["asks"]),
            when=_is_among_people,
        ),
        Limit(
            "anything asked",
            Bound.MIN,
            "sentences",
            "A person who writes in a chat asks for something, other than what the agent is.",
            AddresseeReason.NO_REQUEST,
            lambda seen: seen["asks"],
            when=lambda seen: seen["people"] > 0,
            at=1,
            movable=False,
        ),
    ),
)
