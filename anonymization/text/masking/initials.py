"""Initials (`HB`, `M.O.`, `rp`) follow the surrogate of somebody whom the same file names in whole.

Two files may name two people with the same initials, so that no value of a whole scope will do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from anonymization.text.contracts import Edit, EntityType, Finding, Value, kinds
from anonymization.text.masking.pieces import Piece
from anonymization.text.masking.spreading import Spreading
from anonymization.text.surrogates.links import letters_of
from anonymization.text.surrogates.names import initials_of, is_initials

_TITLE = re.compile(r"(?:Frau|Herrn?|Fr\.|Hr\.|Familie|Dr\.|Prof\.)\s\Z")  # of German texts
_LETTERS = range(2, 5)
_OF_PEOPLE = kinds("ACCOUNT USER_PATH PERSON UNEXPLAINED")


class InitialsOfFiles:
    """The initials of the people in each file, with those of their surrogates (`new_of`)."""

    def __init__(
        self,
        spreading: Spreading,
        findings: Mapping[Piece, Sequence[Finding]],
        new_of: Callable[[EntityType, str], str],
        same: Sequence[Sequence[Value]] = (),
    ) -> None:
        self._spreading, self._findings, self._new_of = spreading, findings, new_of
        # The initials that a model says are somebody's.
        self._said = [
            (leader, value.replace(".", ""))
            for (_, leader), *others in same
            for _, value in others
            if is_initials(value.replace(".", "").upper())
        ]
        self._known: dict[int, dict[str, str]] = {}

    def clear(self) -> None:
        """There are new values: whom files name is no longer known."""
        self._known.clear()

    def agreeing(self, piece: Piece, value: str, edit: Edit, values: Set[Value]) -> Edit:
        """The edit; of initials with those of somebody in the file, unless they are a value too."""
        letters = value.replace(".", "").replace(" ", "")
        is_short = len(letters) in _LETTERS and letters.isascii() and letters.isalpha()
        if not is_short or edit.type not in _OF_PEOPLE:
            return edit
        for file in self._spreading.files_of(piece):
            new = self._of(file).get(letters.upper(), "")
            if len(new) == len(letters) and (edit.type, new) not in values:
                parts = iter(new)
                written = "".join(next(parts) if char.isalpha() else char for char in value)
                return replace(edit, new=written.lower() if value.islower() else written)
        return edit

    def _of(self, file: int) -> Mapping[str, str]:
        if file not in self._known:
            self._known[file] = {}
            for name in self._names(self._spreading.pieces_of(file) or self._findings):
                new = initials_of(self._new_of(EntityType.PERSON, name))
                for old, becomes in zip(initials_of(name), new, strict=False):
                    self._known[file].setdefault(old, becomes)
                for leader, letters in self._said:
                    said = letters_of(name, self._new_of(EntityType.PERSON, name), letters)
                    if leader == name and said:
                        self._known[file][letters.upper()] = said
        return self._known[file]

    def _names(self, pieces: Iterable[Piece]) -> Iterable[str]:
        for piece in pieces:
            for each in self._findings.get(piece, ()):
                value = piece.value[each.start : each.end]
                if each.type is EntityType.PERSON and " " in value:
                    yield value


def family_names(piece: Piece, findings: Iterable[Finding]) -> Iterator[str]:
    """The words by which a piece calls people behind a German title."""
    for each in findings:
        if _TITLE.search(piece.value[max(0, each.start - 10) : each.start]):
            yield piece.value[each.start : each.end]
