"""Masking of what was said in sessions, so that it still names its files as they are released, and
what it changes in the request of an instance, with turn and file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from anonymization.documents.visitor import name_edits
from anonymization.masking_gates import (
    ChangedPart,
    ChangeKind,
    MaskedWords,
    changed_part,
    changed_parts,
    named_turn,
)
from anonymization.text.contracts import Edit
from anonymization.text.detect.wording import words as words_of_table
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, shifted
from anonymization.text.vault import applied
from data.contracts import TaskInstance
from data.text.scripts import WORD_OUTSIDE_CJK

# Gives the spans of file names in a text: (start, end) of each, sorted, without overlap.
FindFileNames = Callable[[str], Sequence[tuple[int, int]]]
_COMPONENT = re.compile(r"[^/\\@][^/\\]*")  # "@docs/plan.md" names the file docs/plan.md


def masked_text(text: str, masker: Masker, find_names: FindFileNames) -> str:
    """A masked text; file names in it are replaced like the names of the files themselves."""
    return applied(text, text_edits(text, masker, find_names))[0]


def text_edits(text: str, masker: Masker, find_names: FindFileNames) -> list[Edit]:
    """The edits of a text, sorted, without overlap.

    Inside a file name only what the name alone shows to be private is changed: the sentence around
    it must not change it to another name than the one under which the file is released.
    """
    named = find_names(text)
    edits = [part for edit in masker.edits(Piece(text)) for part in _outside(edit, named)]
    for start, end in named:
        for component in _COMPONENT.finditer(text, start, end):
            edits += shifted(name_edits(component.group(), masker.edits), component.start())
    return sorted(edits)


def _outside(edit: Edit, named: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """The parts of an edit before and after file names; the first part takes all of `new`."""
    start, new = edit.start, edit.new
    for index in range(bisect_right(named, start, key=lambda span: span[1]), len(named)):
        name_start, name_end = named[index]
        if name_start >= edit.end:
            break
        if start < name_start:
            yield replace(edit, start=start, end=name_start, new=new)
            new = ""
        start = name_end
    if start < edit.end:
        yield replace(edit, start=start, new=new)


# Names that a request or its inputs say only within an address that masking replaces.
#
# "Collect the mails of Dana" over mails from `dana@quill.example`: behind a surrogate that shows
# nothing of Dana, nobody is Dana any more. So is a firm of which the request has only the address,
# where its inputs call it by name.

_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])"
    r"|(?<![\w.])(?:https?://|www\.)[!-~]{3,400}"
)
_LEAST = 3  # letters of a name
_NEAR = 8  # characters before a word that tell whether a sentence starts with it
_STARTS_SENTENCE = re.compile(r"(?:\A|[.!?:;。！？\n])[\s\"“‘'(\[*_#>-]*\Z")
_GOES_ON = re.compile(r"['’]s\b| [A-Z][a-z]")  # "Dana's mails", "Dana Holt wrote"
_GIVEN = frozenset(name.lower() for name in words_of_table("names.toml", "given"))
_WORDS_TOO = words_of_table("words.toml", "small_words_too")
_MOST_SPOTS = 20  # of a word that are looked at
# What addresses and requests share without meaning anybody.
_COMMON = re.compile(
    r"accounts?|admin|alerts?|app|billing|blog|com|contact|customers?|data|dev|docs|edu|e?mail"
    r"|events?|example|files?|finance|gmail|gov|help|home|hotmail|html|https?|index|info|jobs"
    r"|marketing|media|net|news|newsletter|noreply|notifications?|office|online|org|outlook|page"
    r"|press|reply|reports?|sales|school|security|server|service|shop|site|staff|store|students?"
    r"|support|system|team|test|university|updates?|web|www",
    re.IGNORECASE,
)

_Spot = tuple[str, int, int]  # a text, and where in it an address or a name stands


@dataclass(slots=True)
class Words:
    """The words of some texts: those outside addresses, and where those within them stand.

    Small letters throughout; `names` are the plain words that are written with a capital, with
    their places.
    """

    plain: set[str] = field(default_factory=set)
    names: dict[str, list[_Spot]] = field(default_factory=lambda: defaultdict(list))
    held: dict[str, list[_Spot]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class _LostName:
    """A name in small letters, where it is said, and the addresses that alone have it elsewhere."""

    name: str
    said: Sequence[_Spot]
    held: Sequence[_Spot]


def _words_of(texts: Iterable[str], file_names: Iterable[str] = ()) -> Words:
    """Read some texts. Linear in their length; names of files count as plain words."""
    words = Words()
    for text in texts:
        position = 0
        for match in _ADDRESS.finditer(text):
            _take(text, position, match.start(), words)
            position = match.end()
            for word in set(_telling(match.group())):
                _note(words.held[word], (text, *match.span()))
        _take(text, position, len(text), words)
    for name in file_names:
        _take(name, 0, len(name), words)
    return words


def _lost_names(
    request: Words, inputs: Words, shown: Callable[[str, int, int], str]
) -> tuple[_LostName, ...]:
    """The names that one side says plainly and the other only in addresses that show them no more.

    `shown` gives what stands at a place after masking: a name that was replaced is kept where the
    address shows what replaced it.
    """
    sides = (*_only_held(request, inputs), *_only_held(inputs, request))
    return tuple(lost for lost in sides if not _is_shown(lost, shown))


def _only_held(said: Words, elsewhere: Words) -> Iterator[_LostName]:
    """The names of one side that the other has in addresses alone.

    Where the side that says a name has an address with it too, that tells whose it is.
    """
    for name in sorted(said.names.keys() & elsewhere.held.keys()):
        if name not in elsewhere.plain and name not in said.held:
            yield _LostName(name, said.names[name], elsewhere.held[name])


def _is_shown(lost: _LostName, shown: Callable[[str, int, int], str]) -> bool:
    said = {word for spot in lost.said for word in _telling(shown(*spot))}
    return any(not said.isdisjoint(_telling(shown(*spot))) for spot in lost.held)


def _take(text: str, start: int, end: int, words: Words) -> None:
    for match in WORD_OUTSIDE_CJK.finditer(text, start, end):
        word = match.group()
        words.plain.add(word.lower())
        is_long = len(word) >= _LEAST and not _COMMON.fullmatch(word)
        if word[0].isupper() and is_long and _is_name(text, *match.span()):
            _note(words.names[word.lower()], (text, *match.span()))


def _is_name(text: str, start: int, end: int) -> bool:
    """Does a capital mean a name? At the start of a sentence every word has one ("May I …")."""
    if not _STARTS_SENTENCE.search(text, max(0, start - _NEAR), start):
        return True
    word = text[start:end].lower()
    return (word in _GIVEN and word not in _WORDS_TOO) or bool(_GOES_ON.match(text, end))


def _note(spots: list[_Spot], spot: _Spot) -> None:
    if len(spots) < _MOST_SPOTS:
        spots.append(spot)


def _telling(text: str) -> Iterator[str]:
    """The words of an address or a name that may name somebody."""
    for match in WORD_OUTSIDE_CJK.finditer(text):
        if len(match.group()) >= _LEAST and not _COMMON.fullmatch(match.group()):
            yield match.group().lower()


Shown = Callable[[str, int, int], str]


def said_names(instances: Iterable[TaskInstance]) -> frozenset[str]:
    """The names, in folded case, that requests say outside addresses."""
    turns = [turn.said for instance in instances for turn in instance.user_turns]
    return frozenset(name.casefold() for name in _words_of(turns).names)


def request_changes(
    instance: TaskInstance,
    files: Sequence[tuple[str, Sequence[Piece]]],
    masker: Masker,
    find_names: FindFileNames,
) -> list[ChangedPart]:
    """The demanded parts that masking changes. `files` are the input files, each with
    its texts.
    """
    said = [turn.said for turn in instance.user_turns]
    request = [
        MaskedWords(text, text_edits(text, masker, find_names), find_names(text)) for text in said
    ]
    given = {PurePath(path).name.casefold() for path, _ in files}
    held = {piece.value: (piece, path) for path, of in files for piece in of}
    sources = {text: path for text, (_, path) in held.items()}
    sources |= {text: named_turn(position) for position, text in enumerate(said)}
    known = {words.text: words.edits for words in request}

    def shown(text: str, start: int, end: int) -> str:
        if text not in known:
            known[text] = masker.edits(held[text][0])
        return _shown(text, start, end, known[text])

    lost = _lost_names(_words_of(said), _words_of(held, [path for path, _ in files]), shown)
    return [*changed_parts(request, given), *(_subject(name, sources, shown) for name in lost)]


def _subject(lost: _LostName, sources: Mapping[str, str], shown: Shown) -> ChangedPart:
    """A lost name as a changed part: where it is said, and the first address that had it."""
    spots = lost.said[0], lost.held[0]
    source = ", ".join(sources[text] for text, _, _ in spots)
    before = " … ".join(text[start:end] for text, start, end in spots)
    after = " … ".join(shown(*spot) for spot in spots)
    return changed_part(ChangeKind.SUBJECTS, source, before, after)


def _shown(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """What stands at a place after masking; an edit that overlaps its ends counts as a whole."""
    here = [edit for edit in edits if edit.start < end and start < edit.end]
    start = min([start, *(edit.start for edit in here)])
    end = max([end, *(edit.end for edit in here)])
    moved = [replace(e, start=e.start - start, end=e.end - start) for e in here]
    return applied(text[start:end], moved)[0]
