"""The prose in a text: lines of words, islands of words in code, and units for the name models.

Lines that a person wrote are told apart from code, commands, data and listings; comments, strings,
cells and link texts in such lines are read like prose. Prose is cut into units per language.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import COMMON, chinese_name, words
from data.text.lexicon import pattern_of
from data.text.scripts import (
    BEFORE,
    CAPITALS,
    HAN,
    HAN_KANA,
    JAPANESE_KANA,
    KANA,
    LETTER,
    count_han,
    has_han,
    has_kana,
)

_ISLAND = re.compile(
    r"(?:(?<![\w:/\\])(?://|\#|--|/\*|<!--)[ \t]{1,4})(?P<comment>[^\n]{3,400}?)(?=\*/|-->|$)"
    r"|\"(?P<double>[^\"\\\n]{3,300})\""
    r"|(?<![\w\\])'(?P<single>(?:[^'\\\n]|''){3,300})'(?!\w)"
    r"|\[(?P<link>[^\]\[\n]{3,80})\]\("
    r"|(?:(?<=\w)|(?<== ))\{(?P<group>[^{}\\\n]{3,200})(?=[}\\])"
    r"|(?P<file>(?<!\S)[^\W\d_a-z][^\W_]*(?: [^\W_]+){1,12})"
    r"(?= (?:pdf|docx?|xlsx?|pptx?|csv|txt|zip|png|jpe?g)\b)"
    r"|(?<=[|\t])[ ]{0,20}(?P<cell>[^|\t\n]{3,120}?)[ ]{0,20}(?=[|\t]|$)"
)
# Two capitalised words, or four words: what is neither is a key, a path or a constant.
_ISLAND_WORDS = re.compile(
    r"[^\W\d_a-z][a-zß-öø-ɏ'-]+\.? (?:[^\W\d_a-z]\.? )?(?:(?:van|von|de|da|del|der|di|le|la) ){0,2}"
    r"[^\W\d_a-z][\w'-]+|(?:[\w',.@+()-]+ ){3}\w|[\d+(][\d ().+-]{7,24}$|@"
)
_ISLAND_WORD = re.compile(r"[^\W\d_]{3,}")
_LONE = re.compile(r"[^\W\d_a-z][a-zß-öø-ɏ'-]{2,24}$")


def islands(line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each such part of a line, from left to right."""
    for match in _ISLAND.finditer(line):
        name = str(match.lastgroup)
        has_words = name == "comment" and _ISLAND_WORD.search(match[name])
        if has_words or _ISLAND_WORDS.search(match[name]) or _LONE.match(match[name]):
            yield match.span(name)


# How a line of code, of a shell session or of a structured listing begins.
_OPENING = pattern_of(
    r"\s*(?:def |class |import |from \S+ import |return\b|const |let |var |function |async "
    r"|export |public |private |static |if \(|for \(|while \(|else\b|elif |try:|except|#include"
    r"|@\w+\(|\$ |>>> |\.\.\. |sudo |git |cd |ls |cat |npm |pip |curl |python3? |docker |echo "
    r"|SELECT |INSERT |UPDATE |CREATE |[+-]{3} |@@ |diff --git|[\w.-]+ ?= ?[\w\"'\[({]|</?\w+[ >]"
    r"|[\[{]|<(?!@)|\"[\w -]{1,40}\" ?:|[-d][rwx-]{9}|sha\d+[=:]|\d{1,6}[:|→\t])"
)
_CODE_CHARS = pattern_of(r"[{}\[\]()<>=;|\\/_$#*&^~`\"+]")
_LINK = pattern_of(r"https?://\S{1,2000}")  # a link says nothing about the words around it
_STAMP = pattern_of(r"\s*\d{4}-\d{2}-\d{2}T[\d:.,]+(?:Z| ?[+-]\d{2}:?\d{2})?\s*")
_SAID_AT = pattern_of(
    r"\s*(?:\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? )?\[?\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?\]? "
    r"(?:<[@+~&%]?[\w-]{1,32}> )?(?=[^\W\d]|@|~ |\+\d)"
)
_EMPHASIS = pattern_of(
    r"(?<![\w*])(?P<marks>\*{1,3})(?P<words>[^\s*][^*\n]{0,80})(?P=marks)(?![\w*])"
)
_LOG_STAMP = pattern_of(r"[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d ")
_VOICE = pattern_of(r"^\s{0,4}(?:</?[vibuc](?:[ .][^<>\n]{0,60})?>){1,3}")  # of a subtitle
_SHORT = 48
_DENSE = 0.09


