"""Whose a result or a total of equity is: of the parent, of all owners, or of those a row names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from construction.statements.questions.contracts import Company, Series
from construction.statements.questions.rows import Printed, Rows, bare_label, means
from construction.statements.questions.wording import (
    OF_PARENT,
    WITH_OTHERS,
    WITHOUT_OTHERS,
    WORDS,
    phrase_of,
)

_CODE = 3  # letters of an abbreviation
_MOST_OWNERS = 5  # words
_ATTRIBUTED = re.compile(r"\b(?:attributable|available|applicable)\b", re.I)
_SHAREHOLDERS = re.compile(r"\bshare(?:holder|owner)s?\b", re.I)
_EQUITY = frozenset(["equity", "deficit"])
# Totals of equity that stand beside that of the owners, and those of the other side.
_APART = re.compile(r"\b(?:before|liabilit\w+|mezzanine|other|redeemable|temporary)\b", re.I)
_CLASS = re.compile(r"\b(?:common|preferred)\b", re.I)
_DASH = re.compile(r"\s[-–—]\s")
_OWNERS = frozenset(WORDS["print"]["owners"])


def two_totals(row: Printed | None, others: Rows, series: Series) -> bool:
    """Does a filing print equity with and without noncontrolling interests, each as a total?

    "Ardent's total stockholders' equity" may then be either, whatever its row says.
    """
    is_total = phrase_of(series.label).text.endswith((f"equity{OF_PARENT}", f"equity{WITH_OTHERS}"))
    if row is None or not is_total or not _is_equity(row) or _CLASS.search(row.label):
        return False
    return any(
        other.series_id != row.series_id and other.concept != row.concept and _is_equity(other)
        for other in others.values()
    )


def of_class(spoken: tuple[str, ...], row: Printed | None, series: Series) -> tuple[str, ...]:
    """What a question may call equity of common stock alone: its printed label, which says so."""
    is_total = phrase_of(series.label).text.endswith((OF_PARENT, WITH_OTHERS))
    is_part = row is not None and is_total and _is_equity(row) and _CLASS.search(row.label)
    return tuple(text for text in spoken if _CLASS.search(text)) if is_part else spoken


def _is_equity(row: Printed) -> bool:
    label = _DASH.split(bare_label(row.label))[0]  # "Total equity - controlling interests"
    return phrase_of(label).head in _EQUITY and _APART.search(label) is None


def owners_of(label: str) -> str:
    """What the filer calls the owners: stockholders, unless its row says shareholders."""
    return "shareholders'" if _SHAREHOLDERS.search(label) else "stockholders'"


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
    owner = re.fullmatch(r"\s*to\s+(?:the )?([A-Za-z&.' -]{2,40}?)[\s.]*", tail, re.I)
    words = owner[1].split() if owner else []
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
