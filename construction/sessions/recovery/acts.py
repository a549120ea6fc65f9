"""What the agent did with files: read, wrote or ran, from the tool calls of common harnesses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from construction.sessions.recovery.shell import READ, WROTE, shell_acts
from data.contracts import AgentAct, Turn

# Tool names, lower case and without separators.
_READERS = frozenset({
    "read", "readfile", "viewfile", "openfile", "view", "open", "notebookread", "viewimage",
    "readimage", "getfile", "fileread", "readmanyfiles", "readmultiplefiles", "readtextfile",
    "readmediafile",
})  # fmt: skip
_WRITERS = frozenset({
    "write", "writefile", "createfile", "savefile", "create", "edit", "editfile", "multiedit",
    "notebookedit", "strreplace", "strreplaceeditor", "strreplacebasededittool", "applypatch",
    "patch", "insert", "replace", "filewrite", "fileedit", "updatefile", "appendfile",
    "writetofile", "editnotebook", "searchreplace",
})  # fmt: skip
_RUNNERS = frozenset({
    "bash", "exec", "shell", "execcommand", "runcommand", "localshell", "localshellcall",
    "terminal", "runshellcommand", "runterminalcmd", "runinterminal", "shellcommand",
    "containerexec", "execbash",
})  # fmt: skip
_KINDS = (
    dict.fromkeys(_READERS, READ) | dict.fromkeys(_WRITERS, WROTE) | dict.fromkeys(_RUNNERS, "run")
)
_DROPPED = str.maketrans("", "", "_-. ")
_PATH_KEYS = (
    "file_path", "path", "filePath", "filepath", "file", "filename", "notebook_path", "target_file",
    "relative_path", "absolute_path", "paths", "files",
)  # fmt: skip
_COMMAND_KEYS = ("command", "cmd", "script", "input")
_PATCH_MARK = "*** Begin Patch"
_PATCH_FILE = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.{1,1000})$", re.M
)
_MAX_PATH = 1000
_LONGEST_NAME = 200  # of a tool


def acts_of(turn: Turn) -> Iterator[AgentAct]:
    """The acts of one turn in order. A call that names no file, or failed, yields none."""
    for call in turn.tool_calls:
        known = not call.is_error and len(call.name) <= _LONGEST_NAME
        kind = _kind(call.name) if known else None
        if kind is not None:
            for act, path in _file_acts(kind, call.arguments):
                yield AgentAct(act, path, turn.index)


@lru_cache(maxsize=256)
def _kind(tool: str) -> str | None:
    return _KINDS.get(tool.rsplit("__", 1)[-1].translate(_DROPPED).lower())


def _file_acts(kind: str, arguments: dict[str, Any]) -> Iterable[tuple[str, str]]:
    if kind == "run":
        command = _command(arguments)
        if _PATCH_MARK in command:
            return [(WROTE, path) for path in _patched(command)]
        return shell_acts(command)
    if kind == WROTE and arguments.get("command") == "view":
        kind = READ
    paths = _paths(arguments)
    if not paths and kind == WROTE:
        patch = arguments.get("input") or arguments.get("patch")
        paths = _patched(patch) if isinstance(patch, str) else []
    return [(kind, path) for path in paths]


def _paths(arguments: dict[str, Any]) -> list[str]:
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return [value] if 0 < len(value) <= _MAX_PATH else []
        if isinstance(value, list):
            return [item for item in value if isinstance(item, str) and 0 < len(item) <= _MAX_PATH]
    return []


def _patched(patch: str) -> list[str]:
    """The files that a patch in the apply_patch notation touches."""
    return [path.strip() for path in _PATCH_FILE.findall(patch)]


def _command(arguments: dict[str, Any]) -> str:
    """The command line; of an argument vector such as ["bash", "-lc", "ls"] its last words."""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [item for item in value if isinstance(item, str)]
            shells = len(words) > 2 and words[1] in ("-c", "-lc", "-ic")
            return " ".join(words[2:] if shells else words)
    return ""
