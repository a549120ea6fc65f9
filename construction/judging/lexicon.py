"""Word lists as patterns and sets; their phrases are looked for in a text's `phrase_form`.

Requests are read with `words_en.toml` and `words_zh.toml`: what each list means is said there, and
how they are put together in `reading`. The tables in `tables/` belong to the judges by rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from data.text.lexicon import any_of, load_table


def table(name: str) -> Mapping[str, Any]:
    """A table of `construction/judging/tables` by its file name without `.toml`."""
    return load_table("construction.judging", "tables", f"{name}.toml")


@cache
def phrases(name: str, key: str) -> re.Pattern[str]:
    """The phrases of one list, anywhere in the phrase form of a sentence."""
    return any_of(table(name)[key])


@cache
def phrases_of(file: str, key: str) -> re.Pattern[str]:
    """The phrases of one list of a file beside this module."""
    return any_of(load_table(__package__, file)[key])


@cache
def starts(name: str, key: str) -> re.Pattern[str]:
    """The phrases of one list at the start of a sentence."""
    return any_of(f" | {phrase}" for phrase in table(name)[key])


_EN: Mapping[str, Any] = load_table(__package__, "words_en.toml")
_ZH: Mapping[str, Any] = load_table(__package__, "words_zh.toml")


def _both(name: str) -> re.Pattern[str]:
    """The phrases anywhere in a sentence."""
    return any_of((*_EN.get(name, ()), *_ZH.get(name, ())))


def _starts(name: str) -> re.Pattern[str]:
    """The phrases at the start of a sentence."""
    return any_of(f" | {phrase}" for phrase in (*_EN.get(name, ()), *_ZH.get(name, ())))


# Chatter and what surrounds a request
CHATTER_WORDS = frozenset(_EN["chatter_words"])
CHATTER_STARTS = _starts("chatter_starts")
CHATTER_ZH = re.compile("|".join(sorted(_ZH["chatter_phrases"], key=len, reverse=True)))
ANNOUNCES = _starts("announce_starts")
REPLIES = _starts("reply_starts")
ANSWERS = _starts("answer_starts")
CLOSES = _starts("closing_starts")

# Demands
VERBS = frozenset(_EN["verbs"])
DOUBTFUL_VERBS = frozenset(_EN["doubtful_verbs"])
OBJECTS = frozenset(_EN["objects"])
NOUN_AFTER = frozenset(_EN["noun_after"])
LEAD_INS = frozenset(_EN["lead_ins"])
BETWEEN = frozenset(_EN["between"])
ASKS_YOU = tuple(f" {phrase} " for phrase in _EN["asks_you"])
ASKS_YOU_AT_ALL = any_of(ASKS_YOU)
WISHES = tuple(_EN["wishes"])
WISHES_AT_ALL = any_of(WISHES)
WISH_OBJECTS = frozenset(_EN["wish_objects"])
BEFORE_WISH = tuple(_EN["before_wish"])
NO_DEMANDS = _both("no_demands")
FORM_ONLY = _both("form_only")
STATUS = _both("status")
STATUS_OF_WORK = any_of(
    phrase for words in (_EN, _ZH) for phrase in words["status"] if phrase not in words["facts"]
)
OPEN_QUESTIONS = _both("open_questions")
OPINIONS = _both("opinions")
REQUIRES = _both("requires")
OF_ONESELF = any_of((" | i ", " | ill ", " | im ", " | ive ", " | well ", " i should "))
TO_AGENT = any_of((" agent , ", " agent | ", " assistant , ", " bot , "))

# In Chinese an asking word and a verb soon after, a verb at the start of a clause, or an object
# before its verb: "把会议记录整理成清单".
_TOLD = f"(?!{'|'.join(_ZH['told_after'])})"
_LONG_VERBS = "|".join(verb for verb in _ZH["verbs"] if len(verb) > 1)
ASKS_ZH = re.compile(
    f"(?:{'|'.join(_ZH['asks'])})(?!{'|'.join(_ZH['no_ask_after'])})"
    f"[^|]{{0,12}}?(?:{'|'.join(_ZH['verbs'])}){_TOLD}"
)
STARTS_ZH = re.compile(
    rf"[|,] (?:先|再|并|然后|最后|同时|另外|直接|把[^|,]{{1,12}}?)?"
    rf"(?:(?:{_LONG_VERBS}){_TOLD}|[写做画出列查找算][一个份下张两三\d])"
)
OBJECT_FIRST_ZH = re.compile(
    rf"(?:^|[，,：:。；;！!？?\s])(?:{'|'.join(_ZH['before_object'])})[^，。；！？\n]{{1,80}}?"
    rf"(?:(?:{_LONG_VERBS}){_TOLD}|[写做画列改翻排标算](?:[成出为一个份张两三每\d报]|得更)|[写存][到进入])"
)

# What stands against meeting a demand
LEANS = _both("leans")
LEANS_UNLESS_FILES = _both("leans_unless_files")
ELSEWHERE = _both("elsewhere")
PAST_SESSIONS = _both("past_sessions")
THINGS = _both("things")
LIVE = _both("live")
LIVE_UNLESS_FILES = _both("live_unless_files")
DANGLING = _both("dangling")
ACCOUNT = any_of(
    (
        *(f" {mine}{thing} " for mine in _EN["own_before"] for thing in _EN["own_things"]),
        *_EN["account"],
        *_ZH["account"],
    )
)
