"""How a label reads inside a sentence: case, word order, number, and its comparable words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from data.text.folding import fold_spaces, fold_width
from data.text.lexicon import load_table
from data.text.scripts import WORD as SPELLED


def pattern_in(rule: Mapping[str, Any]) -> re.Pattern[str]:
    """The pattern of a rule in a table; small letters and capitals are the same to it."""
    return re.compile(rule["pattern"], re.I)


_TABLE = load_table(__package__, "phrases.toml")
_WHOLE: Mapping[str, str] = _TABLE["whole"]
_SHAPES = tuple((pattern_in(rule), rule["by"]) for rule in _TABLE["shape"])
_OTHER_WORDS = load_table(__package__, "synonyms.toml")
SYNONYMS: Mapping[str, str] = _OTHER_WORDS["synonyms"]
FULLER: Mapping[str, str] = _OTHER_WORDS["fuller"]
WORDS = load_table(__package__, "words.toml")
COUNTRIES: Mapping[str, str] = WORDS["countries"]
OF_PARENT = " attributable to the parent company"
WITH_OTHERS = " including noncontrolling interests"
WITHOUT_OTHERS = " excluding noncontrolling interests"
_KEEP: Mapping[str, str] = {word.lower(): word for word in WORDS["keep"]}
_KEEP_PHRASES = tuple(
    (re.compile(rf"\b{re.escape(phrase)}\b", re.I), phrase) for phrase in WORDS["keep_phrases"]
)
_WHOLE_LABELS: Mapping[str, str] = WORDS["labels"]
_BARE = frozenset(WORDS["bare"]["words"])
_BARE_START = re.compile(WORDS["bare"]["start"], re.I)
_SINGULAR = frozenset(WORDS["number"]["singular"])
_PLURAL = frozenset(WORDS["number"]["plural"])
_ADJECTIVES = frozenset(WORDS["print"]["adjectives"])
# "Selling, general and administrative"; in "revenue, oil and gas" the first noun is the head.
_OWN = r"(?:(?!(?:for|from|in|of|on|to)\b)[\w-]+ ){0,3}"
_JOINED = re.compile(rf"^{_OWN}(?:{'|'.join(WORDS['number']['joined'])}) and ")
_ALONE = "|".join(WORDS["number"]["alone"])
LIST = re.compile(rf"\b(?!(?:{_ALONE}),)[\w&-]+, (?:[\w&-]+, ){{0,5}}[\w&-]+,? (?:and|or) ")
_HEAD_END = re.compile(rf"\s(?:{'|'.join(WORDS['number']['after_head'])})\b|[,(:;]")
NOTE = re.compile(
    r"\s*[(\[](?:deprecated|abstract|member|line items|table|axis|roll forward|IFRS|US GAAP"
    r"|notes?)\b[^()\[\]]{0,60}[)\]]",
    re.I,
)
_PER_SHARE = re.compile(r"\bearnings\b.*\bper (?:[a-z-]+ ){0,3}(?:share|unit)\b", re.I)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])")
_AT_END = re.compile(
    r",?\s+(?:at|-)\s+(?:(?:the )?end of (?:the )?(?:period|year)|(?:period|year)[ -]end)\b"
    r"|(?<!arising)\s+(?:for|in|during) the (?:period|quarter|year)(?=$|,| for\b)",
    re.I,
)
_OWNERS = re.compile(
    r"\b((?:stock|share)(?:holder|owner)s|members|owners|partners|policyholders)"
    r"(?= (?:capital|deficit|equity)\b)",
    re.I,
)
_STOP = re.compile(r"(?<=[a-z]{4})\.$")  # of a sentence, not of "Inc."
_TAIL_TOTAL = re.compile(r",\s*(?:total|combined|aggregate)(?: amount)?$", re.I)
_TAIL_TERM = re.compile(
    r",\s*(current|non-?current|basic and diluted|basic|diluted)(?: portion)?$", re.I
)
# Tags split into words have lost the brackets of signed labels.
_UNBRACKETED = re.compile(
    r"\b(?:(increase|income|gain|profit|expense|earnings)s? (decrease|loss|benefit|expense)(?:es)?"
    r"|(decrease) (increase)|(proceeds from) (payments for)|(provided by) (used in))\b",
    re.I,
)
_DUE = re.compile(r"^((?:non-?current |current )?)due(?= (?:to|from)\b)", re.I)
_TOTALS = re.compile(r"^(?:total[\s,:]+)+", re.I)
TOKEN = re.compile(r"[A-Za-z][A-Za-z'’.&]*")
WORD = re.compile(r"[a-z0-9][a-z0-9&]*|[^\s\x00-\x7f]+")
EMPTY = frozenset(["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to"])
_MAX_LABEL = 300
_PLAIN_START = re.compile(r"[A-Z][a-z]+ [a-z]")  # the first word of a label in small letters
_ORDINARY = frozenset(
    word for text in (*_WHOLE, *_WHOLE.values()) for word in re.findall("[a-z]{3,}", text.lower())
)
# Of which none is a name, or is written as one.
KNOWN_WORDS = _ORDINARY.union(
    _KEEP, *(text.lower().replace("-", " ").split() for text in WORDS["keep_phrases"])
)


def has_word(text: str, words: Set[str]) -> bool:
    """Is one of the words, which are in small letters, in the text?"""
    return not words.isdisjoint(SPELLED.findall(text.lower()))


def _reshaped(label: str) -> str:
    """The label with taxonomy word order turned into that of a sentence."""
    for pattern, by in _SHAPES:
        label = pattern.sub(by, label, count=1)
    return label


@dataclass(frozen=True, slots=True)
class Phrase:
    """A label as the question writes it, its head noun, and whether its verb is plural.

    `bare` labels ("Other") mean nothing on their own. `key` is the label's words in comparable
    form, in order; `bag` the same without order and small words.
    """

    text: str
    head: str
    plural: bool
    bare: bool
    key: tuple[str, ...]
    bag: frozenset[str]


@lru_cache(maxsize=200_000)
def phrase_of(label: str) -> Phrase:
    """The phrase of a label, as filed or from the label table."""
    cleaned = _cleaned(label)
    finished = _WHOLE.get(cleaned.lower())
    text = finished or _in_sentence(_in_order(_reshaped(cleaned)))
    return _phrase(text)


def has_own_phrase(label: str) -> bool:
    """Has a label a finished phrase in the table?"""
    return _cleaned(label).lower() in _WHOLE


def synonym_of(label: str) -> str | None:
    """What harder questions call a label; None without an entry in `synonyms.toml`."""
    return SYNONYMS.get(phrase_of(label).text)


@lru_cache(maxsize=200_000)
def filed_phrase(label: str) -> Phrase:
    """The phrase in the label's own words and order, without the table of plain phrases."""
    cleaned = _cleaned(label)
    return _phrase(_in_sentence(_in_order(cleaned)))


