"""What masking changes in the request of an instance, with turn and file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from anonymization.instruction_gate import (
    ChangedPart,
    ChangeKind,
    MaskedWords,
    changed_part,
    changed_parts,
    named_turn,
)
from anonymization.names_in_addresses import LostName, lost_names, words_of
from anonymization.session_texts import FindFileNames, text_edits
from anonymization.text.contracts import Edit
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import applied
from data.contracts import TaskInstance

Shown = Callable[[str, int, int], str]


def said_names(instances: Iterable[TaskInstance]) -> frozenset[str]:
    """The names, in folded case, that requests say outside addresses."""
    turns = [turn.said for instance in instances for turn in instance.user_turns]
    return frozenset(name.casefold() for name in words_of(turns).names)


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

    lost = lost_names(words_of(said), words_of(held, [path for path, _ in files]), shown)
    return [*changed_parts(request, given), *(_subject(name, sources, shown) for name in lost)]


def _subject(lost: LostName, sources: Mapping[str, str], shown: Shown) -> ChangedPart:
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
