"""What a model is shown of files and conversations: numbered passages, some to a call.

Prose is shown as it is, a column as its heading with its distinct values, code as the lines that
hold comments and strings. What is shown differs from the composed text in single characters at
most, so that offsets stay. The brackets of headings occur in no passage, and the fence is a digest
of all that it encloses: no text can close it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from anonymization.recogniser.contracts import Call, Part, Passage, RecogniserConfig, Request
from anonymization.text.contracts import EntityType
from anonymization.text.masking.pieces import FindingFilter, Piece
from data.canonical import digest
from data.neutralise import HIDDEN, one_line, visible
from data.text.lexicon import load_table
from data.text.scripts import HAN, count_cjk

_LATIN, _CJK = 6.0, 1.7  # characters a word, with the blank behind it
_PASSAGE = 400  # words of one passage, beyond which a text is cut at the end of a line
_COLUMN, _NUMBERS = 200, 12  # values of a column that are shown: of texts, of plain numbers
_BETWEEN = " ┊ "
_NUMBER = re.compile(r"[\d\s.,:%+-]*")
_TELLING = re.compile(
    rf"[^\W\d_]{{3}}|[{HAN}]{{2}}|(?=[^\W_]*\d)[^\W_]{{4}}"
)  # words, names, codes
_REPEATING = frozenset({"Caption", "Title"})  # labels of what mostly stands elsewhere, too
_SEPARATORS = str.maketrans("_-.", "   ")
SECOND_LOOK = "second_look.toml"  # the prompt that shows what was replaced
_BRACKETS = str.maketrans({"⟦": "[", "⟧": "]", "┊": "|"})
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@cache
def prompt(name: str = "prompt.toml") -> Mapping[str, Any]:
    """The texts of the first prompt with its table of kinds, or of another one."""
    return load_table(__package__, name)


def prompt_digest() -> str:
    """A digest of all that a model is told beside the material."""
    return digest([dict(prompt()), dict(prompt(SECOND_LOOK))])


@cache
def kinds() -> Mapping[str, EntityType]:
    """The kinds that a model may name."""
    return {name: EntityType(kind) for name, kind in prompt()["kinds"].items()}


def read_form(text: str) -> str:
    """A text as a model reads it, of the same length: nothing unseen, no brackets of headings."""
    return "".join(map(_shown, text)) if _has_marks(text) else text


def _has_marks(text: str) -> bool:
    is_plain = HIDDEN.search(text) is None and visible(text) == text
    return not is_plain or text.translate(_BRACKETS) != text


def _shown(char: str) -> str:
    if char in "\r\u2028\u2029":
        return "\n"
    if HIDDEN.match(char) or visible(char) != char:
        return "\u00b7"
    return char.translate(_BRACKETS)


def composed_text(text: str) -> str:
    """The text with its decomposed letters composed, as detection reads it."""
    # The detector's libraries take seconds to import: commands without a model wait for none.
    from anonymization.text.detect.engine import composed

    return composed(text).text


def _words_in(text: str) -> float:
    """About how many words a text has."""
    wide = count_cjk(text)
    return (len(text) - wide) / _LATIN + wide / _CJK


def calls_of(
    scope: str,
    documents: Mapping[str, Sequence[Piece]],
    rows: Mapping[str, str],
    config: RecogniserConfig,
) -> list[Call]:
    """The calls about one scope. `documents` are its files and turns by their names, in order;
    `rows` are words that only the owner can decide, each with an example of where it stands.

    Small documents share a call; a large one is spread over several.
    """
    filled = passages_of(documents, config)
    return [
        _call(numbered(scope, number, len(filled)), passages, rows, config)
        for number, passages in enumerate(filled, start=1)
    ]


def numbered(scope: str, number: int, count: int) -> str:
    """The id of one of some calls about a scope."""
    return f"{scope}/{number}" if count > 1 else scope


def passages_of(
    documents: Mapping[str, Sequence[Piece]], config: RecogniserConfig
) -> list[list[Passage]]:
    """What a model is shown of the documents in each call; no call is empty."""
    calls: list[list[Passage]] = [[]]
    room = float(config.call_words)
    seen = set[str]()
    for name, pieces in documents.items():
        passages = list(_of_document(name, pieces, seen, config.file_words))
        size = sum(_words_in(passage.body) for passage in passages)
        if size > room and calls[-1] and size <= config.call_words:
            calls.append([])
            room = config.call_words
        for passage in passages:
            size = _words_in(passage.body)
            if size > room and calls[-1]:
                calls.append([])
                room = config.call_words
            calls[-1].append(passage)
            room -= size
    return [passages for passages in calls if passages]


def _of_document(
    name: str, pieces: Sequence[Piece], seen: set[str], most: float
) -> Iterator[Passage]:
    """The passages of a document, as many as there is room for; each text once in a scope."""
    for passage in _Document(one_line(name).translate(_BRACKETS), pieces).passages():
        body = passage.body
        if body in seen:
            continue
        most -= _words_in(body)
        if most < 0:
            return
        seen.add(body)
        yield passage


@dataclass(slots=True)
class _Open:
    """A passage that is being filled."""

    heading: str
    lines: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    size: float = 0.0


class _Document:
    """The passages of one document: its fields and columns, its texts, and what these say again."""

    def __init__(self, name: str, pieces: Sequence[Piece]) -> None:
        self._name = name
        self._open = _Open(name)
        self._made = [self._open]
        self._told = dict.fromkeys(map(_plain, _names(name)), self._open)
        pieces = [piece for piece in pieces if piece.accepts is not FindingFilter.PROVEN]
        again = [piece for piece in pieces if piece.kind is not None or piece.label in _REPEATING]
        first = [piece for piece in pieces if piece not in set(again)]
        for some in (first, again):
            self._columns(piece for piece in some if piece.lead)
            for piece in some:
                if piece.fixed:
                    self._code(piece)
                elif not piece.lead:
                    self._text(piece)

    def passages(self) -> list[Passage]:
        """All passages, in their order."""
        return [
            Passage(made.heading, "\n".join(made.lines), tuple(made.parts))
            for made in self._made
            if made.lines
        ]

    def _text(self, piece: Piece) -> None:
        """A text; a long one in passages of its own, short ones a line each."""
        text, clean = _read(piece), as_detected(piece)
        if piece.accepts is FindingFilter.WHOLE and " " not in text.strip() and text.isascii():
            return  # a key of one word, as programs choose them
        if _words_in(text) <= _PASSAGE:
            self._say(text, text, [Part(clean, 0, len(text))])
            return
        for start, end in _cut(text):
            cut = _Open(self._name, [text[start:end]], [Part(clean, start, end)])
            self._made.append(cut)
        self._open = _Open(self._name)
        self._made.append(self._open)

    def _code(self, piece: Piece) -> None:
        """The lines with words outside of what a program reads by its place."""
        text, clean = _read(piece), as_detected(piece)
        if len(text) != len(piece.text):
            return  # its spans would not fit: evidence decides
        self._begin(f"comments and strings of {self._name}")
        for line in re.finditer(r"[^\n]+", text):
            if _TELLING.search(_without(text, line.span(), piece.fixed)):
                self._add(line.group(), [Part(clean, *line.span())])
        self._begin(self._name)

    def _columns(self, cells: Iterable[Piece]) -> None:
        """Lines with a label and the values under it; of many numbers only some."""
        columns: dict[str, dict[str, list[Part]]] = {}
        for cell in cells:
            text, clean = _read(cell), as_detected(cell)
            lead = len(composed_text(clean[: cell.lead]))
            values = columns.setdefault(cell.label, {})
            values.setdefault(text[lead:].strip(), []).append(Part(clean, lead, len(text)))
        for label, values in columns.items():
            texts = [value for value in values if not _NUMBER.fullmatch(value)]
            numbers = [value for value in values if _NUMBER.fullmatch(value) and value]
            few = numbers if len(numbers) <= _NUMBERS else numbers[:_NUMBERS]
            head = read_form(one_line(label))
            for some in _packed(self._new_ones([*texts[:_COLUMN], *few], values)):
                parts = [part for value in some for part in values[value]]
                self._add(f"{head}: {_BETWEEN.join(some)}", parts)
                self._told |= {_plain(value): self._open for value in some}

    def _new_ones(
        self, values: Iterable[str], parts: Mapping[str, Sequence[Part]]
    ) -> Iterator[str]:
        """The values that the document has not said; others are read where it has."""
        for value in values:
            said = self._told.get(_plain(value))
            if said is None:
                yield value
            else:
                said.parts += parts[value]

    def _say(self, value: str, line: str, parts: Sequence[Part]) -> None:
        plain = _plain(value)
        if plain in self._told:
            self._told[plain].parts += parts
        elif plain:
            self._add(line, parts)
            self._told[plain] = self._open

    def _add(self, line: str, parts: Sequence[Part]) -> None:
        size = _words_in(line)
        if self._open.lines and self._open.size + size > _PASSAGE:
            self._begin(self._open.heading)
        self._open.lines.append(line)
        self._open.parts += parts
        self._open.size += size

    def _begin(self, heading: str) -> None:
        self._open = _Open(heading)
        self._made.append(self._open)


def _names(path: str) -> Iterator[str]:
    """What the name of a document says: its folders, its file, and that without its ending."""
    for part in re.split(r"[/\\]", path):
        yield part
        yield part.rpartition(".")[0] or part


def as_detected(piece: Piece) -> str:
    """The text as detection gets it."""
    return _LONE_SURROGATES.sub("\ufffd", piece.text)


def _read(piece: Piece) -> str:
    return read_form(composed_text(as_detected(piece)))


def _plain(value: str) -> str:
    return " ".join(value.translate(_SEPARATORS).split()).casefold()


def _packed(values: Iterable[str]) -> Iterator[list[str]]:
    """Runs of values that fill a line of a passage; none is empty."""
    some: list[str] = []
    size = 0.0
    for value in values:
        words = _words_in(value)
        if some and size + words > _PASSAGE:
            yield some
            some, size = [], 0.0
        some.append(value)
        size += words
    if some:
        yield some


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Spans of about a passage each, that end with a paragraph, a line or a word."""
    start = 0
    step = int(len(text) * _PASSAGE / _words_in(text))
    while start < len(text):
        end = min(len(text), start + step)
        if end < len(text):
            least = start + step // 2
            ends = (text.rfind(mark, least, end) for mark in ("\n\n", "\n", "。", ". ", " "))
            end = next((at + 1 for at in ends if at > 0), end)
        yield start, end
        start = end


