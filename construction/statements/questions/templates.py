"""The sentences of questions, and how they name the company.

Of the natural ways to ask that suit the noun, a keyed hash chooses one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.statements.model import Statement
from construction.statements.questions.contracts import Series, Sharpening
from construction.statements.questions.names import possessive
from construction.statements.questions.wording import LIST, WORDS, Phrase, phrase_of

_STATEMENTS: dict[str, str] = WORDS["statements"]
_MASS = frozenset(WORDS["number"]["mass"])
_POSSESSIVE = (
    "What {verb} {owner} {metric}{pause} {period}{filing}{unit}?",
    "{Period}, what {verb} {owner} {metric}{filing}{unit}?",
)
_OF = (
    "What {verb} the {metric} of {company} {period}{filing}{unit}?",
    "{Period}, what {verb} the {metric} of {company}{filing}{unit}?",
)
_MANY = "How much did {company} report in {metric}{pause} {period}{filing}{unit}?"
_MUCH = "How much {metric} did {company} report {period}{filing}{unit}?"
_AS = (
    "What did {company} report as its {metric}{pause} {period}{filing}{unit}?",
    "{Period}, what did {company} report as its {metric}{filing}{unit}?",
)
_AHEAD = (
    "What {metric} did {company} forecast {period}{filing}{unit}?",
    "{Period}, what {metric} did {company} forecast{filing}{unit}?",
)
_PAY = (
    "How much in {paid} did {company} pay {period}{filing}{unit}?",
    "{Period}, how much in {paid} did {company} pay{filing}{unit}?",
)
_HAVE = (
    "How many {things} did {company} have{state} {period}{filing}{unit}?",
    "{Period}, how many {things} did {company} have{state}{filing}{unit}?",
)
_MEASURED = (
    "What was the {measure} of {owner} {measured}{pause} {period}{filing}{unit}?",
    "{Period}, what was the {measure} of {owner} {measured}{filing}{unit}?",
)
# Longer names, brackets and locations read badly before "of" and "did".
_INVOLVED = re.compile(
    r"[,(“]|(?<!-)\b(?:at|by|for|from|in|of|on|per|to|under|with)\b|\b(?:paid|received)$"
)
_TOLD = (Statement.GUIDANCE, Statement.SEGMENTS)  # by the verb, or by the axis
_FORECAST = re.compile(r"(?i)^(?:scenario )?forecast$")  # what the question says by its verb
_PLACES = tuple(f" in the {name}" for name in _STATEMENTS.values())
# Names that bear 's: short, without a comma.
_OWNS = re.compile(r"[^,]{1,32}")
_PAID = re.compile(r"((?:cash )?dividends|interest|income taxes) paid")
_MOVED = re.compile(r"(?:net )?(?:changes|decreases|increases|shares)\b")
_STOCK = re.compile(r"number of (employees|.+ shares(?= ))( (?:authorized|issued|outstanding)|)")
_ON_AVERAGE = re.compile(r"average number of ((?:[a-z-]+ )?employees)")
_MEASURE = re.compile(r"(value|number|carrying amount|par value per share) of (?!shares\b)(.+)")


@dataclass(frozen=True, slots=True)
class Words:
    """The finished parts of a question; all but company, metric and period may be empty.

    `identified` says in brackets which company is meant ("ticker F").
    """

    company: str
    identified: str
    metric: Phrase
    location: str
    period: str
    unit: str
    filing: str
    sign: str
    ahead: bool = False  # a forecast


def sentence(words: Words, choice: int) -> str:
    """The question in one of its variants; `choice` is any integer of at least 0."""
    company = f"{words.company} ({words.identified})" if words.identified else words.company
    metric = f"{words.metric.text}{words.location}"
    variants = _variants(words, metric)
    if words.location.endswith(_PLACES):
        metric = metric.replace(" in the ", " in its ") if variants is _AS else metric
    sign = "" if variants is _PAY else words.sign  # what is paid is positive
    paid, stock, measure = _PAID.fullmatch(metric), *_parts(metric)
    counted = stock[0] != "" and words.unit == "in shares"
    text = variants[choice % len(variants)].format(
        company=company,
        owner=possessive(company),
        metric=metric,
        paid=paid[1] if paid else "",
        things=stock[0],
        state=stock[1],
        measure=measure[0],
        measured=measure[1],
        pause="," if _pauses(metric) else "",
        verb="were" if words.metric.plural else "was",
        period=words.period,
        Period=words.period[:1].upper() + words.period[1:],
        unit=f", {words.unit}" if words.unit and not counted else "",
        filing=f", {words.filing}" if words.filing else "",
    )
    return f"{text} {sign}".strip()


def _parts(metric: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """ "Common shares" and "authorized", "value" and "treasury stock"; empty for other metrics."""
    matches = (_STOCK.fullmatch(metric), _MEASURE.fullmatch(metric))
    stock, measure = ((part[1], part[2]) if part else ("", "") for part in matches)
    if people := _ON_AVERAGE.fullmatch(metric):
        stock = (people[1], " on average")
    return stock, measure


def _variants(words: Words, metric: str) -> tuple[str, ...]:
    """The sentences that suit number and kind of the noun, and the name."""
    if words.ahead:
        return _AHEAD
    if _PAID.fullmatch(metric) and "negative" not in words.sign:
        return _PAY
    if _STOCK.fullmatch(metric) or _ON_AVERAGE.fullmatch(metric):
        return _HAVE
    is_long = bool(words.identified) or not _OWNS.fullmatch(words.company)
    if _MEASURE.fullmatch(metric) and not is_long:
        return _MEASURED
    involved = _INVOLVED.search(metric) is not None
    if words.location.endswith(_PLACES):
        return _AS
    is_counted = words.metric.plural and " per " not in f" {words.unit} "
    many = (_MANY,) if is_counted and not words.identified and not _MOVED.match(metric) else ()
    much = (_MUCH,) if words.metric.head in _MASS and not words.metric.plural else ()
    if involved:
        return (*(_AS if is_long else _POSSESSIVE), *many)
    if words.identified:
        return (*_OF, *_AS)
    return (*(() if is_long else _POSSESSIVE), *_OF, *many, *much)


def _pauses(metric: str) -> bool:
    """Whether a comma must follow the metric: it contains one outside of lists of nouns."""
    return "," in LIST.sub("", metric) and not metric.endswith(",")


def place_words(series: Series, sharpened: frozenset[Sharpening]) -> str:
    """The location of the line as far as the question gives it, to follow the metric directly."""
    parts = []
    if Sharpening.PATH in sharpened and series.dimensions is not None:
        members = _members(series.path)
        parts.append(f" for {members}" if members else "")
    elif Sharpening.PATH in sharpened:
        parts.append(f" under {' within '.join(_section(part) for part in reversed(series.path))}")
    elif Sharpening.SECTION in sharpened:
        section = _section(series.path[-1])
        repeated = phrase_of(series.label).text.endswith(section)
        parts.append("" if repeated else f" under {section}")
    if Sharpening.STATEMENT in sharpened and series.statement not in _TOLD:
        name = _STATEMENTS.get(series.statement, _STATEMENTS[Statement.OTHER])
        parts.append(f" in the {name}")
    return "".join(parts)


def _section(part: str) -> str:
    """The heading without "total", though its phrase may have it: "under assets"."""
    return phrase_of(part).text.removeprefix("total ")


def _members(path: tuple[str, ...]) -> str:
    """The members of a hierarchical name: its “Retail” segment, “Europe”."""
    pairs = [pair for pair in zip(path[::2], path[1::2], strict=False)
             if not _FORECAST.match(pair[1])]  # fmt: skip
    if not pairs and len(path) > 1:
        return ""
    named = []
    for axis, member in pairs:
        member = member.removesuffix(" Segment").removeprefix("Segment ")
        kind = phrase_of(axis).text
        named.append(f"its “{member}” segment" if kind.endswith("segment") else f"“{member}”")
    return " and ".join(named) or f"“{path[-1]}”"
