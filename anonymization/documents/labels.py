"""Labels, captions and columns: the position of a text says what it is, where no sentence does.

A caption (a title, an alternative text, the name of a slide, a cell under "Customer") is too short
for the name model. Names found here are learned, and masked wherever they occur: runs of
capitalised words whose last word is in no dictionary, and cells of a column in which most other
cells are names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.said import is_label_of_value
from anonymization.text.detect.wording import (
    COMMON,
    NAMED_AFTER_PEOPLE,
    chinese_name,
    in_dictionary,
    words,
)
from anonymization.text.masking.forms import is_label
from anonymization.text.masking.pieces import Look, Piece, labelled

CAPTION = "Caption"
_DOUBLE = words("names.toml", "chinese_double")
_PAIR = 2
_LONGEST_CAPTION = 120  # characters; longer ones are prose
_WORD = r"[^\W\d_a-z](?:[^\W\d_]|['’-](?=[^\W\d_])){1,30}"
NAME_RUN = re.compile(
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


def can_be_name(text: str) -> bool:
    """Does a text have the form of a person's name?"""
    plain = text.strip()
    return NAME_RUN.fullmatch(plain) is not None or chinese_name(plain)


def show_caption(look: Look, text: str) -> None:
    """Show a caption to the look; names in it are masked wherever they occur."""
    if text.strip() and len(text) <= _LONGEST_CAPTION:
        look(labelled(CAPTION, text))


def show_person(look: Look, text: str) -> None:
    """Show a name that its position declares to be a person's, if it has the form of one."""
    if can_be_name(text):
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
    captions = [p.value for p in pieces if p.label == CAPTION]
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
    return (match.group() for match in NAME_RUN.finditer(caption))


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
        if label and not label.startswith(CAPTION):
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
    return can_be_name(text) and not COMMON.issuperset(text.split())


def _is_person(cell: Piece, edits: Sequence[Edit]) -> bool:
    if len(edits) != 1 or edits[0].type is not EntityType.PERSON:
        return False
    return cell.value[edits[0].start : edits[0].end].strip() == cell.value.strip()
