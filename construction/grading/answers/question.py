"""Reads what a question asks for: company, metric, period, direction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from construction.grading.answers import lexicon
from construction.grading.answers.lexicon import Dimension, GoldAnswer, Unit, Wording, wording
from construction.grading.answers.units import of_gold
from data.text.dates import MONTH_NAME, MONTHS
from data.text.folding import fold_width
from data.text.lexicon import load_table, pattern_of
from data.text.numbers import ORDINALS, chinese_integer, read_integer
from data.text.scripts import leading_language

# Fiscal periods named in text, with full-width and era forms already normalised by NFKC.

_MONTHS = rf"{MONTH_NAME}\.?"
_DAY = "[0-9]{1,2}(?:st|nd|rd|th)?"
_DATE = rf"{_MONTHS} {_DAY},? |{_DAY} {_MONTHS},? |{_MONTHS},? "
_YEAR = pattern_of(
    rf"(?<![0-9A-Za-z])(?:{_DATE})(?P<dated>(?:19|20)[0-9]{{2}})(?![0-9])"
    r"|(?<![A-Za-z])(?:FYE?|CY|fiscal year|fiscal|financial year|calendar year|calendar)[ -]?"
    r"(?:(?P<long>(?:19|20)[0-9]{2})(?:[/-](?:20)?[0-9]{2})?(?![0-9])|'?(?P<short>[0-9]{2})(?![0-9.,]))E?"
    r"|(?:(?P<reiwa>令和|R)|(?P<heisei>平成|H))(?P<era>[0-9]{1,2}|元)年"
    r"|(?P<roc>民[国國])(?P<rocyear>[0-9]{2,3})年"
    r"|(?<![0-9.,])(?P<iso>(?:19|20)[0-9]{2})[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?![0-9])"
    r"|(?P<han>[一二]{1}[〇一二三四五六七八九零]{3})年"
    r"|(?<![0-9])(?P<cjk>(?:19|20)?[0-9]{2})年(?![0-9]{0,2}間)"
    r"|(?<![0-9.,A-Za-z$€£¥₩-])(?P<bare>(?:19|20)[0-9]{2})"
    r"(?:/[0-9]{2}(?![0-9])|/(?:0?[1-9]|1[0-2])(?![0-9])|-[0-9]{2}(?![0-9]))?"
    r"(?![0-9%]|[.,][0-9]|[A-PR-Zac-z]|[千百万億亿兆元円株股人名店社件台家个個倍])",
    re.I,
)
_CJK_TAIL = pattern_of(
    r"度?(?:[0-9]{1,2}月(?:期|末|[0-9]{1,2}日)?)?(?:終了|止)?(?:年度|会计年度|事業年度)?"
)
_ORDINAL = f"(?P<ordinal>{'|'.join(ORDINALS)})"
_KIND = pattern_of(
    r"(?<![A-Za-z0-9])Q(?P<q>[1-4])(?![0-9](?![0-9]))|(?<![A-Za-z0-9.,])(?P<qq>[1-4])Q"
    rf"|(?<![A-Za-z]){_ORDINAL}[ -](?:fiscal )?(?:(?P<quarter>quarter)|(?P<half>half))"
    r"|(?<![A-Za-z0-9])H(?P<h>[12])(?![0-9](?![0-9]))|(?<![A-Za-z0-9.,])(?P<hh>[12])H(?![A-Za-z])"
    r"|第(?P<cq>[1-4一二三四])(?:四半期(?P<cum>累計期間|累計)?|季度)|(?P<cq2>[一二三四])季度"
    r"|(?P<h1>上半年|上半期|上期|中間期|半期報告)|(?P<h2>下半年|下半期|下期)"
    r"|(?P<m9>nine[ -]months?|9[ -]months?|前三季度|[19]-9月)"
    r"|(?P<m6>six[ -]months?|6[ -]months?|half[ -]years?)"
    r"|(?P<m3>three[ -]months?|3[ -]months?|quarter(?:ly)?)"
    r"|(?P<y>full[ -]years?|twelve months|12 months|通期|全年|年間)",
    re.I,
)
_JOIN = pattern_of(
    r"(?:[\s,'の()\-]|of|the|in|for|fiscal|financial|year|years|ended|ending|FY|CY|度|年度|期)*",
    re.I,
)
_SHORT_YEAR = pattern_of(r"[ ']{0,2}([0-9]{2})(?![0-9.,%])")
_MAX_GAP = 24


@dataclass(frozen=True, slots=True)
class Period:
    """A year and a kind: Y, H1, H2, Q1 to Q4, Q (unnumbered), M9; None if not stated."""

    start: int
    end: int
    year: int | None
    kind: str | None

    def fits(self, target: Period) -> bool:
        """Whether this can be the target period; a year that is not stated matches any, and a
        quarter without a number any quarter."""
        year = self.year is None or target.year is None or self.year == target.year
        own, wanted = self.kind or "Y", target.kind or "Y"
        return year and (own == wanted or ("Q" in (own, wanted) and own[0] == wanted[0]))


def find_periods(text: str) -> tuple[Period, ...]:
    """All periods from left to right; a year and a kind next to each other are one period."""
    parts = sorted([*_years(text), *_kinds(text)], key=lambda part: (part.start, -part.end))
    joined: list[Period] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and part.start < last.end:
            continue
        if last and _belong(text, last, part):
            year = last.year if last.year is not None else part.year
            joined[-1] = Period(last.start, part.end, year, last.kind or part.kind)
        else:
            joined.append(part)
    return tuple(joined)


def _belong(text: str, first: Period, second: Period) -> bool:
    gap = text[first.end : second.start]
    both_years = first.year is not None and second.year is not None
    both_kinds = first.kind is not None and second.kind is not None
    same = both_years and first.year == second.year and not both_kinds
    differing = (not both_years and not both_kinds) or same
    return differing and len(gap) <= _MAX_GAP and _JOIN.fullmatch(gap) is not None


def _years(text: str) -> list[Period]:
    periods = []
    for match in _YEAR.finditer(text):
        end = match.end()
        if match[0].endswith("年"):
            tail = _CJK_TAIL.match(text, end)
            end = tail.end() if tail else end
        periods.append(Period(match.start(), end, _year(match), None))
    return periods


def _year(match: re.Match[str]) -> int:
    if match["era"]:
        count = 1 if match["era"] == "元" else int(match["era"])
        return count + (2018 if match["reiwa"] else 1988)
    if match["rocyear"]:
        return 1911 + int(match["rocyear"])
    if match["han"]:
        return chinese_integer(match["han"]) or 0
    digits = next(
        match[name] for name in ("dated", "long", "short", "iso", "cjk", "bare") if match[name]
    )
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _kinds(text: str) -> list[Period]:
    periods = []
    for match in _KIND.finditer(text):
        kind, end, year = _kind(match), match.end(), None
        short = (
            _SHORT_YEAR.match(text, end)
            if match["q"] or match["qq"] or match["h"] or match["hh"]
            else None
        )
        if short:
            year, end = 2000 + int(short[1]), short.end()
        periods.append(Period(match.start(), end, year, kind))
    return periods


def _kind(match: re.Match[str]) -> str:
    quarter = match["q"] or match["qq"] or match["cq"] or match["cq2"]
    if quarter:
        number = read_integer(quarter) or 0
        cumulated = {1: "Q1", 2: "H1", 3: "M9", 4: "Y"}
        return cumulated[number] if match["cum"] else f"Q{number}"
    if match["ordinal"]:
        return f"{'Q' if match['quarter'] else 'H'}{ORDINALS[match['ordinal'].lower()]}"
    half = match["h"] or match["hh"]
    if half:
        return f"H{half}"
    names = {"h1": "H1", "h2": "H2", "m9": "M9", "m6": "H1", "m3": "Q", "y": "Y"}
    return next(kind for name, kind in names.items() if match[name])


_ERA = pattern_of(r"(令和|平成|昭和)\s?([0-9]{1,2}|元)\s?年")
_ERA_STARTS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_JOINED = pattern_of(r"(?<=[0-9])-(?=[A-Za-z]{3})|(?<=[A-Za-z]{3})-(?=[0-9]{4})")
_FOREIGN_MONTHS = {
    name: month
    for month, names in zip(
        MONTHS,
        (
            *("januar janvier enero", "februar février febrero", "märz mars marzo", "avril abril"),
            *("mai mayo", "juni juin junio", "juli juillet julio", "août agosto"),
            *("septembre septiembre", "oktober octobre octubre", "novembre noviembre"),
            "dezember décembre diciembre",
        ),
        strict=True,
    )
    for name in names.split()
}
_FOREIGN_DATE = pattern_of(
    rf"(?<![0-9])([0-9]{{1,2}})(?:\.|er)? (?:de )?({'|'.join(_FOREIGN_MONTHS)}) (?:de )?"
    r"(?=[0-9]{4})",
    re.I,
)
_DOTTED_DATE = pattern_of(rf"(?<![0-9.])([0-9]{{1,2}})\. (?={MONTH_NAME}\b)")


def common_dates(text: str) -> str:
    """The text with dates of Japanese eras, and German, French and Spanish ones, as in English."""
    plain = _JOINED.sub(" ", _ERA.sub(_western, text))
    plain = _FOREIGN_DATE.sub(lambda m: f"{m[1]} {_FOREIGN_MONTHS[m[2].lower()]} ", plain)
    return _DOTTED_DATE.sub(r"\1 ", plain)


def _western(match: re.Match[str]) -> str:
    count = 1 if match[2] == "元" else int(match[2])
    return f"{_ERA_STARTS[match[1]] + count}年"


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
_POINTS = pattern_of(
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
    side: _Side | None = None
    text: str = ""
    decimals: int = 0
    comma: bool = False

    @property
    def points(self) -> bool:
        """Are percentage points asked for, rather than per cent?"""
        return self.unit.name == "points" or _POINTS.search(self.text) is not None

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
        naming=_naming_pattern(metric),
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


def _naming_pattern(metric: str) -> re.Pattern[str] | None:
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
class _Side:
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
def sides() -> Mapping[str, _Side]:
    """All sides by the words in which questions ask for them."""
    return {
        asked: _Side(
            _any_word(entry["said"], entry.get("said_cjk", ())),
            _any_word(entry["contrary"], entry.get("contrary_cjk", ())),
        )
        for entry in load_table(__package__, "sides.toml")["side"]
        for asked in entry["asked"]
    }


def _name_of_side(question: str) -> str | None:
    """The words in which a question asks to give a side as a negative number, if it does."""
    match = _ASKED.search(question)
    name = match[1].lower() if match else ""
    return name if name in sides() else None


def side_asked(question: str) -> _Side | None:
    """The side that a question asks to give as a negative number; None if it names none."""
    name = _name_of_side(question)
    return None if name is None else sides()[name]
