"""A box of bubblewrap for one attempt: files in, commands, files out.

Inside are the system's `/usr`, the interpreter that runs this program, the libraries of the
toolset, and a work folder in memory of limited size; nothing else of the host: no other files, no
network, no other processes, no environment. The user inside has no rights and cannot gain any.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from flows.evaluate.resources import Limits, enforcer

WORK = "/work"
_WRITABLE = (WORK, "/tmp", "/dev/shm")  # noqa: S108 (inside; each in memory, with a third)
_LIBRARIES = "/opt/libraries"
PROGRAMS = "/opt/programs"
SERVER = Path(__file__).with_name("sandbox_server.py")
_GRACE_SECONDS = 10.0  # in which the server answers beyond the time of the command
_HEADER_BYTES = 8 << 20


class SandboxFailed(Exception):
    """The sandbox cannot start or has ended: an infrastructure error, not the agent's doing."""


class FileRefused(Exception):
    """A file could not be read or written; `reason` is one word or the system's message."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command left: its exit code, and its output up to the limit."""

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """What a sandbox is made of. `libraries` are packages and modules that Python finds inside.

    `programs` is a folder that is mounted read-only at `PROGRAMS`.
    """

    limits: Limits = field(default_factory=Limits)
    libraries: tuple[Path, ...] = ()
    programs: Path | None = None
    confined: bool = True  # False in the tests that show that escapes are noticed


