"""Stores of records that a request speaks of as there: mail, a calendar, contacts, tickets.

Whoever asks "check my calendar for a free slot" sees the calendar; who has only the task does not,
unless a file holds what was in it. The words are in `stores.toml`. Counted is what is to be read,
or changed where it lies; what is to be made is not ("write a ticket template"). Beside exports of
stores (`crm/customers.json`) an order to send something counts too: no export can send.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

from construction.mentions.extensions import path_words
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
_FIGURES = 2  # that a request says of its own
_NUMBER = re.compile(r"\d[\d.,]*")
# Where these verbs stand, what follows is looked up, and no list of what is there.
_FETCHES = frozenset(
    ("find", "look up", "get", "fetch", "retrieve", "pull", "查找", "查询", "获取")
)
_THESE = re.compile(r"(?:\b(?:these|the following|diese|folgende) |(?:这些|以下|下列|下面的?))$")
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
    given = [path_words(path) for path in paths]
    lacking = [store for store in _STORES if not any(_stands(words, store) for words in given)]
    if any(map(_is_export, paths)):
        return tuple(dict.fromkeys((*_beside_export(text, lacking), *_sent(text))))
    if brings_records(text, of_its_own=not paths):
        return ()
    is_known = all(any(_stands(words, store) for store in _STORES) for words in given)
    spoken = [store.content if is_known else store.itself for store in lacking]
    spoken += [] if paths else [_BELONGINGS]
    sentences = [said for said, names_file in _sentences(text) if not names_file]
    missing = (said for line in sentences for words in spoken for said in _read_in(line, words))
    return tuple(dict.fromkeys(missing))


def _beside_export(text: str, lacking: Sequence[_Store]) -> Iterator[str]:
    """What is read or changed in stores that are not there although others are."""
    for sentence, _ in _sentences(text):
        for store in lacking:
            yield from _read_in(sentence, store.bare)
            yield from (
                order.group()
                for order in store.done.finditer(sentence)
                if not is_negated(sentence, order.start())
            )


def _sent(text: str) -> Iterator[str]:
    """Orders to send something, unless the request says that nothing is to be sent."""
    if _WITHHELD.search(text.lower()):
        return
    for sentence, _ in _sentences(text):
        for order in _SENDS.finditer(sentence):
            if not is_negated(sentence, order.start("said")):
                yield order["said"]


def _is_export(path: str) -> bool:
    """Is it JSON in a folder that is called as a store, such as `crm/customers.json`?"""
    *folders, name = path.split("/")
    return name.endswith((".json", ".jsonl")) and any(
        _stands(path_words(folder), store) for folder in folders for store in _STORES
    )


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences in lower case, and whether each names a file: then the file is looked for.

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
        names_file = bool(find_file_spans(text[start:end]))
        yield (f"{introduction} {sentence}" if is_item else sentence), names_file


def _read_in(sentence: str, spoken: re.Pattern[str]) -> Iterator[str]:
    matches = list(spoken.finditer(sentence))
    if not matches:
        return
    verbs = [(verb.start(), verb.lastgroup, verb.group()) for verb in _VERB.finditer(sentence)]
    for match in matches:
        before = bisect_right(verbs, match.start(), key=itemgetter(0))
        _, kind, verb = verbs[before - 1] if before else (0, "", "")
        is_listed = verb not in _FETCHES and _is_listed(sentence, match)
        if kind == _READS and not is_listed and not is_negated(sentence, match.start()):
            yield match.group()


def _is_listed(sentence: str, match: re.Match[str]) -> bool:
    """Does the request list what is in a store: "these tickets: …", "my expenses: taxi 9"?"""
    rest = sentence[match.end() :]
    if _THESE.search(sentence, 0, match.start()):
        return ":" in rest or "：" in rest
    return rest.lstrip().startswith((":", "：")) and len(_NUMBER.findall(rest)) >= _FIGURES


def _stands(words: Collection[str], store: _Store) -> bool:
    return any(store.files.match(word) for word in words)


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
_BELONGINGS = re.compile(_any(_TABLE["belongings"], "en", "zh"))
_SENDS = re.compile(
    r"(?:^|[,;:.] |[-*] |\d[.)] |\b(?:and|then|please|also|finally|next|you) |(?=[^\x00-\x7f]))"
    rf"(?P<said>{_any(_TABLE['sends'], 'en', 'zh')})"
)
_WITHHELD = re.compile("|".join(_TABLE["sends"]["withheld"]))
