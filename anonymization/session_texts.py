"""Masking of what was said in sessions, so that it still names its files as they are released."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from anonymization.documents.visitor import name_edits
from anonymization.text.contracts import Edit
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, shifted
from anonymization.text.vault import applied

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
