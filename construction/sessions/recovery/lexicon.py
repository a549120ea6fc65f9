"""What people say when they start, refine, wait, agree and close, in English and Chinese.

The phrases stand in `words_en.toml` and `words_zh.toml`. Texts are brought into one plain form
first (`plain`): lower case, no apostrophes, `|` where a sentence ends and `,` where a clause
ends, `^` for quotation marks, single spaces. So `| new task` means "at the start of a sentence",
and no phrase needs a pattern that could run away.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from data.text.lexicon import any_of

_SENTENCE, _CLAUSE, _QUOTE = " | ", " , ", " ^ "  # what is quoted is not said
_ENDS = (
    *((mark, _SENTENCE) for mark in ("\n", ". ", "! ", "? ", ";")),
    *(
        (mark, _CLAUSE)
        for mark in (",", ":", " - ", " -- ", '"', "(", ")", "[", "]", "*", "#", ">")
    ),
)
_ALL_ENDS = (
    *_ENDS,
    *((mark, _SENTENCE) for mark in "。！？…；～"),
    *((mark, _CLAUSE) for mark in "，、：—–（）【】"),
    *((mark, _QUOTE) for mark in "“”「」『』《》"),
)
_FOLDER = files("construction.sessions.recovery")
_EN: dict[str, Any] = tomllib.loads(_FOLDER.joinpath("words_en.toml").read_text("utf-8"))
_ZH: dict[str, Any] = tomllib.loads(_FOLDER.joinpath("words_zh.toml").read_text("utf-8"))


def plain(text: str) -> str:
    """Lower case, ` | ` for ends of sentences, ` , ` of clauses, ` ^ ` for quotation marks."""
    text = text.lower().replace("'", "").replace("`", "") + " "
    ends = _ENDS
    if not text.isascii():
        text = text.replace("’", "").replace("‘", "")
        ends = _ALL_ENDS
    for mark, instead in ends:
        if mark in text:
            text = text.replace(mark, instead)
    return f" | {' '.join(text.split()).removesuffix(' |')} | "


def _both(name: str) -> tuple[str, ...]:
    return (*_EN[name], *_ZH[name])


def _words(name: str) -> tuple[str, ...]:
    """The phrases at the start of a word; Chinese ones anywhere."""
    return (*(phrase if phrase[0] == " " else f" {phrase}" for phrase in _EN[name]), *_ZH[name])


def _after(mark: str, name: str) -> tuple[str, ...]:
    return tuple(mark + phrase for phrase in _both(name))


def _starts(name: str) -> tuple[str, ...]:
    """The phrases at the start of a sentence or clause."""
    return _after(" | ", name) + _after(" , ", name)


def _labels(words: dict[str, Any], space: str) -> str:
    """A pattern of announcements as a whole clause: "new task: …", "OK, a different topic. …"."""
    parts = (words["reset_prefixes"], words["reset_adjectives"], [space], words["reset_nouns"])
    built = "".join(_alternatives(part) for part in parts)
    return f" [|,] (?:{built}|{_alternatives(words['reset_labels'])}) [|,]"


def _alternatives(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=len, reverse=True))})"


RESET_COMMANDS = frozenset({"/new", "/reset", "/clear", "/newtask", "/new-task", "/new_task"})
_OTHER_RESETS = any_of((*_starts("reset_starts"), *_both("reset_anywhere")))
RESETS = re.compile("|".join((_labels(_EN, " "), _labels(_ZH, ""), _OTHER_RESETS.pattern)))
MARKERS = any_of(_starts("markers"))  # often a new task, but not always
BY_THE_WAY = any_of(_starts("by_the_way"))

# A turn of nothing but the words, with at least one of the core, closes a task.
COURTESY_CORE = any_of(_words("courtesy_core"))
COURTESY_WORDS = frozenset(_EN["courtesy_words"])
COURTESY_PHRASES = tuple(_ZH["courtesy_phrases"])
# A turn of nothing but these agrees, or tells the agent to go on.
GO_ON_WORDS = frozenset(_EN["go_on_words"])
GO_ON_PHRASES = tuple(_ZH["go_on_phrases"])

MARKS = frozenset({"|", ",", "^"})

# At the very start of a turn.
GREETINGS = _after(" | ", "greetings")
REPLIES = _after(" | ", "replies")

LEANS_ON = any_of(_both("leans_on"))  # the request is made of what was there before
REFERS_BACK = any_of(_both("refers_back"))  # it may be
REFINES = any_of((*_starts("refines_starts"), *_both("refines_anywhere")))

WAITS = any_of(_words("waits"))  # more material is announced
SENT_ALL = any_of(_words("sent_all"))

# Said by the agent.
CLOSING_OFFERS = any_of(_words("closing_offers"))
ASKS = any_of(_words("asks"))
DONE = any_of(_both("done"))

# A request is a verb after one of the words before it, in Chinese soon after an asking word or
# at the start of a clause. Light verbs ask for something only before a thing that is new.
VERBS = frozenset(_EN["verbs"])
LIGHT_VERBS = frozenset(_EN["light_verbs"])
NEW_THINGS = frozenset(_EN["new_things"])
BEFORE_VERB = frozenset(_EN["before_verb"])
WISHES = any_of(_EN["wishes"])
VERBS_ZH_AT_START = any_of(m + verb for verb in _ZH["verbs_alone"] for m in (" | ", " , "))
REQUEST_ZH = re.compile(
    f"{any_of(_ZH['asking']).pattern}.{{0,10}}?{any_of(_ZH['verbs']).pattern}"
    f"|把.{{1,16}}?{any_of(_ZH['verbs_into']).pattern}成"
)
QUESTIONS = any_of(_words("questions"))
# Its object is known already, or named for the first time.
DEFINITE = frozenset(_EN["definite"])
INDEFINITE = frozenset(_EN["indefinite"])
INDEFINITE_ZH = any_of(_ZH["indefinite"])

STOP_WORDS = frozenset(_EN["stop_words"])  # say nothing about the topic
STOP_CHARS = frozenset("".join(_ZH["stop_chars"].split()))