def _phrase(text: str) -> Phrase:
    text = _WHOLE_LABELS.get(text, text)
    key = comparable(text)
    head = _head(text)
    bag = frozenset(key) - EMPTY
    plural = _is_plural(head) or _JOINED.match(text) is not None
    plural = plural and not _PER_SHARE.search(text)  # what stands per share is one figure
    bare = " ".join(key) in _BARE or _BARE_START.match(text) is not None
    return Phrase(text, head, plural, bare, key, bag)


def _cleaned(label: str) -> str:
    """One line without notes of the taxonomy; a raw tag is split into words.

    Labels lose "at end of period" and "in the year": the question names the period. Owners get the
    apostrophe that tags have lost.
    """
    text = fold_spaces(fold_width(label[:_MAX_LABEL]))
    text = _AT_END.sub("", NOTE.sub("", _STOP.sub("", text))).strip(" :;,-–—")
    if " " not in text and len(_HUMP.findall(text)) > 1:
        text = _HUMP.sub(" ", text)
    text = _OWNERS.sub(r"\1'", _UNBRACKETED.sub(_bracketed, text).replace("’", "'"))
    is_plain = _PLAIN_START.match(text) and text.split()[0].lower() not in _KEEP
    return text[:1].lower() + text[1:] if is_plain else text


def _bracketed(match: re.Match[str]) -> str:
    first, second = (part for part in match.groups() if part)
    return f"{first} ({second})"


def _in_order(text: str) -> str:
    """ "Assets, Current" becomes "current assets"."""
    total = bool(_TOTALS.match(text)) or bool(_TAIL_TOTAL.search(text))
    text = _TOTALS.sub("", _TAIL_TOTAL.sub("", text)) or text
    term = _TAIL_TERM.search(text)
    if term and text[: term.start()]:
        rest = text[: term.start()]
        first, _, others = rest.partition(" ")
        is_other = first.lower() == "other"
        text = f"Other {term[1]} {others}" if is_other else f"{term[1]} {rest}"
    text = _DUE.sub(r"\1amounts due", text)
    if not total or text.lower() == "total":
        return text
    return f"{'TOTAL' if text.isupper() else 'Total'} {text}"


