"""The box of `sandbox.py` as a sandbox of Inspect, by the name `benchmint`.

Every sample gets a box of its own; whether such a box isolates is tried at the start of each run.
Nothing is inherited from Inspect's local sandbox: its `sample_init` would name that one again.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    sandboxenv,
)

from construction.sandbox.escapes import assert_isolated
from construction.sandbox.sandbox import Box, FileRefused, Sandbox

NAME = "benchmint"
TOOL_FOLDERS = ("/var/tmp", "/opt/human_agent")  # noqa: S108 (inside; where Inspect puts its tools)
_THREADS = 6  # of an attempt: commands at the same time, and what is read beside them
_DAEMON = "start-server"  # the command of Inspect's tools that leaves a server running
_POLL_SECONDS = 0.5  # between looks for requests of Inspect's tools
_LONGEST_COMMAND = 24 * 3600.0


@sandboxenv(name=NAME)
class BoxEnvironment(SandboxEnvironment):
    """One sample's box."""

    box: ClassVar[Box] = Box()  # both set by the runner before it starts
    at_once: ClassVar[int] = 1

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self.sandbox = sandbox
        self.variables: dict[str, str] = {}  # of every command

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Try to get out of a box once, before a run. Raises SandboxFailed if that works.

        Each attempt has threads of its own: asyncio's are few, and an attempt that waited for one
        would lose its time to the commands of others.
        """
        threads = ThreadPoolExecutor(_THREADS * cls.at_once + _THREADS)
        asyncio.get_running_loop().set_default_executor(threads)
        await asyncio.to_thread(_try_isolation, cls.box)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """A box of its own for each sample. Raises SandboxFailed where it cannot start."""
        sandbox = await asyncio.to_thread(Sandbox(cls.box).__enter__)
        return {"default": cls(sandbox)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            if isinstance(environment, BoxEnvironment):
                await asyncio.to_thread(environment.sandbox.__exit__, None, None, None)

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """What a person is told who is to work inside: `programs.py` connects them."""
        return SandboxConnection(type=NAME, command="this terminal")

    def default_polling_interval(self) -> float:
        return _POLL_SECONDS

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command inside. `user` is ignored: there is one user, without rights."""
        if cmd[-1:] == [_DAEMON]:  # in a session of its own: what a command leaves is ended with it
            cmd = ["setsid", "--wait", *cmd]
        done = await asyncio.to_thread(
            self.sandbox.run,
            cmd,
            seconds=float(timeout) if timeout else _LONGEST_COMMAND,
            stdin=input.encode() if isinstance(input, str) else input or b"",
            folder=cwd or "",
            variables={**self.variables, **(env or {})},
        )
        if done.timed_out:
            raise TimeoutError(f"the command took longer than {timeout} seconds")
        return ExecResult(
            success=done.code == 0,
            returncode=done.code,
            stdout=done.stdout.decode(errors="replace"),
            stderr=done.stderr.decode(errors="replace"),
        )

    async def write_file(self, file: str, contents: str | bytes) -> None:
        content = contents.encode() if isinstance(contents, str) else contents
        try:
            await asyncio.to_thread(self.sandbox.write, file, content)
        except FileRefused as error:
            raise PermissionError(str(error)) from error

    async def read_file(self, file: str, text: bool = True) -> Any:
        try:
            content = await asyncio.to_thread(self.sandbox.read, file)
        except FileRefused as error:
            raise _file_error(error) from error
        return content.decode() if text else content


def _try_isolation(box: Box) -> None:
    with Sandbox(box) as sandbox:
        assert_isolated(sandbox)


def _file_error(error: FileRefused) -> Exception:
    """The error that Inspect expects for a file that cannot be read."""
    known: dict[str, Exception] = {
        "not_found": FileNotFoundError(str(error)),
        "is_directory": IsADirectoryError(str(error)),
        "too_large": OutputLimitExceededError("the limit of a file", None),
    }
    return known.get(error.reason, PermissionError(str(error)))
