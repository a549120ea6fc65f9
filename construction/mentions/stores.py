"""Stores of records that a request speaks of as there: mail, a calendar, contacts, tickets.

Whoever asks "check my calendar for a free slot" sees the calendar; who has only the task does not,
unless a file holds what was in it. The words are in `stores.toml`. Counted is what is to be read,
or changed where it lies; what is to be made is not ("write a ticket template").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from construction.mentions.negation import is_negated
from construction.mentions.records import brings_records
from construction.mentions.spans import find_file_spans
from data.text.lexicon import load_table
from data.text.scripts import has_han
from data.text.sentences import sentence_spans

_TABLE = load_table(__package__, "stores.toml")
_MOST = 400  # sentences
_MOST_CHARS = 2000  # of a sentence
_MOST_INTRODUCTION = 120  # characters
_ITEM = re.compile(r"[ \t]*(?:[-*•·]|\(?\d{1,2}[.)、])\s*")


@dataclass(frozen=True, slots=True)
class _Store:
    """How a request speaks of a store, and how words in the paths of its files begin."""

    itself: re.Pattern[str]  # as its owner calls it
    content: re.Pattern[str]
    bare: re.Pattern[str]  # with words that mean it only beside the export of another store
    done: re.Pattern[str]  # orders that change it
    files: re.Pattern[str]


def missing_stores(text: str, paths: Collection[str]) -> tuple[str, ...]:
    """What the request reads, as it says it, in stores for which none of the `paths` stands.

    A file of a kind unknown here may hold anything: beside one, only a store that is called by its
    name ("my inbox") counts. Where a store is there as an export, so would be the others.
    """
    if brings_records(text, of_its_own=not paths):
        return ()
    given = [_words(path) for path in paths]
    has_export = any(_is_export(path) for path in paths)
    is_known = has_export or all(any(_stands(words, store) for store in _STORES) for words in given)
    missing = []
    for sentence in _sentences(text):
        for store in _STORES:
            said = store.bare if has_export else store.content if is_known else store.itself
            if not any(_stands(words, store) for words in given):
                missing += _read_in(sentence, said)
                missing += _changed_in(sentence, store.done) if has_export else ()
    return tuple(dict.fromkeys(missing))


def _is_export(path: str) -> bool:
    """Is it JSON in a folder that is called as a store, such as `crm/customers.json`?"""
    *folders, name = path.split("/")
    return name.endswith((".json", ".jsonl")) and any(
        _stands(_words(folder), store) for folder in folders for store in _STORES
    )


def _sentences(text: str) -> Iterator[str]:
    """The sentences that name no file, in lower case: what is in a file is looked for as one.

    The items of a list follow the words that introduce it: "Collect from:", "- the inbox".
    """
    introduction = ""
    for start, end in islice(sentence_spans(text), _MOST):
        sentence = " ".join(text[start:end].lower().split())[:_MOST_CHARS]
        is_item = _ITEM.match(text, text.rfind("\n", 0, start) + 1) is not None
        if sentence.endswith((":", "：")):
            introduction = sentence[-_MOST_INTRODUCTION:]
        elif not is_item:
            introduction = ""
        if not find_file_spans(text[start:end]):
            yield f"{introduction} {sentence}" if is_item else sentence


def _read_in(sentence: str, content: re.Pattern[str]) -> Iterator[str]:
    matches = list(content.finditer(sentence))
    if not matches:
        return
    verbs = [(verb.start(), verb.lastgroup) for verb in _VERB.finditer(sentence)]
    for match in matches:
        before = bisect_right(verbs, match.start(), key=itemgetter(0))
        if before and verbs[before - 1][1] == _READS and not is_negated(sentence, match.start()):
            yield match.group()


def _changed_in(sentence: str, orders: re.Pattern[str]) -> Iterator[str]:
    for match in orders.finditer(sentence):
        if not is_negated(sentence, match.start()):
            yield match.group()


def _stands(words: Collection[str], store: _Store) -> bool:
    return any(store.files.match(word) for word in words)


def _words(path: str) -> list[str]:
    return re.split(r"[\W_]+", path.casefold())


def _any(row: dict[str, list[str]], *keys: str) -> str:
    """A pattern for phrases; Latin ones count as whole words."""
    phrases = [phrase for key in keys for phrase in row[key]]
    latin = [phrase for phrase in phrases if not has_han(phrase)]
    words = rf"(?<![\w-])(?:{'|'.join(latin)})(?![\w-])" if latin else ""
    return "|".join(filter(None, (words, *filter(has_han, phrases)))) or _NEVER


_NEVER = r"(?!)"
_READS = "reads"
_VERB = re.compile(
    rf"(?P<{_READS}>{_any(_TABLE['reads'], 'en', 'zh')})"
    rf"|(?P<makes>{_any(_TABLE['makes'], 'en', 'zh')})"
)
_STORES = tuple(
    _Store(
        re.compile(_any(row, "own")),
        re.compile(_any(row, "own", "en", "zh")),
        re.compile(_any(row, "own", "en", "zh", "bare")),
        re.compile(_any(row, "done")),
        re.compile("|".join(row["files"])),
    )
    for row in _TABLE["store"].values()
)
