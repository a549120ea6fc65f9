"""What an agent changed and read, as its log has it: edits to replay, lines that were shown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from construction.repositories.contracts import Edit
from data.contracts import ToolCall, Turn

# Tools that edit, by the names of their arguments: path, whole content; path, old text, new text.
_PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename")
_CONTENTS = ("content", "contents", "file_text", "file_content")
_OLD = ("old_string", "oldString", "old_str", "oldText", "old")
_NEW = ("new_string", "newString", "new_str", "newText", "new")
_EDITORS = re.compile(
    r"(?i)(?:write|write_?file|create_?file|edit|multi_?edit|replace|str_replace(?:_\w+)?|"
    r"search_replace|str_replace_editor|file_editor)"
)
_READERS = re.compile(r"(?i)(?:read|read_?file|view|open_?file)")
_PATCHES = re.compile(r"(?i)(?:apply_?patch|patch)")
_ENVELOPE = re.compile(r"\*\*\* Begin Patch\n(.*?)\n\*\*\* End Patch", re.DOTALL)
_SECTION = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*(\d{1,6})(?:→|\t|\| ?|: )(.*)$")
_LEAST_SHOWN = 5  # lines that a reading must show to be evidence

Files = dict[str, str | None]  # the contents of a tree while edits are replayed; None: no such file


def edits_of(call: ToolCall, root: str | None) -> Iterator[Edit]:
    """The edits of one call that succeeded, with paths relative to the working folder."""
    if call.is_error:
        return
    arguments = call.arguments
    command = arguments.get("command")
    if _PATCHES.fullmatch(call.name) or "*** Begin Patch" in str(arguments.get("cmd", command)):
        for text in map(str, arguments.values()):
            yield from _patched(text, root)
        return
    path = relative(_first(arguments, _PATHS), root)
    if path is None or not _EDITORS.fullmatch(call.name):
        return
    if isinstance(arguments.get("edits"), list):
        for item in arguments["edits"]:
            if isinstance(item, Mapping):
                yield from _replacement(path, item)
        return
    content = _first(arguments, _CONTENTS)
    if content is not None and command in (None, "create"):
        yield Edit(path, content=content)
    else:
        yield from _replacement(path, arguments)


def _replacement(path: str, arguments: Mapping[str, object]) -> Iterator[Edit]:
    old, new = _first(arguments, _OLD), _first(arguments, _NEW)
    if old is not None and new is not None:
        everywhere = bool(arguments.get("replace_all") or arguments.get("replaceAll"))
        yield Edit(path, old=old, new=new, everywhere=everywhere)


def _first(arguments: Mapping[str, object], names: Sequence[str]) -> str | None:
    values = (arguments[name] for name in names if name in arguments)
    return next((value for value in values if isinstance(value, str)), None)


def relative(path: str | None, root: str | None) -> str | None:
    """A path of the log below the working folder; None for one that is elsewhere."""
    if not path:
        return None
    text = posixpath.normpath(path.replace("\\", "/"))
    if text.startswith("/") or re.match(r"[A-Za-z]:/", text):
        folder = posixpath.normpath((root or "").replace("\\", "/"))
        if not root or not text.startswith(f"{folder}/"):
            return None
        text = text[len(folder) + 1 :]
    return None if text.startswith("../") or text == ".." else text


def _patched(text: str, root: str | None) -> Iterator[Edit]:
    """The edits of patches in the form that Codex applies."""
    for envelope in _ENVELOPE.findall(text):
        _, *parts = _SECTION.split(f"{envelope}\n")
        for kind, path, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if name := relative(path.strip(), root):
                lines = body[1:-1].split("\n") if len(body) > 1 else []
                yield from _section(kind, name, lines)


def _section(kind: str, path: str, lines: Sequence[str]) -> Iterator[Edit]:
    if kind == "Delete":
        yield Edit(path, delete=True)
    elif kind == "Add":
        yield Edit(path, content="".join(f"{line[1:]}\n" for line in lines if line[:1] == "+"))
    else:
        hunks: list[list[str]] = [[]]
        for line in lines:
            if line.startswith("@@"):
                hunks.append([])
            elif not line.startswith("*** "):
                hunks[-1].append(line or " ")
        for hunk in filter(None, hunks):
            old = "\n".join(line[1:] for line in hunk if line[0] in " -")
            yield Edit(path, old=old, new="\n".join(line[1:] for line in hunk if line[0] in " +"))


def replay(edits: Sequence[Edit], files: Files) -> None:
    """Carry edits out on the contents of files, as far as they can be."""
    for edit in edits:
        before = files.get(edit.path)
        if edit.delete:
            files[edit.path] = None
        elif edit.content is not None:
            files[edit.path] = edit.content
        elif edit.old == "" and before is None:
            files[edit.path] = edit.new
        elif before is not None and edit.old and edit.old in before:
            files[edit.path] = before.replace(edit.old, edit.new, -1 if edit.everywhere else 1)


def _shown_lines(call: ToolCall, root: str | None) -> tuple[str, dict[int, str]] | None:
    """The path and the numbered lines that a reading call showed; None if it tells none."""
    path = relative(_first(call.arguments, _PATHS), root)
    if path is None or call.is_error or not call.result or not _READERS.fullmatch(call.name):
        return None
    seen = (_NUMBERED.match(line) for line in call.result.split("\n"))
    lines = {int(match[1]): match[2] for match in seen if match is not None}
    return (path, lines) if len(lines) >= _LEAST_SHOWN else None


def agrees(content: bytes, lines: Mapping[int, str]) -> bool:
    """Has a file these lines at these numbers? Readers number what follows its last break too."""
    have = content.decode("utf-8", "replace").split("\n")
    return all(
        0 < number <= len(have) and have[number - 1].rstrip() == text.rstrip()
        for number, text in lines.items()
    )


def readings(turns: Sequence[Turn], root: str | None) -> list[tuple[str, dict[int, str]]]:
    """What was read of files before the agent changed them."""
    edited, seen = set[str](), []
    for turn in turns:
        for call in turn.tool_calls:
            edited |= {edit.path for edit in edits_of(call, root)}
            shown = _shown_lines(call, root)
            if shown is not None and shown[0] not in edited:
                seen.append(shown)
    return seen
