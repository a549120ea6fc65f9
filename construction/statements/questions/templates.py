"""The sentences of questions, and how they name the company.

Of the natural ways to ask that suit the noun, a keyed hash chooses one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from construction.statements.model import Statement
from construction.statements.questions.contracts import Series, Sharpening
from construction.statements.questions.wording import LIST, WORDS, Phrase, phrase_of
from data.text.folding import fold_spaces, fold_width

_ENDINGS: Mapping[str, str] = WORDS["names"]["endings"]
_SMALL = frozenset(WORDS["names"]["small"])
_SHORT = frozenset(WORDS["names"]["words"])
_WHOLE: Mapping[str, str] = WORDS["names"]["whole"]
_SPELLED: Mapping[str, str] = WORDS["names"]["spelled"]
_SHOUTED = frozenset(WORDS["names"]["shouted"])
_LEGAL = frozenset(WORDS["legal"]["words"])
_STATE = re.compile(r"\s*[/\\] ?[A-Za-z]{2,20}[/\\]?\s*$")
_ROMAN = re.compile(r"[IVX]{1,4}")
_SPACED = re.compile(r",(?=[A-Za-z])")
_WORD = re.compile(r"[a-z0-9][a-z0-9&]*|[^\s\x00-\x7f]+")
_NO_VOWEL = re.compile(r"[^AEIOUY]+")
_FORM = re.compile(r"(?<=[ ,])(co|corp|inc|ltd)\b\.?(?=,|$| ltd)", re.I)
_LIMITED = re.compile(r"\bLtd\.?(?= Partnership\b)", re.I)
_JOINED = re.compile(r"(?:(?<=\.)|\s)Co[.,][.,\s]{0,3}Ltd\.?$", re.I)
_CAPITALS = re.compile(r"[A-Z]{4,}")
_DOT_COM = re.compile(r"(?<=[a-z]) (?:COM|Com)(?= Inc\.)")
_OWNED = re.compile(r"'S\b")
_MC = re.compile(r"\bMc([a-z])(?=[a-z]{2})")
_MAX_NAME = 120
_AUTHORITY = {"sec": "SEC CIK", "edinet": "EDINET code"}


@lru_cache(maxsize=50_000)
def natural_name(name: str) -> str:
    """The name as people write it: names in capitals are brought to normal case.

    Short words and those without a vowel keep their capitals (CBS), unless they are listed.
    """
    text = fold_spaces(fold_width(name[:_MAX_NAME]))
    text = _DOT_COM.sub(".com", _in_case(text.replace(" ,", ",")))
    text = _LIMITED.sub("Limited", _JOINED.sub(" Co., Ltd.", text))
    return _WHOLE.get(text, text)


def _in_case(text: str) -> str:
    text = _SPACED.sub(", ", _STATE.sub("", text)).strip(" ,;")
    letters = [char for char in text if char.isalpha()]
    if text.islower():
        text = text.upper()
    elif sum(char.isupper() for char in letters) < 0.9 * len(letters) or len(letters) < 3:
        text = _CAPITALS.sub(_lowered, text)
        return _FORM.sub(lambda match: _ENDINGS[match[1].upper()], text)
    words = text.split(" ")
    return _MC.sub(_mc, " ".join(_word(word, at) for at, word in enumerate(words)))


def _lowered(match: re.Match[str]) -> str:
    return match[0].capitalize() if match[0] in _SHOUTED else match[0]


def _mc(match: re.Match[str]) -> str:
    return f"Mc{match[1].upper()}"


def _word(word: str, at: int) -> str:
    if at and (ending := _ENDINGS.get(word.upper()) or _ENDINGS.get(word.upper().strip(","))):
        return f"{ending}," if word.endswith(",") and not ending.endswith(",") else ending
    if at and word in _SMALL:
        return word.lower()
    bare = word.strip(".,()'-")
    if bare.upper() in _SPELLED:
        return word.replace(bare, _SPELLED[bare.upper()])
    letters = re.sub(r"[^A-Z]", "", bare)
    if not letters or "." in bare or "&" in bare or any(char.isdigit() for char in bare):
        return word
    if at and _ROMAN.fullmatch(bare):
        return word
    if bare in _SHORT or (len(letters) > 3 and not _NO_VOWEL.fullmatch(letters)):
        return _OWNED.sub("'s", word.title())
    return word


def possessive(name: str) -> str:
    """The name with 's, or with an apostrophe where it ends in s."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def by_ticker(ticker: str) -> str:
    """The ticker or, as in Japan, the securities code, as a question names it."""
    return f"{'securities code' if ticker[:1].isdigit() else 'ticker'} {ticker}"


