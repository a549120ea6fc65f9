"""The sandboxed child of `rules`: opens one untrusted file and reports what it saw.

Run as `python -I -B -m construction.judging.hard_rule_runner`: isolated mode, so that no module in
the working directory or in PYTHONPATH is imported. One JSON object comes in on stdin
({folder, name, signatures, binary, opener, limits}), one goes out on stdout (a `Seen`). The
process confines itself (`data.child.confine`) and limits its open files. A process that dies says
enough by its exit status.
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
from data.child import confine

_SIZE_OF_ANSWER = 1 << 20
_OPEN_FILES = 64

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


def main() -> None:
    task = json.load(sys.stdin)
    limits = task["limits"]
    answer = confine(limits["seconds"], limits["memory_bytes"], _SIZE_OF_ANSWER)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    try:
        data = read_regular(task["folder"], task["name"], limits["file_bytes"])
        seen = look(data, task)
    except TooLarge:
        seen = Seen("too_large")
    except MemoryError:
        seen = Seen("out_of_memory")
    except OSError:
        seen = Seen("unsafe_file")
    answer.write(json.dumps(asdict(seen)).encode())
    answer.flush()


if __name__ == "__main__":
    main()