class Sandbox:
    """One attempt's sandbox, from `__enter__` to `__exit__`."""

    def __init__(self, box: Box, folder: Path | None = None) -> None:
        """`folder` is the work folder of an unconfined box; a confined one has its own."""
        self.box = box
        self.folder = WORK if box.confined else str(folder)
        self._enforcer = enforcer(box.limits)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @property
    def enforced_by(self) -> str:
        """What holds the box to its limits of memory and processes."""
        return self._enforcer.name if self.box.confined else "nothing"

    def __enter__(self) -> Self:
        """Start the box. Raises SandboxFailed."""
        command, descriptors = self._command()
        try:
            self._process = subprocess.Popen(  # noqa: S603 (bubblewrap and our own program)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=descriptors,
                env={} if self.box.confined else None,  # bubblewrap's own can be read inside
                start_new_session=True,
                preexec_fn=self._enforcer.enter if self.box.confined else None,
            )
        except OSError as error:
            self._enforcer.close()
            raise SandboxFailed(f"{command[0]}: {error.strerror}") from error
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        if self.box.confined:
            self._enforcer.watch(self._process.pid)
        try:
            self.names("")  # once it answers, it is complete: only then does all of it end together
        except SandboxFailed:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill everything inside, and remove the limits."""
        if self._process is not None:
            self._kill()
            self._process.communicate()
        if self._control is not None:
            self._control.close()
        self._enforcer.close()

    def _kill(self) -> None:
        """Kill the wrapper and all that it started, also where it is still being set up."""
        assert self._process is not None
        self._enforcer.kill()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        folder: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a command; `folder` is relative to the work folder. Raises SandboxFailed."""
        watchdog = self._enforcer.name == "watchdog" and self.box.confined
        header, parts = self._ask(
            {
                "action": "execute",
                "command": list(command),
                "folder": self._path(folder),
                "variables": dict(variables or {}),
                "seconds": seconds,
                "most_bytes": self.box.limits.output_bytes,
                "memory_bytes": self.box.limits.memory_bytes if watchdog else None,
                "processes": self.box.limits.processes if watchdog else None,
            },
            stdin,
            seconds + _GRACE_SECONDS,
        )
        if "error" in header:
            raise FileRefused(folder, str(header["error"]))
        return Completed(int(header["code"]), parts[0], parts[1], bool(header["timed_out"]))

    def write(self, path: str, content: bytes) -> None:
        """Write a file, relative to the work folder. Raises FileRefused or SandboxFailed."""
        header, _ = self._ask({"action": "write", "path": self._path(path)}, content)
        if "error" in header:
            raise FileRefused(path, str(header["error"]))

    def read(self, path: str) -> bytes:
        """A regular file's content, relative to the work folder, up to `limits.file_bytes`."""
        request = {
            "action": "read",
            "path": self._path(path),
            "most_bytes": self.box.limits.file_bytes,
        }
        header, parts = self._ask(request)
        if "error" in header:
            raise FileRefused(path, str(header["error"]))
        return parts[0]

    def names(self, folder: str) -> list[str]:
        """Relative names of the regular files below a folder, at most `limits.files`."""
        request = {"action": "names", "path": self._path(folder), "most": self.box.limits.files}
        header, _ = self._ask(request)
        return [str(name) for name in header.get("names", ())]

    def listen(self, port: int) -> socket.socket:
        """A socket that listens on the loopback inside, and is answered here.

        It belongs to the network of the sandbox, so nothing of the host comes with it. Call it
        before the agent is let in. Raises FileRefused or SandboxFailed.
        """
        header, _ = self._ask({"action": "listen", "port": port})
        if "error" in header or self._control is None:
            raise FileRefused(f"port {port}", str(header.get("error")))
        self._control.settimeout(_GRACE_SECONDS)
        try:
            _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
            return socket.socket(fileno=descriptors[0])
        except (OSError, IndexError) as error:
            raise SandboxFailed("the sandbox handed out no socket") from error

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))  # noqa: PTH118 (a path inside)

    def _ask(
        self, request: dict[str, Any], content: bytes = b"", seconds: float = 60.0
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a request and take its reply; one at a time. Raises SandboxFailed."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SandboxFailed("the sandbox was not started")
        with self._lock:
            overdue = threading.Timer(seconds, self._kill)
            overdue.start()
            try:
                process.stdin.write(json.dumps(request | {"bytes": len(content)}).encode() + b"\n")
                process.stdin.write(content)
                process.stdin.flush()
                header = json.loads(process.stdout.readline(_HEADER_BYTES))
                return header, [self._part(size) for size in header["bytes"]]
            except (OSError, ValueError, KeyError, TypeError) as error:
                self._kill()
                raise SandboxFailed("the sandbox ended or answered nonsense") from error
            finally:
                overdue.cancel()

    def _part(self, size: object) -> bytes:
        limits = self.box.limits
        if not isinstance(size, int) or not 0 <= size <= max(
            limits.output_bytes, limits.file_bytes
        ):
            raise ValueError("a reply beyond the limits")
        assert self._process is not None and self._process.stdout is not None
        part = self._process.stdout.read(size)
        if len(part) != size:
            raise ValueError("a reply that was cut off")
        return part

    def _command(self) -> tuple[list[str], list[int]]:
        """The command that starts the server, and the descriptors that it inherits."""
        self._control, theirs = socket.socketpair()
        control = theirs.detach()
        if not self.box.confined:
            return [sys.executable, "-I", str(SERVER), str(control)], [control]
        binary = bubblewrap()
        if binary is None:
            os.close(control)
            raise SandboxFailed("bubblewrap (bwrap) is not installed: `make system` installs it")
        # Arguments by descriptor: a command line could be read inside, and names host folders.
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as arguments:
            arguments.write(b"".join(part.encode() + b"\0" for part in wrapper(self.box)))
        inside = [_interpreter(), "-I", "/opt/sandbox_server.py", str(control)]
        return [binary, "--args", str(reading), *inside], [reading, control]


def bubblewrap() -> str | None:
    """The path of `bwrap`, None where it is not installed."""
    return shutil.which("bwrap")


def wrapper(box: Box) -> list[str]:
    """The arguments of bubblewrap for a box."""
    root = Path(sys.base_prefix)
    binds = [] if root.is_relative_to("/usr") else ["--ro-bind", str(root), str(root)]
    for library in box.libraries:
        binds += ["--ro-bind", str(library), f"{_LIBRARIES}/{library.name}"]
    for folder in ("/etc/fonts", "/etc/alternatives", "/etc/ld.so.cache"):
        binds += ["--ro-bind-try", folder, folder]
    if box.programs is not None:
        binds += ["--ro-bind", str(box.programs.resolve()), PROGRAMS]
    share = str(box.limits.disk_bytes // len(_WRITABLE))
    writable = [part for path in _WRITABLE for part in ("--size", share, "--tmpfs", path)]
    return [
        "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000",
        "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "sandbox",
        "--clearenv", "--setenv", "PATH", f"{root}/bin:/usr/bin:/bin", "--setenv", "HOME", WORK,
        "--setenv", "LC_ALL", "C.UTF-8", "--setenv", "PYTHONPATH", _LIBRARIES,
        "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
        "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", *binds,
        "--ro-bind", str(SERVER), "/opt/sandbox_server.py", "--proc", "/proc", "--dev", "/dev",
        *writable, "--chdir", WORK, "--remount-ro", "/dev",
        "--remount-ro", "/",
    ]  # fmt: skip


def _interpreter() -> str:
    """The interpreter below `sys.base_prefix`, not the link of a virtual environment."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return str(Path(sys.base_prefix, "bin", f"python{version}"))
