"""The position of a text says what it is, where no sentence does: labels, captions, columns; and
text files in their form, pages and tables, read by it.

A caption (a title, an alternative text, the name of a slide, a cell under "Customer") is too short
for the name model. Names found here are learned, and masked wherever they occur: runs of
capitalised words whose last word is in no dictionary, and cells of a column in which most other
cells are names. A delimited table has cells that begin like formulas and columns of people; a web
page has authors, linked data, captions in attributes and strings in scripts.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.said import is_label_of_value
from anonymization.text.detect.wording import (
    COMMON,
    NAMED_AFTER_PEOPLE,
    chinese_name,
    in_dictionary,
    words,
)
from anonymization.text.masking.forms import edits_of, head_of_table, is_label, open_text
from anonymization.text.masking.pieces import Collector, Look, Piece, Visit, labelled, shifted
from anonymization.text.masking.plain import joined
from anonymization.text.masking.structured_text import json_edits

_CAPTION = "Caption"
_DOUBLE = words("names.toml", "chinese_double")
_PAIR = 2
_LONGEST_CAPTION = 120  # characters; longer ones are prose
_WORD = r"[^\W\d_a-z](?:[^\W\d_]|['’-](?=[^\W\d_])){1,30}"
_NAME_RUN = re.compile(
    rf"(?<![\w.@/-])(?:{_WORD}(?: (?:de|da|del|der|den|di|la|le|van|von))? ){{1,3}}{_WORD}"
    r"(?![\w@/-]|\.\w)"
)
_PEOPLE = re.compile(
    r"(?i:\b(?:customer|client|contact|patient|employee|author|owner|manager|assignee|reviewer"
    r"|approver|applicant|candidate|tenant|attendee|participant|visitor|guest|recipient|sender"
    r"|member|user|agent|representative|responsible|signatory|beneficiary|instructor|student"
    r"|teacher|doctor|nurse|driver|(?:sur|full |first |last |family |given |contact )?names?"
    r"|(?:approved|created|modified|prepared|reviewed|assigned|requested|reported|signed) (?:by|to)"
    r")s?\b)|姓名|名字|联系人|负责人|经办人|申请人|审批人|作者|员工|收件人|寄件人|患者|学生|老师|经理"
    r"|客户|氏名|担当"
)


# Columns of places, of which many are called as people are: San Diego, Santa Monica.
_PLACES = re.compile(
    r"(?i)(?:^|[ _-])(?:city|town|village|state|province|county|country|region|location|place"
    r"|address|district|venue|area)(?:[ _-]?name)?$"
    r"|[市県省国区]名?$|市区町村|都道府県|城市|地区|地点|所在地|住所"
)


@lru_cache(1024)
def names_people(label: str) -> bool:
    """Does the name of a column or key suggest that its values are people?"""
    is_of_places = _PLACES.search(label) is not None  # `location_name`
    return _PEOPLE.search(label.replace("_", " ")) is not None and not is_of_places


def _can_be_name(text: str) -> bool:
    """Does a text have the form of a person's name?"""
    plain = text.strip()
    return _NAME_RUN.fullmatch(plain) is not None or chinese_name(plain)


def show_caption(look: Look, text: str) -> None:
    """Show a caption to the look; names in it are masked wherever they occur."""
    if text.strip() and len(text) <= _LONGEST_CAPTION:
        look(labelled(_CAPTION, text))


def _show_person(look: Look, text: str) -> None:
    """Show a name that its position declares to be a person's, if it has the form of one."""
    if _can_be_name(text):
        look(Piece(text.strip(), kind=EntityType.PERSON))


def show_double_name(look: Look, text: str) -> None:
    """Show a Chinese name that only its double family name proves."""
    if text[:2] in _DOUBLE and chinese_name(text):
        look(Piece(text, kind=EntityType.PERSON))


def show_table(look: Look, rows: Sequence[Sequence[str]]) -> None:
    """Show the cells of a table with the heading above them, or the label beside them."""
    heads = rows[0] if rows and all(map(is_label, rows[0])) else ()
    if any(is_label_of_value(row[0]) for row in rows[1:] if row) and len(heads) == _PAIR:
        heads = ()  # a form: its first column holds the labels
    for row in rows[1 if len(heads) > _PAIR else 0 :]:
        if len(row) == _PAIR and is_label(row[0]) and row[1].strip():
            look(labelled(row[0].strip().rstrip(":："), row[1].strip()))
        for label, cell in pairwise(row):
            if is_label_of_value(label) and cell.strip() and not is_label_of_value(cell):
                look(labelled(label.strip().rstrip(":："), cell.strip()))
        for head, cell in zip(heads, row, strict=False):
            if cell.strip() and cell != head:
                look(labelled(head.strip(), cell.strip()))
                if names_people(head):
                    show_caption(look, cell)


