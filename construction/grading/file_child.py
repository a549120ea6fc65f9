"""Looking at the untrusted output files of an agent, each in a confined process of its own.

One child is started for a folder, in Python's isolated mode (`-I`), so that no module in the
working directory or in PYTHONPATH is imported. It imports the libraries that the files need and
forks once for each file: a fork costs milliseconds, a start with its imports half a second. The
fork confines itself (`data.child.confine`) and limits its open files, so that a file which crashes,
hangs or inflates beyond its limits fails alone. Only forks read untrusted bytes.

One JSON object comes in on stdin ({folder, names, limits}), a frame with a `Seen` as JSON goes out
for each name, in order.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from construction.grading.file_look import RuleLimits, Seen, look_at
from construction.grading.file_types import type_of
from construction.grading.tables import Table
from data.child import ChildFailed, confine, read_frame, write_frame

_SIZE_OF_ANSWER = 4 << 20
_OPEN_FILES = 64
_GRACE = 30  # seconds that starting and ending take at most
_CHUNK = 1 << 16
_LIBRARIES = {
    "xlsx": "openpyxl",
    "docx": "docx",
    "pptx": "pptx",
    "pdf": "pypdf",
    "image": "PIL.Image",
    "yaml": "yaml",
    "xml": "lxml.etree",
}
_START = "import sys; sys.path.insert(0, {root!r}); from {module} import main; main()"


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


def look_in_children(folder: Path, names: Sequence[str], limits: RuleLimits) -> list[Seen]:
    """What is seen in each file; that its process dies or hangs is a `trouble` too."""
    if not names:
        return []
    root = Path(__file__).resolve().parents[__name__.count(".")]
    start = _START.format(root=str(root), module=__name__)
    task = {"folder": str(folder.resolve()), "names": list(names), "limits": asdict(limits)}
    environment = {"LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as nowhere, tempfile.TemporaryFile() as answers:
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603 - our own module, no shell
                [sys.executable, "-I", "-B", "-c", start],
                input=json.dumps(task).encode(),
                stdout=answers,
                stderr=subprocess.DEVNULL,
                cwd=nowhere,
                env=environment,
                timeout=limits.total_seconds + _GRACE,
                check=False,
            )
        answers.seek(0)
        seen = list(_answers(answers, len(names)))
    return seen + [Seen("crashed")] * (len(names) - len(seen))


def _answers(stream: Any, most: int) -> Iterator[Seen]:
    with suppress(ChildFailed, ValueError, TypeError, KeyError):
        for _ in range(most):
            values = json.loads(read_frame(stream, _SIZE_OF_ANSWER))
            tables = tuple(map(_table, values["tables"]))
            yield Seen(**{**values, "shingles": tuple(values["shingles"]), "tables": tables})


def _table(values: dict[str, Any]) -> Table:
    lists = {name: tuple(values[name]) for name in ("columns", "blanks")}
    return Table(**{**values, **lists, "cells": tuple(map(tuple, values["cells"]))})


def main() -> None:
    """Serve one folder."""
    task = json.load(sys.stdin)
    limits = RuleLimits(**task["limits"])
    kinds = [type_of(name) for name in task["names"]]
    for opener in sorted({kind.opener for kind in kinds if kind is not None and kind.opener}):
        with suppress(ImportError):  # the opener says what is missing
            import_module(_LIBRARIES.get(opener, "io"))
    deadline = time.monotonic() + limits.total_seconds
    for name in task["names"]:
        seconds = min(float(limits.seconds), deadline - time.monotonic())
        answer = b""
        if seconds > 0:
            answer = _look_in_fork(task["folder"], name, limits, seconds)
        write_frame(sys.stdout.buffer, answer or _dumped(Seen("timeout")))


def _dumped(seen: Seen) -> bytes:
    return json.dumps(asdict(seen)).encode()


def _look_in_fork(folder: str, name: str, limits: RuleLimits, seconds: float) -> bytes:
    """The answer of a fork of this process; empty if it took too long."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        _answer_and_end(folder, name, limits, theirs)
    os.close(theirs)
    answer, is_late = _read_until(ours, time.monotonic() + seconds)
    os.close(ours)
    if is_late:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if is_late:
        return b""
    return answer if status == 0 else _dumped(Seen("crashed"))


def _answer_and_end(folder: str, name: str, limits: RuleLimits, descriptor: int) -> None:
    """Look at one file in this fork; never returns."""
    status = 1
    try:
        os.dup2(descriptor, 1)
        os.close(descriptor)
        answer = confine(limits.seconds, limits.memory_bytes, _SIZE_OF_ANSWER)
        resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
        answer.write(_dumped(look_at(folder, name, limits)))
        answer.flush()
        status = 0
    finally:
        os._exit(status)


def _read_until(descriptor: int, deadline: float) -> tuple[bytes, bool]:
    """What comes until the other end is closed, and whether the deadline came first."""
    chunks: list[bytes] = []
    while sum(map(len, chunks)) <= _SIZE_OF_ANSWER:
        ready, _, _ = select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return b"", True
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks), False