def is_machine(line: str) -> bool:
    """Is a line code or data rather than words?"""
    if _STAMP.fullmatch(line):
        return True
    if _LOG_STAMP.match(line):
        return True
    line = _VOICE.sub("", line)
    said_at = _SAID_AT.match(line)  # the time before a line of a chat
    line = line[said_at.end() :] if said_at else line
    if _OPENING.match(line):
        return True
    if "*" in line:
        line = _EMPHASIS.sub(r"\g<words>", line.removeprefix("> "))
    marks = len(_CODE_CHARS.findall(_LINK.sub("", line) if "//" in line else line))
    if len(line) < _SHORT:
        return marks > 2 + len(line) / 10
    return marks > _DENSE * len(line)


class MachineLines:
    """The lines of a text, each classified as code or prose on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self._judged: dict[int, bool] = {}
        self._islands: dict[int, list[tuple[int, int]]] = {}

    def machine_at(self, offset: int, *, whole: bool = False) -> bool:
        """Is the line at `offset` code or data; unless `whole`, outside of comments and strings?"""
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self._text))]
        number = bisect_right(self._starts, offset) - 1
        if number not in self._judged:
            end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
            line = self._text[self._starts[number] : end]
            self._judged[number] = is_machine(line)
            if self._judged[number]:
                self._islands[number] = list(islands(line))
        column = offset - self._starts[number]
        return self._judged[number] and (whole or not self._in_island(number, column))

    def _in_island(self, number: int, column: int) -> bool:
        spans = self._islands[number]
        last = bisect_right(spans, column, key=lambda span: span[0]) - 1
        return last >= 0 and column < spans[last][1]


# Han characters and punctuation end a piece: else the model joins what is on either side.
_UNIT_LINE = pattern_of(rf"[^\n\r\u3000-\u303f{HAN}，；！？]+")
# A unit of the name model, which was measured with these: bounded, and cut at a full stop only
# after two small letters or digits, so that initials, titles and short forms stay whole. They are
# not the sentences of `data.text.scripts`.
_SENTENCE = pattern_of(r"(?:[^.!?]|[.!?](?!\s)|(?<![a-z0-9)]{2})[.!?]){1,1200}[.!?]*\s?")
_CLAUSE = pattern_of(r"[^。！？!?；;\n\r]{1,200}[。！？!?；;]?")
_JAPANESE = pattern_of(r"[^。！？\n\r]{1,400}[。！？]?")
_HAN_NAME = pattern_of(rf"(?<![{HAN_KANA}])(?=([{HAN}]{{2,3}} ?[{HAN}]{{1,4}})(?![{HAN_KANA}]))")
# Characters set apart within a clause: a cell, an argument, a value behind its key.
_HAN_RUN = pattern_of(rf"(?<![{HAN_KANA}·])[{HAN}]{{2,4}}(?![{HAN_KANA}·])")
_HAN_PART = pattern_of(rf"(?<![{HAN_KANA}])[{HAN}]{{3,7}}(?![{HAN_KANA}])")
_HAN_CHAR = pattern_of(f"[{HAN}]")
_KANA_CHAR = pattern_of(f"[{KANA}]")
_JAPANESE_ONLY = pattern_of(
    rf"〒|(?:株式|有限|合同)会社|丁目|番地|御中|県|㈱|\(株\)|[{HAN}][はがをにでと][{HAN}ァ-ヺ]"
)
_SHARED_MARKS = frozenset("・ー")  # Chinese writes a middle dot in foreign names, too
_CAPITALISED = pattern_of(rf"(?<![/.@-]){BEFORE}[{CAPITALS}]{LETTER}+")
_FEW = 3  # words that make a line prose
_SMALL_WORD = pattern_of(r"(?<![\w.])[a-z]{2,}(?![\w(.])")
_LATIN = pattern_of(r"[A-Za-zÀ-ɏ]{2} [A-Za-zÀ-ɏ]")
_NO_NAMES = COMMON | words("words.toml", "institutions")
# For these kinds the model does not improve on the rules.
_SURE = frozenset(
    {
        EntityType.ADDRESS,
        EntityType.CASE_NUMBER,
        EntityType.DATE,
        EntityType.EMAIL,
        EntityType.LOCATION,
    }
    | {EntityType.NATIONALITY, EntityType.TITLE, EntityType.SECRET, EntityType.URL}
)

Unit = tuple[int, str]  # offset in the text, the words


def english_units(text: str, taken: Sequence[Finding]) -> Iterator[Unit]:
    """Sentences of English prose in which a capitalised word may be a name.

    A Han character ends a sentence too. Words that the rules have `taken`, in order and without
    overlap, do not count.
    """
    for line in _UNIT_LINE.finditer(text):
        if not _LATIN.search(line.group()):
            continue
        spans = [line.span()]
        if is_machine(line.group()):
            inner = (island for island in islands(line.group()) if _is_sentence(line, island))
            spans = [(line.start() + start, line.start() + end) for start, end in inner]
        for start, end in spans:
            for part in _SENTENCE.finditer(text, start, end):
                if _may_name(text, part.start(), part.end(), taken):
                    yield part.start(), part.group()


def _is_sentence(line: re.Match[str], island: tuple[int, int]) -> bool:
    """Are there enough words in small letters for the model to read it as a sentence?"""
    return len(_SMALL_WORD.findall(line.group(), *island)) >= _FEW


def _may_name(text: str, start: int, end: int, taken: Sequence[Finding]) -> bool:
    for word in _CAPITALISED.finditer(text, start, end):
        if word.group() in _NO_NAMES:
            continue
        index = bisect_right(taken, word.start(), key=lambda finding: finding.start) - 1
        if index < 0 or taken[index].end < word.end() or taken[index].type not in _SURE:
            return True
    return False


def chinese_units(text: str, taken: Sequence[Finding]) -> Iterator[Unit]:
    """Clauses with Han characters, between the spans that the rules have taken, and what may be a
    name and is set apart in them.

    The model mistakes numbers for names, so the patterns take precedence. It knows a name by itself
    more surely than one between marks and numbers.
    """
    if not has_han(text):
        return
    japanese = _JapaneseLines(text)
    start = 0
    for finding in [*taken, None]:
        end = len(text) if finding is None else finding.start
        for clause in _CLAUSE.finditer(text, start, end):
            if count_han(clause.group()) >= 2 and not japanese.at(clause.start()):
                yield clause.start(), clause.group()
                for run in _HAN_RUN.finditer(clause.group()):
                    if run.group() != clause.group() and chinese_name(run.group()):
                        yield clause.start() + run.start(), run.group()
        start = max(start, end if finding is None else finding.end)


class _JapaneseLines:
    """Which lines of a text are Japanese: those with kana or with words that only Japanese
    writes (〒, 株式会社), and all lines if the text as a whole is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_kana = has_kana(text) or _JAPANESE_ONLY.search(text) is not None
        self._whole = self._has_kana and _is_japanese(text)

    def at(self, offset: int) -> bool:
        """Is the line at `offset` Japanese?"""
        if self._whole or not self._has_kana:
            return self._whole
        start = self._text.rfind("\n", 0, offset) + 1
        end = self._text.find("\n", offset)
        return _is_japanese(self._text[start : end if end >= 0 else len(self._text)])


