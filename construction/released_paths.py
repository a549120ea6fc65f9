"""The names of files and folders in a prompt, as the paths under which a release holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from construction.mentions.files import FileSpan, extension, find_file_spans, path_parts, tail
from construction.mentions.urls import find_urls
from construction.prompt_frame import INPUTS, OUTPUTS
from data.contracts import Fixture

_RESULTS = frozenset((("result",), ("results",), ("output",), ("outputs",), ("out",)))
_ROOTED = re.compile(r"[/~]|[A-Za-z]:[\\/]|\\\\")  # a path of a machine
_SCHEME = "file:"
_STOP = re.compile(r"(?<=[\w-]/)\.(?=\s|$)")  # behind a folder: it ends the sentence


def with_page_paths(text: str, pages: Mapping[str, str]) -> str:
    """The text with the URLs of frozen pages replaced by the released paths of their fixtures.

    `pages` maps a URL to the path of its fixture.
    """
    pieces, position = [], 0
    for mention in find_urls(text):
        if mention.url in pages:
            pieces += [text[position : mention.start], f"{INPUTS}{pages[mention.url]}"]
            position = mention.end
    return "".join(pieces) + text[position:]


def with_released_paths(
    text: str,
    fixtures: Sequence[Fixture],
    results: Sequence[str] = (),
    cwd: str | None = None,
    *,
    of_machine: bool = False,
) -> str:
    """The text with every name of a file replaced by its path in the release.

    `of_machine`: only paths from the root, from home or from a drive.

    Input files and folders lie in `inputs/`. `results` are the paths of files that the request
    names as results: where they have a folder, they and all else in it are put into `outputs/`, so
    that there is one place for them. A path of a machine to an input that is changed in place
    becomes its name, since it is in both. `cwd` is the session's working folder.
    """
    places, made = _result_folders(results), {tail(path) for path in results}
    pieces, position = [], 0
    sought = _STOP.sub(",", text)
    for span in find_file_spans(sought) if fixtures or places else ():
        if of_machine and not _ROOTED.match(span.path):
            continue
        given = _fixture_at(text, span, fixtures)
        if given is not None and tail(span.path) in made:
            name = given[1].removeprefix(INPUTS)
            given = (given[0], name if _ROOTED.match(span.path) else span.path)
        match = given or _in_outputs(span, places) or _as_outputs(text, span, fixtures)
        match = match or _folder_at(span, fixtures, cwd)
        if match is not None:
            start, path = match
            start -= len(_SCHEME) * text.endswith(_SCHEME, 0, start)
            pieces += [text[position:start], path]
            position = span.end
    return "".join(pieces) + text[position:]


def _result_folders(results: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The folders of results: those from the root or from home, and `results`; longest first."""
    rooted = {tuple(path_parts(path)[:-1]) for path in results if _ROOTED.match(path)}
    folders: set[tuple[str, ...]] = {parts for parts in rooted if len(parts) > 1}
    folders |= {parts for path in results if (parts := tuple(path_parts(path)[:-1])) in _RESULTS}
    return tuple(sorted(folders, key=len, reverse=True))


def _in_outputs(span: FileSpan, folders: Sequence[tuple[str, ...]]) -> tuple[int, str] | None:
    """(start of the name, path in `outputs/`) of what lies in a folder of results."""
    start, written = span.start, span.path
    parts = tuple(path_parts(written))
    for folder in folders:
        if parts[: len(folder)] == folder and len(parts) > len(folder):
            rest = written.replace("\\", "/").split("/")[len(folder) :]
            return start, OUTPUTS + "/".join(rest)
        if parts == folder:
            return start, OUTPUTS
    return None


def _as_outputs(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, `outputs/`) of a folder of results from the root, without a fixture."""
    start = span.start
    parts = [part for part in path_parts(span.path.rstrip("/")) if part]
    start -= text[start - 1 : start] == "/"
    if text[start] not in "/~" or len(parts) < 2 or (parts[-1],) not in _RESULTS:
        return None
    holds_inputs = any(parts[-1] in _names(fixture.path) for fixture in fixtures)
    return None if holds_inputs else (start, OUTPUTS)


def _names(path: str) -> list[str]:
    return path.split("/")[:-1]


def _folder_at(
    span: FileSpan, fixtures: Sequence[Fixture], cwd: str | None
) -> tuple[int, str] | None:
    """(start of the name, path in `inputs/`) of a folder that holds fixtures."""
    start = span.start
    parts = [part for part in path_parts(span.path.rstrip("/\\")) if part]
    if len(parts) < 2 or extension(span.path):
        return None
    folders = {parent for fixture in fixtures for parent in _parents(fixture.path)}
    named = [folder for folder in folders if path_parts(folder)[-1] == parts[-1]]
    if not named:
        is_cwd = cwd is not None and path_parts(cwd.rstrip("/"))[-1] == parts[-1]
        return (start, INPUTS) if is_cwd and fixtures else None
    best = min(named, key=lambda folder: (-_shared(folder, "/".join(parts)), len(folder), folder))
    return start, f"{INPUTS}{best}/"


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _fixture_at(text: str, span: FileSpan, fixtures: Sequence[Fixture]) -> tuple[int, str] | None:
    """(start of the name, path) of the fixture that a span names; None if it names none.

    Of several fixtures with the same name this is the one that shares the longest tail with the
    path as written, and none if two share as much. A name whose start is uncertain is matched by
    its end.
    """
    wide = text[span.reach : span.end].casefold()
    named = [fixture.path for fixture in fixtures if _ends_with_name(wide, tail(fixture.path))]
    if not named:
        return None
    ranked = sorted(named, key=lambda path: (-len(tail(path)), -_shared(path, span.path), path))
    path = ranked[0]
    rank = (len(tail(path)), _shared(path, span.path))
    if [(len(tail(other)), _shared(other, span.path)) for other in ranked].count(rank) > 1:
        return None
    if tail(span.path) == tail(path):
        return span.start, INPUTS + path
    return span.end - len(tail(path)), INPUTS + path


def _ends_with_name(wide: str, name: str) -> bool:
    if not wide.endswith(name):
        return False
    before = wide[: -len(name)]
    return not before or not (before[-1].isascii() and (before[-1].isalnum() or before[-1] in "_-"))


def _shared(path: str, written: str) -> int:
    """The number of components that two paths share, counted from their ends."""
    pairs = zip(reversed(path_parts(path)), reversed(path_parts(written)), strict=False)
    count = 0
    for component, other in pairs:
        if component != other:
            break
        count += 1
    return count
