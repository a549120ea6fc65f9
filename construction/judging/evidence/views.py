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
from construction.mentions.files import media_type
from data.child import Child, ChildFailed, ChildLimits
from data.contracts import Fixture
from data.contracts.candidate import Contract

# The evidence of a task or an attempt: what was said, what each file shows, what an agent did.
#
# A file's view is made by the library of its type (`views`), is never a raw dump, and holds the
# file whole up to its limits: `shown.deal` chooses what of it fits into a prompt. All texts are as
# they stand in the files; what is sent to a model is cleaned there.

POINTER = "is a pointer (Git LFS, git-annex): its content is absent"  # the note of such a view


class Said(Contract):
    """One message: `speaker` is "person", "person:NAME" or "agent"; `at` an ISO time to minutes."""

    speaker: str
    at: str | None = None
    text: str


class Column(Contract):
    """A column of a table below its header, `low` and `high` as its type orders them.

    `type` is integer, number, date, text, boolean, mixed or empty. `distinct` counts the filled
    values, `blanks` the empty cells. `format` is the number format of a workbook's cells, where it
    says more than the values do.
    """

    name: str
    type: str
    low: str | None = None
    high: str | None = None
    distinct: int = 0
    blanks: int = 0
    examples: tuple[str, ...] = ()
    format: str = ""


class Sheet(Contract):
    """One table of a file.

    `head` and `tail` are rows of cells as shown, the header among them; blank rows are empty, so
    that rows count on from `first_row` (of `head`) and up to `last_row` (of `tail`), and cells from
    column `first_column`. `rows` counts the filled rows below the header, which stands in
    `header_row` (0: there is none); `duplicates` those that equal an earlier one. `errors` are
    cells such as "B7 #DIV/0!", `formula_cells` such as "B9 =SUM(B2:B8)": the first of
    `error_count` and `formulas`. `whole`: `head` holds all rows. `note` names merged cells, hidden
    rows, charts.
    """

    name: str
    columns: tuple[Column, ...] = ()
    rows: int = 0
    duplicates: int = 0
    errors: tuple[str, ...] = ()
    error_count: int = 0
    formulas: int = 0
    formula_cells: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()
    tail: tuple[tuple[str, ...], ...] = ()
    first_row: int = 1
    last_row: int = 0
    first_column: int = 1
    header_row: int = 0
    whole: bool = True
    note: str = ""


class Part(Contract):
    """A piece of a file and where it stands: "slide 3", "page 2", "lines 1–40", "mail 4"."""

    where: str
    text: str


class FileView(Contract):
    """What a file shows.

    `path` is the one that the task names. `kind` is table, text, code, mail, calendar, contacts,
    document, slides, pdf, notebook, picture, archive, data (JSON, YAML, TOML, XML by structure),
    binary or unreadable. `outline` is the order of the whole: headings, definitions, keys, slides,
    entries of an archive. `pictures` names the images that can be shown: "picture" is the file
    itself, "page 2" a page that is rendered. `begins` is the beginning of data as it is written,
    where tables and text show it by structure. `note` says why it could not be read, or what it
    does not show.
    """

    path: str
    bytes: int
    media_type: str
    kind: str
    sheets: tuple[Sheet, ...] = ()
    parts: tuple[Part, ...] = ()
    outline: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    begins: str = ""
    note: str = ""

    @property
    def bare_pictures(self) -> list[str]:
        """The pictures of which no text stands in the view: pages without text, and pictures."""
        there = {part.where for part in self.parts}
        return [name for name in self.pictures if name not in there]

    @property
    def is_there(self) -> bool:
        """Has the file a content, and not only a pointer to one?"""
        return bool(self.bytes) and self.note != POINTER


class Change(Contract):
    """What became of an input: `how` is changed, same, gone or made; `lines` are its differences.

    Of tables "Sheet1!B7: 12 → 15", of text the lines of a unified diff. `more` counts those that
    are left out.
    """

    path: str
    how: str
    lines: tuple[str, ...] = ()
    more: int = 0


class Evidence(Contract):
    """All that may be known of a task, and of an attempt at it.

    `said` are the turns of the task, `before` what was said earlier in the session; the answers of
    the agent among them are shortened. `files` are the inputs as released, `tree` their folders;
    `read`, `ran`, `wrote` and `tools` ("Bash ×4") what the agent did; `outputs` what it made, or
    what an attempt delivered, and `changes` what became of the inputs.
    """

    said: tuple[Said, ...] = ()
    before: tuple[Said, ...] = ()
    files: tuple[FileView, ...] = ()
    tree: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    last_words: str = ""
    outputs: tuple[FileView, ...] = ()
    changes: tuple[Change, ...] = ()


class ImageRef(Contract):
    """An image that goes with a prompt: a name out of `pictures` of the file's view."""

    path: str
    picture: str


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
    sizes, room = list(map(_size_of, views)), limits.case_chars
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


def _size_of(view: FileView) -> int:
    """The characters that a view holds."""
    rows = sum(map(_rows_size, view.sheets))
    return rows + sum(len(part.text) for part in view.parts) + sum(map(len, view.outline))


def _rows_size(sheet: Sheet) -> int:
    return sum(len(cell) + 3 for row in (*sheet.head, *sheet.tail) for cell in row)


def _within(view: FileView, most: int) -> FileView:
    """A view of at most about so many characters: of tables the first rows, of text both ends."""
    size = _size_of(view)
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
