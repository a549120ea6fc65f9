"""What became of inputs: the differences between two views of a file, cell by cell or by lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import islice

from construction.judging.evidence.contracts import Change, FileView, Sheet
from construction.judging.evidence.shown import plain_text
from construction.judging.evidence.tables import letters

_MOST, _LONGEST = 60, 240  # differences of a file, characters of one
_MOST_LINES = 4_000  # of a text that is compared line by line


def changes_of(before: Sequence[FileView], after: Sequence[FileView]) -> tuple[Change, ...]:
    """The inputs that were delivered again under their name, and how they differ."""
    given = {view.path.rpartition("/")[2]: view for view in before}
    pairs = [(given.get(view.path.rpartition("/")[2]), view) for view in after]
    return tuple(
        _change(was, now) for was, now in pairs if was is not None and now.kind == was.kind
    )


def _change(was: FileView, now: FileView) -> Change:
    if was.model_copy(update={"path": now.path, "bytes": now.bytes}) == now:
        return Change(path=now.path, how="same")
    lines = list(_cells(was, now)) or list(_lines(was, now))
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines[:_MOST]]
    return Change(path=now.path, how="changed", lines=tuple(cut), more=len(lines) - len(cut))


def _cells(was: FileView, now: FileView) -> Iterator[str]:
    """Cells that differ; nothing where rows came or went, which moves all that is below them."""
    old, new = ({sheet.name: sheet for sheet in view.sheets} for view in (was, now))
    if any(old[name].last_row != new[name].last_row for name in old.keys() & new.keys()):
        return
    yield from (f"sheet {name!r} is new" for name in new if name not in old)
    yield from (f"sheet {name!r} is gone" for name in old if name not in new)
    for name in (name for name in new if name in old):
        first, second = _placed(old[name]), _placed(new[name])
        for at in sorted(first.keys() | second.keys()):
            if first.get(at, "") != second.get(at, ""):
                cell = f"{name}!{letters(at[1])}{at[0]}" if name else f"{letters(at[1])}{at[0]}"
                yield f"{cell}: {first.get(at) or '(blank)'} → {second.get(at) or '(blank)'}"


def _placed(sheet: Sheet) -> dict[tuple[int, int], str]:
    return {
        (at, sheet.first_column + n): cell
        for at, row in enumerate(sheet.head, sheet.first_row)
        for n, cell in enumerate(row)
        if cell
    }


def _lines(was: FileView, now: FileView) -> Iterator[str]:
    """The lines of a unified diff without its heads."""
    old, new = (plain_text(view, numbered=False).splitlines()[:_MOST_LINES] for view in (was, now))
    yield from islice(unified_diff(old, new, lineterm="", n=0), 2, None)
