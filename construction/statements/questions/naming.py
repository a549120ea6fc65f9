"""How a question names its company."""

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
