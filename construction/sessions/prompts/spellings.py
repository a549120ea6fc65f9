"""Names of input files that a person spells otherwise, as the files are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from construction.mentions.extensions import extension, spelling, tail
from construction.mentions.spans import find_file_spans
from data.contracts import TaskInstance


def with_names_as_given(instance: TaskInstance, given: Sequence[str]) -> TaskInstance:
    """The instance whose person names the `given` files to the letter: no "boats.xls" of a .xlsx.

    A name stays where it is that of a given file, or where that file is named to the letter beside
    it: then it may be a result.
    """
    turns = tuple(
        replace(turn, said=_as_given(turn.said, given)) if "." in turn.said else turn
        for turn in instance.user_turns
    )
    return instance if turns == instance.user_turns else replace(instance, user_turns=turns)


def _as_given(said: str, given: Sequence[str]) -> str:
    spans = [span for span in find_file_spans(said) if extension(span.path)]
    named = {tail(span.path) for span in spans}
    names = [path.rpartition("/")[2] for path in given]
    free = [name for name in names if name.casefold() not in named]
    pieces, position = [], 0
    for span in spans:
        written = tail(span.path)
        alike = [name for name in free if spelling(name) == spelling(written)]
        if len(alike) == 1 and written not in map(str.casefold, names):
            pieces += [said[position : span.end - len(written)], alike[0]]
            position = span.end
    return "".join(pieces) + said[position:]
