"""The sentences of questions: several natural ways to ask, one chosen by keyed hash."""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.tables.model import Statement
from construction.tables.questions.contracts import Series, Sharpening
from construction.tables.questions.names import possessive
from construction.tables.questions.wording import WORDS, phrase_of

_STATEMENTS: dict[str, str] = WORDS["statements"]
_POSSESSIVE = (
    "What {verb} {owner} {metric}{pause} {period}{filing}{unit}?",
    "{Period}, what {verb} {owner} {metric}{filing}{unit}?",
    "How much {verb} {owner} {metric}{pause} {period}{filing}{unit}?",
)
_OF = (
    "What {verb} the {metric} of {company} {period}{filing}{unit}?",
    "{Period}, what {verb} the {metric} of {company}{filing}{unit}?",
    "What {metric} did {company} report {period}{filing}{unit}?",
)
# Longer names, brackets and places do not stand well before "of" and "did".
_INVOLVED = re.compile(
    r"[,(“]|\b(?:at|by|for|from|in|of|on|per|to|under|with)\b|\b(?:paid|received)$"
)
_APPOSED = re.compile(r", (?:(?! and | or )[^,])*$")


@dataclass(frozen=True, slots=True)
class Words:
    """The finished parts of a question; the last three may be empty.

    `identified` says in brackets which company is meant ("ticker F").
    """

    company: str
    identified: str
    metric: str
    verb: str  # was or were
    period: str
    unit: str
    filing: str
    sign: str


def sentence(words: Words, choice: int) -> str:
    """The question in one of its variants; `choice` is any integer of at least 0."""
    involved = _INVOLVED.search(words.metric) is not None
    company, after = words.company, ""
    if words.identified and involved:
        after = f"The company meant is the one with the {words.identified}."
    elif words.identified:
        company = f"{company} ({words.identified})"
    variants = _POSSESSIVE if involved else _OF if words.identified else _POSSESSIVE + _OF
    text = variants[choice % len(variants)].format(
        company=company,
        owner=possessive(company),
        metric=words.metric,
        pause="," if _APPOSED.search(words.metric) else "",
        verb=words.verb,
        period=words.period,
        Period=words.period[:1].upper() + words.period[1:],
        unit=f", {words.unit}" if words.unit else "",
        filing=f", {words.filing}" if words.filing else "",
    )
    return " ".join(part for part in (text, words.sign, after) if part)


def place_words(series: Series, sharpened: frozenset[Sharpening]) -> str:
    """Where the line stands, as far as the question says: "under current assets in the …"."""
    parts: list[str] = []
    if Sharpening.PATH in sharpened and series.dimensions is not None:
        parts.append(f", for {_members(series.path)},")
    elif Sharpening.PATH in sharpened:
        parts += [f"under {phrase_of(part).text}" for part in reversed(series.path)]
    elif Sharpening.SECTION in sharpened:
        parts.append(f"under {phrase_of(series.path[-1]).text}")
    if Sharpening.STATEMENT in sharpened:
        parts.append(f"in the {_STATEMENTS.get(series.statement, _STATEMENTS[Statement.OTHER])}")
    return " ".join(parts)


def _members(path: tuple[str, ...]) -> str:
    """Axis and member in turn, as hierarchical names have them: “Europe” (geography)."""
    pairs = zip(path[::2], path[1::2], strict=False)
    told = [f"“{member}” ({phrase_of(axis).text})" for axis, member in pairs]
    return " and ".join(told) or f"“{path[-1]}”"