def _in_sentence(text: str) -> str:
    """Lower case, except abbreviations and what keeps its capitals everywhere."""
    shouting = text.isupper() and len(text) > 5

    def lowered(match: re.Match[str]) -> str:
        word = match[0]
        kept = _KEEP.get(word.lower())
        if kept and (shouting or word[0].isupper()):
            return kept
        bare = word.replace("'", "").replace(".", "")
        inner = not shouting and len(bare) > 1 and any(char.isupper() for char in bare[1:])
        return word if inner else word.lower()

    text = TOKEN.sub(lowered, text)
    for pattern, phrase in _KEEP_PHRASES:
        text = pattern.sub(phrase, text)
    return text


def _head(text: str) -> str:
    """The noun that the label is about: "expenses" of "selling and general expenses, net",
    "securities" of "securities loaned"."""
    listed = LIST.match(text)
    text = text[listed.end() :] if listed else text
    words = (text[: match.start()] if (match := _HEAD_END.search(text)) else text).split()
    while len(words) > 1 and _is_participle(words[-1]) and _is_plural(words[-2].lower()):
        words.pop()
    return words[-1].lower() if words else ""


def _is_participle(word: str) -> bool:
    return word.endswith("ed") and word not in _ADJECTIVES


def _is_plural(head: str) -> bool:
    if head in _PLURAL:
        return True
    return head.endswith("s") and head not in _SINGULAR and not head.endswith(("ss", "'s"))


def same_words(used: Phrase, other: Phrase) -> bool:
    """Whether the other phrase has the same words in any order, or begins with those used.

    A total is only itself: neither "total current liabilities" nor "total liabilities" means
    "current liabilities of discontinued operations" or "total liabilities and net assets".
    """
    if used.bag == other.bag:
        return True
    length = len(used.key)
    if other.key[:length] != used.key:
        return False
    return not used.text.startswith("total ")


@lru_cache(maxsize=200_000)
def comparable(text: str) -> tuple[str, ...]:
    """The words of a text, without case, punctuation, plural and a leading "total"."""
    words = WORD.findall(fold_width(text).lower().replace("'", ""))
    words = [word.removesuffix("s") if len(word) > 3 and word.isascii() else word for word in words]
    return tuple(words[1:] if words[:1] == ["total"] and len(words) > 1 else words)


def has_foreign_letters(text: str) -> bool:
    """Whether a text has letters that English sentences do not have."""
    return any(char.isalpha() and ord(char) > 0x24F for char in fold_width(text))


_THING = re.compile(WORDS["things"]["pattern"])
_MEASURE = re.compile(rf"\b(?:{'|'.join(WORDS['things']['measures'])})\b")


def is_bare_thing(text: str) -> bool:
    """Is a name that of a thing, and not of an amount: "treasury stock", "land"?"""
    return _THING.fullmatch(text) is not None


def is_countable(phrase: Phrase) -> bool:
    """Is a balance named by one thing, of which nobody asks how much it was ("line of credit")?"""
    is_amount = phrase.plural or _MEASURE.search(phrase.text) is not None
    return not is_amount and not is_bare_thing(phrase.text)


def is_forecast(member: str) -> bool:
    """Is the member of an axis what a question says by its verb?"""
    return member.lower().removeprefix("scenario ") == "forecast"


# A balance with the head of a flow ("employee benefits") has to say that it is owed, paid ahead or
# kept; that of an account ("interest checking") leaves its noun to the heading.
_OWED = ("accounts payable", "accounts receivable", "accrued", "inventory", "prepaid",
         "receivables")  # fmt: skip
_FLOW = re.compile(
    r"(?!.*\b(?:accrued|accruals?|accumulated|capitalized|costs|deferred|prepaid|retained|unamortized"
    r"|undistributed|unearned|unpaid|payables?|liabilit\w+|reserves?)\b)"
    r".*\b(?:benefits?|charges|checking|commissions|compensation|earnings|expenses?|fees|income"
    r"|interest|losses|partnerships|payments?|salaries|savings|taxes|wages)"
    r"(?: (?:and other|from|of|on|to)\b.*)?"
)

# "Income (expense)" is what people write; no company owns an effect, or the value of its shares.
_UNOWNED = re.compile(
    r"\((?!expense\))|^(?:[a-z-]+ ){0,3}effects?\b|^(?:cost|par value per share|value) of (?:newly"
    r"|common|preferred|shares|stock|treasury)\b"
)


def is_broken_off(text: str, *, is_flow: bool) -> bool:
    """Does a name keep a side in brackets or lack an owner, or is it a balance that reads as a flow
    ("payroll and related expenses as of March 28"), or the reverse?"""
    is_owed = text.removeprefix("other ").startswith(_OWED)
    is_turned = is_owed if is_flow else _FLOW.fullmatch(text) is not None
    return is_turned or _UNOWNED.search(text) is not None
