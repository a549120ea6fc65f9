"""The side of a signed figure that a question asks to give as a negative number.

The words of questions and the words of answers stand in one table, `sides.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from data.text.lexicon import load_table

_ASKED = re.compile(r"\bgive ([a-z ]{1,60}?) as (?:a )?negative\b", re.I)
_BRACKETS = re.compile(r"\([^()0-9]*\)")
# What stands behind these is only a part of the figure, or what was taken off it.
_ASIDE = re.compile(
    r"\b(?:includ(?:es?|ing|ed)|exclud(?:es?|ing|ed)|net of|after|before|less|without|despite"
    r"|instead of|rather than|not|no)\s+(?:[a-z-]+\s+){0,3}\Z",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Side:
    """How answers speak of an amount on this side (`said`) and on the other (`contrary`)."""

    said: re.Pattern[str]
    contrary: re.Pattern[str]

    def is_stated(self, words: str, position: int) -> bool | None:
        """Is the amount at `position` of `words` on this side? None if the words leave it open.

        `words` is a clause with its values blanked. Labels in brackets, such as "(expense)", do
        not count, unless the amount itself stands in the brackets.
        """
        plain = _BRACKETS.sub(lambda match: _blank(match, position), words)
        is_said, is_contrary = (_stands(pattern, plain) for pattern in (self.said, self.contrary))
        return None if is_said == is_contrary else is_said


def _blank(match: re.Match[str], position: int) -> str:
    return match[0] if match.start() < position < match.end() else " " * len(match[0])


def _stands(pattern: re.Pattern[str], text: str) -> bool:
    return any(not _ASIDE.search(text[: match.start()]) for match in pattern.finditer(text))


def _words(entries: Sequence[str]) -> re.Pattern[str]:
    """Any of the words; without entries a pattern that fits nothing."""
    return re.compile(rf"(?<![A-Za-z])(?:{'|'.join(entries)})(?![A-Za-z])" if entries else r"(?!)")


@cache
def sides() -> Mapping[str, Side]:
    """All sides by the words in which a question asks for them."""
    return {
        asked: Side(*(_words([f"(?i:{word})" for word in entry.get(key, ())]) for key in _FIELDS))
        for asked, entry in load_table(__package__, "sides.toml").items()
    }


_FIELDS = ("said", "contrary")


def side_asked(question: str) -> Side | None:
    """The side that a question asks to give as a negative number; None if it names none."""
    match = _ASKED.search(question)
    return sides().get(match[1].lower()) if match else None
