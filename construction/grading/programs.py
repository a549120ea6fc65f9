"""Running what an agent delivered, on files that it has not seen: where, and within which limits.

A program runs in a folder that holds copies of delivered files and the files of the check, and
nothing else. Where that folder is decides the caller: `programs_box` has a sandbox for each;
`run_here` is for a machine that is a sandbox itself, such as the container of an exported task.

Imports the standard library alone: the exported bundle takes it along.
"""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

MAX_BYTES = 4 << 20  # of one file that is read back, and of standard output
STDOUT = "stdout"  # the name by which checks know what was printed
_MEMORY_BYTES, _PROCESSES = 1 << 30, 64
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Program:
    """`files` by path below the folder it runs in; `command` is for `sh -c`; `wanted` is read."""

    files: Mapping[str, bytes]
    command: str
    seconds: float = 10.0
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended. `files`: those wanted that it left, and what it printed."""

    code: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    timed_out: bool = False


Run = Callable[[Program], Ran]


def run_here(program: Program) -> Ran:
    """Run on this machine in a new folder: only where the machine is a sandbox itself."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in program.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        try:
            done = subprocess.run(  # noqa: S603 (the caller says that this machine is a sandbox)
                ["/bin/sh", "-c", program.command],
                cwd=folder,
                env={"PATH": _PATH, "HOME": name, "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                capture_output=True,
                timeout=program.seconds,
                check=False,
                preexec_fn=_limit,
            )
        except subprocess.TimeoutExpired:
            return Ran(-1, timed_out=True)
        files = {path: data for path in program.wanted if (data := _read(folder / path))}
        return Ran(done.returncode, {**files, STDOUT: done.stdout[:MAX_BYTES]})


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_BYTES, MAX_BYTES))


def _read(path: Path) -> bytes | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    return path.read_bytes()
