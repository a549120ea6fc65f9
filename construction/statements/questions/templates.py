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
from construction.statements.questions.wording import (
    COUNTRIES,
    LIST,
    WORD,
    WORDS,
    Phrase,
    is_bare_thing,
    is_forecast,
    phrase_of,
)
from data.text.folding import fold_spaces, fold_width

# How questions name a company: as people write it, whatever the capitals of a register.
#
# What no rule brings into the form of a name is garbled, and not asked about.

_ENDINGS: Mapping[str, str] = WORDS["names"]["endings"]
_SMALL = frozenset(WORDS["names"]["small"])
_SHORT = frozenset(WORDS["names"]["words"])
_WHOLE: Mapping[str, str] = WORDS["names"]["whole"]
_SPELLED: Mapping[str, str] = WORDS["names"]["spelled"]
_SHOUTED = frozenset(WORDS["names"]["shouted"])
_LEGAL = frozenset(WORDS["legal"]["words"])
_LEGAL_STOPS = frozenset(["co", "corp", "inc", "ltd"])
_STATE = re.compile(r"\s*[/\\] ?[A-Za-z]{2,20}[/\\]?\s*$")
_SPACED = re.compile(r",(?=[A-Za-z])")
_GLUED = re.compile(
    r"(?<=[A-Za-z])\.(?=(?:Co|Corp|Inc|Ltd|Holdings)\b)", re.I
)  # "Mill Mfg.Co.,Ltd."
_SHORT_FORMS = frozenset(WORDS["names"]["abbreviated"])
_STOPS_INSIDE = re.compile(r"(?P<word>\b[A-Za-z]{3,})\. ?(?=\w)")
_SITE = re.compile(r"\.(?:com|net|org|jp|co\.jp)\b", re.I)
# The form of a name that no rule mends: small first word, a form glued to a word, stray marks.
_GARBLED = re.compile(
    r"^[a-z][a-z.'&-]*(?:[ ,]|$)|[a-z]{3}(?i:inc|co|corp|ltd)\.(?:,|$)|[a-z]{3}[Cc]o, Ltd"
    r"|[a-z]{5}\.,|\w&(?i:co)\b"
    r"|[A-Z]{3}(?:INC|CORP|LTD)\b|\s[.,;]|[.,;]{2}(?<!\.,)|[;:-]$|^[\W\d_]*$"
    r"|,(?! (?:Co|Corp|Corporation|Inc|Incorporated|Ltd|Limited|LLC|LLP|L\.P|LP|plc|N\.V|S\.A|K\.K"
    r"|N\.A|AG|SE|Company)\b)(?!.*(?: & | and ))"
)
_NO_VOWEL = re.compile(r"[^AEIOUY]+|[^AEIOUY]{3}[AEIOU]")  # initials: FPL, KDDI
_FORM = re.compile(
    r"(?<=[ ,])(?i:(co|corp|inc|ltd)\b\.?(?=,|$| ltd))"
    r"|(?<= )(corporation|company|limited|incorporated|holdings|group)(?=[ ,]|$)"
)
_JOINED = re.compile(r"(?:(?<=\.)|\s)Co[.,\s]{1,5}Ltd\.?$", re.I)
_CAPITALS = re.compile(r"[A-Z]{4,}")
_MC = re.compile(r"\bMc([a-z])(?=[a-z]{2})")
_MAX_NAME = 120
_AUTHORITY = {"sec": "SEC CIK", "edinet": "EDINET code"}


@lru_cache(maxsize=50_000)
def natural_name(name: str) -> str:
    """The name as people write it: names in capitals are brought to normal case.

    Short words and those without a vowel keep their capitals (CBS), unless they are listed.
    """
    text = _STATE.sub("", fold_spaces(fold_width(name[:_MAX_NAME]))).strip(" ,;")
    text = _in_case(_GLUED.sub(". ", text.replace(" ,", ",")))
    for spelt in (" COM Inc.", " Com Inc."):
        text = text.replace(spelt, ".com Inc.")
    text = text.replace("Ltd. Partnership", "Limited Partnership").replace(", Co.,", " Co.,")
    text = _JOINED.sub(" Co., Ltd.", text)
    return _WHOLE.get(text, text)


