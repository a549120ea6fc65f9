"""Running what an agent delivered, on files that it has not seen: where, and within which limits.

A program runs in a folder that holds copies of delivered files and the files of the check, and
nothing else. Where that folder is decides the caller: `programs_box` has a sandbox for each;
`run_here` is for a machine that is a sandbox itself, such as the container of an exported task.

Imports the standard library alone: the exported bundle takes it along.
"""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

_MAX_BYTES = 4 << 20  # of one file that is read back, and of standard output
STDOUT = "stdout"  # the name by which checks know what was printed
_MEMORY_BYTES = 1 << 30
_NOBODY = 65_534
# The inputs of a task, in the container of an exported one.
_INPUTS = Path(os.environ.get("BENCHMINT_WORK", "/work"), "inputs")
_ENVIRONMENT_BYTES = 4 << 30  # memory and files of a program with an environment
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Program:
    """`files` by path below the folder it runs in; `command` is for `sh -c`; `wanted` is read.

    `libraries`: the program is the grader's own, and needs the libraries that open files. `keeps`
    is a folder whose regular files are read back, too. `inputs` are files of the task by path, each
    named by its SHA-256. `environment` names a built environment that the program needs, and
    `python` the version of the interpreter in it.
    """

    files: Mapping[str, bytes]
    command: str
    seconds: float = 10.0
    wanted: tuple[str, ...] = ()
    libraries: bool = False
    keeps: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    environment: str = ""
    python: str = ""


class CannotRun(Exception):
    """What the program needs is not here: an input of the task, or its environment."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended. `files`: those wanted that it left, and what it printed."""

    code: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    timed_out: bool = False


Run = Callable[[Program], Ran]


def run_here(program: Program) -> Ran:
    """Run on this machine in a new folder: only where the machine is a sandbox itself.

    All that the program started is ended with it. Where this process may, the program is run as a
    user without rights: it then cannot read what only the grader may.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in {**program.files, **_inputs_here(program)}.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        code, printed = _completed(program, folder)
        if code is None:
            return Ran(-1, timed_out=True)
        kept = sorted((folder / program.keeps).rglob("*")) if program.keeps else []
        paths = (*program.wanted, *(path.relative_to(folder).as_posix() for path in kept))
        files = {path: data for path in paths if (data := _read(folder / path))}
        return Ran(code, {**files, STDOUT: printed})


def _inputs_here(program: Program) -> dict[str, bytes]:
    """The inputs of the task beside the work folder of the container. Raises CannotRun."""
    content = {}
    for path, sha256 in program.inputs.items():
        files = (file for file in sorted(_INPUTS.glob("*")) if file.is_file())
        data = next((file.read_bytes() for file in files if _sha256(file) == sha256), None)
        if data is None:
            raise CannotRun(path)
        content[path] = data
    return content


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _completed(program: Program, folder: Path) -> tuple[int | None, bytes]:
    """The exit code, None if it took too long, and what was printed, up to the limit."""
    is_root = os.geteuid() == 0
    if is_root:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    with TemporaryFile() as printed:
        process = subprocess.Popen(  # noqa: S603 (the caller says that this is a sandbox)
            ["/bin/sh", "-c", program.command],
            cwd=folder,
            env={"PATH": _PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=partial(_without_rights if is_root else _limit, program),
        )
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(program.seconds)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        printed.seek(0)
        return code, printed.read(_MAX_BYTES)


def _without_rights(program: Program) -> None:
    _limit(program)
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)


def _limit(program: Program) -> None:
    file_bytes = _ENVIRONMENT_BYTES if program.environment else _MAX_BYTES
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if not program.environment:  # JavaScript engines reserve more addresses than they use
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _read(path: Path) -> bytes | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return None
    return path.read_bytes()
