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
# What stands behind these is a part of the figure, what was taken off it, a name of a statement, or
# what the agent did itself.
_ASIDE = re.compile(
    r"\b(?:includ(?:es?|ing|ed)|exclud(?:es?|ing|ed)|net of|after|before|less|without|despite"
    r"|instead of|rather than|not|no|statements? of)\s+(?:[a-z-]+\s+){0,3}\Z|\bI\s+\Z",
    re.I,
)
_DENIED_WITHIN = 16  # characters from a denial to the side that it denies
_NEAR = 80  # characters before a word in which it is looked for


@dataclass(frozen=True, slots=True)
class Side:
    """How answers speak of an amount on this side (`said`) and on the other (`contrary`)."""

    said: re.Pattern[str]
    contrary: re.Pattern[str]

    def without(self, text: str) -> str:
        """The text without the words by which this side and the other are named."""
        return self.contrary.sub(" ", self.said.sub(" ", text))

    def is_denied(self, text: str, position: int) -> bool:
        """Does the word at `position`, such as "no", deny a side: "no loss"?"""
        return any(
            match.start() - position <= _DENIED_WITHIN
            for pattern in (self.said, self.contrary)
            for match in [pattern.search(text, position, position + 2 * _DENIED_WITHIN)]
            if match is not None
        )

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
    return any(
        not _ASIDE.search(text[max(0, match.start() - _NEAR) : match.start()])
        for match in pattern.finditer(text)
    )


def _any_word(words: Sequence[str], others: Sequence[str]) -> re.Pattern[str]:
    """Any of the whole words, or of the others anywhere; without words it fits nothing."""
    whole = rf"(?<![A-Za-z])(?:{'|'.join(words)})(?![A-Za-z])" if words else "(?!)"
    return re.compile("|".join([whole, *others]), re.I)


@cache
def sides() -> Mapping[str, Side]:
    """All sides by the words in which questions ask for them."""
    return {
        asked: Side(
            _any_word(entry["said"], entry.get("said_cjk", ())),
            _any_word(entry["contrary"], entry.get("contrary_cjk", ())),
        )
        for entry in load_table(__package__, "sides.toml")["side"]
        for asked in entry["asked"]
    }


def name_of_side(question: str) -> str | None:
    """The words in which a question asks to give a side as a negative number, if it does."""
    match = _ASKED.search(question)
    name = match[1].lower() if match else ""
    return name if name in sides() else None


def side_asked(question: str) -> Side | None:
    """The side that a question asks to give as a negative number; None if it names none."""
    name = name_of_side(question)
    return None if name is None else sides()[name]