def is_garbled(name: str) -> bool:
    """Does a name keep, after all rules, a form that nobody writes: "mill holdings",
    "Millworksinc.", "Mill Eco. Works"?"""
    inside = _STOPS_INSIDE.finditer(_SITE.sub("", name))
    stops = (match["word"].lower() not in _SHORT_FORMS | _LEGAL_STOPS for match in inside)
    return _GARBLED.search(name) is not None or any(stops)


def _in_case(text: str) -> str:
    text = _SPACED.sub(", ", text)
    if text.startswith("THE ") and text[5:6].islower():
        text = f"The {text[4:]}"
    letters = [char for char in text if char.isalpha()]
    if text.islower():
        text = text.upper()
    elif not _is_shouted(text) and (
        sum(char.isupper() for char in letters) < 0.9 * len(letters) or len(letters) < 3
    ):
        text = _CAPITALS.sub(_lowered, text)
        return _FORM.sub(_form, text)
    words = text.split(" ")
    return _MC.sub(_mc, " ".join(_word(word, at) for at, word in enumerate(words)))


def _is_shouted(text: str) -> bool:
    """Are all words but the legal form in capitals, and several? One alone is how the company
    writes itself (TOCALO)."""
    words = [word.strip(".,()") for word in text.split(" ")]
    own = [word for word in words if word.lower() not in _LEGAL and any(map(str.isalpha, word))]
    long = [word for word in own if len(word) > 3 and not _NO_VOWEL.fullmatch(word)]
    return len(own) > 1 and bool(long) and all(word.isupper() for word in own)


def _form(match: re.Match[str]) -> str:
    return _ENDINGS[match[1].upper()] if match[1] else match[2].capitalize()


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
    letters = "".join(char for char in bare if char.isascii() and char.isupper())
    if not letters or "." in bare or "&" in bare or any(char.isdigit() for char in bare):
        return word
    if at and {*bare} <= {*"IVX"}:
        return word
    if bare in _SHORT or (len(letters) > 3 and not _NO_VOWEL.fullmatch(letters)):
        return f"{word[:-2].title()}'s" if word.endswith("'S") else word.title()
    return word


def _possessive(name: str) -> str:
    """The name with 's, or with an apostrophe where it ends in s."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def by_register(company_id: str) -> str:
    """The company's number in the register of its source."""
    source, _, own = company_id.partition(":")
    return f"{_AUTHORITY.get(source, 'company id')} {own or source}"


@lru_cache(maxsize=50_000)
def core_name(name: str) -> tuple[str, ...]:
    """The words that distinguish a company: without legal form, case and punctuation."""
    text = fold_width(_STATE.sub("", name[:_MAX_NAME])).lower()
    words = WORD.findall(text.replace(".", "").replace("'", ""))
    return tuple(word for word in words if word not in _LEGAL) or tuple(words)


