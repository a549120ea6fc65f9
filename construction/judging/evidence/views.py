"""What files show: each is opened as hostile input in a child with limits, and gives one view.

    look({"data/ledger.xlsx": path, …}) -> (FileView, …), in the order of the paths

Views hold files whole up to a limit of characters for each file and for all of a case, so that
`shown` needs no file again. `Pictures` makes the images that go with a prompt: an input file itself
or a page without text, scaled and written anew without what it holds besides (places, cameras,
comments). The same files give the same views and pictures.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from construction.grading.file_look import RuleLimits, read_regular
from construction.grading.openers import TooLarge
from construction.judging.calls.contracts import Image
from construction.judging.evidence.contracts import FileView, ImageRef, Part, Sheet
from construction.mentions.extensions import media_type
from data.child import Child, ChildFailed, ChildLimits
from data.contracts import Fixture

PIXELS = 1_200  # of the longer side of a picture
_CHILD = "construction.judging.evidence.opened"
_PICTURE_LIMITS = ChildLimits(seconds=30, memory_bytes=2 << 30, answer_bytes=8 << 20)
_TAIL_SHARE = 4  # of a text that is cut, one part in so many is its end
_ENTRIES = 400  # of a folder tree


@dataclass(frozen=True, slots=True)
class ViewLimits:
    """Limits of views: bytes, seconds and memory of one file, cells that are read of a table.

    `chars` of one view, `case_chars` of all views of a case, `files` of a case that are opened.
    """

    file_bytes: int = 100 << 20
    seconds: int = 30
    memory_bytes: int = 2 << 30
    cells: int = 400_000
    chars: int = 1_500_000
    case_chars: int = 4_000_000
    files: int = 200


def look(files: Mapping[str, Path], limits: ViewLimits | None = None) -> tuple[FileView, ...]:
    """The views of files by the path that the task gives them; none fails, it says why."""
    limits, views = limits or ViewLimits(), []
    for at, (name, path) in enumerate(files.items()):
        if at < limits.files:
            views.append(_within(_look(name, path, limits), limits.chars))
        else:
            views.append(_unread(name, 0, "is beyond the number of files that are opened"))
    # Small views stay whole, the others get alike of what is left.
    sizes, room = list(map(size_of, views)), limits.case_chars
    for rest, at in enumerate(sorted(range(len(views)), key=lambda n: (sizes[n], n))):
        share = min(sizes[at], room // (len(views) - rest))
        views[at] = _within(views[at], share)
        room -= share
    return tuple(views)


def each_once(views: Iterable[FileView]) -> tuple[FileView, ...]:
    """The views, of those that show the same as an earlier one only that they do."""
    first: dict[FileView, str] = {}
    shown = []
    for view in views:
        plain = view.model_copy(update={"path": "", "media_type": ""})
        path = first.setdefault(plain, view.path) if view.sheets or view.parts else view.path
        if path != view.path:
            view = FileView(
                path=view.path,
                bytes=view.bytes,
                media_type=view.media_type,
                kind=view.kind,
                note=f"the same as {path}",
            )
        shown.append(view)
    return tuple(shown)


def tree_of(paths: Iterable[str]) -> tuple[str, ...]:
    """The folders of some files, with how many files of which types lie in each."""
    folders: dict[str, Counter[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        types = folders.setdefault(f"{folder}/" if folder else "./", Counter())
        types[Path(name).suffix.lower() or "no extension"] += 1
    lines = [
        f"{folder} {', '.join(f'{n} {kind}' for kind, n in sorted(types.items()))}"
        for folder, types in sorted(folders.items(), key=lambda entry: entry[0].removeprefix("./"))
    ]
    more = [f"… {len(lines) - _ENTRIES} more folders"] if len(lines) > _ENTRIES else []
    return tuple(lines[:_ENTRIES] + more)


def _look(name: str, path: Path, limits: ViewLimits) -> FileView:
    try:
        content = read_regular(str(path.parent), path.name, limits.file_bytes)
    except TooLarge:
        return _unread(name, path.lstat().st_size, "is larger than the files that are opened")
    except (OSError, ValueError):
        return _unread(name, 0, "is no regular file")
    bounds = {**asdict(RuleLimits().bounds), "cells": limits.cells}
    try:
        child_limits = ChildLimits(limits.seconds, limits.memory_bytes)
        fields = json.loads(
            in_child({"name": _plain(name), "bounds": bounds}, content, child_limits)
        )
        return FileView(**_named(name, len(content)), **_plain(fields))
    except (ChildFailed, ValueError, RecursionError):
        return _unread(name, len(content), "took too long or too much memory to open")


def in_child(task: Mapping[str, Any], content: bytes, limits: ChildLimits) -> bytes:
    """What `opened` makes of a file. Raises ChildFailed."""
    with Child(_CHILD, limits) as child:
        child.send(json.dumps(task).encode())
        child.send(content)
        return child.receive()


def _named(name: str, size: int) -> dict[str, Any]:
    return {"path": _plain(name), "bytes": size, "media_type": media_type(_plain(name))}


def _unread(name: str, size: int, note: str) -> FileView:
    return FileView(**_named(name, size), kind="unreadable", note=note)


def _plain(value: Any) -> Any:
    """The same without lone surrogates, which no file can hold as text."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return {k: _plain(inner) for k, inner in value.items()} if isinstance(value, dict) else value


