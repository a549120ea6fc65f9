"""Reads what a question asks for: company, metric, period, direction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from construction.grading.answers import lexicon
from construction.grading.answers.contracts import Dimension, GoldAnswer, Unit
from construction.grading.answers.lexicon import Wording, wording
from construction.grading.answers.periods import Period, find_periods
from construction.grading.answers.units import of_gold
from data.text.folding import fold_width
from data.text.lexicon import load_table, pattern_of
from data.text.scripts import leading_language

_GAP = "@"  # replaces a period phrase
_PERIOD_LEAD = pattern_of(
    r"[\s,]*(?:\b(?:for|in|at|as of|during|over|on|of|the|its|end|year|fiscal|quarter|ended"
    rf"|through)\b\s*)*{_GAP}(?:\s*(?:fiscal year|year|quarter))?",
    re.I,
)
_LISTED = load_table(__package__, "questions.toml")
_PATTERNS = {
    language: tuple(
        pattern_of(
            pattern.replace("{possessive}", _LISTED["possessive"]).replace("{to}", _LISTED["to"]),
            re.S | re.I,
        )
        for name in names
        for pattern in _LISTED[name]
    )
    for language, names in {"en": ("en", "eu"), "ja": ("ja",), "zh": ("zh",)}.items()
}
_UNIT_TAIL = pattern_of(
    r"\s+(?:in|as a|expressed|stated|measured)\s.*$|\s*\([^()]*\)\s*$", re.I | re.S
)
_LEADING = pattern_of(
    r"^(?:(?:the|its|their|total|overall|consolidated|reported|annual|full-year|company's)\s+)+",
    re.I,
)
_SPLIT = pattern_of(r"(?<=[,.;?!。、;])")
POINTS = pattern_of(
    r"\b(?:percentage|percent|prozent)[ -]?(?:points?|punkte?n?)\b|\bpp\b|百分[点點]|ポイント"
    r"|\bpo?i?nt[sio]? (?:de pourcentage|porcentual|percentual)",
    re.I,
)
_POSITIVE = pattern_of(r"\bpositive\b|正の|正数|正數|正值", re.I)
_WORD = pattern_of(
    rf"{lexicon.LETTER}(?:{lexicon.LETTER}|[&.])*|[0-9]+|(?:(?!{lexicon.LETTER})[^\s\x00-\x7f])+"
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a question asks for; `metric` is empty if it could not be read.

    `negative`: a loss, decrease or outflow is asked for and positive; `minus`: it is asked for, and
    its gold value is a negative number, as statements of cash flows print it.
    `strict`: the answer has to commit to one value (see `check_answer`). `side`: what to give
    as a negative number. `text` is the whole question. `comma`: the answer is in a language that
    writes decimals with a comma.
    """

    unit: Unit
    scale: Decimal
    company: str
    metric: str
    naming: re.Pattern[str] | None
    period: Period | None
    negative: bool
    minus: bool
    change: bool
    plan: bool
    wording: Wording
    strict: bool = False
    side: Side | None = None
    text: str = ""
    decimals: int = 0
    comma: bool = False

    @property
    def points(self) -> bool:
        """Are percentage points asked for, rather than per cent?"""
        return self.unit.name == "points" or POINTS.search(self.text) is not None

    @property
    def quantum(self) -> Decimal:
        """The last place that is asked for, in base units."""
        return self.scale.scaleb(-self.decimals)

    @property
    def counts(self) -> bool:
        return self.unit.dimension is Dimension.COUNT


