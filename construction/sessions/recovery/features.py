"""Settings of task recovery, and the features that the cues use.

Features are of a person's turn, and of the agent's work after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import Field

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.exchanges import Exchange
from construction.sessions.recovery.lexicon import terms
from construction.sessions.recovery.shell import WROTE
from data.contracts import StageConfig
from data.text.lexicon import has_any
from data.text.scripts import count_cjk
from data.text.sentences import phrase_form


class RecoveryConfig(StageConfig):
    """When two consecutive turns of a person belong to two tasks.

    `threshold`: a new task begins if the evidence of `cues.CUES` sums to at least this value.
    `usual_pause_seconds`: the pause expected between turns if a session has too few of them;
    a pause `long_pause_factor` times as long as usual counts in full (3 minutes: 12 hours).
    `said_chars`, `reply_chars`: the length of the part of a turn from which topic terms are taken.
    """

    threshold: float = 0.0
    usual_pause_seconds: float = Field(default=180.0, gt=0)
    long_pause_factor: float = Field(default=240.0, gt=1)
    said_chars: int = Field(default=600, gt=0)
    reply_chars: int = Field(default=400, gt=0)


_HEAD, _TAIL = 400, 240  # characters at the start and end of a turn that are examined
_REPLY_END = 300  # characters at the start or end of a reply that are examined
_COURTESY_LENGTH, _GO_ON_LENGTH = 200, 60  # characters; longer turns say more than that
_LONG = 200  # characters; a longer turn is not short
_REQUEST_WORDS = 80
_OBJECT_WORDS = 5  # the object of a verb begins within this many words
_CAPTION_WORDS = 4
_START = " | "
_INLINE = re.compile(r"[:：\n][^\n]{20}")
_CLOSING_SIGNS = frozenset("👍🙏👌❤😊🎉💯🙂😀😄👏✅")
_NAME = re.compile(r"[^\s/\\,;:()\[\]{}<>\"'`|，。；：（）【】“”、]+")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)(?!\.\w)")
_NAME_LENGTH = 4  # "e.g" is shorter


@dataclass(frozen=True, slots=True)
class Speech:
    """The features of a person's turn.

    `plain` is its beginning and end in `phrase_form`, without opening thanks
    (`thanked`).
    """

    plain: str
    thanked: bool
    words: int  # alphabetic words, two CJK characters counting as one; exact only for short turns
    terms: frozenset[str]
    names: frozenset[str]  # file names and identifiers, lower case
    bare: bool  # nothing but attachments and a caption, or nothing but a greeting
    attached: bool
    inline: bool  # contains the text that it is about, after a colon or a line break
    courtesy: bool
    go_on: bool
    asks: bool  # requests something
    indefinite: bool  # the object of the request is new: "a report", "一份报告"
    definite: bool  # the object of the request is known: "the report"


@dataclass(frozen=True, slots=True)
class Answer:
    """The features of the agent's work after a turn."""

    terms: frozenset[str]
    names: frozenset[str]
    files: frozenset[str]  # names of the files that the agent read, wrote or ran
    present: bool
    wrote: bool
    asks_back: bool
    reports: bool  # ends with a report of what was done
    unfinished: bool  # says nothing, or announces a step: the person speaks in the middle of work
    opening: str  # the beginning of the reply


