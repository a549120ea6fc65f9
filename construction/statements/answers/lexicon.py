"""The words that change what a number means, as patterns; the words are in `lexicon.toml`."""

from __future__ import annotations

import re

from data.text.lexicon import load_table

_WORDS = load_table(__package__, "lexicon.toml")


def _either(*names: str) -> str:
    """One of the words of these lists: English ones whole, the others anywhere."""
    english = [word for name in names for word in _WORDS[name]["en"]]
    others = [word for name in names for word in _WORDS[name]["cjk"]]
    whole = [rf"(?<![A-Za-z])(?:{'|'.join(english)})(?![A-Za-z])"] if english else []
    return f"(?:{'|'.join([*whole, *others])})"


def _any(*names: str) -> re.Pattern[str]:
    return re.compile(_either(*names), re.I)


CHANGE_DOWN = _any("change_down")
CHANGE_UP = _any("change_up")
LOSS_NOUN = _any("loss_noun")
LOSS = _any("loss_noun", "change_down")
LOSS_ASKED = _any("loss_noun", "change_down", "loss_asked")
OPPOSITE = _any("gain_noun", "change_up")
MOVEMENT = _any("change_up", "change_down", "movement")
CONVENTION = _any("convention")
MOVES = _any("change_up", "change_down")
CHANGE = _any("change_asked")
PLAN = _any("plan")
COPULA = _any("copula")
LINK = _any("link")
EARLIER = _any("earlier")
REFUSAL = _any("refusal")
GIVES_UP = _any("gives_up")
GUESS = _any("guess")
DOUBT = _any("doubt")
CONCLUSION = _any("conclusion")

_UP, _DOWN = _either("signed_gain"), _either("signed_loss")
SIGNED_LABEL = re.compile(
    rf"{_UP}(?: from [a-z ]{{1,30}})?\s*"
    rf"(?:\(\s*{_DOWN}\s*\)|/\s*\(?{_DOWN}\)?|(?:or |and |又は|或){_DOWN})"
    rf"|{_DOWN}\s*(?:\(\s*{_UP}\s*\)|/\s*\(?{_UP}\)?|or {_UP})"
    rf"|\(\s*{_DOWN}\s*\)|{_either('signed_word')}",
    re.I,
)

# Up to eight hedges between a word and the value it governs, as in "by about the same"
HEDGES = rf"(?:\s*{_either('hedge')}){{0,8}}\s*"
FROM = re.compile(rf"(?<![A-Za-z])from{HEDGES}\Z", re.I)
CHANGE_BY = re.compile(rf"{_either('change_by')}{HEDGES}\Z", re.I)
CHANGE_AFTER = re.compile(rf" ?{_either('change_after')}", re.I)
NEGATED_BEFORE = re.compile(rf"{_either('negated_before')}{HEDGES}\Z", re.I)
NEGATED_AFTER = re.compile(rf" ?{_either('negated_after')}")
BETWEEN = re.compile(rf"(?:(?<![A-Za-z])between|介于){HEDGES}\Z", re.I)
LEVEL_BEFORE = re.compile(rf"(?:(?<![A-Za-z])(?:to|from|at)(?![A-Za-z])|[至到]){HEDGES}\Z", re.I)
RANGE_BETWEEN = re.compile(rf"\s*{_either('range')}{HEDGES}", re.I)
ALTERNATIVE = re.compile(rf"[\s,、]*{_either('alternative')}{HEDGES}", re.I)
EITHER = re.compile(r"\beither\b", re.I)

GENERIC = frozenset(" ".join(_WORDS["generic"]["en"]).split())
GENERIC_HAN = re.compile("|".join(_WORDS["generic"]["cjk"]))
STATING = GENERIC | frozenset(" ".join(_WORDS["stating"]["en"]).split())
STATING_MEASURED = frozenset(" ".join(_WORDS["stating"]["measured"]).split())
STATING_HAN = re.compile("|".join([*_WORDS["stating"]["cjk"], *_WORDS["generic"]["cjk"]]))
