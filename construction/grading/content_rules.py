"""Hard rules on what files hold: counts, columns, sheets, texts and terms that a task fixes.

Each takes the parameters of a rule and what was seen in the files of its types, and returns the
reason for which it fails, what was observed, and the limit. Texts are compared as words, whatever
their case and punctuation. Imports the standard library and `file_look` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from construction.grading.file_look import Seen, word_form

_WHOLE = 3  # characters; shorter terms are whole words, longer ones may be the beginnings of some


class ContentReason(StrEnum):
    """Why a rule on content failed."""

    TOO_SHORT = "rules.too_short"
    TOO_LONG = "rules.too_long"
    MISSING_TEXT = "rules.missing_text"
    MISSING_COLUMN = "rules.missing_column"
    MISSING_SHEET = "rules.missing_sheet"
    OFF_TOPIC = "rules.off_topic"
    UNCHANGED = "rules.unchanged"
    ALTERED = "rules.altered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a rule came out; `reason` is None if it is met."""

    reason: ContentReason | None = None
    observed: int | None = None
    limit: int | None = None


ContentRule = Callable[[Mapping[str, Any], Sequence[Seen]], Outcome]


def _rows(seen: Seen) -> int:
    return max((table.rows for table in seen.tables), default=0)


_UNITS: Mapping[str, Callable[[Seen], int]] = {
    "words": lambda seen: seen.words,
    "characters": lambda seen: seen.characters,
    "pages": lambda seen: seen.pages,
    "rows": _rows,
}


def _length(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each file lies within the bounds; of rows, the longest table of the file counts."""
    least, most = params.get("min", 0), params.get("max")
    for size in map(_UNITS[params["unit"]], files):
        if size < least:
            return Outcome(ContentReason.TOO_SHORT, size, least)
        if most is not None and size > most:
            return Outcome(ContentReason.TOO_LONG, size, most)
    return Outcome()


def _holds(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each text stands in some file."""
    texts = params["texts"]
    matched = sum(any(word_form(text) in seen.text for seen in files) for text in texts)
    short = matched < len(texts)
    return Outcome(ContentReason.MISSING_TEXT if short else None, matched, len(texts))


def _columns(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each name is that of a column in some table, or is part of one."""
    headers = [
        word_form(name.replace("_", " "))
        for seen in files
        for table in seen.tables
        for name in table.columns
    ]
    names = [word_form(name.replace("_", " ")) for name in params["names"]]
    matched = sum(any(name in header for header in headers) for name in names)
    short = matched < len(names)
    return Outcome(ContentReason.MISSING_COLUMN if short else None, matched, len(names))


def _sheets(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Each name is that of a sheet."""
    present = {word_form(table.name) for seen in files for table in seen.tables}
    matched = sum(word_form(name) in present for name in params["names"])
    short = matched < len(params["names"])
    return Outcome(ContentReason.MISSING_SHEET if short else None, matched, len(params["names"]))


def _mentions(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """As many files as are asked for use so many of the terms; with `figures`, a figure does too.

    The terms are words, or beginnings of words, of the request and the inputs: a text with none of
    them is about nothing.
    """
    terms, least, wanted = params["terms"], int(params["min"]), int(params.get("files", 1))
    figures = bool(params.get("figures"))
    hits = [_hits(seen, terms) + (figures and any(map(str.isdigit, seen.text))) for seen in files]
    enough = sum(count >= least for count in hits)
    reason = None if enough >= wanted else ContentReason.OFF_TOPIC
    return Outcome(reason, max(hits, default=0), least)


def _hits(seen: Seen, terms: Sequence[str]) -> int:
    return sum(uses(seen.text, term) for term in terms)


def uses(text: str, term: str) -> bool:
    """Does a `word_form` use a term, or a word that begins with it if it is not short?"""
    return f" {term}{'' if len(term) > _WHOLE else ' '}" in text


def _changed(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Some file is no input saved anew: in words, figures, formulas or look it is another."""
    same = sum(seen.form in params["forms"] for seen in files)
    return Outcome(ContentReason.UNCHANGED if same == len(files) else None, same, len(files) - 1)


def _same(params: Mapping[str, Any], files: Sequence[Seen]) -> Outcome:
    """Some file is an input that was only to be renamed, moved or picked out."""
    same = sum(seen.form in params["forms"] for seen in files)
    return Outcome(None if same else ContentReason.ALTERED, same, 1)


CONTENT_RULES: Mapping[str, ContentRule] = {
    "length": _length,
    "holds": _holds,
    "columns": _columns,
    "sheets": _sheets,
    "mentions": _mentions,
    "changed": _changed,
    "same": _same,
}
