"""What makes a question harder on purpose: other words for the line, a period without its dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from construction.statements.questions.ambiguity import Database, Slots, other_values, rivals
from construction.statements.questions.contracts import (
    Means,
    Point,
    Question,
    QuestionConfig,
    Rival,
    Sharpening,
)
from construction.statements.questions.sharpening import sharpen
from construction.statements.questions.wording import has_foreign_letters, phrase_of, synonym_of
from data.text.dates import MONTHS

_MOST_SHARED = 0.5  # of the words of both labels, so that the filer's wording is another one
_LEAST_WORDS = 2  # "Services" alone says nothing without its heading
_LEAST_NAME = 4  # letters of a word by which companies are alike
_UNLIKE = re.compile(r"[\"“”:;/*]|\b(?:see|note|page|less|deduct|beginning)\b|\d{2}", re.I)
_LETTERS = re.compile(r"[^\W_]+")
# Months from the beginning of the fiscal year to the end of each of its parts.
_ELAPSED = {"Q1": 3, "Q2": 6, "H1": 6, "Q3": 9, "9M": 9, "Q4": 12, "H2": 12}
_PARTS = {
    "Q1": "first quarter",
    "Q2": "second quarter",
    "Q3": "third quarter",
    "Q4": "fourth quarter",
    "H1": "first half",
    "H2": "second half",
    "9M": "first nine months",
}


@dataclass(frozen=True, slots=True)
class Harder:
    """Slots in harder words, the words for the period ("" for the usual ones), and the means."""

    slots: Slots
    period: str
    means: tuple[Means, ...]


def harder_words(question: Question, database: Database, config: QuestionConfig) -> Harder | None:
    """The question's slots in harder words that still fit its point alone; None if there are none.

    The filer's own label is preferred to a synonym of the database's.
    """
    slots = Slots(question.company, question.series, question.point, question.sharpened)
    means = list(_given(question, database))
    for kind, worded in _wordings(slots, database):
        reworded = sharpen(replace(slots, worded=worded), database, config.max_sharpenings)
        if not isinstance(reworded, Rival) and Sharpening.LINE not in reworded.sharpened:
            slots = reworded
            means.append(kind)
            break
    period = undated(question.point)
    if period:
        dated = replace(slots, sharpened=(*slots.sharpened, Sharpening.DATES))
        if rivals(dated, database):
            period = ""
    means += [Means.UNDATED_PERIOD] if period else []
    if not set(means) & {Means.FILER_WORDING, Means.SYNONYM, Means.UNDATED_PERIOD}:
        return None
    return Harder(slots, period, tuple(means))


def _given(question: Question, database: Database) -> Iterator[Means]:
    """The means that lie in the point itself."""
    core = question.company.core
    if core and len(core[0]) >= _LEAST_NAME and len(database.by_first_word.get(core[0], ())) > 1:
        yield Means.LIKE_NAMED_COMPANY
    if other_values(question.point, database):
        yield Means.RESTATED


def _wordings(slots: Slots, database: Database) -> Iterator[tuple[Means, str]]:
    own = phrase_of(slots.series.label)
    if own.bare or slots.series.dimensions is not None or Sharpening.LINE in slots.sharpened:
        return
    filed = filer_wording(slots, database)
    if filed:
        yield Means.FILER_WORDING, filed
    synonym = synonym_of(slots.series.label)
    if synonym:
        yield Means.SYNONYM, synonym


def filer_wording(slots: Slots, database: Database) -> str:
    """What the filing calls the line, if that is another wording and no other line has it.

    Empty for lines that are printed with the opposite sign, or are negative: there the label may
    name the other side.
    """
    point, series = slots.point, slots.series
    rows = database.printed.get(point.document, {})
    if point.report is None or point.line is None or point.value.startswith("-"):
        return ""
    row = rows.get((point.report, point.line))
    if row is None or row.series_id != series.series_id:
        return ""
    if (point.document, point.report, point.line) in database.negated:
        return ""
    phrase, own = phrase_of(row.label), phrase_of(series.label)
    if phrase.bare or len(phrase.bag) < _LEAST_WORDS or _UNLIKE.search(phrase.text):
        return ""
    if set(_LETTERS.findall(phrase.text.lower())) & {*slots.company.core}:
        return ""  # the company's own name, which a label writes in any case
    if has_foreign_letters(phrase.text) or _is_signed(phrase.text) != _is_signed(own.text):
        return ""
    shared = len(phrase.bag & own.bag) / len(phrase.bag | own.bag)
    others = (other for other in rows.values() if other.series_id != series.series_id)
    is_unique = all(phrase_of(other.label).bag != phrase.bag for other in others)
    return phrase.text if shared <= _MOST_SHARED and is_unique else ""


def _is_signed(text: str) -> bool:
    """Does a label have a second side in brackets, or does it name a loss, a use or a decrease?"""
    return bool(re.search(r"\((?![^)]*\bnet\b)|\b(?:loss|deficit|used|decrease|benefit)", text))


def undated(point: Point) -> str:
    """ "for the first quarter of the fiscal year to March 2021", also for the day at its end.

    Empty for whole years, and for periods that do not end with a month: the month in which a
    52/53-week year ends is not known from its quarters.
    """
    part = point.fiscal_period
    elapsed = _ELAPSED.get(part or "")
    is_month_end = (point.period_end + timedelta(days=1)).day == 1
    if elapsed is None or part is None or not is_month_end:
        return ""
    last = point.period_end.year * 12 + point.period_end.month - 1 + 12 - elapsed
    named = f"{_PARTS[part]} of the fiscal year to {MONTHS[last % 12]} {last // 12}"
    return f"for the {named}" if point.months else f"at the end of the {named}"