def caption_names(pieces: Iterable[Piece], model: str) -> list[Piece]:
    """The names in captions among `pieces`, as pieces of their own; sorted.

    `model` is the English model that brings the dictionary; without one nothing is found.
    """
    captions = [p.value for p in pieces if p.label == _CAPTION]
    runs = sorted({run for caption in captions for run in _runs(caption)})
    if not model or not runs:
        return []
    # Its library takes seconds to import, and most commands read no captions.
    from anonymization.text.detect.english import dictionary

    listed = dictionary(model)
    is_common = partial(in_dictionary, listed=listed)
    names = sorted({name for run in runs if listed for name in _named(run, is_common)})
    return [Piece(name, kind=EntityType.PERSON) for name in names]


def _runs(caption: str) -> Iterator[str]:
    return (match.group() for match in _NAME_RUN.finditer(caption))


def _named(run: str, is_common: Callable[[str], bool]) -> Iterator[str]:
    """The run without leading everyday words, if its last word is not one."""
    words = run.split(" ")
    while len(words) > 2 and is_common(words[0]):
        words.pop(0)
    if any(word in COMMON or word.title() in COMMON or word.isupper() for word in words):
        return
    if any(word.lower() in NAMED_AFTER_PEOPLE for word in words) or _CAMEL.search(words[-1]):
        return
    if not is_common(words[-1]):
        yield " ".join(words)


_CAMEL = re.compile(r"[a-z][A-Z]")
_FEWEST = 3  # distinct cells, from which most of them can decide about a column


def column_people(pieces: Iterable[Piece], edits: Callable[[Piece], Sequence[Edit]]) -> list[Piece]:
    """Names in columns in which at least half of the cells are people, as sorted pieces.

    `pieces` are those of one file, already learned; `edits` gives the edits of one piece.
    """
    columns: dict[str, list[Piece]] = {}
    for piece in dict.fromkeys(pieces):
        label = piece.label
        if label and not label.startswith(_CAPTION):
            columns.setdefault(label, []).append(piece)
    names: set[str] = set()
    for label, cells in columns.items():
        if len(cells) < _FEWEST or _PLACES.search(label):
            continue
        rest = [cell for cell in cells if not _is_person(cell, edits(cell))]
        if 2 * len(rest) <= len(cells):
            names |= {cell.value.strip() for cell in rest if _can_be_person(cell.value)}
    return [Piece(name, kind=EntityType.PERSON) for name in sorted(names)]


def _can_be_person(text: str) -> bool:
    """Has it the form of a name, and not of words alone that stand for nobody: Dispatch Hotline?"""
    return _can_be_name(text) and not COMMON.issuperset(text.split())


def _is_person(cell: Piece, edits: Sequence[Edit]) -> bool:
    if len(edits) != 1 or edits[0].type is not EntityType.PERSON:
        return False
    return cell.value[edits[0].start : edits[0].end].strip() == cell.value.strip()


_DELIMITERS = ",\t;|"
_FORMULA = "=+-@"  # first characters of cells that a spreadsheet reads as formulas
_LITERAL = re.compile(r'"([^"]+)"')
_LONGEST_CELL = 100_000  # characters of a cell


def _show_table_cells(text: str, visit: Visit) -> list[Edit]:
    """Show the cells to the look; their values are masked wherever they occur. Returns no edits."""
    text = text[head_of_table(text) :]
    head = text[: text.find("\n") + 1 or len(text)]
    delimiter = max(_DELIMITERS, key=lambda mark: (head.count(mark), -_DELIMITERS.index(mark)))
    lines = text.removeprefix("\ufeff").split("\n")
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    csv.field_size_limit(_LONGEST_CELL)
    labels: Sequence[str] = ()
    try:
        for number, row in enumerate(rows):
            if number == 0:
                labels = [cell.strip() if is_label(cell) else "" for cell in row]
                continue
            for label, cell in zip([*labels, *[""] * len(row)], row, strict=False):
                _show_cell(visit.look, label, cell)
    except csv.Error:  # not a table after all: it has been read as text
        return []
    return []


def _show_cell(look: Look, label: str, cell: str) -> None:
    """Show a cell to the look, with its column's name and without the sign of a formula."""
    if label and names_people(label):
        show_caption(look, cell)
    if cell[:1] not in _FORMULA or len(cell) < 2:
        return
    look(labelled(label, cell[1:]))
    for literal in _LITERAL.findall(cell):
        look(Piece(literal))


