"""What the rules look at: a person's words, and what the agent did with them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.config import RecoveryConfig
from construction.sessions.recovery.exchanges import Exchange
from construction.sessions.recovery.lexicon import plain
from construction.sessions.recovery.shell import WROTE
from construction.sessions.recovery.terms import terms
from data.text.lexicon import has_any

_HEAD, _TAIL = 400, 240  # characters of a turn in which openers, requests and news are sought
_REPLY_END = 300  # characters of a reply in which news, questions and offers are sought
_COURTESY_LENGTH, _GO_ON_LENGTH = 200, 60  # characters; longer turns say more than that
_LONG = 200  # characters; nothing so long is a short turn
_REQUEST_WORDS = 80
_OBJECT_WORDS = 5  # words after a verb in which its object begins
_CAPTION_WORDS = 4
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_START = " | "
_INLINE = re.compile(r"[:：\n][^\n]{20}")
_CLOSING_SIGNS = frozenset("👍🙏👌❤😊🎉💯🙂😀😄👏✅")
_NAME = re.compile(r"[^\s/\\,;:()\[\]{}<>\"'`|，。；：（）【】“”、]+")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)(?!\.\w)")
_NAME_LENGTH = 4  # "e.g" is shorter


@dataclass(frozen=True, slots=True)
class Speech:
    """A person's turn as the rules see it.

    `plain` is what it opens and ends with, in the form of `lexicon.plain`, without the thanks for
    what was before (`thanked`).
    """

    plain: str
    thanked: bool
    words: int  # alphabetic words, two CJK characters as one; only short turns are counted
    terms: frozenset[str]
    names: frozenset[str]  # file names and identifiers, lower case
    bare: bool  # nothing but attachments and a caption, or nothing but a greeting
    attached: bool
    inline: bool  # brings its own text along, after a colon or a line break
    courtesy: bool
    go_on: bool
    asks: bool  # wants something made, found, done or told
    indefinite: bool  # and its object is new: "a report", "一份报告"
    definite: bool  # or known already: "the report"


@dataclass(frozen=True, slots=True)
class Answer:
    """The agent's stretch after a turn as the rules see it."""

    terms: frozenset[str]
    names: frozenset[str]
    files: frozenset[str]  # names of the files it touched
    present: bool
    wrote: bool
    asked: bool
    opening: str  # the first words of the reply


def hear(exchange: Exchange, config: RecoveryConfig) -> Speech:
    """The features of the human turn of an exchange."""
    said = exchange.turn.said
    head = said if len(said) <= _HEAD + _TAIL else f"{said[:_HEAD]}\n{said[-_TAIL:]}"
    whole = plain(head)
    text = _without_thanks(whole)
    attached = bool(exchange.turn.attachments)
    found = terms(said, config.said_chars)
    asks, indefinite, definite = _request(text)
    words = _count_words(text)
    greets = text.startswith(lexicon.GREETINGS) and words <= _CAPTION_WORDS and len(found) <= 1
    return Speech(
        plain=text,
        thanked=text is not whole,
        words=words,
        terms=found,
        names=_names(said[: config.said_chars], found)
        | {_base_name(item.path) for item in exchange.turn.attachments if item.path},
        bare=(greets or (attached and words <= _CAPTION_WORDS)) and not asks,
        attached=attached,
        inline=_INLINE.search(head) is not None,
        courtesy=not attached and is_courtesy(said, whole),
        go_on=not attached and len(said) <= _GO_ON_LENGTH and _is_go_on(whole),
        asks=asks,
        indefinite=indefinite,
        definite=definite,
    )


def read_answer(exchange: Exchange, asked: bool, config: RecoveryConfig) -> Answer:
    """The features of what the agent did in an exchange; `asked` as `asks_back` told."""
    reply = exchange.reply
    found = terms(reply, config.reply_chars)
    files = frozenset(_base_name(act.path) for act in exchange.acts)
    return Answer(
        terms=found,
        names=_names(reply[: config.reply_chars], found) | files,
        files=files,
        present=bool(reply) or any(turn.tool_calls for turn in exchange.answers),
        wrote=any(act.kind == WROTE for act in exchange.acts),
        asked=asked,
        opening=reply[:_REPLY_END],
    )