def by_register(company_id: str) -> str:
    """The company's number in the register of its source."""
    source, _, own = company_id.partition(":")
    return f"{_AUTHORITY.get(source, 'company id')} {own or source}"


@lru_cache(maxsize=50_000)
def core_name(name: str) -> tuple[str, ...]:
    """The words that distinguish a company: without legal form, case and punctuation."""
    text = fold_width(_STATE.sub("", name[:_MAX_NAME])).lower()
    words = _WORD.findall(text.replace(".", "").replace("'", ""))
    return tuple(word for word in words if word not in _LEGAL) or tuple(words)


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
    r"[,(“]|\b(?:at|by|for|from|in|of|on|per|to|under|with)\b|\b(?:paid|received)$"
)
_NO_KINDS = ("scenario",)  # axes whose names say nothing about their members
_TOLD = (Statement.GUIDANCE, Statement.SEGMENTS)  # by the verb, or by the axis
_FORECAST = re.compile(r"(?i)^(?:scenario )?forecast$")  # what the question says by its verb
_PAID = re.compile(r"((?:cash )?dividends|interest|income taxes) paid")
_MOVED = re.compile(r"(?:net )?(?:changes|decreases|increases|shares)\b")
_STOCK = re.compile(r"number of (employees|.+ shares(?= ))( (?:authorized|issued|outstanding)|)")
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
    if variants is _AS:
        metric = metric.replace(", as shown in the ", " in its ")
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
    return stock, measure


def _variants(words: Words, metric: str) -> tuple[str, ...]:
    """The sentences that suit number and kind of the noun."""
    if words.ahead:
        return _AHEAD
    if _PAID.fullmatch(metric) and "negative" not in words.sign:
        return _PAY
    if _STOCK.fullmatch(metric):
        return _HAVE
    if _MEASURE.fullmatch(metric) and not words.identified:
        return _MEASURED
    involved = _INVOLVED.search(metric) is not None
    is_counted = words.metric.plural and " per " not in f" {words.unit} "
    many = (_MANY,) if is_counted and not _MOVED.match(metric) else ()
    if words.identified:
        return _AS if involved else (*_OF, *_AS)
    if involved:
        return (*_POSSESSIVE, *many)
    much = (_MUCH,) if words.metric.head in _MASS and not words.metric.plural else ()
    return (*_POSSESSIVE, *_OF, *many, *much)


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
        parts.append(f", as shown in the {name}")
    return "".join(parts)


def _section(part: str) -> str:
    """The heading without "total", though its phrase may have it: "under assets"."""
    return phrase_of(part).text.removeprefix("total ")


def _members(path: tuple[str, ...]) -> str:
    """Pairs of axis and member from a hierarchical name: “Europe” (geography)."""
    pairs = [pair for pair in zip(path[::2], path[1::2], strict=False)
             if not _FORECAST.match(pair[1])]  # fmt: skip
    if not pairs and len(path) > 1:
        return ""
    named = []
    for axis, member in pairs:
        kind = phrase_of(axis).text
        member = member.removesuffix(" Segment").removeprefix("Segment ")
        named.append(f"“{member}”" if kind in _NO_KINDS else f"“{member}” ({kind})")
    return " and ".join(named) or f"“{path[-1]}”"