def _without(text: str, span: tuple[int, int], fixed: Sequence[tuple[int, int]]) -> str:
    """A line with blanks for what a program reads by its place."""
    start, end = span
    chars = list(text[start:end])
    for first, last in fixed:
        if first < end and start < last:
            for at in range(max(first, start), min(last, end)):
                chars[at - start] = " "
    return "".join(chars)


def _call(
    item_id: str, passages: Sequence[Passage], rows: Mapping[str, str], config: RecogniserConfig
) -> Call:
    own = _shown_rows(rows, passages)
    listed = [_row(row, rows[row]) for row in own]
    request = Request(
        item_id, system(prompt()), fenced(prompt(), passages, listed), config.reply_tokens
    )
    return Call(item_id, tuple(passages), own, request)


def _shown_rows(rows: Iterable[str], passages: Sequence[Passage]) -> tuple[str, ...]:
    """The rows of which the passages show the value."""
    shown = "\n".join(f"{passage.heading}\n{passage.body}" for passage in passages)
    folded = f"{shown.casefold()}\n{_plain(shown)}"  # names of files are listed with blanks
    return tuple(row for row in rows if read_form(one_line(row)).casefold() in folded)


def system(texts: Mapping[str, Any]) -> str:
    """What a model is told of its work."""
    named = ", ".join(kinds())
    return f"{texts['system'].strip()}\n\nThe kinds are: {named}."


