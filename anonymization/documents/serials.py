"""Dates that a workbook keeps as numbers (ECMA-376-1, 18.17.4.1 and 18.8.30)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from lxml.etree import _Element as Element

from anonymization.documents.markup import local
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import labelled

_DAYS = frozenset(
    map(str, (*range(14, 18), 22, *range(27, 32), *range(34, 37), *range(50, 59)))
)  # ids of built-in formats that show a day
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE = re.compile(r"[yd]|e(?![+-])", re.IGNORECASE)
_SERIAL = re.compile(r"(\d{1,7})(\.\d+)?")
_EPOCHS = (date(1899, 12, 30), date(1904, 1, 1))
_EARLIEST, _LATEST = 61, 2_958_465  # 1900-03-01, after the day that never was; 9999-12-31


def date_styles(roots: Mapping[str, Element]) -> frozenset[str]:
    """The cell styles (`s`) whose numbers are shown as dates."""
    styles = roots.get("xl/styles.xml")
    if styles is None:
        return frozenset()
    own = {
        str(told.get("numFmtId")): bool(_DATE.search(_QUOTED.sub("", told.get("formatCode") or "")))
        for told in styles.iter("{*}numFmt")
    }
    formats = styles.find("{*}cellXfs")
    ids = [] if formats is None else [str(f.get("numFmtId")) for f in formats if local(f) == "xf"]
    return frozenset(str(nth) for nth, told in enumerate(ids) if own.get(told, told in _DAYS))


def epoch(roots: Mapping[str, Element]) -> date:
    """The day that a workbook counts from."""
    workbook = roots.get("xl/workbook.xml")
    told = workbook.find("{*}workbookPr") if workbook is not None else None
    return _EPOCHS[told is not None and told.get("date1904") in {"1", "true"}]


def serial_edits(visitor: Visitor, label: str, text: str, first: date) -> list[Edit]:
    """Edits of a number that is a date: it moves as dates in texts do; its time of day stays."""
    match = _SERIAL.fullmatch(text)
    if match is None or not _EARLIEST <= int(match[1]) <= _LATEST - (first.year > 1900) * 1462:
        return []
    day = first + timedelta(days=int(match[1]))
    for edit in visitor.look(labelled(label, day.isoformat())):
        try:
            moved = str((date.fromisoformat(edit.new) - first).days)
        except ValueError:  # a placeholder cannot stand in a cell of dates
            moved = str(_EARLIEST)
        return [Edit(0, match.end(1), moved, edit.type, edit.recognizer, edit.score)]
    return []
