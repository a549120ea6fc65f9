"""The sandboxed child of `rules`: opens one untrusted file and reports what it saw.

Run as `python -I -B -m construction.judging.rules_runner`: isolated mode, so that no module in
the working directory or in PYTHONPATH is imported. One JSON object comes in on stdin
({folder, name, signatures, binary, opener, limits}), one goes out on stdout (a `Seen`). The
process limits its own memory, CPU time and open files, and denies itself the network, other
processes and writing. A process that dies says enough by its exit status.
"""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from construction.judging.openers import OPENERS, Bounds, Content, Encrypted, TooLarge, decode

_SIZE_OF_ANSWER = 1 << 20

# A traceback or a crash report of a common runtime instead of content.
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):"
    r"|^Exception in thread \"[^\"\n]{1,80}\" [\w.$]{1,200}"
    r"|^panic: [^\n]{1,200}\n+goroutine \d+"
    r"|^(?:Uncaught |Unhandled )[A-Z]\w{0,40}Error\b"
    r"|^\s{2,8}at [^\n(]{1,200}\((?:node:|file:|/)[^\n()]{1,300}:\d+:\d+\)$",
    re.MULTILINE,
)

# What a template or an author leaves behind: kind, pattern. All are linear.
_PLACEHOLDERS = (
    ("braces", re.compile(r"\{\{[^{}\n]{0,80}\}\}|<%=?[^%\n]{0,80}%>")),
    ("latin_filler", re.compile(r"\blorem ipsum\b", re.IGNORECASE)),
    ("todo", re.compile(r"(?<![\w-])(?:TODO|FIXME)(?=\s*(?:[:：(（\]】]|$))", re.MULTILINE)),
    ("tbd", re.compile(r"(?<![A-Za-z0-9_-])(?:TBD|TBC|T\.B\.D\.)(?![A-Za-z0-9_-])")),
    ("xxx", re.compile(r"(?<![A-Za-z0-9_-])X{3,}(?![A-Za-z0-9_-])")),
    ("insert", re.compile(r"[\[<](?:insert|your|enter|add|fill in)\b[^\]>\n]{0,60}[\]>]", re.I)),
    ("chinese", re.compile(r"待补充|待填写|待完善|此处填写|请填写|\[占位|【占位|（占位|占位符")),
)
_FENCED = re.compile(r"^```[^\n]*\n(?:(?!```)[^\n]*\n)*```", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look at a file found; `trouble` is empty exactly if it opened.

    `opens` is None if nothing here can open its type. `items` counts the units it holds.
    `size` is in bytes, None if the file was not read; `placeholders` names the kinds found.
    """

    trouble: str = ""
    size: int | None = None
    signature: bool = False
    opens: bool | None = None
    items: int = 0
    traceback: bool = False
    placeholders: tuple[str, ...] = ()


def read_regular(folder: str, name: str, max_bytes: int) -> bytes:
    """The content of a regular file below `folder`; a symlink, device or pipe raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(Path(folder) / name, flags)
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("not a regular file")
        if state.st_size > max_bytes:
            raise TooLarge
        return file.read(max_bytes)


def look(data: bytes, task: Mapping[str, Any]) -> Seen:
    """Compare the first bytes, open the file, and search its text for leftovers."""
    signature = _signature_fits(data, task["signatures"], task["binary"])
    if task["opener"] is None:
        return Seen(size=len(data), signature=signature, items=len(data))
    bounds = Bounds(**{name: task["limits"][name] for name in Bounds.__slots__})
    content, trouble = _open(data, task["opener"], bounds)
    if content is None:
        return Seen(trouble, len(data), signature, opens=False)
    prose = _FENCED.sub("", content.text)
    return Seen(
        size=len(data),
        signature=signature,
        opens=True,
        items=content.items,
        traceback=_TRACEBACK.search(prose) is not None,
        placeholders=tuple(name for name, pattern in _PLACEHOLDERS if pattern.search(prose)),
    )


def _signature_fits(data: bytes, signatures: list[str], binary: bool) -> bool:
    if signatures:
        return data.startswith(tuple(bytes.fromhex(start) for start in signatures))
    if binary:
        return True
    try:
        decode(data)
    except UnicodeError:
        return False
    return True


def _open(data: bytes, opener: str, bounds: Bounds) -> tuple[Content | None, str]:
    try:
        return OPENERS[opener](data, bounds), ""
    except TooLarge:
        return None, "too_large"
    except Encrypted:
        return None, "encrypted"
    except MemoryError:
        return None, "out_of_memory"
    except RecursionError:
        return None, "too_deep"
    except Exception:  # a library may raise anything on a broken file
        return None, "broken"


def _limit_process(limits: Mapping[str, int]) -> None:
    for which, value in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_CPU, limits["seconds"] + 1),
        (resource.RLIMIT_FSIZE, _SIZE_OF_ANSWER),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (value, value))


_DENIED = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "shutil.")
_DENIED_EXACTLY = frozenset(
    {"os.system", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink"}
)


def _deny(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: parsing a document needs no network, no process and no written file."""
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & os.O_ACCMODE:
            raise PermissionError("writing is denied")
    elif event.startswith(_DENIED) or event in _DENIED_EXACTLY:
        raise PermissionError(f"{event} is denied")


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # whatever a library prints is no part of the answer
    os.dup2(silence, 2)
    task = json.load(sys.stdin)
    _limit_process(task["limits"])
    sys.addaudithook(_deny)
    try:
        data = read_regular(task["folder"], task["name"], task["limits"]["file_bytes"])
        seen = look(data, task)
    except TooLarge:
        seen = Seen("too_large")
    except MemoryError:
        seen = Seen("out_of_memory")
    except OSError:
        seen = Seen("unsafe_file")
    json.dump(asdict(seen), answer)
    answer.flush()


if __name__ == "__main__":
    main()
