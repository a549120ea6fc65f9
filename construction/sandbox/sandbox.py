"""A box of bubblewrap for one attempt: what it is made of, files in, commands, files out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from construction.sandbox.resources import Limits, enforcer
from data.errors import BenchmintError

WORK = "/work"
_WRITABLE = (WORK, "/tmp", "/dev/shm")  # noqa: S108 (inside; each in memory, with a third)
_LIBRARIES = "/opt/libraries"
PROGRAMS = "/opt/programs"
SERVER = Path(__file__).with_name("sandbox_server.py")
_HOSTS = Path(__file__).with_name("hosts")  # so that `localhost` is a name inside


@dataclass(frozen=True, slots=True)
class Box:
    """What a sandbox is made of. `libraries` are packages and modules that Python finds inside.

    `programs` is a folder that is mounted read-only at `PROGRAMS`; `settings` are files and folders
    of the system's `/etc` that a program inside reads, `roots` further folders of interpreters, at
    their own paths. `folders` are further empty ones, in memory.
    `reserves`: what runs inside may reserve more addresses than it uses, as JavaScript engines do;
    a watchdog then holds it to its memory by what it uses alone.
    """

    limits: Limits = field(default_factory=Limits)
    libraries: tuple[Path, ...] = ()
    programs: Path | None = None
    settings: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    reserves: bool = False
    confined: bool = True  # False in the tests that show that escapes are noticed


def bubblewrap() -> str | None:
    """The path of `bwrap`, None where it is not installed."""
    return shutil.which("bwrap")


def _wrapper(box: Box) -> list[str]:
    """The arguments of bubblewrap for a box."""
    root = Path(sys.base_prefix)
    binds = [] if root.is_relative_to("/usr") else ["--ro-bind", str(root), str(root)]
    for other in box.roots:
        binds += ["--ro-bind", str(other), str(other)]
    for library in box.libraries:
        binds += ["--ro-bind", str(library), f"{_LIBRARIES}/{library.name}"]
    binds += ["--ro-bind", str(_HOSTS), "/etc/hosts"]
    for folder in ("/etc/fonts", "/etc/alternatives", "/etc/ld.so.cache", *box.settings):
        binds += ["--ro-bind-try", folder, folder]
    if box.programs is not None:
        binds += ["--ro-bind", str(box.programs.resolve()), PROGRAMS]
    folders = (*_WRITABLE, *box.folders)
    share = str(box.limits.disk_bytes // len(folders))
    writable = [part for path in folders for part in ("--size", share, "--tmpfs", path)]
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


def interpreter() -> str:
    """The interpreter below `sys.base_prefix`, not the link of a virtual environment."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return str(Path(sys.base_prefix, "bin", f"python{version}"))


_NOT_RUN = 127  # the code of a command that could not be started, as shells have it
_ANSWER_SECONDS = 60.0  # of a request that runs no command
_GRACE_SECONDS = 10.0  # in which the server answers beyond the time of the command
_HEADER_BYTES = 16 << 20
_LONGEST_NAME, _LONGEST_PART = 1024, 255  # bytes of a name that comes out, and between its slashes


class SandboxFailed(BenchmintError):
    """The sandbox cannot start or has ended: an infrastructure error, not the agent's doing."""