def fenced(texts: Mapping[str, Any], passages: Sequence[Passage], rows: Sequence[str]) -> str:
    """The passages and rows, numbered, between fences that none of them can close."""
    blocks = [
        f"⟦{number}: {passage.heading}⟧\n{passage.body.strip()}"
        for number, passage in enumerate(passages, start=1)
    ]
    material = "\n\n".join(blocks)
    if rows:
        listed = (f"{number}. {row}" for number, row in enumerate(rows, start=1))
        material += f"\n\n⟦rows⟧ {texts['rows'].strip()}\n" + "\n".join(listed)
    fence = digest(material)[:32]
    outro = texts["outro"].strip()
    return f"⟦material {fence}⟧\n{material}\n⟦end of material {fence}⟧\n\n{outro}"


def _row(row: str, example: str) -> str:
    word, context = (read_form(one_line(part)) for part in (row, example))
    around = _around(word, context)
    return f"{word}  ({around})" if around else word


_NEAR = 24  # characters of an example on each side of its word


def _around(word: str, context: str) -> str:
    """A few words around a row's word; nothing where it stands alone."""
    at = context.casefold().find(word.casefold())
    if at < 0 or len(context) <= len(word) + 2:
        return ""
    start, end = max(0, at - _NEAR), min(len(context), at + len(word) + _NEAR)
    return f"{'…' if start else ''}{context[start:end].strip()}{'…' if end < len(context) else ''}"
