"""The rows of filings as questions need them: their labels, and which of them hold a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from construction.statements.model import Statement, Statements
from construction.statements.questions.contracts import Company, Series
from construction.statements.questions.wording import (
    KNOWN_WORDS,
    NOTE,
    OF_PARENT,
    TOKEN,
    WITH_OTHERS,
    WITHOUT_OTHERS,
    WORDS,
    Phrase,
    has_word,
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


# Whose a result or a total of equity is: of the parent, of all owners, or of those a row names.

_CODE = 3  # letters of an abbreviation
_MOST_OWNERS = 5  # words
_ATTRIBUTED = re.compile(r"\b(?:attributable|available|applicable)\b", re.I)
_EQUITY = frozenset(["equity", "deficit"])
# Totals of equity that stand beside that of the owners, and those of the other side.
_APART = re.compile(r"\b(?:before|liabilit\w+|mezzanine|other|redeemable|temporary)\b", re.I)
_CLASSES = frozenset(["common", "preferred"])
_OWNERS = frozenset(WORDS["print"]["owners"])


def two_totals(row: Printed | None, others: Rows, series: Series) -> bool:
    """Does a filing print equity with and without noncontrolling interests, each as a total?

    "Ardent's total stockholders' equity" may then be either, whatever its row says.
    """
    is_total = phrase_of(series.label).text.endswith((f"equity{OF_PARENT}", f"equity{WITH_OTHERS}"))
    if row is None or not is_total or not _is_equity(row) or has_word(row.label, _CLASSES):
        return False
    return any(
        other.series_id != row.series_id and other.concept != row.concept and _is_equity(other)
        for other in others.values()
    )


def of_class(spoken: tuple[str, ...], row: Printed | None, series: Series) -> tuple[str, ...]:
    """What a question may call equity of common stock alone: its printed label, which says so."""
    is_total = phrase_of(series.label).text.endswith((OF_PARENT, WITH_OTHERS))
    is_part = row is not None and is_total and _is_equity(row) and has_word(row.label, _CLASSES)
    return tuple(text for text in spoken if has_word(text, _CLASSES)) if is_part else spoken


def _is_equity(row: Printed) -> bool:
    label = bare_label(row.label)
    for dash in (" - ", " – ", " — "):  # "Total equity - controlling interests"
        label = label.partition(dash)[0]
    return phrase_of(label).head in _EQUITY and _APART.search(label) is None


def without_parent(
    text: str, row: Printed | None, rows: Rows, series: Series, company: Company
) -> Iterator[str]:
    """ "Net income" for that of the parent or of all owners, if its row says no more, nor another;
    or whom its row names: "net income attributable to Acme stockholders"."""
    whole = text.removesuffix(OF_PARENT).removesuffix(WITH_OTHERS)
    if whole == text or row is None:
        return
    is_equity = text.endswith(f"equity{OF_PARENT}")
    apart = f"{whole}{WITHOUT_OTHERS}"
    if owners := _ATTRIBUTED.search(row.label):
        if text.endswith(OF_PARENT) and (
            named := _named_owners(row.label[owners.end() :], company)
        ):
            yield f"{whole} attributable to {named}"
        elif is_equity and two_totals(row, rows, series):
            yield apart
        return
    whole = f"total {whole}" if is_equity else whole
    is_one = not any(means(phrase_of(whole), other, series) for other in rows.values())
    if is_one and not two_totals(row, rows, series):
        yield whole
    elif is_equity:
        yield apart


def _named_owners(tail: str, company: Company) -> str:
    """ "Acme stockholders" behind "attributable to", in the case of a sentence; "" if the words do
    not name the company, or say more."""
    first, *words = tail.rstrip(" .").split() or [""]
    words = words[1:] if words[:1] == ["the"] else words
    is_plain = "".join(words).replace("&", "").replace("-", "").isascii()
    words = words if first.lower() == "to" and is_plain else []
    known = {word.lower(): word for word in company.name.replace(",", "").split()}
    initials = "".join(word[0] for word in company.name.split())
    if (
        not words
        or not company.core
        or len(words) > _MOST_OWNERS
        or words[-1].lower() not in _OWNERS
    ):
        return ""
    is_short = len(words[0]) > 1 and words[0] in (initials, initials[:-1], company.ticker)
    if not is_short and not words[0].lower().startswith(company.core[0]):
        return ""
    own = words[0] if is_short else _in_case(words[0], known)
    return " ".join([own, *(_in_case(word, known) for word in words[1:])]).replace("’", "'")


def _in_case(word: str, known: Mapping[str, str]) -> str:
    if word.lower() in _OWNERS:
        return word.lower()
    is_shouted = word.isupper() and len(word) > _CODE
    return known.get(word.lower(), word.capitalize() if is_shouted else word)