_MOST = 4_000  # characters of a tag
_META = re.compile(rf"(?i)<meta\b([^<>]{{0,{_MOST}}})>")
_TAG = re.compile(rf"<[A-Za-z][^\s<>/]{{0,60}}\s([^<>]{{0,{_MOST}}})>")
_ATTRIBUTE = re.compile(r"""([\w:.-]{1,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SCRIPT = re.compile(r"(?i)<script\b([^<>]{0,1000})>")
_SCRIPT_END = re.compile(r"(?i)</script")
_TABLE = re.compile(r"(?i)<table\b")
_ROW = re.compile(r"(?i)<tr\b")
_CELL = re.compile(r"(?i)<t[hd]\b[^<>]{0,500}>")
_INNER = re.compile(r"<[^<>]{0,500}>")
_CAPTIONS = frozenset(
    {"alt", "title", "summary", "placeholder", "label", "content", "aria-label",
     "aria-description", "aria-placeholder", "aria-valuetext", "aria-roledescription"}
)  # fmt: skip
_AUTHORS = frozenset(
    {"author", "creator", "dc.creator", "dcterms.creator", "article:author", "book:author",
     "twitter:creator", "parsely-author", "owner", "designer", "reply-to"}
)  # fmt: skip
_NAMES_OF_PERSON = ("name", "givenName", "familyName", "additionalName", "alternateName")
_AUTHORED = ("author", "creator", "contributor", "editor", "reviewedBy", "employee", "founder")


def _page_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of escaped strings in scripts; names elsewhere are shown to the look, not edited."""
    for match in _META.finditer(text):
        _show_meta(match[1], visit.look)
    for match in _TAG.finditer(text):
        for name, value in _attributes(match[1]):
            if name in _CAPTIONS:
                show_caption(visit.look, value)
    for table in _TABLE.split(text)[1:]:
        show_table(visit.look, [_cells(row) for row in _ROW.split(table)[1:]])
    edits: list[Edit] = []
    for attributes, start, code in _scripts(text):
        if "json" in attributes.lower():
            _show_linked(code, visit.look)
        elif '"' in code:
            edits = joined(edits, shifted(json_edits(code, visit), start))
    return edits


def _scripts(text: str) -> Iterator[tuple[str, int, str]]:
    """Attributes, offset and content of each script."""
    end = 0
    while (opened := _SCRIPT.search(text, end)) is not None:
        closed = _SCRIPT_END.search(text, opened.end())
        end = closed.start() if closed else len(text)
        yield opened[1], opened.end(), text[opened.end() : end]


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    for match in _ATTRIBUTE.finditer(tag):
        value = next(group for group in match.groups()[1:] if group is not None)
        yield match[1].lower(), html.unescape(value)


def _show_meta(tag: str, look: Look) -> None:
    attributes = dict(_attributes(tag))
    name = attributes.get("name", attributes.get("property", attributes.get("itemprop", "")))
    if name.lower() in _AUTHORS:
        _show_person(look, attributes.get("content", ""))


def _cells(row: str) -> list[str]:
    return [html.unescape(_INNER.sub("", cell)).strip() for cell in _CELL.split(row)[1:]]


def _show_linked(code: str, look: Look) -> None:
    """Show the people of linked data (schema.org), which declares the type of each thing."""
    try:
        pending: list[Any] = [json.loads(code)]
    except (ValueError, RecursionError):
        return
    while pending:
        thing = pending.pop()
        if isinstance(thing, list):
            pending += thing
        elif isinstance(thing, dict):
            pending += thing.values()
            _show_thing(thing, look)


def _show_thing(thing: dict[str, Any], look: Look) -> None:
    is_person = "Person" in str(thing.get("@type"))
    for key in _AUTHORED + _NAMES_OF_PERSON if is_person else _AUTHORED:
        value = thing.get(key)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                _show_person(look, name)


_SPECIAL_PARTS: Mapping[str, Callable[[str, Visit], list[Edit]]] = {
    ".html": _page_edits,
    ".htm": _page_edits,
    ".xhtml": _page_edits,
    ".csv": _show_table_cells,
    ".tsv": _show_table_cells,
}


def text_edits(text: str, name: str, look: Look) -> list[Edit]:
    """Edits of a text in the form that its name implies, and in the special parts of that form."""
    special = _SPECIAL_PARTS.get(PurePath(name).suffix.lower())
    edits = edits_of(text, name, look)
    return joined(edits, special(text, Visit(look, open_text))) if special else edits


def text_pieces(text: str, name: str) -> list[Piece]:
    """The pieces of a text file, in order."""
    seen = Collector()
    text_edits(text, name, seen)
    return list(seen.pieces)