class FileRefused(Exception):
    """A file could not be read or written; `reason` is one word or the system's message."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Completed:
    """What a command left: its exit code, and its output up to the limit."""

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class _Channel:
    """A way to speak to the server inside: one request at a time, and its reply."""

    requests: IO[bytes]
    replies: IO[bytes]


class Sandbox:
    """One attempt's sandbox, from `__enter__` to `__exit__`.

    Any number of threads may use it: files are moved one by one, and commands run at the same time.
    """

    def __init__(self, box: Box, folder: Path | None = None) -> None:
        """`folder` is the work folder of an unconfined box; a confined one has its own."""
        self.box = box
        self.folder = WORK if box.confined else str(folder)
        self._enforcer = enforcer(box.limits)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._idle: list[_Channel] = []  # channels for commands that none uses

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
        except SandboxFailed as error:
            self.__exit__(None, None, None)
            raise SandboxFailed(
                f"{error} as it started; bubblewrap (bwrap) needs user namespaces"
            ) from error
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
        for channel in self._idle:
            channel.requests.close()
            channel.replies.close()
        self._enforcer.close()

    def _kill(self) -> None:
        """Kill the wrapper and all that it started, also where it is still being set up."""
        assert self._process is not None
        self._enforcer.kill()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End the box if the block takes longer; its requests then raise SandboxFailed."""
        overdue = threading.Timer(seconds, self._kill)
        overdue.start()
        try:
            yield
        finally:
            overdue.cancel()

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        folder: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> _Completed:
        """Run a command; `folder` is relative to the work folder. Raises SandboxFailed.

        Where it cannot be started, its code is 127 and standard error says why.
        """
        watchdog, limits = self._enforcer.name == "watchdog" and self.box.confined, self.box.limits
        request = {
            "action": "execute",
            "command": list(command),
            "folder": self._path(folder),
            "variables": dict(variables or {}),
            "seconds": seconds,
            "most_bytes": limits.output_bytes,
            "memory_bytes": limits.memory_bytes if watchdog and not self.box.reserves else None,
            "processes": limits.processes if watchdog else None,
        }
        with self._lock:
            channel = self._idle.pop() if self._idle else self._new_channel()
        with self.within(seconds + _GRACE_SECONDS):
            header, parts = self._exchange(channel, request, stdin, 2)
        with self._lock:
            self._idle.append(channel)
        if "error" in header:  # an agent can deny the server its folder of outputs
            return _Completed(_NOT_RUN, b"", f"{header['error']}\n".encode(errors="replace"))
        if not isinstance(header.get("code"), int):
            raise self._nonsense()
        return _Completed(header["code"], parts[0], parts[1], bool(header.get("timed_out")))

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
        header, parts = self._ask(request, parts=1)
        if "error" in header:
            raise FileRefused(path, str(header["error"]))
        return parts[0]

    def names(self, folder: str) -> list[str]:
        """Relative names of the regular files below a folder, at most `limits.files`.

        Names that are too long for a path outside are not among them. Raises SandboxFailed.
        """
        most = self.box.limits.files
        request = {"action": "names", "path": self._path(folder), "most": most}
        header, _ = self._ask(request | {"longest": _LONGEST_NAME})
        names: Any = [] if "error" in header else header.get("names")
        if not isinstance(names, list) or len(names) > most or not all(map(_is_inside, names)):
            raise self._nonsense()
        return names

    def listen(self, port: int) -> socket.socket:
        """A socket that listens on the loopback inside, and is answered here.

        It belongs to the network of the sandbox, so nothing of the host comes with it. Call it
        before the agent is let in. Raises FileRefused or SandboxFailed.
        """
        with self._lock:
            return self._handed_out({"action": "listen", "port": port}, f"port {port}")

    def _handed_out(self, request: dict[str, Any], what: str) -> socket.socket:
        """The socket that a request brings, while the lock is held."""
        with self.within(_ANSWER_SECONDS):
            header, _ = self._exchange(self._first(), request)
        if "error" in header or self._control is None:
            raise FileRefused(what, str(header.get("error")))
        self._control.settimeout(_GRACE_SECONDS)
        try:
            _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
            return socket.socket(fileno=descriptors[0])
        except (OSError, IndexError) as error:
            raise SandboxFailed("the sandbox handed out no socket") from error

    def _new_channel(self) -> _Channel:
        with self._handed_out({"action": "channel"}, "a channel") as link:
            return _Channel(link.makefile("wb"), link.makefile("rb"))

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))  # noqa: PTH118 (a path inside)

    def _ask(
        self, request: dict[str, Any], content: bytes = b"", parts: int = 0
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a quick request and take its reply; one at a time. Raises SandboxFailed."""
        with self._lock, self.within(_ANSWER_SECONDS):
            return self._exchange(self._first(), request, content, parts)

    def _first(self) -> _Channel:
        """The channel that the server has from its start. Raises SandboxFailed."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SandboxFailed("the sandbox was not started")
        return _Channel(process.stdin, process.stdout)

    def _exchange(
        self, channel: _Channel, request: dict[str, Any], content: bytes = b"", parts: int = 0
    ) -> tuple[dict[str, Any], list[bytes]]:
        """A request and its reply, of so many `parts` or an error. Raises SandboxFailed."""
        try:
            head = json.dumps(request | {"bytes": len(content)}).encode() + b"\n"
            channel.requests.write(head + content)
            channel.requests.flush()
            header = json.loads(channel.replies.readline(_HEADER_BYTES))
            if len(header["bytes"]) != (0 if "error" in header else parts):
                raise ValueError("a reply with other parts")
            return header, [self._part(channel, size) for size in header["bytes"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._nonsense() from error

    def _nonsense(self) -> SandboxFailed:
        """End the box; the error to raise."""
        self._kill()
        return SandboxFailed("the sandbox ended or answered nonsense")

    def _part(self, channel: _Channel, size: object) -> bytes:
        limits = self.box.limits
        if not isinstance(size, int) or not 0 <= size <= max(
            limits.output_bytes, limits.file_bytes
        ):
            raise ValueError("a reply beyond the limits")
        part = channel.replies.read(size)
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
            arguments.write(b"".join(part.encode() + b"\0" for part in _wrapper(self.box)))
        inside = [interpreter(), "-I", "/opt/sandbox_server.py", str(control)]
        return [binary, "--args", str(reading), *inside], [reading, control]


def _is_inside(name: object) -> bool:
    """Is it a name that leads to a file below a folder here, whatever names it?"""
    if not isinstance(name, str) or "\0" in name:
        return False
    try:
        content = os.fsencode(name)
    except UnicodeEncodeError:
        return False
    parts = content.split(b"/")
    return len(content) <= _LONGEST_NAME and all(
        part not in (b"", b".", b"..") and len(part) <= _LONGEST_PART for part in parts
    )


_TEMPORARY = (".tmp", ".pyc", "~")
_MOST_SECONDS = 300.0  # for all files together


def fetch_outputs(sandbox: Sandbox, folder: Path) -> None:
    """Copy the regular files of outputs/ into `folder`, which is made anew.

    Leftovers of programs stay behind, and files that the box refuses. So do files beyond the size
    of the box's disk: files with holes, or with several names, take less inside. A box that takes
    too long in total is ended: each answer of a forged server alone may be in time. Raises
    SandboxFailed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with sandbox.within(_MOST_SECONDS):
        _fetch(sandbox, folder)


def _fetch(sandbox: Sandbox, folder: Path) -> None:
    room = sandbox.box.limits.disk_bytes
    for name in sandbox.names("outputs"):
        if name.endswith(_TEMPORARY):
            continue
        target = folder / name
        try:
            content = sandbox.read(f"outputs/{name}")
            if len(content) > room:
                continue
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(content)
        except (FileRefused, FileExistsError, IsADirectoryError, NotADirectoryError):
            continue  # the latter: names that contradict each other, where an agent made them up
        room -= len(content)
