"""How questions name a company: as people write it, whatever the capitals of a register.

What no rule brings into the form of a name is garbled, and not asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from construction.statements.questions.wording import WORDS
from data.text.folding import fold_spaces, fold_width

_ENDINGS: Mapping[str, str] = WORDS["names"]["endings"]
_SMALL = frozenset(WORDS["names"]["small"])
_SHORT = frozenset(WORDS["names"]["words"])
_WHOLE: Mapping[str, str] = WORDS["names"]["whole"]
_SPELLED: Mapping[str, str] = WORDS["names"]["spelled"]
_SHOUTED = frozenset(WORDS["names"]["shouted"])
_LEGAL = frozenset(WORDS["legal"]["words"])
_LEGAL_STOPS = frozenset(["co", "corp", "inc", "ltd"])
_STATE = re.compile(r"\s*[/\\] ?[A-Za-z]{2,20}[/\\]?\s*$")
_ROMAN = re.compile(r"[IVX]{1,4}")
_SPACED = re.compile(r",(?=[A-Za-z])")
_FORMS = r"(?:Co|Corp|Inc|Ltd|Company|Corporation|Incorporated|Limited|Group|Holdings?)\b"
# What registers run together: "MillworksCo.", "Millworksco.,Ltd.", "Mill&Co.", "Mill.Inc.".
_GLUED = (
    (re.compile(r"(?<=[a-z])(?=(?:Co|Corp|Inc|Ltd)\.)"), " "),
    (re.compile(r"(?<=[A-Za-z]{6})(co)\.(?=[, ]{0,2}ltd\b)", re.I), r" \1."),
    (re.compile(r"(?<=\w)&(?=co\b)", re.I), " & "),
    (re.compile(rf"(?<=[A-Za-z])\.(?={_FORMS})", re.I), ". "),
    (re.compile(r"\b([A-Z][a-z]?)\.(?=[A-Z][A-Za-z]{3})"), r"\1. "),
)
# Marks that end no short form: "Mill. Co., Ltd.", "Holdings., Ltd.", "Mill, Co., Ltd.", "Limited."
_STOP = re.compile(rf"(?P<word>\b[A-Za-z]{{3,}})\.(?P<then>,? ?{_FORMS})", re.I)
_COMMA = re.compile(r"(?<=[A-Za-z]),\s*(?=Co\b[.,])", re.I)
_LOOSE = re.compile(r"(?i:(?:(?<=ation)|(?<=mited)|(?<=mpany)|(?<=dings))\.(?=,|$))")
_SHORT_FORMS = frozenset(WORDS["names"]["abbreviated"])
_STOPS_INSIDE = re.compile(r"(?P<word>\b[A-Za-z]{3,})\. ?(?=\w)")
_SITE = re.compile(r"\.(?:com|net|org|jp|co\.jp)\b", re.I)
# The form of a name that no rule mends: small first word, a form glued to a word, stray marks.
_GARBLED = re.compile(
    r"^[a-z][a-z.'&-]*(?:[ ,]|$)|[a-z]{3}(?:inc|co|corp|ltd)\.(?:,|$)|[a-z]{3}co, Ltd"
    r"|[A-Z]{3}(?:INC|CORP|LTD)\b|\s[.,;]|[.,;]{2}(?<!\.,)|[;:-]$|^[\W\d_]*$"
    r"|,(?! (?:Co|Corp|Corporation|Inc|Incorporated|Ltd|Limited|LLC|LLP|L\.P|LP|plc|N\.V|S\.A|K\.K"
    r"|N\.A|AG|SE|Company)\b)(?!.*(?: & | and ))"
)
_WORD = re.compile(r"[a-z0-9][a-z0-9&]*|[^\s\x00-\x7f]+")
_NO_VOWEL = re.compile(r"[^AEIOUY]+|[^AEIOUY]{3}[AEIOU]")  # initials: FPL, KDDI
_FORM = re.compile(
    r"(?<=[ ,])(?i:(co|corp|inc|ltd)\b\.?(?=,|$| ltd))"
    r"|(?<= )(corporation|company|limited|incorporated|holdings|group)(?=[ ,]|$)"
)
_LIMITED = re.compile(r"\bLtd\.?(?= Partnership\b)", re.I)
_JOINED = re.compile(r"(?:(?<=\.)|\s)Co[.,\s]{1,5}Ltd\.?$", re.I)
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
    text = _STATE.sub("", fold_spaces(fold_width(name[:_MAX_NAME]))).strip(" ,;")
    for pattern, apart in _GLUED:
        text = pattern.sub(apart, text)
    text = _LOOSE.sub("", _COMMA.sub(" ", _STOP.sub(_without_stop, text)))
    text = _DOT_COM.sub(".com", _in_case(text.replace(" ,", ",")))
    text = _LIMITED.sub("Limited", _JOINED.sub(" Co., Ltd.", text))
    return _WHOLE.get(text, text)


def _without_stop(match: re.Match[str]) -> str:
    word = match["word"].lower()
    if word in _SHORT_FORMS | _LEGAL_STOPS:
        return match[0]
    return f"{match['word']}{match['then']}"


def is_garbled(name: str) -> bool:
    """Does a name keep, after all rules, a form that nobody writes: "mill holdings",
    "Millworksinc.", "Mill Eco. Works"?"""
    inside = _STOPS_INSIDE.finditer(_SITE.sub("", name))
    stops = (match["word"].lower() not in _SHORT_FORMS | _LEGAL_STOPS for match in inside)
    return _GARBLED.search(name) is not None or any(stops)


def _in_case(text: str) -> str:
    text = re.sub(r"^THE (?=[A-Z][a-z])", "The ", _SPACED.sub(", ", text))
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
