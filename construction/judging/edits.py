"""Input files that a request has changed where they lie: "delete the last row in budget.xlsx".

Such a file is what is to be delivered, under its own name, or under another where it is renamed or
moved. The request names it, or says what it is ("the budget workbook"); a description counts only
where it fits one input file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from construction.grading.file_types import extension_of
from construction.judging.lexicon import LEAD_INS, VERBS
from construction.judging.reading import Ask, read
from construction.mentions.brought import brings_along
from construction.mentions.extensions import tail
from construction.mentions.negation import is_negated
from data.text.lexicon import load_table
from data.text.scripts import has_han

_TABLE = load_table("construction.judging", "tables", "edits.toml")
_CLAUSE = re.compile(r"[,;:()，；：]|\b(?:and|then|to)\b|[—–]")
_NEXT = re.compile(r"[,;]|\b(?:and|then)\b")
_ANEW = re.compile(
    r"\bnew (?:\w+ )?(?:file|workbook|spreadsheet|document)|\b(?:a|separate) copy\b"
    r"|另存|新文件|新建|副本"
)
_NEW_COLUMN = re.compile(
    r"\b(?:new|additional|extra) (?:header|column|sheet)\b|新(?:增的)?(?:列|表头)"
)
_IN_PLACE = re.compile(
    r"(?i)\bin[ -]place\b|\boverwrite\b|\bdirectly in\b|原地|就地|直接(?:修改|改)"
)
_ROOTED = re.compile(r"[/~]|[A-Za-z]:[/\\]")
_VERBS = frozenset(_TABLE["verbs"])
_TAKING = frozenset(_TABLE["taking"])
_ALTERING = frozenset(_TABLE["altering"]) | _TAKING
_ALTERING_ZH = re.compile("|".join(_TABLE["altering_zh"]))
_PICKING = frozenset(_TABLE["picking"])
_NEW_TEXT = re.compile(_TABLE["new_text"])
_MADE_AS = re.compile(_TABLE["made_as"])
_ZH = re.compile("|".join(_TABLE["zh"]))
_REPAIRS_ZH = re.compile("|".join(_TABLE["repairs_zh"]))
_ASKS = LEAD_INS | {"can", "could", "would", "you"}
_PLACES = frozenset(("in", "into", "to", "of", "on", "at", "within", "inside"))
_OBJECTS = {word: tuple(ends) for word, ends in _TABLE["objects"].items()}
_PLAIN = frozenset(_TABLE["plain"]) | frozenset(_OBJECTS)
_STOP = r"(?:to|into|as|in|from|with|using|by|so|and|of|that|which)\b"
_NOUN = rf"(?:{'|'.join(sorted({*_OBJECTS, *_TABLE['holders']}, reverse=True))})s?\b"
_MOVED = re.compile(
    r"(?:^|[,;:.] |\b(?:and|then|to|please|you) )(?:"
    r"(?:(?P<verb>rename|move|relocate|copy|duplicate|convert)|change the (?:file )?name of) "
    rf"(?P<object>(?:all|both) (?:(?:and |(?!{_STOP})[\w.-]+,? )){{1,6}}{_NOUN}"
    r"|[\w./-]{1,80}\.[a-z]{2,5}\b"
    rf"|(?!(?:an?|each|any|new)\b)(?:(?!{_STOP})[\w'.-]+ ){{0,6}}{_NOUN})"
    r"|change (?P<named>(?:the|this|that|my) (?:[\w.-]+ ){1,3}?)(?:file )?name (?:to|into)\b)"
)
_ALL = re.compile(r"(?:all|every|both)\b")
_CHANGED = re.compile(
    r"\b(?:in|of|from|to|on) (?P<object>(?:the|this|that|my|our|his|her|their) "
    rf"(?:(?!{_STOP})[\w'.-]+ ){{0,4}}(?:{'|'.join(sorted(_OBJECTS, reverse=True))})s?\b)"
)
_SAVED = re.compile(r"\b(?:save|store|export|write|put|output|create|generate|make)\b")
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|「[^」\n]{1,400}」")
_TAKEN_ZH = re.compile(r"[把将对给]\s?[“「《\"'`]?(?:[^\s，。；]{1,200}/)?$")
_ADDING = frozenset(("append", "add", "insert", "paste", "copy"))
_ONTO = re.compile(r"[\s\"'`]*(?:file |document )?(?:to|into|at the end of|after|below)\b")
_REACH = 10  # words before a file
_SPAN = 1_000  # characters in which the first words of a clause, or the last before a file, stand
_REACH_ZH = 12  # characters
_FEW = 3  # words between a verb and its object


def changed_inputs(request: str, given: Sequence[str], outputs: Sequence[str]) -> tuple[str, ...]:
    """The `given` paths of the input files that a request wants changed, in order.

    Where it names an output of the same type, that file holds the change; beside any other output
    only the object of the verb is changed: "sort boats.xlsx and write notes.md". Where results have
    a folder of their own, all of them are named, unless something is changed "in place".
    """
    if any(map(_ROOTED.match, outputs)) and not _IN_PLACE.search(request):
        return ()
    made = {extension_of(path) for path in outputs}
    edited: dict[str, None] = {}
    for sentence in read(_QUOTED.sub(_without_stops, request)):
        text = sentence.text.lower()
        verb = _edit_verb(text) or (_NEW_COLUMN.search(text) and "add") or ""
        if not verb or sentence.ask in (Ask.QUESTION, Ask.STATUS) or _ANEW.search(text):
            continue
        added = {path for path in given if _is_added(text, path, verb)}
        # "Highlight its risks in a summary" says something of the file in a new text.
        picked = verb in _PICKING and _NEW_TEXT.search(text) is not None
        column = max((match.start() for match in _NEW_COLUMN.finditer(text)), default=-1)
        for at, path in files_in(text, given):
            before = text[max(0, at - _SPAN) : at]
            is_object = not outputs or _takes_file(before, verb)
            is_read = _is_of_another_verb(before) and column < at  # "show it in a.xlsx in a …"
            is_read |= picked or _NEW_TEXT.match(text, 0, at) is not None
            if is_read or path in added or _MADE_AS.search(before):
                continue
            if extension_of(path) not in made and is_object and _is_changed(before, verb):
                edited.setdefault(path)
    return tuple(edited) or (() if outputs else _repaired(request, given))


def _repaired(request: str, given: Sequence[str]) -> tuple[str, ...]:
    """The only input file, if something is to be repaired and no file is named: "fix the typos"."""
    if len(given) != 1 or extension_of(given[0]) in _TABLE["fixed"]:
        return ()
    for sentence in read(request):
        text = sentence.text.lower()
        verbs = [start for start, words in _clauses(text) if words[0] in _TABLE["repairs"]]
        verbs += [verb.start() for verb in _REPAIRS_ZH.finditer(text)]
        is_order = sentence.ask not in (Ask.QUESTION, Ask.STATUS) and not _ANEW.search(text)
        if is_order and any(not is_negated(text, start) for start in verbs):
            return (given[0],)
    return ()


def _is_added(text: str, path: str, verb: str) -> bool:
    """Is what a file holds to be added to another, so that it stays itself as it is?"""
    name = tail(path).lower()
    at = text.find(name) if verb in _ADDING else -1
    return at >= 0 and _ONTO.match(text, at + len(name)) is not None


def _is_of_another_verb(before: str) -> bool:
    """Does the clause that names the file begin with a verb that changes nothing?"""
    words = _NEXT.split(before)[-1].split()
    return len(_NEXT.split(before)) > 1 and bool(words) and words[0] in VERBS - _VERBS


def alters(text: str) -> bool:
    """Does a sentence order that what is there become something else, or go?"""
    lowered = text.lower()
    for start, words in _clauses(lowered):
        is_order = words[0] in _ALTERING and words[1:2] not in (["me"], ["us"])
        if is_order and not is_negated(lowered, start):
            return True
    verb = _ALTERING_ZH.search(lowered)
    return verb is not None and not is_negated(lowered, verb.start())


def _takes_file(before: str, verb: str) -> bool:
    """Is the file the object of the verb, few words after it, or before it in Chinese?"""
    if verb not in before:
        return _TAKEN_ZH.search(before) is not None
    words = before[before.rfind(verb) + len(verb) :].split()
    return len(words) <= _FEW and _PLACES.isdisjoint(words)


def _without_stops(quoted: re.Match[str]) -> str:
    """A quotation whose full stops end no sentence of the request; names of files stay."""
    return re.sub(r"[.?!。？！](?!\w)", ",", quoted.group())


def _edit_verb(text: str) -> str:
    """The first verb of a change that a clause orders; empty if there is none."""
    for start, words in _clauses(text):
        is_sum = words[1:2] in (["up"], ["together"], ["me"], ["us"])
        if words[0] in _VERBS and not is_sum and not is_negated(text, start):
            return words[0]
    verb = _ZH.search(text)
    return verb.group() if verb and not is_negated(text, verb.start()) else ""


def _clauses(text: str) -> Iterator[tuple[int, list[str]]]:
    """Where each clause starts, and its first words without those that only lead in."""
    for start in (0, *(mark.end() for mark in _CLAUSE.finditer(text))):
        first = text[start : start + _SPAN].split()[:_REACH]
        words = [word for word in first if word not in _ASKS]
        if words:
            yield start, words


def moved_inputs(request: str, given: Sequence[str]) -> tuple[str, ...]:
    """The `given` paths of the input files that are to be renamed, moved or copied as they are."""
    moved: dict[str, None] = {}
    for verb, phrase in _moved_phrases(request):
        matched = dict.fromkeys(path for _, path in files_in(phrase, given))
        matched = matched or dict.fromkeys(_described(phrase, given))
        if verb != "convert" and (len(matched) == 1 or _ALL.match(phrase)):
            moved.update(matched)
    return tuple(moved)


def missing_objects(request: str, given: Sequence[str]) -> tuple[str, ...]:
    """What is to be renamed, moved or changed, as the request says it, and is no input file.

    Where the request brings its text or its code along, nothing is missing.
    """
    if brings_along(request):
        return ()
    phrases = [phrase for _, phrase in _moved_phrases(request)] + list(_changed_phrases(request))
    return tuple(
        phrase
        for phrase in dict.fromkeys(phrases)
        if not any(True for _ in files_in(phrase, given)) and not _described(phrase, given)
    )


def _moved_phrases(request: str) -> Iterator[tuple[str, str]]:
    """(verb, words for the file) of everything that is to be renamed, moved, copied, converted."""
    for sentence in read(request):
        text = " ".join(sentence.text.lower().split())
        saved = _first_saved(text)
        for match in _MOVED.finditer(text):
            is_made = match["verb"] == "convert" and saved <= match.start()
            if not is_made and not is_negated(text, match.start()):
                yield (match["verb"] or "rename"), (match["object"] or match["named"]).strip()


def _changed_phrases(request: str) -> Iterator[str]:
    """The words for each file in which a change is to be made, where they say its type."""
    for sentence in read(request):
        text = " ".join(sentence.text.lower().split())
        if sentence.ask in (Ask.QUESTION, Ask.STATUS) or not _edit_verb(text) or _ANEW.search(text):
            continue
        saved = _first_saved(text)
        for match in _CHANGED.finditer(text):
            if saved > match.start():
                yield match["object"]


def _first_saved(text: str) -> int:
    """Where the first word for the making of a file ends; behind the text if there is none."""
    saved = _SAVED.search(text)
    return saved.end() if saved else len(text) + 1


def _described(phrase: str, given: Sequence[str]) -> list[str]:
    """The input files that words without a name may mean: by type, and by what they are called."""
    words = re.findall(r"[a-z0-9]+", phrase)
    types = frozenset(end for word in words for end in _OBJECTS.get(word, ()))
    fitting = [path for path in given if not types or extension_of(path) in types]
    content = [word.removesuffix("s") for word in words if word not in _PLAIN]
    by_name = [path for path in fitting if any(word in path.lower() for word in content)]
    return by_name or ([] if content and not types else fitting)


def files_in(text: str, given: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(where it stands, path) of every input file that a text in lower case names or describes."""
    for path in given:
        at = text.find(tail(path))
        if at >= 0:
            yield at, path
    for word, extensions in _TABLE["kinds"].items():
        for match in re.finditer(rf"(?<![a-z]){word}(?![a-z])", text):
            fitting = [path for path in given if extension_of(path) in extensions]
            before = text[max(0, match.start() - _SPAN) : match.start()]
            words = frozenset(re.split(r"[\W_]+", before)[-_REACH:])
            chosen = fitting if len(fitting) == 1 else _named_by(words, fitting)
            if len(chosen) == 1:
                yield match.start(), chosen[0]


def _named_by(words: Collection[str], paths: Sequence[str]) -> list[str]:
    """The paths whose whole name the words hold, or else, one alone, a part of whose name."""
    whole = [path for path in paths if set(words).issuperset(stem_words(path))]
    part = [path for path in paths if not set(words).isdisjoint(stem_words(path))]
    return whole or (part if len(part) == 1 else [])


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
