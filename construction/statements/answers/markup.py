"""HTML of an answer: hidden and struck text goes, tables are taken out, tags become text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Private-use characters stand for emphasis and tags until positions are final.
BOLD_OPEN, BOLD_CLOSE, BOX_OPEN, BOX_CLOSE = "\ue000", "\ue001", "\ue002", "\ue003"
MARKS = BOLD_OPEN + BOLD_CLOSE + BOX_OPEN + BOX_CLOSE

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,15})(?![A-Za-z0-9])([^<>]*)>")
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)
_DROPPED = frozenset({"s", "del", "strike", "script", "style", "template"})
_VOID = frozenset({"br", "img", "hr", "input", "meta", "link"})
_BLOCKS = frozenset({"br", "p", "div", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "hr"})
_OPENING = {"b": BOLD_OPEN, "strong": BOLD_OPEN, "answer": BOX_OPEN}
_CLOSING = {"b": BOLD_CLOSE, "strong": BOLD_CLOSE, "answer": BOX_CLOSE}
_POWER = re.compile(r"[×xX*]\s?10$")


@dataclass(slots=True)
class RawTable:
    """A grid of raw cell texts with the line above it."""

    rows: list[list[str]] = field(default_factory=list)
    caption: str = ""


def without_comments(text: str) -> str:
    """The text without HTML comments; an unclosed one stays."""
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


def strip_html(text: str) -> tuple[str, list[RawTable]]:
    """The visible text and the tables, which are no longer part of the text."""
    sink = _Sink()
    position, hidden_by, depth, in_sup = 0, "", 0, False
    for match in _TAG.finditer(text):
        closing, name = bool(match[1]), match[2].lower()
        if not hidden_by and not in_sup:
            sink.write(text[position : match.start()])
        elif in_sup and _POWER.search("".join(sink.text[-2:])[-8:]):
            sink.write("^" + text[position : match.start()])
        position = match.end()
        if hidden_by:
            depth += (-1 if closing else 1) if name == hidden_by else 0
            hidden_by = hidden_by if depth else ""
        elif not closing and name not in _VOID and (name in _DROPPED or _HIDDEN.search(match[3])):
            hidden_by, depth = name, 1
        elif name == "sup":
            in_sup = not closing
        else:
            sink.tag(name, closing)
    if not hidden_by:
        sink.write(text[position:])
    sink.end_cell()
    return "".join(sink.text), sink.tables