def _is_japanese(text: str) -> bool:
    kana = sum(char not in _SHARED_MARKS for char in _KANA_CHAR.findall(text))
    has_words = _JAPANESE_ONLY.search(text) is not None
    return has_words or kana > JAPANESE_KANA * (kana + count_han(text))


def _has_foreign_han(text: str) -> bool:
    """Has it characters that Japanese does not write: those of simplified Chinese?"""
    try:
        "".join(_HAN_CHAR.findall(text)).encode("cp932")
    except UnicodeEncodeError:
        return True
    return False


def japanese_units(text: str) -> Iterator[Unit]:
    """Sentences of Japanese lines; and where a text has no kana, short runs of Han characters,
    which may be a name in a cell or a heading."""
    if not has_han(text) and not has_kana(text):
        return
    japanese = _JapaneseLines(text)
    can_be_japanese = not _has_foreign_han(text)
    for sentence in _JAPANESE.finditer(text):
        if japanese.at(sentence.start()):
            yield sentence.start(), sentence.group()
        elif can_be_japanese:
            for name in _HAN_NAME.finditer(sentence.group()):
                yield sentence.start() + name.start(), name[1]
                if " " in name[1]:  # a label and a name, perhaps
                    for part in _HAN_PART.finditer(name[1]):
                        yield sentence.start() + name.start() + part.start(), part.group()
