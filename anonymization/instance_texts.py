"""Masking the texts of an instance so that they still name its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from anonymization.documents.visitor import name_edits
from anonymization.text.contracts import Edit
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece, shifted
from anonymization.text.restore import applied

# Where the names of files stand in a text: (start, end) of each.
FindFileNames = Callable[[str], Sequence[tuple[int, int]]]
_COMPONENT = re.compile(r"[^/\\]+")


def masked_text(text: str, masker: Masker, find_names: FindFileNames) -> str:
    """A text masked; the names of files in it become what the files' own names become."""
    return applied(text, text_edits(text, masker, find_names))[0]


def text_edits(text: str, masker: Masker, find_names: FindFileNames) -> list[Edit]:
    """The edits of a text, sorted, without overlap.

    Inside the name of a file only what the name itself shows to be private is changed: a sentence
    around it must not give the file another name than the one it is released under.
    """
    named = find_names(text)
    edits = [part for edit in masker.edits(Piece(text)) for part in _outside(edit, named)]
    for start, end in named:
        for component in _COMPONENT.finditer(text, start, end):
            edits += shifted(name_edits(component.group(), masker.edits), component.start())
    return sorted(edits)


def _outside(edit: Edit, named: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """What of an edit lies before and after the file names; the first part takes all of `new`."""
    start, new = edit.start, edit.new
    for name_start, name_end in named:
        if name_end <= start or name_start >= edit.end:
            continue
        if start < name_start:
            yield replace(edit, start=start, end=name_start, new=new)
            new = ""
        start = name_end
    if start < edit.end:
        yield replace(edit, start=start, new=new)
