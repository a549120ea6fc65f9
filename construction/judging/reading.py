"""What a sentence of a person asks for, read with word lists in English and Chinese.

Every judgement of the preflight gate can be traced to a phrase in the lists (`lexicon`). A later
issue puts a model in its place and keeps this as its offline twin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from construction.judging import lexicon
from data.text.lexicon import has_any
from data.text.scripts import HAN, count_han, has_han
from data.text.sentences import phrase_form, sentence_spans
from data.text.wrapping import unwrapped

_CODE = re.compile(r"```[^`]*```")
# Tickets and points of an earlier list: "#266", "address 19, 24 and 36", "improvement 2".
_NUMBERED = re.compile(
    r"#\d{2,}|(?i:(?:^|[,.;] |\b(?:let['’]?s|please|and|then|to) )(?:add?ress|do|fix|resolve|handle"
    r"|tackle|improve(?: \w+,?)?|clean up|implement|skip|ignore|take) "
    r"#?\d{1,3}(?:\s?[-–]\s?\d{1,3})?"
    r"(?=\s*(?:,|;|$|\.(?!\d)|(?:and|for) \d)))"
    r"|(?i:\b(?:improvements?|observations?|findings?|suggestions?|issues?) #?\d{1,3}\b"
    r"(?!\s*[:.)\-–%]))"
)
# "The pull request process" is a paper about requests, and no request.
_OFFICE_PAPER = re.compile(
    r"(?i)\b(?:pull|merge) requests?(?: #?\d+)? (process|template|policy|guidelines?|rules)\b"
)
_COMMAND = re.compile(r"/[a-z]+[-:_][\w:-]+(?: |$)")  # of the person's own: "/pr-review"
_NAME_BEFORE = re.compile(rf"@?(?:[A-Z][\w-]{{0,30}}|[{HAN}]{{1,4}})\s?(?:,|，|--|—|-\s)")
_SPEAKER = re.compile(rf"^[{HAN}]{{2,4}}[:：]")
_LABEL_BEFORE = re.compile(
    r"[A-Za-z ,]{0,40}\b(?:task|one|request|question|job|thing)(?: [a-z]+){0,3}: ", re.IGNORECASE
)
_THIRD_PERSON = re.compile(r"[\W_]*(?:Can|Could|Will|Would) (?!You|We|I\b)[A-Z]")
_QUESTION_END = re.compile(r"[?？][\"'”’)）*\s]*$")
_READER = re.compile(r" (?:you|your|youre|youve|we|us) |[你您咱]|我们")
_BARE_QUESTION = re.compile(r" \| (?:what (?:is|are|was|were)|how (?:many|much)|which|who) \w")
_MARKUP = re.compile(r"^(?:[-*•·+>]|\d)|[#`/\\_|<>={}]|[:：]$")  # headings, items, names, labels
_MOST = 200  # sentences at each end of a text
_SHORT = 10_000  # characters; longer texts are not kept in memory
_LEAD = 6  # words before the verb of a directive, at most: "Alex, OK, please …"
_REACH = 4  # words between "can you" and its verb
_WISH_REACH = 5  # words between "I need a" and what is wished for


class Ask(StrEnum):
    """What kind of demand a sentence makes."""

    DIRECTIVE = "directive"  # do, make or tell something
    QUESTION = "question"  # that can be answered from knowledge, or from what is at hand
    STATUS = "status"  # how does the work stand, are you there, who, when
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence: its demand, and what prevents meeting it.

    `idle`: small talk that a prompt can do without. `leans`: on words from before, that a newcomer
    has not seen; `leans_unless_files`: unless input files hold what it means. `points`: at a thing
    that is at hand only if files are. `elsewhere`: at a workspace; `past_sessions`: at other
    sessions. `live`: needs a system or a moment; `live_unless_files`: unless input files stand for
    it.
    `account`: talks of a customer's account. `reply`: begins as an answer, `answers`: as nothing
    else could.
    `dangling`: holds a pronoun for something unsaid. `closes`: tells of the person's own next
    steps. `requires`: a requirement that is told. `to_agent`: calls the agent by that word;
    `to_other`: calls somebody else by name. `opinion`: asks for a view.
    """

    text: str
    start: int  # offset in the text that was read
    words: int  # alphabetic words; two Han characters count as one
    ask: Ask
    chatter: bool
    idle: bool
    announces: bool
    leans: bool
    leans_unless_files: bool
    points: bool
    elsewhere: bool
    past_sessions: bool
    live: bool
    live_unless_files: bool
    account: bool
    reply: bool
    answers: bool
    dangling: bool
    closes: bool
    requires: bool
    to_agent: bool
    to_other: bool
    opinion: bool

    @property
    def demands(self) -> bool:
        """Does it want something that a newcomer might give?"""
        return self.ask in (Ask.DIRECTIVE, Ask.QUESTION)

    @property
    def tells(self) -> bool:
        """Is it more than small talk, an answer, or what the person will do or send?"""
        idle = self.chatter or self.announces or self.reply or self.closes
        return not idle and self.ask is not Ask.STATUS