def asks_back(reply: str) -> bool:
    """Does the agent's text end by asking for something that it needs from the person?"""
    text = reply[-_REPLY_END:].rstrip()
    if not text:
        return False
    end = plain(text)
    last = end[end.rfind(" | ", 0, len(end.rstrip(" |,"))) :]
    if has_any(last, lexicon.CLOSING_OFFERS):
        return False
    return text.endswith(("?", "？")) or has_any(end, lexicon.ASKS)


def is_courtesy(said: str, text: str) -> bool:
    """Is this (and its plain form) nothing but thanks or a farewell, a name perhaps beside it?"""
    if len(said) > _COURTESY_LENGTH or "?" in said or "？" in said:
        return False
    if has_any(text, lexicon.COURTESY_CORE):
        return _leftover(text, lexicon.COURTESY_WORDS, lexicon.COURTESY_PHRASES) <= 1
    return not said.isascii() and not _CLOSING_SIGNS.isdisjoint(said) and _is_go_on(text)


def closes(said: str) -> bool:
    """Is this nothing but thanks or a farewell? As `is_courtesy`, from the words alone."""
    return len(said) <= _COURTESY_LENGTH and is_courtesy(said, plain(said))


def _without_thanks(text: str) -> str:
    """The plain text after opening clauses that thank or praise; the same object if none thanks."""
    at = len(_START)
    while (end := _next_mark(text, at)) >= 0:
        clause = text[at:end]
        if _leftover(clause, lexicon.COURTESY_WORDS, lexicon.COURTESY_PHRASES) > 0:
            break
        at = end + len(_START)
    thanks = has_any(text[: at - 1], lexicon.COURTESY_CORE)
    return f"{_START}{text[at:]}" if thanks and at < len(text) else text


def _next_mark(text: str, at: int) -> int:
    ends = [end for end in (text.find(" | ", at), text.find(" , ", at)) if end >= 0]
    return min(ends, default=-1)


def _is_go_on(text: str) -> bool:
    """Nothing but "yes", "continue", an emoji or a lone mark."""
    return _leftover(text, lexicon.GO_ON_WORDS, lexicon.GO_ON_PHRASES) == 0


def _leftover(text: str, words: frozenset[str], phrases: tuple[str, ...]) -> int:
    """How many words neither list covers; a verb counts twice, two CJK characters once."""
    left = 0
    for token in text.split():
        if token in words:
            continue
        if token.isascii():
            left += (2 if token in lexicon.VERBS else 1) if token.strip("|,^-+*/\\&=_") else 0
            continue
        for phrase in phrases:
            token = token.replace(phrase, "")
        left += (sum(char.isalnum() for char in token) + 1) // 2
    return left


def _count_words(text: str) -> int:
    if len(text) > _LONG:
        return len(text)
    latin = sum(token.isascii() and token not in lexicon.MARKS for token in text.split())
    return latin + (len(_CJK.findall(text)) + 1) // 2


def _request(text: str) -> tuple[bool, bool, bool]:
    """Is something asked for, is its object new, and is it known already?"""
    tokens = text.split()[:_REQUEST_WORDS]
    for place, token in enumerate(tokens):
        if token in lexicon.VERBS and tokens[place - 1] in lexicon.BEFORE_VERB:
            after = tokens[place + 1 : place + 1 + _OBJECT_WORDS]
            if token in lexicon.LIGHT_VERBS and lexicon.NEW_THINGS.isdisjoint(after[:1]):
                continue
            return True, *_article(after)
    if has_any(text, lexicon.WISHES):
        return True, True, False
    if text.isascii():
        return False, False, False
    if has_any(text, lexicon.VERBS_ZH_AT_START) or lexicon.REQUEST_ZH.search(text):
        return True, has_any(text, lexicon.INDEFINITE_ZH), False
    return False, False, False


def _article(words: list[str]) -> tuple[bool, bool]:
    """The first article or its like: (indefinite, definite)."""
    for word in words:
        if word in lexicon.INDEFINITE:
            return True, False
        if word in lexicon.DEFINITE:
            return False, True
    return False, False


def _names(text: str, found: frozenset[str]) -> frozenset[str]:
    """File names in a text, and its terms that hold digits or underscores: identifiers."""
    names = {term for term in found if not term.isalpha() and len(term) >= 5 and term.isascii()}
    if _EXTENSION.search(text):
        for word in _NAME.findall(text):
            if "." not in word:
                continue
            name = word.rstrip(".?!…").lower()
            if len(name) >= _NAME_LENGTH and _EXTENSION.search(name[1:]):
                names.add(name)
    return frozenset(names)


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].lower()