def read_speech(exchange: Exchange, config: RecoveryConfig) -> Speech:
    """The features of the human turn of an exchange."""
    said = exchange.turn.said
    head = said if len(said) <= _HEAD + _TAIL else f"{said[:_HEAD]}\n{said[-_TAIL:]}"
    whole = phrase_form(head)
    text = _without_thanks(whole)
    attached = bool(exchange.turn.attachments)
    said_terms = terms(said, config.said_chars)
    asks, indefinite, definite = _request(text)
    words = _count_words(text)
    greets = text.startswith(lexicon.GREETINGS) and words <= _CAPTION_WORDS and len(said_terms) <= 1
    return Speech(
        plain=text,
        thanked=text is not whole,
        words=words,
        terms=said_terms,
        names=_names(said[: config.said_chars], said_terms)
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


def read_answer(exchange: Exchange, has_asked_back: bool, config: RecoveryConfig) -> Answer:
    """The features of the agent's work in an exchange; `has_asked_back` comes from `asks_back`."""
    reply = exchange.reply
    reply_terms = terms(reply, config.reply_chars)
    files = frozenset(_base_name(act.path) for act in exchange.acts)
    end = reply[-_REPLY_END:].rstrip()
    worked = any(turn.tool_calls for turn in exchange.answers)
    unfinished = end.endswith((":", "："))
    return Answer(
        terms=reply_terms,
        names=_names(reply[: config.reply_chars], reply_terms) | files,
        files=files,
        present=bool(reply) or worked,
        wrote=any(act.kind == WROTE for act in exchange.acts),
        asks_back=has_asked_back,
        reports=worked and not unfinished and has_any(phrase_form(end), lexicon.REPORTS),
        unfinished=unfinished,
        opening=reply[:_REPLY_END],
    )


def asks_back(reply: str) -> bool:
    """True if the agent's text ends with a question to the person, other than a closing offer."""
    text = reply[-_REPLY_END:].rstrip()
    if not text:
        return False
    end = phrase_form(text)
    last = end[end.rfind(" | ", 0, len(end.rstrip(" |,"))) :]
    if has_any(last, lexicon.CLOSING_OFFERS):
        return False
    return text.endswith(("?", "？")) or has_any(end, lexicon.ASKS)


def is_courtesy(said: str, text: str) -> bool:
    """True if a turn (plain form: `text`) is only thanks or a farewell, perhaps with a name."""
    if len(said) > _COURTESY_LENGTH or "?" in said or "？" in said:
        return False
    if has_any(text, lexicon.COURTESY_CORE):
        return _leftover(text, lexicon.COURTESY_WORDS, lexicon.COURTESY_PHRASES) <= 1
    return not said.isascii() and not _CLOSING_SIGNS.isdisjoint(said) and _is_go_on(text)


def closes(said: str) -> bool:
    """True if a turn is only thanks or a farewell; `is_courtesy` for a text without plain form."""
    return len(said) <= _COURTESY_LENGTH and is_courtesy(said, phrase_form(said))


def _without_thanks(text: str) -> str:
    """The plain text after opening clauses of thanks; the same object if there are none."""
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
    """True if a plain text is only "yes", "continue", an emoji or a lone mark."""
    return _leftover(text, lexicon.GO_ON_WORDS, lexicon.GO_ON_PHRASES) == 0


def _leftover(text: str, words: frozenset[str], phrases: tuple[str, ...]) -> int:
    """The number of words in neither list; a verb counts twice, two CJK characters count once."""
    remaining = 0
    for token in text.split():
        if token in words:
            continue
        if token.isascii():
            if token.strip("|,^-+*/\\&=_"):
                remaining += 2 if token in lexicon.VERBS else 1
            continue
        for phrase in phrases:
            token = token.replace(phrase, "")
        remaining += (sum(char.isalnum() for char in token) + 1) // 2
    return remaining


def _count_words(text: str) -> int:
    if len(text) > _LONG:
        return len(text)
    latin = sum(token.isascii() and token not in lexicon.MARKS for token in text.split())
    return latin + (count_cjk(text) + 1) // 2


def _request(text: str) -> tuple[bool, bool, bool]:
    """(a request is made, its object is new, its object is already known)."""
    tokens = text.split()[:_REQUEST_WORDS]
    for position, token in enumerate(tokens):
        if token in lexicon.VERBS and tokens[position - 1] in lexicon.BEFORE_VERB:
            after = tokens[position + 1 : position + 1 + _OBJECT_WORDS]
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
    """(indefinite, definite) by the first article or similar word."""
    for word in words:
        if word in lexicon.INDEFINITE:
            return True, False
        if word in lexicon.DEFINITE:
            return False, True
    return False, False


def _names(text: str, text_terms: frozenset[str]) -> frozenset[str]:
    """File names in a text, and identifiers: its terms with digits or underscores."""
    names = {
        term for term in text_terms if not term.isalpha() and len(term) >= 5 and term.isascii()
    }
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
