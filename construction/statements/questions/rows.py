"""The rows of filings as questions need them: their labels, and which of them hold a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from construction.statements.model import Statement, Statements
from construction.statements.questions.contracts import Series
from construction.statements.questions.wording import (
    KNOWN_WORDS,
    NOTE,
    TOKEN,
    Phrase,
    phrase_of,
    same_words,
)

Rows = Mapping[tuple[int, int], "Printed"]

_CHANGE_TAG = "IncreaseDecreaseIn"
_SMALL_WORD = 3  # letters of words that titles write small
_DETAIL = re.compile(
    r"\s*[,;:(–—-]+\s*(?:no par|without par|par value|at par|authori[sz]ed|issued|outstanding"
    r"|net of (?:accumulated|allowance|reserve|unamorti[sz]ed)"
    r"|less (?:accumulated|allowance|reserve))\b.*$"
    r"|[\s,;:(–—-]*(?:\$|\d).*$|^(?:less|add|deduct)(?::|\s*[-–—])\s*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of a statement: its label as filed, its series, and the concept and unit of that.

    `named`: the label holds the name of a ship, a deal, a company, which no rule for capitals
    tells from other words of a heading.
    """

    label: str
    series_id: str
    concept: str
    unit: str
    named: bool


def printed_rows(statements: Statements) -> dict[str, dict[tuple[int, int], Printed]]:
    """The rows of each English document, by number of the statement and line."""
    english = statements.companies.filter(pl.col("language") == "en").select("company_id")
    series = statements.series.join(english, on="company_id", how="semi")
    concepts = series.select(
        "series_id", pl.col("concept").fill_null(""), pl.col("unit").fill_null("")
    )
    # A row that prints several parts and no whole names no series: that of one of them will do.
    at_row = ("document", "report", "line")
    parts = (
        statements.points.drop_nulls(at_row).group_by(at_row).agg(part=pl.col("series_id").min())
    )
    unnamed = statements.rows.filter(pl.col("series_id").is_null())
    unnamed = unnamed.join(parts, on=at_row).with_columns(series_id="part").drop("part")
    rows = pl.concat([statements.rows, unnamed]).join(concepts, on="series_id")
    labels = rows["label"].drop_nulls().unique().to_list()
    ordinary = KNOWN_WORDS.union(_words_written_small(labels), _words_of_several(series))
    named = {label: _holds_name(label, ordinary) for label in labels}
    documents: dict[str, dict[tuple[int, int], Printed]] = {}
    columns = ("document", "report", "line", "label", "series_id", "concept", "unit")
    for document, report, line, label, series_id, concept, unit in rows.select(columns).iter_rows():
        if label:
            row = Printed(label, series_id, concept, unit, named[label])
            documents.setdefault(document, {})[report, line] = row
    return documents


def _words_written_small(labels: list[str]) -> Iterator[str]:
    return (word for label in labels for word in TOKEN.findall(label) if word.islower())


def _words_of_several(series: pl.DataFrame) -> Iterator[str]:
    """The words in the concepts' labels of several companies; of the only one, if there is one."""
    users = Counter[str]()
    for (_,), own in series.group_by("company_id"):
        labels = own["label"].drop_nulls().to_list()
        users.update({word.lower() for label in labels for word in TOKEN.findall(label)})
    least = min(2, series["company_id"].n_unique())
    return (word for word, count in users.items() if count >= least)


def _holds_name(label: str, ordinary: frozenset[str]) -> bool:
    """Has a label a word in capitals that no filing writes small, and no taxonomy has, or one
    among small words ("Supply & Logistics revenues")?"""
    text = bare_label(label)
    later = [word for word in TOKEN.findall(text)[1:] if len(word) > _SMALL_WORD]
    is_spoken = 2 * len([word for word in later if word[0].islower()]) > len(later)
    known = KNOWN_WORDS if is_spoken else ordinary
    for match in TOKEN.finditer(text):
        word = match[0].rstrip("'’.&").removesuffix("'s").removesuffix("’s")
        is_heading = text.isupper() or (match.start() and not word.isupper())
        if is_heading and word[0].isupper() and known.isdisjoint(
            (word.lower(), word.lower().removesuffix("s"))
        ):  # fmt: skip
            return True
    return False


@lru_cache(maxsize=200_000)
def bare_label(label: str) -> str:
    """A printed label without counts, amounts and par values, which filers add to it."""
    return _DETAIL.sub("", NOTE.sub("", label)).strip(" ,;:-–—") or label


def means(filed: Phrase, other: Printed, series: Series) -> bool:
    """May a printed label as well mean another row, one that begins with its words?"""
    if other.series_id == series.series_id or (other.concept and other.concept == series.concept):
        return False
    if series.statement == Statement.BALANCE and other.concept.startswith(_CHANGE_TAG):
        return False
    theirs = phrase_of(bare_label(other.label))
    is_beside = "Noncurrent" in series.concept and filed.bag <= theirs.bag
    return is_beside or same_words(filed, theirs)
