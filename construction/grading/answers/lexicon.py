"""The words that change what a number means, as patterns; the words are in `lexicon.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from functools import lru_cache

from data.text.folding import fold_width
from data.text.lexicon import load_table, pattern_of
from data.text.scripts import HAN, HAN_KANA

# Records of the answer check: gold answers, units, results and reasons.


class ErrorReason(StrEnum):
    """Why an answer is wrong; renaming one is a breaking change."""

    NO_VALUE = "no_value"
    AMBIGUOUS_VALUES = "ambiguous_values"
    WRONG_UNIT = "wrong_unit"
    WRONG_CURRENCY = "wrong_currency"
    WRONG_SIGN = "wrong_sign"
    WRONG_SCALE = "wrong_scale"
    WRONG_VALUE = "wrong_value"
    OTHER_FILING = "other_filing"  # right in a filing that the question does not name


class Dimension(StrEnum):
    """Units of different dimensions are never compared."""

    MONEY = "money"
    PER_SHARE = "per_share"
    PROPORTION = "proportion"
    SHARES = "shares"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """The right answer: `value` x `scale` of `unit`, `value` rounded to `decimals`.

    `unit` is a currency code, `CODE/share`, `percent`, `ratio`, `shares` or `count`. `elsewhere`
    are the values of other filings for the same line and period, in base units.
    """

    value: Decimal
    unit: str
    scale: Decimal
    decimals: int
    elsewhere: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The fields of FinRetrieval's scorer; `extracted` is in base units of `unit`."""

    is_correct: bool
    extracted: Decimal | None
    unit: str | None
    could_extract: bool
    error_reason: ErrorReason | None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as written; a currency's `name` may be a sign shared by several currencies."""

    dimension: Dimension
    name: str
    factor: Decimal = Decimal(1)

    def __str__(self) -> str:
        return f"{self.name}/share" if self.dimension is Dimension.PER_SHARE else self.name


@dataclass(frozen=True, slots=True)
class Declared:
    """Unit and scale stated once, for all numbers that have none of their own."""

    unit: Unit | None = None
    scale: Decimal | None = None

    def over(self, other: Declared) -> Declared:
        """This declaration, completed by one of wider scope."""
        unit = self.unit if self.unit is not None else other.unit
        return Declared(unit, self.scale if self.scale is not None else other.scale)


