"""What of its inputs a request is about: which files, how many rows, and what it alters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from construction.grading.file_look import word_form
from construction.judging.contracts import InputTable
from construction.judging.edits import alters
from construction.judging.inputs import inputs_spoken_of
from construction.judging.lexicon import table
from construction.judging.reading import read
from construction.mentions.extensions import tail

_SEVERAL = 2  # rows
# What stands in brackets, and what others are to find out, orders nothing.
_ASIDE = re.compile(
    r"\([^()]*\)|（[^（）]*）|(?i:\b(?:what|how|which|whether|where) to (?:\w+ or )?\w+)"
)
# What the person may change afterwards is no order.
_LATER = re.compile(
    r"(?i)\b(?:be able to|so (?:that )?(?:i|we) can|(?:i|we) can(?: then)?) (?:\w+ ){0,2}?"
    r"(?:change|adjust|edit|update|modify|replace)\b|(?:以便|好让)[^。；]{0,12}(?:修改|调整|更新)"
)
_SHORT = 2  # letters; a shorter name of a column is part of other words


def files_meant(request: str, given: Sequence[str]) -> tuple[str, ...]:
    """The `given` files of which all are to be used: all of them, if the request says "all", "each"
    or "every" of files, else those that it names.
    """
    lowered = request.lower()
    if _pattern("all_files").search(lowered):
        return tuple(given)
    return tuple(path for path in given if _is_listed(path.lower(), lowered))


def _is_listed(path: str, request: str) -> bool:
    name = re.escape(tail(path))
    return re.search(rf"(?<![\w.-]){name}(?![\w-])", request) is not None


def wants_all_rows(request: str, sheet: InputTable) -> bool:
    """Does a request say "all", "each" or "every" of several rows, or of what a column holds?"""
    lowered = request.lower()
    if sheet.rows < _SEVERAL:
        return False
    if _pattern("all_rows").search(lowered):
        return True
    names = [word_form(name.replace("_", " ")).strip() for name in sheet.columns]
    nouns = [re.escape(name.removesuffix("s")) for name in names if len(name) > _SHORT]
    every = table("grading")["scope"]["every"].format(nouns="|".join(nouns))
    return bool(nouns) and re.search(every, lowered) is not None


def leaves_out(request: str) -> bool:
    """Does a request say that a part of the material is beside the point?"""
    return _pattern("left_out").search(request.lower()) is not None


def altered_inputs(request: str, given: Sequence[str]) -> frozenset[str]:
    """The `given` files of which something becomes something else, or goes.

    What they say before is no measure of the result. All of them, where it is not said which.
    """
    return frozenset(path for paths in _altered(request, given) for path in paths)


def _altered(request: str, given: Sequence[str]) -> Iterator[Sequence[str]]:
    for sentence in read(request):
        if alters(_ASIDE.sub("", sentence.text)) and not _LATER.search(sentence.text):
            yield inputs_spoken_of(sentence.text, given) or given


@cache
def _pattern(key: str) -> re.Pattern[str]:
    return re.compile("|".join(table("grading")["scope"][key]))
