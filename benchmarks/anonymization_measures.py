"""What is counted in labelled texts: characters, whole values, exact spans, people, secrets."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from anonymization.text.contracts import EntityType
from benchmarks.anonymization_engines import Span
from benchmarks.anonymization_text_cases import Case

Spans = Sequence[Sequence[Span]]

_TITLE = re.compile(r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Madam|Lord|Lady|Judge)\b\.? )+")
# Findings that say "this is a person"; the last is Presidio's name for all of them.
_PEOPLE = frozenset({EntityType.PERSON.value, EntityType.ACCOUNT.value})


def covered(spans: Sequence[Span]) -> set[int]:
    """The offsets inside the findings."""
    return {offset for start, end, _ in spans for offset in range(start, end)}


def solid(text: str, start: int, end: int) -> set[int]:
    """The offsets of letters and digits in a span."""
    return {offset for offset in range(start, end) if text[offset].isalnum()}


def share(hits: int, total: int) -> float:
    """Rounded to four digits; 0 of nothing."""
    return round(hits / total, 4) if total else 0.0


def characters(cases: Sequence[Case], spans: Spans) -> tuple[float, float]:
    """Recall and precision by character; labels that TAB does not mask count as not labelled."""
    hits = total = given = 0
    for case, actual in zip(cases, spans, strict=True):
        labelled = {
            offset
            for start, end, _, grade, _ in case.labels
            if grade != "NO_MASK"
            for offset in range(start, end)
        }
        mine = covered(actual)
        hits, total = hits + len(labelled & mine), total + len(labelled)
        given += len(mine)
    return share(hits, total), share(hits, given)


def exact(cases: Sequence[Case], spans: Spans) -> dict[str, float]:
    """Exact spans of any type: precision, recall and F2, in which recall counts four times."""
    hits = labels = given = 0
    for case, actual in zip(cases, spans, strict=True):
        wanted = {(start, end) for start, end, *_ in case.labels}
        mine = {(start, end) for start, end, _ in actual}
        hits += len(wanted & mine)
        labels, given = labels + len(wanted), given + len(mine)
    if not labels and not given:
        return {"precision": 1.0, "recall": 1.0, "f2": 1.0}
    precision, recall = hits / max(given, 1), hits / max(labels, 1)
    f2 = 5 * precision * recall / (4 * precision + recall) if hits else 0.0
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f2": round(f2, 4)}


def direct(cases: Sequence[Case], spans: Spans) -> tuple[float, float]:
    """DIRECT entities of which all mentions are covered: without and with their titles."""
    plain: dict[tuple[str, str], bool] = {}
    titled: dict[tuple[str, str], bool] = {}
    for case, actual in zip(cases, spans, strict=True):
        mine = covered(actual)
        for start, end, _, grade, entity in case.labels:
            if grade != "DIRECT":
                continue
            key = (case.key, entity)
            title = _TITLE.match(case.text, start, end)
            name = solid(case.text, title.end() if title else start, end)
            plain[key] = plain.get(key, True) and name <= mine
            titled[key] = titled.get(key, True) and solid(case.text, start, end) <= mine
    return share(sum(plain.values()), len(plain)), share(sum(titled.values()), len(titled))


def whole(cases: Sequence[Case], spans: Spans, kinds: Collection[str]) -> float:
    """Labels of these kinds whose letters and digits are all inside findings."""
    hits = total = 0
    for case, actual in zip(cases, spans, strict=True):
        mine = covered(actual)
        for start, end, kind, _, _ in case.labels:
            letters = solid(case.text, start, end)
            if kind in kinds and letters:
                total, hits = total + 1, hits + (letters <= mine)
    return share(hits, total)


def people_precision(cases: Sequence[Case], spans: Spans, kinds: Collection[str]) -> float:
    """The share of letters in findings of persons and accounts that is in a labelled person."""
    right = given = 0
    for case, actual in zip(cases, spans, strict=True):
        people = [
            solid(case.text, start, end) for start, end, kind, _, _ in case.labels if kind in kinds
        ]
        labelled = set().union(*people)
        for start, end, kind in actual:
            if kind in _PEOPLE:
                letters = solid(case.text, start, end)
                right, given = right + len(letters & labelled), given + len(letters)
    return share(right, given)


def flagged(spans: Spans, kinds: Collection[str] | None = None) -> float:
    """The share of texts with a finding (of one of these kinds)."""
    hits = sum(any(kinds is None or kind in kinds for *_, kind in actual) for actual in spans)
    return share(hits, len(spans))


def masked(texts: Sequence[str], spans: Spans) -> float:
    """The share of all characters that is inside findings."""
    return share(
        sum(end - start for actual in spans for start, end, _ in actual), sum(map(len, texts))
    )


def macro_covered(rules: Sequence[str], cases: Sequence[Case], spans: Spans) -> float:
    """Texts in which one of the labels is covered: the mean over rules of their shares."""
    hits: dict[str, list[bool]] = {}
    for rule, case, actual in zip(rules, cases, spans, strict=True):
        mine = covered(actual)
        hit = any(mine.issuperset(range(start, end)) for start, end, *_ in case.labels)
        hits.setdefault(rule, []).append(hit)
    shares = [sum(each) / len(each) for each in hits.values()]
    return round(sum(shares) / max(len(shares), 1), 4)
