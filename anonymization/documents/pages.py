"""Web pages: authors, linked data, captions in attributes, strings in scripts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from anonymization.documents.labels import show_caption, show_person, show_table
from anonymization.text.contracts import Edit
from anonymization.text.masking.json_text import json_edits
from anonymization.text.masking.pieces import Look, Visit, shifted
from anonymization.text.masking.plain import joined

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


def page_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of escaped strings in scripts; names in other places are shown, not edited here."""
    for match in _META.finditer(text):
        _show_meta(match[1], visit.look)
    for match in _TAG.finditer(text):
        for name, value in _attributes(match[1]):
            if name in _CAPTIONS:
                show_caption(visit.look, value)
    for table in _TABLE.split(text)[1:]:
        show_table(visit.look, [_cells(row) for row in _ROW.split(table)[1:]])
    told: list[Edit] = []
    for attributes, start, code in _scripts(text):
        if "json" in attributes.lower():
            _show_linked(code, visit.look)
        elif '"' in code:
            told = joined(told, shifted(json_edits(code, visit), start))
    return told


def _scripts(text: str) -> Iterator[tuple[str, int, str]]:
    """Attributes, place and content of each script."""
    place = 0
    while (opened := _SCRIPT.search(text, place)) is not None:
        closed = _SCRIPT_END.search(text, opened.end())
        place = closed.start() if closed else len(text)
        yield opened[1], opened.end(), text[opened.end() : place]


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    for match in _ATTRIBUTE.finditer(tag):
        value = next(group for group in match.groups()[1:] if group is not None)
        yield match[1].lower(), html.unescape(value)


def _show_meta(tag: str, look: Look) -> None:
    told = dict(_attributes(tag))
    named = told.get("name", told.get("property", told.get("itemprop", "")))
    if named.lower() in _AUTHORS:
        show_person(look, told.get("content", ""))


def _cells(row: str) -> list[str]:
    return [html.unescape(_INNER.sub("", cell)).strip() for cell in _CELL.split(row)[1:]]


def _show_linked(code: str, look: Look) -> None:
    """Linked data (schema.org) says of what kind a thing is."""
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
                show_person(look, name)
