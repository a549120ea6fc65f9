"""Looking into one untrusted output file, in a sandboxed child process of its own.

The child runs as `python -I -B -m construction.judging.hard_rule_runner`: isolated mode, so that no
module in the working directory or in PYTHONPATH is imported. It starts once per file, so nothing is
imported here that it does not need. One JSON object comes in on stdin ({folder, name, signatures,
binary, opener, limits}), one goes out on stdout (a `Seen`). The process confines itself
(`data.child.confine`) and limits its open files; if it dies, its exit status says so.
"""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from construction.judging.file_types import FileType
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

# What a template or an author leaves behind: kind and pattern, each linear in the text.
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
    """What was seen in a file; `trouble` is empty exactly if the file was opened.

    `opens` is None if no opener exists for its type. `items` counts the units it holds. `size` is
    in bytes, None if the file was not read; `placeholders` names the kinds of placeholders in it.
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
    """Compare the first bytes, open the file, and search its text for leftovers of a template."""
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


def regular_files(folder: Path, most: int) -> Iterator[str]:
    """Names of regular files below `folder`, relative, sorted, at most `most`."""
    pending = [""]
    while pending and most > 0:
        below = pending.pop()
        try:
            entries = sorted(os.scandir(folder / below), key=lambda entry: entry.name)
        except OSError:
            continue
        folders = []
        for entry in entries:
            relative = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(relative)
            elif entry.is_file(follow_symlinks=False) and most > 0:
                most -= 1
                yield relative
        pending += reversed(folders)


def look_in_child(
    folder: Path, name: str, kind: FileType | None, limits: Mapping[str, Any]
) -> Seen:
    """Let a child process open one file; that it dies or hangs is a `trouble` too."""
    task = {
        "folder": str(folder.resolve()),
        "name": name,
        "signatures": [start.hex() for start in kind.signatures] if kind else [],
        "binary": kind.binary if kind else True,
        "opener": kind.opener if kind else None,
        "limits": limits,
    }
    command = [sys.executable, "-I", "-B", "-m", "construction.judging.hard_rule_runner"]
    environment = {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as nowhere, tempfile.TemporaryFile() as answer:
        try:
            done = subprocess.run(  # noqa: S603 - our own module, no shell
                command,
                input=json.dumps(task).encode(),
                stdout=answer,
                stderr=subprocess.DEVNULL,
                cwd=nowhere,
                env=environment,
                timeout=limits["seconds"],
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Seen("timeout")
        answer.seek(0)
        return _read_answer(answer.read(), done.returncode)


def _read_answer(raw: bytes, status: int) -> Seen:
    if status != 0:
        return Seen("crashed")
    try:
        fields = json.loads(raw)
        return Seen(**{**fields, "placeholders": tuple(fields["placeholders"])})
    except (ValueError, TypeError, KeyError):
        return Seen("crashed")


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