_STATEMENTS: dict[str, str] = WORDS["statements"]
# By their codes, and with the article that their names lack: "United States".
_COUNTRIES = {name.removeprefix("the "): name for name in COUNTRIES.values()} | {**COUNTRIES}
_MASS = frozenset(WORDS["number"]["mass"])
_POSSESSIVE = (
    "What {verb} {owner} {metric}{pause} {period}{unit}?",
    "{Period}, what {verb} {owner} {metric}{unit}?",
)
_OF = (
    "What {verb} the {metric}{pause} of {company} {period}{unit}?",
    "{Period}, what {verb} the {metric}{pause} of {company}{unit}?",
)
_MANY = "How much did {company} report in {metric}{pause} {period}{unit}?"
_MUCH = "How much {metric} did {company} report {period}{unit}?"
_AS = (
    "What did {company} report as its {metric}{pause} {period}{unit}?",
    "{Period}, what did {company} report as its {metric}{unit}?",
)
_SHOWN = (
    "What {metric}{pause} did {company} report {period}{unit}?",
    "{Period}, what {metric}{pause} did {company} report{unit}?",
)
# "Report as its … as of December 31" has one "as" too many.
_REPORTED = (
    "What {verb} the {metric}{pause} that {company} reported {period}{unit}?",
    "{Period}, what {verb} the {metric}{pause} that {company} reported{unit}?",
)
_AHEAD = (
    "What {metric} did {company} forecast {period}{unit}?",
    "{Period}, what {metric} did {company} forecast{unit}?",
)
_PAY = (
    "How much in {paid} did {company} pay {period}{unit}?",
    "{Period}, how much in {paid} did {company} pay{unit}?",
)
_PAY_CASH = (
    "How much cash did {company} pay for {bought} {period}{unit}?",
    "{Period}, how much cash did {company} pay for {bought}{unit}?",
)
_OWE = (
    "How much {metric} did {company} have outstanding {period}{unit}?",
    "{Period}, how much {metric} did {company} have outstanding{unit}?",
)
_HAVE = (
    "How many {things} did {company} have{state} {period}{unit}?",
    "{Period}, how many {things} did {company} have{state}{unit}?",
)
# Longer names, brackets and locations read badly before "of" and "did".
_INVOLVED = re.compile(
    r"[,(“]|(?<!-)\b(?:at|by|for|from|in|of|on|per|to|under|with)\b|\b(?:paid|received)$"
)
_TOLD = (Statement.GUIDANCE, Statement.SEGMENTS)  # by the verb, or by the axis
_TELLS = re.compile(r"(?:What|How)\b.*\breport(?:ed)?\b")
_ASKING = ("What ", "How ", "By ")
_PLACES = tuple(f" in the {name}" for name in _STATEMENTS.values())
_LONGEST_OWNER = 36  # characters of a name that bears 's
_PAID = re.compile(r"((?:cash )?dividends|interest|income taxes) paid")
_STOCK = re.compile(r"number of (employees|.+ shares(?= ))( (?:authorized|issued|outstanding)|)")
_ON_AVERAGE = re.compile(r"average number of ((?:[a-z-]+ )?employees)")
_CASH_FOR = "cash paid for "
_ASIDE = re.compile(r"(?<![,(]) (?=(?:ex|in)cluding (?:non-?controlling|minority) interests\b)")
_NO_ARTICLE = re.compile(r"\b(?<=change in )(?=(?:allowance|provision|reserve)\b)")


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
    metric = f"{_polished(words.metric.text)}{words.location}"
    variants = _variants(words, metric)
    if words.filing:  # it goes before a question of what a company reported, and no period does
        variants = tuple(one for one in variants if " report" not in one or one[0] != "{")
    if words.location.endswith(_PLACES):
        metric = metric.replace(" in the ", " in its ") if variants is _SHOWN else metric
    sign = "" if variants in (_PAY, _PAY_CASH) else words.sign  # what is paid is positive
    paid, stock = _PAID.fullmatch(metric), _counted(metric)
    counted = stock[0] != "" and words.unit == "in shares"
    period = words.period
    if _ON_AVERAGE.fullmatch(metric):
        period = f"during{period[3:]}" if period.startswith("for ") else period
    template = variants[choice % len(variants)]
    if " in its " in metric:  # "report as its … in its …" has one owner too many
        template = template.replace(" as its ", " as the ")
    text = template.format(
        company=company,
        owner=_possessive(company),
        metric=metric,
        paid=paid[1] if paid else "",
        bought=metric.removeprefix(_CASH_FOR),
        things=stock[0],
        state=stock[1],
        pause="," if pauses(metric) else "",
        verb="were" if words.metric.plural else "was",
        period=period,
        Period=period[:1].upper() + period[1:],
        unit=f", {words.unit}" if words.unit and not counted else "",
    )
    return f"{with_filing(text, words.filing, choice // len(variants))} {sign}".strip()


def with_filing(text: str, filing: str, choice: int) -> str:
    """The question with the words for its filing at the end or, if the period is not there, at the
    beginning: behind a name they would seem to be about the company."""
    if not filing:
        return text
    if _TELLS.match(text):  # "report … according to its filing" says it twice
        filing, choice = filing.replace("according to its ", "in its ", 1), 1
    if text.startswith(_ASKING) and choice % 2:
        return f"{filing[:1].upper()}{filing[1:]}, {text[:1].lower()}{text[1:]}"
    return f"{text.removesuffix('?')}, {filing}?"


