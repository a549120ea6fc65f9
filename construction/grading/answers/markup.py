"""HTML, LaTeX and tables of an answer: hidden text is dropped, tables are extracted."""

from __future__ import annotations

import csv
import html
import re
from dataclasses import dataclass, field

from data.text.folding import fold_width
from data.text.scripts import edited_sentence_end

# Private-use characters mark emphasis and tags until positions are final.
_BOLD_OPEN, _BOLD_CLOSE, _BOX_OPEN, _BOX_CLOSE = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKS = _BOLD_OPEN + _BOLD_CLOSE + _BOX_OPEN + _BOX_CLOSE

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,15})(?![A-Za-z0-9])([^<>]*)>")
_HIDDEN = "display:none"
_DROPPED = frozenset({"s", "del", "strike", "script", "style", "template"})
_VOID = frozenset({"br", "img", "hr", "input", "meta", "link"})
_BLOCKS = frozenset({"br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "hr"})
_OPENING = {"b": _BOLD_OPEN, "strong": _BOLD_OPEN, "answer": _BOX_OPEN}
_CLOSING = {"b": _BOLD_CLOSE, "strong": _BOLD_CLOSE, "answer": _BOX_CLOSE}
_DOLLAR = "\ue010"  # an escaped dollar, until the math delimiters are gone
_MATH = re.compile(r"\$\$([^$\n]*)\$\$|\$([^$\n]*[0-9)\]}%])\$(?![0-9])")
_SPACING = re.compile(r"\\(?:[,;: ]|q?quad(?![A-Za-z]))")
_SYMBOLS = {
    "\\%": "%",
    "{,}": ",",
    "\\times": "×",
    "\\cdot": "×",
    "\\approx": "≈",
    "\\!": "",
    "\\&": "&",
    "\\#": "#",
    "\\_": "_",
    "\\(": "",
    "\\)": "",
    "\\[": "",
    "\\]": "",
    "\\left(": "(",
    "\\right)": ")",
}
_SYMBOL = re.compile("|".join(re.escape(name) for name in sorted(_SYMBOLS, key=len, reverse=True)))
_BRACE = re.compile(r"\\([A-Za-z]+)\s?\{|\^\{|\{|\}")
_GROUPS = {
    "boxed": (_BOX_OPEN, _BOX_CLOSE),
    "fbox": (_BOX_OPEN, _BOX_CLOSE),
    "textbf": (_BOLD_OPEN, _BOLD_CLOSE),
    "mathbf": (_BOLD_OPEN, _BOLD_CLOSE),
}
_PLAIN = frozenset(
    {"text", "mathrm", "mathit", "mathsf", "textit", "textrm", "mbox", "operatorname"}
)
_RULE = re.compile(r"\|?\s*+:?-++:?\s*+(?>(?:\|\s*+:?-++:?\s*+)*)\|?")
_FENCE = re.compile(r"(?:```|~~~)\s*+\w*")


@dataclass(slots=True)
class RawTable:
    """A grid of raw cell texts with the line above it."""

    rows: list[list[str]] = field(default_factory=list)
    caption: str = ""


def _without_comments(text: str) -> str:
    """The text without HTML comments; an unclosed comment is kept."""
    kept, position = [], 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + 3
    return "".join([*kept, text[position:]])


class _Sink:
    """Collects text, or the cells of the table that is open."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.tables: list[RawTable] = []
        self.cell: list[str] | None = None
        self.open = False

    def write(self, piece: str) -> None:
        if self.cell is not None:
            self.cell.append(piece)
        elif not self.open:
            self.text.append(piece)

    def end_cell(self) -> None:
        if self.cell is not None and self.tables and self.tables[-1].rows:
            self.tables[-1].rows[-1].append("".join(self.cell))
        elif self.cell is not None and self.tables:
            self.tables[-1].caption = "".join(self.cell)
        self.cell = None

    def tag(self, name: str, closing: bool) -> None:
        if name == "table":
            self.end_cell()
            if not closing:
                lines = "".join(self.text[-40:]).rstrip().rsplit("\n", 1)
                self.tables.append(RawTable(caption=lines[-1]))
            self.open = not closing
            self.write("\n")
        elif self.open and name == "tr":
            self.end_cell()
            if not closing:
                self.tables[-1].rows.append([])
        elif self.open and name in ("td", "th", "caption"):
            self.end_cell()
            self.cell = None if closing else []
        elif name in _OPENING:
            self.write((_CLOSING if closing else _OPENING)[name])
        elif name in _BLOCKS:
            self.write("\n")


def _strip_html(text: str) -> tuple[str, list[RawTable]]:
    """The visible text, and the tables, which are removed from the text."""
    sink = _Sink()
    position, hidden_by, depth, in_sup = 0, "", 0, False
    for match in _TAG.finditer(text):
        closing, name = bool(match[1]), match[2].lower()
        if not hidden_by and not in_sup:
            sink.write(text[position : match.start()])
        elif in_sup and _is_times_ten("".join(sink.text[-2:])[-8:]):
            sink.write("^" + text[position : match.start()])
        position = match.end()
        if hidden_by:
            depth += (-1 if closing else 1) if name == hidden_by else 0
            hidden_by = hidden_by if depth else ""
        elif not closing and name not in _VOID and (name in _DROPPED or _is_hidden(match[3])):
            hidden_by, depth = name, 1
        elif name == "sup":
            in_sup = not closing
        else:
            sink.tag(name, closing)
    if not hidden_by:
        sink.write(text[position:])
    sink.end_cell()
    return "".join(sink.text), sink.tables


def _plain_latex(text: str) -> str:
    """The text with LaTeX commands resolved; text without backslash or dollar is unchanged."""
    if "\\" not in text and "$" not in text:
        return text
    text = text.replace("\\$", _DOLLAR)
    text = _MATH.sub(lambda match: match[1] if match[1] is not None else match[2], text)
    text = _SPACING.sub(" ", text)
    text = _groups(_SYMBOL.sub(lambda match: _SYMBOLS[match[0]], text))
    return text.replace(_DOLLAR, "$")


def _groups(text: str) -> str:
    pieces: list[str] = []
    closers: list[str] = []
    position = 0
    for match in _BRACE.finditer(text):
        pieces.append(text[position : match.start()])
        position = match.end()
        if match[0] == "}":
            pieces.append(closers.pop() if closers else "}")
            continue
        opening, closing = _group(match)
        pieces.append(opening)
        closers.append(closing)
    return "".join([*pieces, text[position:]])


def _group(match: re.Match[str]) -> tuple[str, str]:
    if match[0] == "^{":
        return "^", ""
    if match[1] in _GROUPS:
        return _GROUPS[match[1]]
    return ("", "") if match[1] in _PLAIN else (match[0], "}")


def take_tables(text: str) -> tuple[str, list[RawTable]]:
    """The text without its tables, and the tables, each with the line above it as caption."""
    if "|" not in text and "```" not in text and "~~~" not in text:
        return text, []
    lines, kept, tables = text.split("\n"), list[str](), list[RawTable]()
    index = 0
    while index < len(lines):
        end = index
        while end < len(lines) and "|" in lines[end]:
            end += 1
        if end > index:
            before, rows = _markdown(lines[index:end])
            kept += before
        elif _FENCE.fullmatch(lines[index].strip()):
            rows, end = _fenced(lines, index)
        else:
            rows = []
        if rows:
            tables.append(RawTable(rows, _above(kept)))
            kept.append("")
        elif end == index:
            kept.append(lines[index])
        index = max(end, index + 1)
    return "\n".join(kept), tables


def _above(lines: list[str]) -> str:
    """The nearest line with text, at most one empty line away."""
    near = [line for line in lines[-2:] if line.strip()]
    return near[-1] if near else ""


def _markdown(block: list[str]) -> tuple[list[str], list[list[str]]]:
    """The lines before the table, and its rows; a table has a delimiter row or a frame."""
    rule = next((k for k, line in enumerate(block) if k and _RULE.fullmatch(line.strip())), 0)
    framed = len(block) > 1 and all(line.strip().startswith("|") for line in block)
    if not rule and not framed:
        return block, []
    start = max(rule - 1, 0)
    return block[:start], [
        _cells(line) for line in block[start:] if not _RULE.fullmatch(line.strip())
    ]


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", bare)]


def _fenced(lines: list[str], index: int) -> tuple[list[list[str]], int]:
    end = index + 1
    while end < len(lines) and not lines[end].strip().startswith(("```", "~~~")):
        end += 1
    block = [line for line in lines[index + 1 : end] if line.strip()]
    if len(block) < 2 or block[0].lstrip().startswith(("{", "[")):
        return [], index
    tabs = all("\t" in line for line in block)
    try:
        rows = [
            [cell.strip() for cell in row]
            for row in csv.reader(block, delimiter="\t" if tabs else ",", skipinitialspace=True)
        ]
    except csv.Error:
        return [], index
    regular = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    return (rows, end + 1) if regular else ([], index)


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
_FENCE_CLEANING = re.compile(r"^ *+(?:```|~~~)[^\n]*$", re.M)
_STRONG = re.compile(r"\*\*\*?([^*\n]+)\*\*\*?|(?<!\w)__([^_\n]+)__(?!\w)")
_EMPHASIS = re.compile(r"\*(?=[^\s*])([^*\n]*)(?<=\S)\*|(?<!\w)_(?=[^\s_])([^_\n]+)_(?!\w)")
_LINE_MARK = re.compile(r"^(?:[ ]*(?:>|#{1,6}(?= )|[-*+•](?= )|[0-9]{1,2}[.)](?= +\S)))+[ ]*", re.M)
SENTENCE_END = edited_sentence_end(_MARKS)
_FIELD_NAMES = ("extracted", "error_reason")  # the others are in _GRADER
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
    text = _INVISIBLE.sub("", _without_comments(raw.replace("\r\n", "\n").replace("\r", "\n")))
    text, tables = _strip_html(_STRUCK.sub("", text))
    text, more = take_tables(text)
    return text, tables + more


def clean(text: str) -> Clean:
    """Resolves footnotes, entities, widths, LaTeX, Markdown; drops text addressed to the grader."""
    text = _SUPERSCRIPT.sub(_power, text)
    text = _FOOTNOTE.sub("", text)
    text = _WIDE_COMMA.sub("、", html.unescape(text))
    text = _SPACES.sub(" ", fold_width(text))
    text = _markdown_of_cleaning(_plain_latex(text))
    return _spans(_without_grader(text))


def _power(match: re.Match[str]) -> str:
    """10⁹ after a times sign is a power of ten, any other superscript a footnote mark."""
    before = match.string[max(0, match.start() - 5) : match.start()]
    return "^" + match[0].translate(_POWERS) if _is_times_ten(before) else ""


def _is_times_ten(before: str) -> bool:
    factor = before.removesuffix("10")
    return factor != before and factor.removesuffix(" ").endswith(("×", "x", "X", "*", "·"))


def _is_hidden(attributes: str) -> bool:
    return _HIDDEN in "".join(attributes.lower().split())


def _markdown_of_cleaning(text: str) -> str:
    text = _URL.sub("", _LINK.sub(r"\1", text))
    text = _FENCE_CLEANING.sub("", text).replace("`", "")
    text = _STRONG.sub(lambda match: f"{_BOLD_OPEN}{match[1] or match[2]}{_BOLD_CLOSE}", text)
    text = _EMPHASIS.sub(lambda match: match[1] or match[2], text)
    return _LINE_MARK.sub("", text)


def _without_grader(text: str) -> str:
    if not _GRADER.search(text) and not any(name in text.lower() for name in _FIELD_NAMES):
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
    spans: dict[str, list[Span]] = {_BOLD_OPEN: [], _BOX_OPEN: []}
    pairs = {_BOLD_CLOSE: _BOLD_OPEN, _BOX_CLOSE: _BOX_OPEN}
    for match in re.finditer(f"[{_MARKS}]", text):
        pieces.append(text[position : match.start()])
        length += match.start() - position
        position = match.end()
        if match[0] in spans:
            opened[match[0]] = length
        elif (start := opened.pop(pairs[match[0]], None)) is not None:
            spans[pairs[match[0]]].append((start, length))
    plain = "".join([*pieces, text[position:]])
    return Clean(plain, tuple(spans[_BOLD_OPEN]), tuple(spans[_BOX_OPEN]))