def read(text: str) -> tuple[Reading, ...]:
    """The sentences of a text in order; fenced code does not count. Linear in its length.

    Of a text with very many sentences (a pasted document) the first and the last are read.
    """
    return _remembered(text) if len(text) <= _SHORT else _read(text)


@lru_cache(maxsize=512)
def _remembered(text: str) -> tuple[Reading, ...]:
    """Merging, deliverables and preflight read the same few turns one after the other."""
    return _read(text)


def _read(text: str) -> tuple[Reading, ...]:
    prose = unwrapped(_CODE.sub(lambda code: "\n" * len(code[0]), text))
    spans = [(start, end) for start, end in sentence_spans(prose) if _has_words(prose, start, end)]
    if len(spans) > 2 * _MOST:
        spans = spans[:_MOST] + spans[-_MOST:]
    return tuple(_read_sentence(prose[start:end], start) for start, end in spans)


def _has_words(text: str, start: int, end: int) -> bool:
    return any(char.isalnum() for char in text[start:end])


def _read_sentence(raw: str, start: int) -> Reading:
    form = phrase_form(_OFFICE_PAPER.sub(r"\1", raw))
    to_agent = has_any(form, lexicon.TO_AGENT)
    is_command = _COMMAND.match(raw.strip()) is not None
    chatter = not is_command and _is_chatter(phrase_form(_SPEAKER.sub("", raw.strip())))
    return Reading(
        text=raw.strip(),
        start=start + len(raw) - len(raw.lstrip()),
        words=_count(form),
        ask=_ask(raw.strip(), form),
        chatter=chatter,
        idle=chatter and _says_idle(form) and _MARKUP.search(raw.strip()) is None,
        announces=has_any(form, lexicon.ANNOUNCES),
        leans=has_any(form, lexicon.LEANS) or _NUMBERED.search(raw) is not None,
        leans_unless_files=has_any(form, lexicon.LEANS_UNLESS_FILES),
        points=has_any(form, lexicon.THINGS),
        elsewhere=has_any(form, lexicon.ELSEWHERE),
        past_sessions=has_any(form, lexicon.PAST_SESSIONS),
        live=has_any(form, lexicon.LIVE),
        live_unless_files=has_any(form, lexicon.LIVE_UNLESS_FILES),
        account=has_any(form, lexicon.ACCOUNT),
        reply=has_any(form, lexicon.REPLIES),
        answers=has_any(form, lexicon.ANSWERS),
        dangling=has_any(form, lexicon.DANGLING),
        closes=has_any(form, lexicon.CLOSES),
        requires=has_any(form, lexicon.REQUIRES) and not has_any(form, lexicon.OF_ONESELF),
        to_agent=to_agent,
        to_other=not to_agent and _NAME_BEFORE.match(raw.strip()) is not None,
        opinion=has_any(form, lexicon.OPINIONS),
    )


def _count(form: str) -> int:
    latin = sum(token.isascii() and token[0].isalnum() for token in form.split())
    return latin + (count_han(form) + 1) // 2


def _ask(raw: str, form: str) -> Ask:
    if has_any(form, lexicon.NO_DEMANDS) or has_any(form, lexicon.FORM_ONLY):
        return Ask.NONE
    if _is_directive(raw, form):
        return Ask.DIRECTIVE
    if not _QUESTION_END.search(raw):
        return Ask.NONE
    if has_any(form, lexicon.STATUS) or _THIRD_PERSON.search(raw):
        return Ask.STATUS
    return Ask.QUESTION if has_any(form, lexicon.OPEN_QUESTIONS) else Ask.STATUS