def read_question(question: str, gold: GoldAnswer, *, strict: bool = False) -> Target:
    """Company, metric, period and direction of a question in English, Japanese or Chinese."""
    text = fold_width(question)[:2000].replace(_GAP, " ")
    periods = find_periods(text)
    company, metric = _company_and_metric(text, periods)
    plain = lexicon.SIGNED_LABEL.sub(" ", _without_convention(text))
    plain = plain.replace(company, " ") if company else plain
    asks_loss = lexicon.LOSS_ASKED.search(plain) is not None and not _signs_loss(text)
    return Target(
        unit=of_gold(gold.unit),
        scale=gold.scale,
        company=company,
        metric=metric,
        naming=naming_pattern(metric),
        period=next((p for p in periods if p.year is not None), periods[0] if periods else None),
        negative=asks_loss and gold.value >= 0,
        minus=asks_loss and gold.value < 0,
        change=lexicon.CHANGE.search(plain) is not None,
        plan=lexicon.PLAN.search(plain) is not None,
        wording=wording(question),
        strict=strict,
        side=side_asked(text),
        text=text,
        decimals=gold.decimals,
    )


def _without_convention(text: str) -> str:
    """The question without clauses that only state the sign convention."""
    return "".join(part for part in _SPLIT.split(text) if not lexicon.CONVENTION.search(part))


def _signs_loss(text: str) -> bool:
    """Does the question ask for losses, decreases or outflows as negative numbers?"""
    conventions = [part for part in _SPLIT.split(text) if lexicon.CONVENTION.search(part)]
    return any(
        lexicon.LOSS_ASKED.search(part) and not _POSITIVE.search(part) for part in conventions
    )


def _company_and_metric(text: str, periods: tuple[Period, ...]) -> tuple[str, str]:
    pieces, position = [], 0
    for period in periods:
        pieces += [text[position : period.start], _GAP]
        position = period.end
    marked = _PERIOD_LEAD.sub(_GAP, "".join([*pieces, text[position:]]))
    for pattern in _PATTERNS[leading_language(marked)]:
        match = pattern.search(marked)
        if match and match["metric"].strip():
            metric = _UNIT_TAIL.sub("", match["metric"].strip())
            return _bare_company(match["company"]), metric
    return "", ""


def _bare_company(name: str) -> str:
    name = re.sub(
        r"^(?:请问|根据|关于|請問)|^(?:the|according to)\s+", "", name.strip(), flags=re.I
    )
    return name.strip(" 「」\"'“”的の")


def core(label: str) -> str:
    """A label in comparable form: no case, punctuation, plural or leading words like "total"."""
    label = fold_width(label).lower()
    bare = _LEADING.sub("", label.strip())
    return exact(bare) or exact(label)


def exact(label: str) -> str:
    """As `core`, but leading words are kept."""
    words = _WORD.findall(fold_width(label).lower())
    return " ".join(word.removesuffix("s") if word.isascii() else word for word in words)


def is_latin(word: str) -> bool:
    """Does a word begin in Latin script, or with a figure or mark?"""
    return word[0] < "ɐ"


def naming_pattern(metric: str) -> re.Pattern[str] | None:
    """A pattern that matches the metric in text, whatever its case, spacing and plural."""
    words = _WORD.findall(_LEADING.sub("", metric.strip()))
    if not words:
        return None
    parts = []
    for word in words:
        if is_latin(word):
            parts.append(
                re.escape(word.lower().removesuffix("s")) + ("s?" if word.isalpha() else "")
            )
        else:
            parts.append("[的の]?".join(re.escape(char) for char in word if char not in "的の"))
    edge = (
        rf"(?<!{lexicon.LETTER})" if is_latin(words[0]) else "",
        rf"(?!{lexicon.LETTER})" if is_latin(words[-1]) else "",
    )
    return re.compile(edge[0] + r"[\s\-,()/'’・&]{0,3}".join(parts) + edge[1], re.I)


_ASKED = pattern_of(r"\bgive ([a-z ]{1,60}?) as (?:a )?negative\b", re.I)
_BRACKETS = pattern_of(r"\([^()0-9]*\)")
# What stands behind these is a part of the figure, what was taken off it, a name of a statement, or
# what the agent did itself.
_ASIDE = pattern_of(
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
