"""Phrases with which people start, refine, wait, agree and close, and the topic terms of a text.

The English and Chinese phrases are in `words_en.toml` and `words_zh.toml`. They are matched
against a text's `phrase_form`: lower case, no apostrophes, `|` at the end of a sentence,
`,` at the end of a clause, `^` for quotation marks, single spaces. So `| new task` means "at the
start of a sentence", and no phrase needs a pattern with unbounded backtracking.

Topic terms (`terms`) are stems for alphabetic scripts and character bigrams for CJK. Two requests
about the same subject share such terms, unrelated ones hardly any. They need no model and no
dictionary and cost microseconds per turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from data.text.lexicon import alternatives, any_of, load_table
from data.text.scripts import CJK

_EN: Mapping[str, Any] = load_table(__package__, "words_en.toml")
_ZH: Mapping[str, Any] = load_table(__package__, "words_zh.toml")


def _both(name: str) -> tuple[str, ...]:
    return (*_EN[name], *_ZH[name])


def _words(name: str) -> tuple[str, ...]:
    """English phrases at the start of a word, Chinese ones anywhere."""
    return (*(phrase if phrase[0] == " " else f" {phrase}" for phrase in _EN[name]), *_ZH[name])


def _after(mark: str, name: str) -> tuple[str, ...]:
    return tuple(mark + phrase for phrase in _both(name))


def _starts(name: str) -> tuple[str, ...]:
    """The phrases at the start of a sentence or clause."""
    return _after(" | ", name) + _after(" , ", name)


def _labels(words: Mapping[str, Any], space: str) -> str:
    """A pattern for announcements that are a clause: "new task: …", "OK, a different topic. …"."""
    parts = (words["reset_prefixes"], words["reset_adjectives"], [space], words["reset_nouns"])
    built = "".join(alternatives(part) for part in parts)
    return f" [|,] (?:{built}|{alternatives(words['reset_labels'])}) [|,]"


RESET_COMMANDS = frozenset({"/new", "/reset", "/clear", "/newtask", "/new-task", "/new_task"})
_OTHER_RESETS = any_of((*_starts("reset_starts"), *_both("reset_anywhere")))
RESETS = re.compile("|".join((_labels(_EN, " "), _labels(_ZH, ""), _OTHER_RESETS.pattern)))
MARKERS = any_of(_starts("markers"))  # often a new task, but not always
HANDOVERS = any_of(_starts("handovers"))  # on to the next piece of work
BY_THE_WAY = any_of(_starts("by_the_way"))

# A turn that consists of these words and phrases, with one of the core, closes a task.
COURTESY_CORE = any_of(_words("courtesy_core"))
COURTESY_WORDS = frozenset(_EN["courtesy_words"])
COURTESY_PHRASES = tuple(_ZH["courtesy_phrases"])
# A turn that consists of these agrees, or tells the agent to continue.
GO_ON_WORDS = frozenset(_EN["go_on_words"])
GO_ON_PHRASES = tuple(_ZH["go_on_phrases"])

MARKS = frozenset({"|", ",", "^"})

# At the very start of a turn.
GREETINGS = _after(" | ", "greetings")
REPLIES = _after(" | ", "replies")
# Replies that may also close what was before, if a full request follows.
ACKNOWLEDGEMENTS = _after(" | ", "acknowledgements")

LEANS_ON = any_of(_both("leans_on"))  # the request builds on an earlier result
REFERS_BACK = any_of(_both("refers_back"))  # it may build on one
REFINES = any_of((*_starts("refines_starts"), *_both("refines_anywhere")))

WAITS = any_of(_words("waits"))  # more material is announced
SENT_ALL = any_of(_words("sent_all"))

# Said by the agent.
CLOSING_OFFERS = any_of(_words("closing_offers"))
ASKS = any_of(_words("asks"))
DONE = any_of(_both("done"))
REPORTS = any_of((*_both("done"), *_both("reports")))  # of what was done, at the end

# A request is a verb after one of BEFORE_VERB; in Chinese a verb soon after an asking word or at
# the start of a clause. Light verbs request something only before one of NEW_THINGS.
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
# Words that mark the object of a request as known, or as named for the first time.
DEFINITE = frozenset(_EN["definite"])
INDEFINITE = frozenset(_EN["indefinite"])
INDEFINITE_ZH = any_of(_ZH["indefinite"])

STOP_WORDS = frozenset(_EN["stop_words"])  # say nothing about the topic
STOP_CHARS = frozenset("".join(_ZH["stop_chars"].split()))


_WORDS = re.compile(r"[a-z0-9_\u00e0-\u024f\u0370-\u052f]{2,40}")
_CJK_RUNS = re.compile(f"[{CJK}]{{2,60}}")
_STEM = 6  # letters: enough to join "summarise", "summary" and "summaries"


def terms(text: str, limit: int) -> frozenset[str]:
    """Topic terms of the first `limit` characters of a text.

    Words are lower-cased and cut to six letters (words with a digit are kept whole, numbers are
    left out); runs of Han, kana and Hangul give their character bigrams.
    """
    head = text[:limit].lower()
    words = set(_WORDS.findall(head))
    words -= STOP_WORDS
    content_terms = {
        word[:_STEM] if word.isalpha() else word for word in words if not word.isdigit()
    }
    if not head.isascii():
        for run in _CJK_RUNS.findall(head):
            content_terms.update(
                a + b for a, b in pairwise(run) if a not in STOP_CHARS and b not in STOP_CHARS
            )
    return frozenset(content_terms)