class AnswerReason(StrEnum):
    """Why a part of an answer is wrong; renaming one is a breaking change."""

    MISSING = "answer.missing"  # no answer, or not this part
    REFUSED = "answer.refused"
    NO_VALUE = "answer.no_value"  # text without a value of this type
    AMBIGUOUS = "answer.ambiguous"  # several values, or one that can be read in two ways
    WRONG_UNIT = "answer.wrong_unit"
    WRONG_CURRENCY = "answer.wrong_currency"
    WRONG_SIGN = "answer.wrong_sign"
    WRONG_SCALE = "answer.wrong_scale"  # the right digits times a power of ten
    WRONG_ROUNDING = "answer.wrong_rounding"  # more digits than asked for, or fewer
    SWAPPED_PARTS = "answer.swapped_parts"
    INCOMPLETE = "answer.incomplete"  # a date without its day or month
    WRONG_ORDER = "answer.wrong_order"
    MISSING_ITEMS = "answer.missing_items"
    EXTRA_ITEMS = "answer.extra_items"
    WRONG_VALUE = "answer.wrong_value"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None for a right value; `reading` is how the text was understood."""

    reason: AnswerReason | None
    reading: str | None = None


def rounded(amount: Decimal, quantum: Decimal) -> Decimal:
    """Half up on the magnitude, to a multiple of the power of ten `quantum`."""
    return (amount / quantum).quantize(Decimal(1), rounding=ROUND_HALF_UP) * quantum


_WORDS = load_table(__package__, "lexicon.toml")
LETTER = "[A-Za-zÀ-ɏ]"  # of Latin script


def _either(*names: str) -> str:
    """One of the words of these lists: those of Latin letters whole, the others anywhere."""
    latin, others = (
        [word for name in names for key in keys for word in _WORDS[name].get(key, ())]
        for keys in (("en", "eu"), ("cjk",))
    )
    whole = [rf"(?<!{LETTER})(?:{'|'.join(latin)})(?!{LETTER})"] if latin else []
    return f"(?:{'|'.join([*whole, *others])})"


def _any(*names: str) -> re.Pattern[str]:
    return pattern_of(_either(*names), re.I)


CHANGE_DOWN = _any("change_down")
CHANGE_UP = _any("change_up")
LOSS_NOUN = _any("loss_noun")
LOSS = _any("loss_noun", "change_down")
SIDE_NOUN = _any("loss_noun", "gain_noun")
LOSS_ASKED = _any("loss_noun", "change_down", "loss_asked")
OPPOSITE = _any("gain_noun", "change_up")
MOVEMENT = _any("change_up", "change_down", "movement")
CONVENTION = _any("convention")
CHANGE = _any("change_asked", "movement")
PLAN = _any("plan")
COPULA = _any("copula")
LINK = _any("link")
EARLIER = _any("earlier")
REFUSAL = _any("refusal")
GIVES_UP = _any("gives_up")
GUESS = _any("guess")
DOUBT = _any("doubt")
MAY = pattern_of(r"\bMay\b")  # the month, which guesses nothing
CONCLUSION = _any("conclusion")
WITHDRAWAL = _any("withdrawal")
NEGATION = pattern_of(
    rf"{_either('negation')}(?! (?:only|doubt|later|less|more|fewer|earlier|matter|nur|seulement"
    r"|solo|sólo|soltanto|alleen|apenas|só)\b)|n['’ ]t\b",
    re.I,
)
NEGATION_EU = rf"(?<!{LETTER})(?:{'|'.join(_WORDS['negation']['eu'])})(?!{LETTER})"
OMISSION = _any("omission")
CONTRAST = _any("contrast")
LIGHT_VERBS = frozenset(_WORDS["light_verb"]["en"])
SUPERSEDED = _any("superseded")
WAS = _any("was")
IS_NOW = pattern_of(rf"{_either('now')}.*{_either('is')}", re.I)
CALLED_OFF = _any("called_off")
BOUND_BEFORE = pattern_of(rf"{_either('bound')}\s*\Z", re.I)
YES, NO = (
    tuple(word for key in ("en", "eu", "alone", "cjk") for word in _WORDS[name][key])
    for name in ("yes", "no")
)
SAID_FIRST = pattern_of(
    rf"(?P<word>{_either('yes', 'no')})(?=\s*(?:[,.;:!、。(\n—–-]|です|\Z))", re.I
)
_OPENING = (
    r"(?:(?<=[.!?。！？\n;；:])[ *_\"'(]{0,8}|[—–,、，(（] {0,3}| -{1,2} ?|-{1,2}> ?|→ ?|\.{2,3} ?)"
    r"(?:(?:no|oh|er|um|well|so|but|and|however|nein|ach|aber|doch|und|non|mais|et|ah|pero|y|ma|nee|maar"
    r"|en|não|mas|men|nej)[ ,]{1,2}){0,2}"
)
_RETRACTION = pattern_of(
    rf"{_OPENING}{_either('retraction')}"
    rf"|(?P<guess>{_either('first_guess')})[^.!?。！？\n]{{1,200}}?(?:[,;—–，、；：:] ?| - )?"
    rf"{_either('instead')}(?: {{0,2}}{_either('retraction')})?",
    re.I,
)
_CLOSE = 2000  # characters at the end of an answer in which it may take something back
_CLOSING = " \t\n.,;:!?。、*_`\"'）)」"


def taken_back(answer: str) -> re.Match[str] | None:
    """Where an answer last takes back what it said: "Wait, …", "Correction: …", 訂正:…"""
    last = None
    for match in _RETRACTION.finditer(answer, max(answer.rfind("}") + 1, len(answer) - _CLOSE)):
        earlier = match["guess"] or answer[: match.start()].strip()
        replaces = earlier and answer[match.end() :].strip(_CLOSING)
        if replaces or (last is None and WITHDRAWAL.search(match[0])):
            last = match
    return last


_UP, _DOWN = _either("signed_gain"), _either("signed_loss")
SIGNED_LABEL = pattern_of(
    rf"{_UP}(?: from [a-z ]{{1,30}})?\s*"
    rf"(?:\(\s*{_DOWN}\s*\)|/\s*\(?{_DOWN}\)?|(?:or |and |又は|或){_DOWN})"
    rf"|{_DOWN}\s*(?:\(\s*{_UP}\s*\)|/\s*\(?{_UP}\)?|or {_UP})"
    rf"|\(\s*{_DOWN}\s*\)|{_either('signed_word')}",
    re.I,
)

# Up to eight hedges between a word and the value it governs, as in "by about the same"
_HEDGES = rf"(?:\s*{_either('hedge')}){{0,8}}\s*"
FROM = pattern_of(rf"(?<![A-Za-z])from{_HEDGES}\Z", re.I)
FROM_LEVEL = pattern_of(rf"{_either('from_level')}{_HEDGES}\Z", re.I)
TO_LEVEL = pattern_of(rf"\s*{_either('to_level')}{_HEDGES}", re.I)
CHANGE_BY = pattern_of(rf"{_either('change_by')}{_HEDGES}\Z", re.I)
CHANGE_AFTER = pattern_of(rf" ?{_either('change_after')}", re.I)
NEGATED_BEFORE = pattern_of(rf"{_either('negated_before')}{_HEDGES}\Z", re.I)
NEGATED_AFTER = pattern_of(rf" ?[{HAN}]{{0,3}}?{_either('negated_after')}", re.I)
BETWEEN = pattern_of(
    rf"(?:(?<!{LETTER})(?:between|zwischen|entre|tra|fra|tussen|mellan|mellem|mellom)|介于){_HEDGES}\Z",
    re.I,
)
LEVEL_BEFORE = pattern_of(rf"(?:(?<![A-Za-z])(?:to|from|at)(?![A-Za-z])|[至到]){_HEDGES}\Z", re.I)
RANGE_BETWEEN = pattern_of(rf"\s*{_either('range')}{_HEDGES}", re.I)
ALTERNATIVE = pattern_of(rf"[\s,、(]*{_either('alternative')}{_HEDGES}", re.I)
EITHER = pattern_of(r"\beither\b", re.I)

GENERIC = frozenset(" ".join([*_WORDS["generic"]["en"], *_WORDS["generic"]["eu"]]).split())
FUNCTION_EU = frozenset(" ".join(_WORDS["generic"]["eu"]).split())
# Function words by which a text in a language that writes decimals with a comma is known
_COMMA_WORDS = FUNCTION_EU - frozenset(" ".join(_WORDS["language"]["both"]).split())
_POINT_WORDS = frozenset(" ".join(_WORDS["language"]["en"]).split())
GENERIC_HAN = pattern_of("|".join(_WORDS["generic"]["cjk"]))
STATING = GENERIC | frozenset(" ".join(_WORDS["stating"]["en"]).split())
STATING_MEASURED = frozenset(" ".join(_WORDS["stating"]["measured"]).split())
STATING_HAN = pattern_of("|".join([*_WORDS["stating"]["cjk"], *_WORDS["generic"]["cjk"]]))

_MAX_QUESTION = 2000  # characters that are read
_MAX_RUN = 200  # Japanese or Chinese characters in a row that are compared
_LEAST_SHARED = 2  # of them in a row that make a word of the question
_LEAST_STEM = 3
_LEAST_AGENT = 5  # letters before -er
_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "d", "e", "y")
_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is are was were been",
        "begin": "began begun",
        "build": "built",
        "buy": "bought",
        "choose": "chose chosen",
        "fall": "fell fallen",
        "give": "gave given",
        "grow": "grew grown",
        "have": "has had",
        "hold": "held",
        "lead": "led",
        "lose": "lost",
        "make": "made",
        "pay": "paid",
        "rise": "rose risen",
        "run": "ran",
        "sell": "sold",
        "spend": "spent",
        "take": "took taken",
        "win": "won",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_WORD = pattern_of(rf"{LETTER}(?:{LETTER}|[&.])*|[0-9]+")
_CAPITALISED = pattern_of(r"\b[A-Z][\w'’&-]*")
_ABBREVIATION = pattern_of(r"(?=(?:[a-z]*[A-Z]){2})[A-Za-z]{2,8}")
_RUN = pattern_of(f"[{HAN_KANA}]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """`words` in their order and lower case, their `stems`, and the text itself."""

    words: tuple[str, ...]
    stems: frozenset[str]
    text: str

    def has(self, word: str) -> bool:
        """Is it a word of the question, inflected perhaps, or the initials of some, as EPS?"""
        bare = word.removesuffix("'s").removesuffix("’s").strip(".'’&-")
        parts = [part for part in bare.lower().split("-") if part]
        is_short = _ABBREVIATION.fullmatch(bare) is not None
        return all(map(self._has_form, parts)) or (is_short and self.has_initials(bare.lower()))

    def _has_form(self, part: str) -> bool:
        """Revolver stands for "revolving" too."""
        agent = part.removesuffix("s").removesuffix("er")
        return stem(part) in self.stems or (len(agent) > _LEAST_AGENT and stem(agent) in self.stems)

    def has_initials(self, word: str) -> bool:
        """Is it the initials of at least three words in a row: cfo of "chief financial officer"?"""
        initials = "".join(word[0] for word in self.words)
        return len(word) > _LEAST_SHARED and word in initials

    def lower_case(self) -> Wording:
        """The wording without its capitalised words."""
        return wording(_CAPITALISED.sub(" ", self.text))

    def without(self, text: str) -> str:
        """The Japanese or Chinese of a text that the question does not have."""
        return "".join(self._unshared(match[0]) for match in _RUN.finditer(text))

    def _unshared(self, run: str) -> str:
        if len(run) > _MAX_RUN:
            return run
        rest, at = [], 0
        while at < len(run):
            end = at
            while end < len(run) and run[at : end + 1] in self.text:
                end += 1
            shared = end - at >= _LEAST_SHARED
            rest.append("" if shared else run[at])
            at = end if shared else at + 1
        return "".join(rest)


_NOUN_ENDINGS = (
    *("ication", "ation", "ition", "ption", "sion", "ion", "ment", "al", "ance", "ence", "ure"),
)


def is_noun_of(word: str, stems: frozenset[str]) -> bool:
    """Is a word the noun to a verb among the stems: qualification to qualify, payment to pay?"""
    single = word.removesuffix("s")
    bases = [single.removesuffix(end) for end in _NOUN_ENDINGS if single.endswith(end)]
    long = [verb for verb in stems if len(verb) >= _LEAST_STEM]
    return any(
        base == verb or (len(base) >= shared and base[:shared] == verb[:shared])
        for base in bases
        for verb in long
        for shared in [max(4, len(verb) - 1)]
    )


def writes_comma(answer: str, question: str) -> bool:
    """Does the answer, or if it has no words the question, write decimals with a comma?"""
    for text in (answer, question):
        words = [match[0].lower() for match in _WORD.finditer(text[:_MAX_QUESTION])]
        n_comma, n_point = (
            sum(word in known for word in words) for known in (_COMMA_WORDS, _POINT_WORDS)
        )
        if n_comma != n_point:
            return n_comma > n_point
    return False


@lru_cache(maxsize=64)
def wording(question: str) -> Wording:
    """The words of a question; of a long one the beginning is read."""
    text = fold_width(question[:_MAX_QUESTION])
    words = tuple(match[0].lower().strip(".&") for match in _WORD.finditer(text))
    return Wording(words, frozenset(map(stem, words)), text)


def stem(word: str) -> str:
    """The word without all endings of English inflection: operate, operated, operating."""
    base = _IRREGULAR.get(word, word)
    ending = next((ending for ending in _ENDINGS if base.endswith(ending)), "")
    while ending and len(base) - len(ending) >= _LEAST_STEM:
        base = base.removesuffix(ending)
        ending = next((ending for ending in _ENDINGS if base.endswith(ending)), "")
    return base[:-1] if len(base) > _LEAST_STEM and base[-1] == base[-2] else base
