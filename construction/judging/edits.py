"""Input files that a request has changed where they lie: "delete the last row in budget.xlsx".

Such a file is what is to be delivered, under its own name. The request names it, or says what it
is ("the budget workbook"); a description counts only where it fits one input file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from construction.grading.file_types import extension_of
from construction.judging.lexicon import LEAD_INS
from construction.judging.reading import Ask, read
from construction.mentions.extensions import tail
from construction.mentions.negation import is_negated
from data.text.lexicon import load_table
from data.text.scripts import has_han

_TABLE = load_table("construction.judging", "tables", "edits.toml")
_CLAUSE = re.compile(r"[,;:()，；：]|\b(?:and|then|to)\b|[—–]")
_ANEW = re.compile(
    r"\bnew (?:\w+ )?(?:file|workbook|spreadsheet|document)|\b(?:a|separate) copy\b"
    r"|另存|新文件|新建|副本"
)
_VERBS = frozenset(_TABLE["verbs"])
_TAKING = frozenset(_TABLE["taking"])
_ZH = re.compile("|".join(_TABLE["zh"]))
_ASKS = LEAD_INS | {"can", "could", "would", "you"}
_PLACES = frozenset(("in", "into", "to", "of", "on", "at", "within", "inside"))
_REACH = 10  # words before a file
_REACH_ZH = 12  # characters


def changed_inputs(request: str, given: Sequence[str], outputs: Sequence[str]) -> tuple[str, ...]:
    """The `given` paths of the input files that a request wants changed, in order.

    Where it names an output of the same type, that file holds the change.
    """
    made = {extension_of(path) for path in outputs}
    edited: dict[str, None] = {}
    for sentence in read(request):
        text = sentence.text.lower()
        verb = _edit_verb(text)
        if not verb or sentence.ask in (Ask.QUESTION, Ask.STATUS) or _ANEW.search(text):
            continue
        for at, path in files_in(text, given):
            if extension_of(path) not in made and _is_changed(text[:at], verb):
                edited.setdefault(path)
    return tuple(edited)


def _edit_verb(text: str) -> str:
    """The first verb of a change that a clause orders; empty if there is none."""
    starts = [0, *(mark.end() for mark in _CLAUSE.finditer(text))]
    for start in starts:
        words = [word for word in text[start:].split()[:_REACH] if word not in _ASKS]
        is_sum = words[1:2] in (["up"], ["together"])
        if words and words[0] in _VERBS and not is_sum and not is_negated(text, start):
            return words[0]
    verb = _ZH.search(text)
    return verb.group() if verb and not is_negated(text, verb.start()) else ""


def files_in(text: str, given: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(where it stands, path) of every input file that a text in lower case names or describes."""
    for path in given:
        at = text.find(tail(path))
        if at >= 0:
            yield at, path
    for word, extensions in _TABLE["kinds"].items():
        for match in re.finditer(rf"(?<![a-z]){word}(?![a-z])", text):
            fitting = [path for path in given if extension_of(path) in extensions]
            words = frozenset(re.split(r"[\W_]+", text[: match.start()])[-_REACH:])
            by_name = [path for path in fitting if words.issuperset(stem_words(path))]
            chosen = fitting if len(fitting) == 1 else by_name
            if len(chosen) == 1:
                yield match.start(), chosen[0]


def stem_words(path: str) -> list[str]:
    """The words of a file's name, without its extension."""
    return [word for word in re.split(r"[\W_]+", tail(path).rpartition(".")[0]) if word]


def _is_changed(before: str, verb: str) -> bool:
    """Do the words before a file say that the change is made in it?"""
    if has_han(before):
        return not any(word in before[-_REACH_ZH:] for word in _TABLE["reading_zh"])
    words: list[str] = re.findall(r"[a-z]+", before)[-_REACH:]
    for position in range(len(words) - 1, -1, -1):
        if words[position] in _TABLE["reading"]:
            return words[position] == "from" and verb in _TAKING
        if words[position] in _PLACES or words[position] in _VERBS:
            return words[max(0, position - 1)] != "based"
    return not words
