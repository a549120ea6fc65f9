"""The form, the look and the purpose that a request gives to its files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from construction.judging.lexicon import table
from construction.mentions.extensions import tail
from data.contracts import Deliverable
from data.text.scripts import HAN

# Own cut: a criterion quotes the clause, so the text keeps its form and figures such as 1,000 stay
# whole; `data.text.sentences` makes a form in which phrases are sought.
_CLAUSE = re.compile(rf"[,，;；:：。.](?=\s|[{HAN}]|$)")
_STOPS = ".。;；"
_ITEM = re.compile(r"\n\s*(?=[-*•\d])|\n\s*\n|\s+[—–-]\s+")
_OF_PICTURES = ("look_chart", "look_poster")


def bounds_of(demands: Sequence[str]) -> list[str]:
    """The clauses of demands that bound a length or name a tone; a whole demand is one itself."""
    whole = {demand.rstrip(_STOPS) for demand in demands}
    clauses = [clause.strip() for demand in demands for clause in _CLAUSE.split(demand)]
    return [
        clause
        for clause in clauses
        if _pattern("evidence", "bounds").search(clause.lower())
        and clause.rstrip(_STOPS) not in whole
    ]


def purposes_of(request: str) -> list[str]:
    """The clauses that say for what the person wants it: "so that I can compare them"."""
    text = " ".join(_ITEM.sub("; ", request).split())
    return [match[0].strip(" ,，") for match in _pattern("purposes", "words").finditer(text)]


def looks_of(
    deliverables: Sequence[Deliverable], request: str, inputs: Sequence[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """What is said of the look of each type that is made anew, and the names of its files.

    A picture that is neither a chart nor a poster has to look like what it shows alone.
    """
    looks = table("grading")["look"]
    given = {tail(path) for path in inputs}
    for item in deliverables:
        key = looks.get(item.file_type, "")
        if key == "look_picture":
            fitting = (name for name in _OF_PICTURES if _pattern("pictures", name).search(request))
            key = next(fitting, "")
        if key and given.isdisjoint(item.name_hints):
            yield key, item.name_hints or (f".{item.file_type}",)


@cache
def _pattern(part: str, key: str) -> re.Pattern[str]:
    return re.compile("(?i)" + "|".join(table("grading")[part][key]))