def _polished(metric: str) -> str:
    """The metric with the commas and articles of a sentence, which labels lack."""
    return _NO_ARTICLE.sub("the ", _ASIDE.sub(", ", metric))


def owned(words: Words, metric: str) -> str:
    """The metric with its owner inside a longer sentence: "Acme's cost of products sold".

    "Of Acme Co., Ltd." may follow a short noun only; empty for others of owners that bear no 's.
    """
    company = f"{words.company} ({words.identified})" if words.identified else words.company
    text = f"{_polished(metric)}{words.location}"
    pause = "," if pauses(text) else ""
    if not words.identified and _is_owner(words.company):
        return f"{_possessive(company)} {text}{pause}"
    return "" if _INVOLVED.search(text) else f"the {text} of {company}"


def _is_owner(company: str) -> bool:
    """May a name bear 's: is it short, without a comma?"""
    return 0 < len(company) <= _LONGEST_OWNER and "," not in company


def _counted(metric: str) -> tuple[str, str]:
    """ "Common shares" and "authorized"; empty for other metrics."""
    if people := _ON_AVERAGE.fullmatch(metric):
        return people[1], " on average"
    stock = _STOCK.fullmatch(metric)
    return (stock[1], stock[2]) if stock else ("", "")


def _variants(words: Words, metric: str) -> tuple[str, ...]:
    """The sentences that suit number and kind of the noun, and the name."""
    if words.ahead:
        return _AHEAD
    if "negative" not in words.sign:
        if _PAID.fullmatch(metric):
            return _PAY
        if metric.startswith(_CASH_FOR):
            return _PAY_CASH
    if is_bare_thing(metric):
        return _OWE if metric.endswith("paper") else (_MANY,)
    if _STOCK.fullmatch(metric) or _ON_AVERAGE.fullmatch(metric):
        return _HAVE
    is_long = bool(words.identified) or not _is_owner(words.company)
    involved = _INVOLVED.search(metric) is not None
    if words.location.endswith(_PLACES):
        return _SHOWN if words.period.startswith("as of ") else _AS
    is_money = {"per", "shares"}.isdisjoint(words.unit.split())
    many = (_MANY,) if words.metric.plural and is_money and not words.identified else ()
    is_mass = words.metric.head in _MASS and not words.metric.text.startswith("total ")
    much = (_MUCH,) if is_mass and not words.metric.plural else ()
    stated = _REPORTED if words.period.startswith("as of ") else _AS
    if involved:
        return (*(stated if is_long else _POSSESSIVE), *many)
    if words.identified:
        return (*_OF, *stated)
    return (*(() if is_long else _POSSESSIVE), *_OF, *many, *much)


def pauses(metric: str) -> bool:
    """Whether a comma must follow the metric: it contains one outside of lists of nouns."""
    return "," in LIST.sub("", metric) and not metric.endswith(",")


def place_words(series: Series, sharpened: frozenset[Sharpening]) -> str:
    """The location of the line as far as the question gives it, to follow the metric directly."""
    parts = []
    if Sharpening.PATH in sharpened and (members := _members(series.path)):
        parts.append(f" {members}")
    if Sharpening.STATEMENT in sharpened and series.statement not in _TOLD:
        name = _STATEMENTS.get(series.statement, _STATEMENTS[Statement.OTHER])
        parts.append(f" in the {name}")
    return "".join(parts)


def _members(path: tuple[str, ...]) -> str:
    """The members of a hierarchical name: in its Retail segment, in Europe."""
    named = []
    for axis, member in zip(path[::2], path[1::2], strict=True):
        member = member.removesuffix(" Segment").removeprefix("Segment ")
        kind = phrase_of(axis).text.split()[-1]
        if kind in ("sector", "segment"):
            named.append(f"in its {member} {kind}")
        elif not is_forecast(member):
            named.append(f"in {_COUNTRIES.get(member, member)}")
    return " and ".join(named)
