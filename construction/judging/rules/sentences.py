"""What single sentences of a request do: name files, address people, or tell a newcomer nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from construction.grading.file_types import extension_of, type_of
from construction.judging import lexicon
from construction.judging.contracts import Case
from construction.judging.lexicon import phrases, starts, table
from construction.judging.reading import Ask, Reading, read
from construction.mentions.extensions import BARE_NAMES, path_parts, tail
from construction.mentions.intent import Intent, intent_of
from construction.mentions.spans import find_file_spans
from construction.mentions.words import FILE
from construction.prompt_frame import WORDS
from data.text.dates import MONTH_NAME
from data.text.lexicon import has_any
from data.text.numerals import ONE_TO_TEN
from data.text.scripts import HAN
from data.text.sentences import phrase_form

_FOLDERS = {"inputs", "outputs"}  # every task has them
_WORDS = 20  # a longer sentence says more than that files will follow
_NAMES = re.compile(r"[`\"“「]|\w\.\w|https?:")
_NAME = re.compile(r"\W{0,3}@?([A-Z][a-z]{1,20})(?: [A-Z][a-z]{1,20}){0,2}(?:, [A-Z][a-z]{1,20})?")
_AFTER_NAME = re.compile(r",|\s?(?:--|—)\s")
_HAN_NAME = f"[{HAN}]"


def is_noise(sentence: Reading) -> bool:
    """Can the sentence be left out? One that says in which form to answer cannot."""
    form = phrase_form(sentence.text)
    if has_any(form, lexicon.FORM_ONLY):
        return False
    if sentence.ask is not Ask.QUESTION and has_any(form, phrases("rewriting", "talk")):
        return sentence.words <= _WORDS and _NAMES.search(sentence.text) is None
    idle = sentence.idle or sentence.announces
    is_marker = _marker().fullmatch(sentence.text) is not None
    return sentence.ask is Ask.NONE and (idle or is_marker)


def is_closing(paragraph: str) -> bool:
    """Is a paragraph only a closing: thanks, wishes, "let me know"? Then it answers no one."""
    sentences, form = read(paragraph), phrase_form(paragraph)
    if any(one.leans or one.leans_unless_files for one in sentences) or any(
        has_any(form, phrases("containment", key)) for key in ("context", "context_unless_files")
    ):
        return False
    if all(one.chatter or one.closes for one in sentences):
        return True
    thanks = len(sentences) == 1 and has_any(form, starts("containment", "thanks"))
    return thanks and sentences[0].words <= _WORDS and not _wants(sentences[0])


def _wants(sentence: Reading) -> bool:
    return sentence.demands or sentence.requires


@cache
def _marker() -> re.Pattern[str]:
    words = "|".join(table("rewriting")["markers"])
    return re.compile(rf"(?i)(?:{words})\s?[\d{ONE_TO_TEN}]{{1,2}}\s?(?:个文件)?\s?[:：.。]?")


@cache
def _chinese_address() -> re.Pattern[str]:
    words = table("containment")
    titles, surnames = "|".join(words["titles"]), words["surnames"]
    return re.compile(
        rf"\W{{0,3}}(?:@?{_HAN_NAME}{{0,3}}?[A-Za-z]{{0,4}}{_HAN_NAME}{{0,2}}?(?:{titles})(?:[，,。]|您好|你好)"
        rf"|@?([{surnames}]{_HAN_NAME}{{1,2}}?)(?:[，,]|你好|您好))"
    )


def addresses_somebody(sentence: str) -> bool:
    """Does a sentence begin by addressing a person other than the assistant ("Maya, can you …")?"""
    words = table("containment")
    chinese = _chinese_address().match(sentence)
    if chinese is not None:
        return chinese[1] not in words["not_names_zh"]
    name = _NAME.match(sentence)
    if name is None or not _AFTER_NAME.match(sentence, name.end()):
        return False
    word = name[1].lower()
    known = word in words["not_names"] or word in words["agents"] or word.endswith("ly")
    return not known and word not in lexicon.CHATTER_WORDS and not _is_verb(word)


def _is_verb(word: str) -> bool:
    return word in lexicon.VERBS or word in lexicon.DOUBTFUL_VERBS


@cache
def _another() -> re.Pattern[str]:
    words = table("containment")
    before, han = "|".join(words["before_unrelated"]), words["before_unrelated_zh"]
    marks = "|".join(map(re.escape, words["unrelated"]))
    return re.compile(rf"[|,] (?:(?:{before}) ){{0,5}}[{han}]{{0,12}}(?:{marks})")


def begins_another(form: str) -> bool:
    """Does a clause of a sentence, in its phrase form, begin a different piece of work?"""
    return _another().search(form) is not None


def is_exchange(case: Case) -> bool:
    """Was the prompt made of messages between people, as its frame says?"""
    frames = {line for words in WORDS.values() for line in (words.thread, words.several_people)}
    return not frames.isdisjoint(case.candidate.prompt.split("\n"))


def named_files(text: str) -> tuple[tuple[str, Intent], ...]:
    """The files that a text names, in order, each with its intent (input, output, …)."""
    spans = find_file_spans(text)
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], FILE * (span.end - span.start)]
        position = span.end
    masked = "".join(pieces) + text[position:]
    files = []
    for span in spans:
        name = re.split(r"[/\\]", span.path)[-1]
        is_folder = "." not in name and name not in BARE_NAMES
        intent = intent_of(masked, span.start, span.end, name, is_folder)
        if not span.doubtful or intent in (Intent.INPUT, Intent.OUTPUT):
            files.append((span.path, intent))
    return tuple(files)


def missing_files(case: Case) -> tuple[str, ...]:
    """Files that the request treats as present but that are not among the fixtures."""
    released = [fixture.path for fixture in case.candidate.fixtures]
    made = [name for item in case.candidate.deliverables for name in item.name_hints]
    known = {tail(path) for path in (*released, *made)} | _FOLDERS | _folders((*released, *made))
    return tuple(
        dict.fromkeys(
            path
            for path, intent in named_files(case.request)
            if intent in (Intent.INPUT, Intent.ASSUMED)
            and tail(path.rstrip("/\\")) not in known
            and path_parts(path)[0] != "outputs"
        )
    )


_SOUGHT = {
    "phone number": (
        re.compile(r"(?i)\b(?:tele)?phone (?:number|no)\b|\bmobile number\b|电话|手机号"),
        re.compile(r"\d[\d\s().-]{5,}\d"),
    ),
    "e-mail address": (re.compile(r"(?i)\be-?mail address\b|邮箱地址"), re.compile("@")),
}
_PRICE = re.compile(r"\d+[.,]\d\d\b")  # in a row they look like a phone number
# Who is to schedule something may choose when.
_CHOOSES_WHEN = re.compile(
    r"(?i)(?<!the )(?<!this )(?<!my )(?<!our )(?<!of )"
    r"\b(?:(?:re)?schedule|arrange|set up|organi[sz]e|book|reserve|assign"
    r"|plan(?= (?:an?|one|two|three|some|the|our|for)\b)"
    r"|find (?:an?|any|some|the) (?:\w+ )?(?:times?|slots?|hours?|days?))\b"
    r"|安排|预约|预定|组织|[约排定](?=[一个次下他她小大每各])"
)
_WHEN = re.compile(
    r"(?i)\d{1,2}:\d\d|\d{4}-\d\d|\d{1,2}/\d{1,2}|\b\d{1,2} ?[ap]\.?m\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    rf"|\b{MONTH_NAME} \d"
    r"|\b(?:today|tomorrow|tonight)\b|\bnext (?:week|month)\b"
    r"|\d ?[月点号日]|星期|周[一二三四五六日]|[明今]天"
)
_SENT = re.compile(
    r"(?im)\b(?:sent(?: at| on)?|date|received)[:：]\s*.{0,40}$|(?:发送|收到)时间[:：].{0,30}$"
)
_TAKEN_FROM = re.compile(
    r"(?i)\b(?:image|picture|notification|invitation|notice|poster|letter|agenda|handwritten)"
    r"|\b(?:availab|free (?:time|slot|hour))|通知|邀请|图片|空闲"
)
_ASKS = re.compile(r"(?i)\b(?:what|find|give|tell|look up|need|get|show)\b|多少|是什么|查|找|告诉")
_SHORT_REQUEST, _WHOLE = 300, 1400  # characters; a longer excerpt may be the beginning of a text


def sought_nowhere(case: Case) -> tuple[str, ...]:
    """What a short request asks for although no input holds anything of the kind.

    All inputs have to be texts that are known to their end; before that, nothing is said.
    """
    paths = [fixture.path for fixture in case.candidate.fixtures]
    texts = [_PRICE.sub("", _text_of(case, path)) for path in paths]
    if len(case.request) > _SHORT_REQUEST or any(len(text) >= _WHOLE for text in texts):
        return ()
    seen = [path for path in paths if (kind := type_of(path)) and kind.kind == "image"]
    are_read = bool(texts) and all(texts) and not seen
    sought = [
        name
        for name, (words, form) in _SOUGHT.items()
        if are_read and words.search(case.request) and not any(map(form.search, texts))
    ]
    undated = _undated(case, texts) if are_read else ()
    return (*(sought if _ASKS.search(case.request) else ()), *undated)


def _text_of(case: Case, path: str) -> str:
    """The cells of a file whose tables are known whole, else the beginning of its text."""
    known = case.inputs.get(path)
    tables = known.tables if known is not None else ()
    if tables and all(table.cells for table in tables):
        return " ".join(cell for table in tables for row in table.cells for cell in row)
    return case.excerpts.get(path, "")


def _undated(case: Case, texts: Sequence[str]) -> tuple[str, ...]:
    """The date of something that is to be put into a calendar, if none of the known inputs has it.

    A mail's own date is none. A time may be chosen where one is to be found, and in a calendar that
    is given.
    """
    is_event = any(item.file_type == "ics" for item in case.candidate.deliverables)
    has_calendar = any(extension_of(fixture.path) == "ics" for fixture in case.candidate.fixtures)
    is_open = has_calendar or _CHOOSES_WHEN.search(case.request) is not None
    if not is_event or is_open or _TAKEN_FROM.search(case.request):
        return ()
    said = (case.request, *(_SENT.sub("", text) for text in texts))
    return () if any(map(_WHEN.search, said)) else ("date of the event",)


def _folders(paths: Iterable[str]) -> set[str]:
    """The names of all folders that hold one of these files."""
    return {part for path in paths for part in path_parts(path)[:-1]}