def size_of(view: FileView) -> int:
    """The characters that a view holds."""
    rows = sum(map(_rows_size, view.sheets))
    return rows + sum(len(part.text) for part in view.parts) + sum(map(len, view.outline))


def _rows_size(sheet: Sheet) -> int:
    return sum(len(cell) + 3 for row in (*sheet.head, *sheet.tail) for cell in row)


def _within(view: FileView, most: int) -> FileView:
    """A view of at most about so many characters: of tables the first rows, of text both ends."""
    size = size_of(view)
    if size <= most:
        return view
    part_room = most * sum(len(part.text) for part in view.parts) // size
    # The outline counts once for each sheet; what a view shows must not change.
    outline = sum(map(len, view.outline)) * len(view.sheets)
    rows = max(1, sum(map(_rows_size, view.sheets)) + outline)
    parts, missing = _ends(view.parts, part_room)
    lost = f"{missing} characters in the middle were not read" if missing else ""
    shown = {
        "sheets": tuple(_cut_sheet(sheet, (most - part_room) / rows) for sheet in view.sheets),
        "parts": parts,
        "note": "; ".join(filter(None, (view.note, lost))),
        "outline": view.outline[: max(20, most // 400)],
    }
    return view.model_copy(update=shown)


def _cut_sheet(sheet: Sheet, share: float) -> Sheet:
    kept = max(5, int(len(sheet.head) * share))
    if kept >= len(sheet.head):
        return sheet
    tail = sheet.tail or sheet.head[max(kept, len(sheet.head) - 8) :]
    return sheet.model_copy(update={"head": sheet.head[:kept], "tail": tail, "whole": False})


def _ends(parts: Sequence[Part], most: int) -> tuple[tuple[Part, ...], int]:
    """The first and the last parts that fit, and how many characters are left out between."""
    total = sum(len(part.text) for part in parts)
    if total <= most:
        return tuple(parts), 0
    head, room = list[Part](), most - most // _TAIL_SHARE
    for part in parts:
        if len(part.text) > room:
            head.append(part.model_copy(update={"text": part.text[:room]}))
            break
        head.append(part)
        room -= len(part.text)
    tail, room = list[Part](), most // _TAIL_SHARE
    for part in reversed(parts[len(head) :]):
        if len(part.text) > room:
            break
        tail.append(part)
        room -= len(part.text)
    kept = [part for part in [*head, *reversed(tail)] if part.text]
    return tuple(kept), total - sum(len(part.text) for part in kept)


class Pictures:
    """Makes the pictures of released files, which it finds by their SHA-256; each is made once."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._made: dict[tuple[str, str], Image | None] = {}

    def of(
        self, fixtures: Iterable[Fixture], references: Iterable[ImageRef]
    ) -> list[tuple[ImageRef, Image]]:
        """The pictures that can be made, each with what it shows."""
        digests = {fixture.path: fixture.sha256 for fixture in fixtures}
        made = []
        for reference in references:
            key = digests.get(reference.path, ""), reference.picture
            path = self._files.get(key[0])
            if path is not None and key not in self._made:
                self._made[key] = _scaled(path, reference.picture)
            if (image := self._made.get(key)) is not None:
                made.append((reference, image))
        return made


def _scaled(path: Path, picture: str) -> Image | None:
    task = {"picture": picture, "pixels": PIXELS, "most": RuleLimits().pixels}
    try:
        content = read_regular(str(path.parent), path.name, RuleLimits().file_bytes)
        made = in_child(task, content, _PICTURE_LIMITS)
    except (ChildFailed, OSError, TooLarge):
        return None
    return Image("image/jpeg", made) if made else None
