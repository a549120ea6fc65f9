"""Programs run in boxes of this machine: no network, no files of the host.

Each program of an agent has a box of its own, so that none can prepare the ground for the next.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from construction.grading.programs import STDOUT, CannotRun, Program, Ran
from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box, FileRefused, Sandbox, SandboxFailed
from construction.sandbox.toolset import interpreters, library_paths
from data.errors import BenchmintError

LIMITS = Limits(
    memory_bytes=1 << 30,
    disk_bytes=192 << 20,
    processes=64,
    output_bytes=4 << 20,
    file_bytes=4 << 20,
    files=500,
)
_OF_ENVIRONMENTS = Limits(
    memory_bytes=4 << 30,
    disk_bytes=3 << 30,
    processes=512,
    output_bytes=16 << 20,
    file_bytes=64 << 20,
)
CERTIFICATES = "/etc/ssl/certs"
ENVIRONMENTS = "environments"  # the folder of a workspace, below its private half
_VARIABLES = {"TZ": "UTC"}
_LONGEST_NAME = 64


class ProgramNotRun(BenchmintError):
    """No sandbox could be had: nothing is known about the attempt."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes for programs that need inputs of a task (by SHA-256) or an environment (in a folder).

    Calling it runs a program, as `run_in_box` does.
    """

    inputs: Mapping[str, Path] = field(default_factory=dict)
    environments: Path | None = None

    def __call__(self, program: Program) -> Ran:
        """Run in a box of its own. Raises CannotRun, ProgramNotRun."""
        if not program.inputs and not program.environment:
            return run_in_box(program)
        if missing := [sha256 for sha256 in program.inputs.values() if sha256 not in self.inputs]:
            raise CannotRun(missing[0])
        given = {path: self.inputs[sha256].read_bytes() for path, sha256 in program.inputs.items()}
        return run_in_box(
            replace(program, files={**program.files, **given}, inputs={}), self._box(program)
        )

    def _box(self, program: Program) -> Box | None:
        if not program.environment:
            return environment_box(None, program.python) if program.python else None
        folder = self.environments and self.environments / program.environment
        if folder is None or not _is_environment(program.environment) or not folder.is_dir():
            raise CannotRun(program.environment)
        return environment_box(folder, program.python)


def _is_environment(name: str) -> bool:
    """Is it the name of an environment, and no path?"""
    return len(name) <= _LONGEST_NAME and name.isalnum()


def environment_box(folder: Path | None, python: str, limits: Limits = _OF_ENVIRONMENTS) -> Box:
    """The box in which an environment is used, or built where there is no folder yet."""
    root = interpreters().get(python)
    roots = () if root is None or root == Path(sys.base_prefix) else (root,)
    return Box(limits, programs=folder, settings=(CERTIFICATES,), roots=roots, reserves=True)


def run_in_box(program: Program, box: Box | None = None) -> Ran:
    """Run in a box of its own. Raises ProgramNotRun."""
    try:
        whole = box or Box(LIMITS, library_paths() if program.libraries else ())
        with Sandbox(whole) as sandbox:
            return run_in(sandbox, program, "run")
    except SandboxFailed as error:
        raise ProgramNotRun(
            f"grading: found no sandbox in which a delivered program can run ({error}); expected "
            "bubblewrap to start. Nothing is decided: run the same command again."
        ) from error


def variables_of(python: str) -> dict[str, str]:
    """The variables of a program; another interpreter's programs come before the system's."""
    root = interpreters().get(python)
    return _VARIABLES | ({"PATH": f"{root}/bin:/usr/bin:/bin"} if root else {})


def run_in(sandbox: Sandbox, program: Program, folder: str) -> Ran:
    """Run in a folder of a box that may serve other trusted programs too. Raises SandboxFailed."""
    for path, content in program.files.items():
        sandbox.write(f"{folder}/{path}", content)
    done = sandbox.run(
        ["sh", "-c", program.command],
        seconds=program.seconds,
        folder=folder,
        variables=variables_of(program.python),
    )
    files = {STDOUT: done.stdout}
    kept = sandbox.names(f"{folder}/{program.keeps}") if program.keeps else []
    for path in (*program.wanted, *(f"{program.keeps}/{name}" for name in sorted(kept))):
        try:
            files[path] = sandbox.read(f"{folder}/{path}")
        except FileRefused:
            continue
    return Ran(done.code, files, done.timed_out)
