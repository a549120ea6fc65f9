"""Whether an amount is the first one that was filed or a restated one, by the words beside it."""

from __future__ import annotations

import re
from enum import StrEnum

from construction.statements.answers.amounts import Reading
from construction.statements.answers.passage import Passage
from data.text.lexicon import load_table

_REACH = 160  # characters on either side of an amount
_BREAK = 40  # characters that a comma, a conjunction or a new sentence between both counts as
_STOPS = re.compile(r"[,.;、。;,]|\b(?:and|but|then|versus|which|while)\b")
_LISTED = load_table(__package__, "versions.toml")


class Version(StrEnum):
    """The first value that was filed, or the one that replaced it."""

    ORIGINAL = "original"
    RESTATED = "restated"


_WORDS = tuple(
    (version, re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_LISTED[version.value])})", re.I))
    for version in Version
)


def version_in(question: str) -> Version | None:
    """The version that a question asks for; None if it names none."""
    named = [version for version, words in _WORDS if words.search(question)]
    return named[0] if len(named) == 1 else None


def version_of(passage: Passage, reading: Reading) -> Version | None:
    """The version that the nearest words say, as far as the neighbouring amounts; None without."""
    value = reading.value
    before = max((one.end for one in passage.values if one.end <= value.start), default=0)
    after = min((one.start for one in passage.values if one.start >= value.end), default=None)
    lead = passage.text[max(before, value.start - _REACH) : value.start]
    tail = passage.text[value.end : after][:_REACH]
    nearest = [
        *((_far(lead[match.end() :]), version) for version, match in _matches(lead)),
        *((_far(tail[: match.start()]), version) for version, match in _matches(tail)),
    ]
    return min(nearest, default=(0, None))[1]


def _matches(text: str) -> list[tuple[Version, re.Match[str]]]:
    """The words of either version; those of the first one hide the other's inside them."""
    matches = [(version, match) for version, words in _WORDS for match in words.finditer(text)]
    originals = [match.span() for version, match in matches if version is Version.ORIGINAL]
    return [
        (version, match)
        for version, match in matches
        if version is Version.ORIGINAL
        or not any(start <= match.start() < end for start, end in originals)
    ]


def _far(between: str) -> int:
    return len(between) + _BREAK * len(_STOPS.findall(between))