def _is_directive(raw: str, form: str) -> bool:
    called = _NAME_BEFORE.match(raw) or _LABEL_BEFORE.match(raw)
    body = phrase_form(raw[called.end() :]) if called else form
    if _begins_with_verb(body.split()) or _wishes(form):
        return True
    if _THIRD_PERSON.match(raw):
        return False
    if has_han(form) and (
        lexicon.ASKS_ZH.search(form)
        or lexicon.STARTS_ZH.search(form)
        or lexicon.OBJECT_FIRST_ZH.search(raw)
    ):
        return True
    return has_any(form, lexicon.ASKS_YOU_AT_ALL) and any(
        _asks_for_verb(form, phrase) for phrase in lexicon.ASKS_YOU
    )


def _asks_for_verb(form: str, phrase: str) -> bool:
    """Does a verb follow "can you"? A doubtful one must follow directly."""
    at = form.find(phrase)
    if at < 0:
        return False
    words = [
        word for word in form[at + len(phrase) :].split()[:_REACH] if word not in lexicon.BETWEEN
    ]
    return bool(words) and (
        words[0] in lexicon.DOUBTFUL_VERBS or not lexicon.VERBS.isdisjoint(words)
    )


def _begins_with_verb(tokens: list[str]) -> bool:
    """Is the first word a verb, after words such as "OK, now please"?"""
    for position, token in enumerate(tokens[:_LEAD]):
        after = tokens[position + 1] if position + 1 < len(tokens) else "|"
        if token in lexicon.VERBS:
            return after not in lexicon.NOUN_AFTER
        if token in lexicon.DOUBTFUL_VERBS:
            return after in lexicon.OBJECTS or "/" in after or "." in after
        if token not in lexicon.LEAD_INS:
            return False
    return False


def asks_of_things(text: str, *, alone: bool = False) -> bool:
    """Does it ask how things are ("Does the bill exceed the budget?"), and not how the reader is?

    Over files that are at hand, it is a question that can be answered. Where one person opens a
    session with it (`alone`), so is "Who is absent?", which colleagues ask of each other.
    """
    form = phrase_form(text)
    if not _QUESTION_END.search(text) or _READER.search(form) is not None:
        return False
    if alone:
        return not has_any(form, lexicon.STATUS_OF_WORK)
    return not has_any(form, lexicon.STATUS) and _THIRD_PERSON.search(text) is None


def orders_in_passing(text: str, *, alone: bool = False) -> bool:
    """Does a later clause begin with an order ("…, so delete that line"), or does a sentence ask
    of things, maybe without its mark ("what is the highest price")?

    Too weak to tell a request from a tale on its own; over files that are at hand it is one.
    """
    form = phrase_form(text)
    if asks_of_things(text, alone=alone):
        return True
    clauses = [clause.split() for clause in re.split(r" [,|^] ", form)]
    later = any(_begins_with_verb(clause) for clause in clauses)
    return later or _BARE_QUESTION.match(form) is not None


def _wishes(form: str) -> bool:
    if not has_any(form, lexicon.WISHES_AT_ALL):
        return False
    for phrase in lexicon.WISHES:
        at = form.find(f" {phrase}") + 1
        if not at or not form[:at].endswith(lexicon.BEFORE_WISH):
            continue
        if not phrase.endswith((" a ", " an ", " the ", " for ")):
            return True
        if not lexicon.WISH_OBJECTS.isdisjoint(form[at + len(phrase) :].split()[:_WISH_REACH]):
            return True
    return False


def _is_chatter(form: str) -> bool:
    """Thanks, greetings, agreement or small talk, with at most one other word such as a name."""
    if has_any(form, lexicon.CHATTER_STARTS) and len(form.split()) <= 16:
        return True
    word_count = 0
    for token in form.split():
        if token in lexicon.CHATTER_WORDS or not any(char.isalnum() for char in token):
            continue
        if not token.isascii():
            token = lexicon.CHATTER_ZH.sub("", token)
        han = count_han(token)
        word_count += (han + 1) // 2 if han else bool(token)
    return word_count <= 1


def _says_idle(form: str) -> bool:
    """Does it hold a word of small talk? A single other word is chatter too, but may be content."""
    if has_any(form, lexicon.CHATTER_STARTS) or lexicon.CHATTER_ZH.search(form):
        return True
    return not lexicon.CHATTER_WORDS.isdisjoint(form.split())
