"""Turns a raw answer into plain text, with its tables and emphasised spans kept separately."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from construction.statements.answers.markup import (
    BOLD_CLOSE,
    BOLD_OPEN,
    BOX_CLOSE,
    BOX_OPEN,
    MARKS,
    RawTable,
    plain_latex,
    strip_html,
    take_tables,
    without_comments,
)
from data.text.folding import fold_width
from data.text.sentences import edited_sentence_end

Span = tuple[int, int]

_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\ue000-\uf8ff\ud800-\udfff\x00]")
_STRUCK = re.compile(r"~~[^~\n]+~~")
_FOOTNOTE = re.compile(
    r"(?<=[0-9])(?<![×xX*·] 10)(?<![×xX*·]10)[⁰¹²³⁴-⁹]+|(?<![0-9])[⁰¹²³⁴-⁹]+|[①-⑳]"
    r"|\[\^?[0-9]{1,3}\](?!\()|※[0-9]{1,2}|(?<![*\s])\*[0-9]{1,2}(?![0-9*^%]|[.,][0-9])"
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴-⁹⁻]+")
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_WIDE_COMMA = re.compile("，(?![0-9０-９]{3}(?![0-9０-９]))|(?<![0-9０-９])，")
_SPACES = re.compile(r"[^\S\n]")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?: \"[^\"\n]*\")?\)")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'。、)]+")
_FENCE = re.compile(r"^ *+(?:```|~~~)[^\n]*$", re.M)
_STRONG = re.compile(r"\*\*\*?([^*\n]+)\*\*\*?|(?<!\w)__([^_\n]+)__(?!\w)")
_EMPHASIS = re.compile(r"\*(?=[^\s*])([^*\n]*)(?<=\S)\*|(?<!\w)_(?=[^\s_])([^_\n]+)_(?!\w)")
_LINE_MARK = re.compile(r"^(?:[ ]*(?:>|#{1,6}(?= )|[-*+•](?= )|[0-9]{1,2}[.)](?= +\S)))+[ ]*", re.M)
SENTENCE_END = edited_sentence_end(MARKS)
_FIELD_NAME = re.compile("extracted|error_reason", re.I)  # the others are in _GRADER
_FIELD = re.compile(
    r"[\s\"'{,]*(?:is_correct|could_extract|extracted|error_reason)[\"']?\s*[:=]", re.I
)
_GRADER = re.compile(
    r"\b(?:graders?|scorers?|evaluators?|rubric|mark (?:as|this)|grade this|accept any answer"
    r"|gold value|expected answer|reference answer|ground truth)\b|is_correct|could_extract"
    r"|评分|判为正确|标准答案|参考答案|满分|採点|模範解答|正解として",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Clean:
    """Plain text; `bold` and `boxes` are spans of it."""

    text: str
    bold: tuple[Span, ...]
    boxes: tuple[Span, ...]


def visible(raw: str) -> tuple[str, list[RawTable]]:
    """The text without hidden parts and without its tables."""
    text = _INVISIBLE.sub("", without_comments(raw.replace("\r\n", "\n").replace("\r", "\n")))
    text, tables = strip_html(_STRUCK.sub("", text))
    text, more = take_tables(text)
    return text, tables + more


def clean(text: str) -> Clean:
    """Resolves footnotes, entities, widths, LaTeX, Markdown; drops text addressed to the grader."""
    text = _SUPERSCRIPT.sub(_power, text)
    text = _FOOTNOTE.sub("", text)
    text = _WIDE_COMMA.sub("、", html.unescape(text))
    text = _SPACES.sub(" ", fold_width(text))
    text = _markdown(plain_latex(text))
    return _spans(_without_grader(text))


def _power(match: re.Match[str]) -> str:
    """10⁹ after a times sign is a power of ten, any other superscript a footnote mark."""
    before = match.string[max(0, match.start() - 5) : match.start()]
    return "^" + match[0].translate(_POWERS) if re.search(r"[×xX*·]\s?10$", before) else ""


def _markdown(text: str) -> str:
    text = _URL.sub("", _LINK.sub(r"\1", text))
    text = _FENCE.sub("", text).replace("`", "")
    text = _STRONG.sub(lambda match: f"{BOLD_OPEN}{match[1] or match[2]}{BOLD_CLOSE}", text)
    text = _EMPHASIS.sub(lambda match: match[1] or match[2], text)
    return _LINE_MARK.sub("", text)


def _without_grader(text: str) -> str:
    if not _GRADER.search(text) and not _FIELD_NAME.search(text):
        return text
    kept = []
    for line in text.split("\n"):
        if _FIELD.match(line):
            continue
        kept.append("".join(part for part in sentences(line) if not _GRADER.search(part)))
    return "\n".join(kept)


def sentences(text: str) -> list[str]:
    """The sentences of a text with their ends; joined together they are the text."""
    parts, position = [], 0
    for match in SENTENCE_END.finditer(text):
        parts.append(text[position : match.end()])
        position = match.end()
    return [*parts, text[position:]]


def _spans(text: str) -> Clean:
    """Removes the marks from the text; a closing mark without an opening one is ignored."""
    pieces: list[str] = []
    length, position = 0, 0
    opened: dict[str, int] = {}
    spans: dict[str, list[Span]] = {BOLD_OPEN: [], BOX_OPEN: []}
    pairs = {BOLD_CLOSE: BOLD_OPEN, BOX_CLOSE: BOX_OPEN}
    for match in re.finditer(f"[{MARKS}]", text):
        pieces.append(text[position : match.start()])
        length += match.start() - position
        position = match.end()
        if match[0] in spans:
            opened[match[0]] = length
        elif (start := opened.pop(pairs[match[0]], None)) is not None:
            spans[pairs[match[0]]].append((start, length))
    plain = "".join([*pieces, text[position:]])
    return Clean(plain, tuple(spans[BOLD_OPEN]), tuple(spans[BOX_OPEN]))
