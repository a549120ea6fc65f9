"""Whom a message calls: the agent, other people, or nobody by name.

Words decide, in English, German and Chinese: a name at the start of a sentence, a crowd ("Team",
"各位"), a title, an "@". Who is called is not yet who has to act (`construction.sessions.gates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from construction.judging import lexicon
from construction.judging.conversation import Conversation
from construction.judging.lexicon import table
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.sentences import addresses_somebody
from data.text.scripts import HAN

_OPENING = 2  # sentences in which a message says whom it is for
_MOST = 4_000  # characters that are read of a message
_LEAST_LINES = 3  # of a conversation in one text
_TITLE = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss|Herr|Herrn|Frau)\.? )"
_NAME = rf"{_TITLE}*[A-Z][a-zäöüéß'’-]{{1,20}}(?: [A-Z][a-zäöüéß'’.-]{{1,20}}){{0,2}}"
_AFTER = r"(?=\s*(?:,|--|—|–|!|:|\s-\s))"
# "Python, numpy and pandas": a list, of which the first word is no call.
_LIST = re.compile(r"\W{0,3}[A-Z]\w+, [\w-]+(?:,| and | or | und | oder )")
_SMALL = re.compile(rf"\W{{0,3}}@?[小老阿](?![时心数学组板师])[{HAN}][，,]")  # "小雅，"
_SIGNED = re.compile(r"\s[-–—]\s?([A-Z][a-z]+(?: [A-Z][a-z]*)?)\.?$")
_LONGEST_SIGNATURE = 40
_LINE = re.compile(
    rf"(?:\[[^\]\n]{{1,40}}\] ?)?(?:(?P<time>\d{{1,2}}:\d\d(?::\d\d)?) ?)?"
    rf"(?P<name>[A-Z][\w.'-]{{1,24}}(?: [A-Z][\w.'-]{{1,24}}){{0,2}}|[{HAN}]{{2,4}})\s?[:：]\s?\S"
)
_MAIL = re.compile(
    r"\s*(?:(?:From|Von|Sent|Date|Gesendet|Subject|Betreff|Cc|发件人|主题|日期)\s?[:：][^\n]*\n){1,4}"
    r"(?:To|An|收件人)\s?[:：](?P<to>[^\n]*)\n"
)


class Called(StrEnum):
    """Whom a message calls by name."""

    AGENT = "agent"
    PEOPLE = "people"
    NOBODY = "nobody"


def called(text: str, mention: str = "") -> Called:
    """Whom a message calls; `mention` is the "@name" before it, which readers of logs take off."""
    text = text[:_MOST]
    mail = _MAIL.match(text)
    if _agents().search(text) or _is_agent(mention) or (mail and _is_agent(mail["to"])):
        return Called.AGENT
    if mention or mail:
        return Called.PEOPLE
    opening = [item.text for item in read(text)[:_OPENING]]
    return Called.PEOPLE if any(map(calls_people, opening)) else Called.NOBODY


def calls_people(sentence: str) -> bool:
    """Does a sentence begin with a name that is no agent's, or with a crowd?"""
    if _LIST.match(sentence):
        return False
    if addresses_somebody(sentence) or _crowds().match(sentence) or _SMALL.match(sentence):
        return True
    name = _names().match(sentence)
    return name is not None and (bool(name["title"]) or _is_name(name["name"]))


def _is_agent(name: str) -> bool:
    """ "@ops-bot", "@Assistant", "@小助手": a part of the handle is a word for an agent."""
    words = table("containment")
    parts = re.split(r"[^a-z]+", name.lower())
    is_latin = not frozenset(words["called_agents"]).isdisjoint(parts)
    return is_latin or any(word in name for word in words["agents"] if not word.isascii())


def _is_name(words: str) -> bool:
    word = words.split()[0].lower()
    tables = table("containment")
    known = any(word in tables[key] for key in ("not_names", "agents", "greetings"))
    known = known or word.endswith("ly")
    verbs = lexicon.VERBS | lexicon.DOUBTFUL_VERBS
    return not known and word not in lexicon.CHATTER_WORDS and word not in verbs


@cache
def _agents() -> re.Pattern[str]:
    """The agent called in front of a sentence or clause, or at its end."""
    words = table("containment")
    agents, hello = "|".join(words["called_agents"]), "|".join(words["greetings"])
    han = "|".join(word for word in words["agents"] if not word.isascii())
    return re.compile(
        rf"(?i)(?:^|[.!?;:,—–]\s|\s-{{1,2}}\s|\n)\W{{0,3}}(?:(?:{hello})[, ]{{1,2}}){{0,2}}"
        rf"@?(?:[\w-]{{1,20}}-)?(?:{agents})\b"
        rf"(?:\s*(?:[,:!]|--|—|–|$)|\s(?:can|could|please|would|will|bitte|kannst)\b)"
        rf"|[,，]\s?(?:{agents})\s*[.!?]|@(?:[\w-]{{1,20}}-)?(?:{agents})\b"
        rf"|(?:^|[，。！？,\s@])(?:AI|ai)?(?:{han})[，,：:、]?"
    )


@cache
def _crowds() -> re.Pattern[str]:
    words = table("containment")
    hello, crowds = "|".join(words["greetings"]), "|".join(words["crowds"])
    return re.compile(
        rf"(?i)\W{{0,3}}(?:(?:{hello})[, ]{{1,2}}){{1,2}}(?:{crowds})\b"
        rf"|(?i:\W{{0,3}}(?:{crowds}))\s*(?:,|--|—|–|:|!|\s-\s)"
        rf"|\W{{0,3}}(?:{'|'.join(words['crowds_zh'])})"
        r"|\W{0,3}@(?:channel|here|everyone|all|所有人|全体)"
    )


@cache
def _names() -> re.Pattern[str]:
    hello = "|".join(table("containment")["greetings"])
    return re.compile(
        rf"\W{{0,3}}(?:(?i:{hello})[, ]{{1,2}}){{0,2}}"
        rf"@?(?P<name>(?P<title>{_TITLE})?{_NAME}){_AFTER}"
    )


def signature(text: str) -> str | None:
    """The name that signs a channel message: "… by noon. - Raj"."""
    signed = _SIGNED.search(text[-_LONGEST_SIGNATURE:])
    return signed[1] if signed else None


def lines_of_speakers(text: str) -> tuple[tuple[str, str], ...]:
    """(name, words) of each line where a text is nothing but what several people say in turn.

    Empty where a line has no speaker, such as "Summarise this talk:", or where one person speaks.
    """
    lines = [line.strip() for line in text[:_MOST].split("\n") if line.strip()]
    spoken = tuple(_spoken(lines))
    names = {name for name, _ in spoken}
    several = len(names) > 1 and len(spoken) > len(names)
    return spoken if len(spoken) == len(lines) >= _LEAST_LINES and several else ()


def _spoken(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _LINE.match(line)
        if match is not None:
            yield match["name"], line[match.end() - 1 :]


def is_for_the_agent(item: Reading, conversation: Conversation) -> bool:
    """Among several writers what a message asks that calls the agent; in a channel also an open
    question.
    """
    alone = conversation.people < 2
    if item.to_agent or (alone and not conversation.in_channel):
        return True
    if not item.to_other and any(item.text in message for message in conversation.calling):
        return True
    return alone and item.ask is Ask.QUESTION and not item.to_other
