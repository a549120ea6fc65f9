"""Programs run in boxes of this machine: no network, no files of the host.

Each program of an agent has a box of its own, so that none can prepare the ground for the next.
"""

from __future__ import annotations

from construction.grading.programs import STDOUT, Program, Ran
from construction.sandbox.box import Box
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import FileRefused, Sandbox, SandboxFailed
from construction.sandbox.toolset import library_paths
from data.errors import BenchmintError

LIMITS = Limits(
    memory_bytes=1 << 30,
    disk_bytes=192 << 20,
    processes=64,
    output_bytes=4 << 20,
    file_bytes=4 << 20,
    files=500,
)
_VARIABLES = {"TZ": "UTC"}


class ProgramNotRun(BenchmintError):
    """No sandbox could be had: nothing is known about the attempt."""


def run_in_box(program: Program) -> Ran:
    """Run in a box of its own. Raises ProgramNotRun."""
    try:
        with Sandbox(Box(LIMITS, library_paths() if program.libraries else ())) as sandbox:
            return run_in(sandbox, program, "run")
    except SandboxFailed as error:
        raise ProgramNotRun(
            f"grading: found no sandbox in which a delivered program can run ({error}); expected "
            "bubblewrap to start. Nothing is decided: run the same command again."
        ) from error


def run_in(sandbox: Sandbox, program: Program, folder: str) -> Ran:
    """Run in a folder of a box that may serve other trusted programs too. Raises SandboxFailed."""
    for path, content in program.files.items():
        sandbox.write(f"{folder}/{path}", content)
    done = sandbox.run(
        ["sh", "-c", program.command],
        seconds=program.seconds,
        folder=folder,
        variables=_VARIABLES,
    )
    files = {STDOUT: done.stdout}
    kept = sandbox.names(f"{folder}/{program.keeps}") if program.keeps else []
    for path in (*program.wanted, *(f"{program.keeps}/{name}" for name in sorted(kept))):
        try:
            files[path] = sandbox.read(f"{folder}/{path}")
        except FileRefused:
            continue
    return Ran(done.code, files, done.timed_out)
