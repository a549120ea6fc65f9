"""Attempts to get out of a sandbox, each of which succeeds where there is no wrapper.

    python -m construction.sandbox.escapes    a table: through or held, in the box and outside

The cheap ones are tried at the start of each run (`assert_isolated`): a wrapper that was taken
away, or that a new kernel or library undid, is noticed before an agent is let in. Everything that
is reached for belongs to this process: its files, its sockets on the loopback, its child.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box, Sandbox, SandboxFailed

_SECRET = "BENCHMINT_SECRET"  # noqa: S105 (the name of a variable)
_SET_INSIDE = frozenset({"PATH", "HOME", "PWD", "LC_ALL", "LC_CTYPE", "PYTHONPATH"})
_TIGHT = Limits(memory_bytes=256 << 20, disk_bytes=48 << 20, processes=48)
_SECONDS = 30.0
_SHM_BYTES = 4096
_IPC_CREATE, _IPC_REMOVE = 0o1000 | 0o600, 0


@dataclass(frozen=True, slots=True)
class _Escape:
    """One attempt: `code` is Python that is true where it got through; `host` describes the host.

    `at_start` says whether it is cheap enough to be tried before each run.
    """

    name: str
    code: str
    at_start: bool = True


_ESCAPES = (
    _Escape("read a host file", "open(host['file']).read() == host['token']"),
    _Escape("list a host folder", "'secret.txt' in os.listdir(host['folder'])"),
    _Escape("write a host file", "open(host['folder'] + '/written', 'w').write('x') == 1"),
    _Escape("read another attempt", "open(host['attempt']).read() == host['token']"),
    _Escape("follow a link to a host file", "link(host['file']) == host['token']"),
    _Escape("reach the host's root folder", "list(os.stat('/')[1:3]) == host['root']"),
    _Escape("see a host process", "host['token'] in open(f\"/proc/{host['pid']}/cmdline\").read()"),
    _Escape(
        "read a host process's environment",
        "host['token'] in open(f\"/proc/{host['pid']}/environ\").read()",
    ),
    _Escape("list a host process's open files", "os.listdir(f\"/proc/{host['pid']}/fd\") != []"),
    _Escape("signal a host process", "os.kill(host['pid'], 0) is None"),
    _Escape("read a variable of the parent", "set(os.environ) & set(host['variables'])"),
    _Escape("read a variable of another process inside", "variables() & set(host['variables'])"),
    _Escape("connect to the loopback", "tcp(host['tcp']) == host['token']"),
    _Escape("exchange datagrams on the loopback", "udp(host['udp']) == host['token']"),
    _Escape("see the host's ports", "f\":{host['tcp']:04X} \" in open('/proc/net/tcp').read()"),
    _Escape("see the host's sockets", "host['abstract'] in open('/proc/net/unix').read()"),
    _Escape("share the host's ports", "taken(host['tcp'])"),
    _Escape("connect to a socket file", "unix(host['unix']) == host['token']"),
    _Escape("connect to an abstract socket", "unix('\\0' + host['abstract']) == host['token']"),
    _Escape("open shared memory of the host", "open(host['shm']).read() == host['token']"),
    _Escape("find a System V segment", "segment(host['segment'])"),
    _Escape("have the host's name", "socket.gethostname() == host['name']"),
    _Escape("make a user namespace", "libc.unshare(0x10000000) == 0"),
    _Escape("use more memory", "len(bytes(range(256)) * (host['memory'] // 200)) > 0", False),
    _Escape("run more processes", "spawn(host['processes'] + 8)", False),
    _Escape("fill the disk", "fill(host['disk'] * 2)", False),
)

_TOOLS = """
import ctypes, json, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
host = json.loads(sys.stdin.readline())
def link(path):
    os.symlink(path, "escape-link")
    return open("escape-link").read()
def variables():
    names = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            pairs = open(f"/proc/{pid}/environ", errors="replace").read().split("\\0")
        except OSError:
            continue
        names |= {pair.partition("=")[0] for pair in pairs}
    return names
def talk(connection, address):
    connection.settimeout(3)
    connection.connect(address)
    connection.send(b"?")
    return connection.recv(100).decode()
def tcp(port):
    return talk(socket.socket(), ("127.0.0.1", port))
def udp(port):
    return talk(socket.socket(type=socket.SOCK_DGRAM), ("127.0.0.1", port))
def taken(port):
    try:
        socket.socket().bind(("127.0.0.1", port))
    except OSError:
        return True
def unix(path):
    return talk(socket.socket(socket.AF_UNIX), path)
def segment(key):
    return libc.shmget(key, 1, 0) >= 0
def spawn(count):
    running = []
    try:
        running += [subprocess.Popen(["sleep", "20"]) for _ in range(count)]
        return True
    finally:
        for child in running:
            child.kill()
            child.wait()
def fill(size):
    with open("escape-filler", "wb") as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    os.unlink("escape-filler")
    return True
"""
_TRY = """
pid = os.fork()
if pid == 0:
    code = 1
    try:
        code = 0 if {code} else 1
    finally:
        os._exit(code)
print(int(os.waitpid(pid, 0)[1] == 0), flush=True)
"""


def through(sandbox: Sandbox, escapes: tuple[_Escape, ...], host: Mapping[str, Any]) -> list[str]:
    """Names of the escapes that got through, each tried in a process of its own."""
    program = _TOOLS + "".join(_TRY.format(code=escape.code) for escape in escapes)
    outcome = sandbox.run(
        ["python3", "-I", "-c", program],
        seconds=_SECONDS,
        stdin=json.dumps(dict(host)).encode() + b"\n",
    )
    tried = outcome.stdout.split()
    if outcome.code or len(tried) != len(escapes):
        raise SandboxFailed(f"the isolation test did not finish: {outcome.stderr[-300:]!r}")
    return [escape.name for escape, got in zip(escapes, tried, strict=True) if got != b"0"]


def assert_isolated(sandbox: Sandbox) -> None:
    """Try the cheap escapes in a running sandbox. Raises SandboxFailed if one gets through."""
    with _host_facts(sandbox.box.limits) as host:
        got = through(sandbox, tuple(escape for escape in _ESCAPES if escape.at_start), host)
    if got:
        raise SandboxFailed(f"the sandbox does not isolate: {', '.join(got)}")


@contextmanager
def _host_facts(limits: Limits) -> Iterator[dict[str, Any]]:
    """Things of this process that a sandbox must not reach, while the block runs."""
    token = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as name, _shared(token) as shared, _sockets(token) as served:
        folder = Path(name)
        (folder / "secret.txt").write_text(token, encoding="ascii")
        (folder / "attempt").mkdir()
        (folder / "attempt/answer.txt").write_text(token, encoding="ascii")
        child = subprocess.Popen(  # noqa: S603 (this interpreter)
            [sys.executable, "-c", "import sys; sys.stdin.read()", token],
            stdin=subprocess.PIPE,
            env={_SECRET: token},
        )
        try:
            yield {
                "token": token,
                "folder": name,
                "file": str(folder / "secret.txt"),
                "attempt": str(folder / "attempt/answer.txt"),
                "root": list(Path("/").stat()[1:3]),
                "pid": child.pid,
                "variables": sorted(os.environ.keys() - _SET_INSIDE),
                "name": socket.gethostname(),
                "memory": limits.memory_bytes,
                "processes": limits.processes,
                "disk": limits.disk_bytes,
                **shared,
                **served,
            }
        finally:
            child.communicate()


@contextmanager
def _shared(token: str) -> Iterator[dict[str, Any]]:
    """Shared memory of both kinds."""
    path, key = Path("/dev/shm", f"benchmint-{token}"), int(token[:7], 16)  # noqa: S108
    path.write_text(token, encoding="ascii")
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(key, _SHM_BYTES, _IPC_CREATE)
    try:
        yield {"shm": str(path), "segment": key}
    finally:
        path.unlink()
        libc.shmctl(segment, _IPC_REMOVE, None)


@contextmanager
def _sockets(token: str) -> Iterator[dict[str, Any]]:
    """Four sockets that answer with the token."""
    with tempfile.TemporaryDirectory() as folder:
        path, abstract = f"{folder}/socket", f"benchmint-{token}"
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        named, unnamed = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        for listening, address in (
            (tcp, ("127.0.0.1", 0)), (udp, ("127.0.0.1", 0)), (named, path),
            (unnamed, f"\0{abstract}"),
        ):  # fmt: skip
            listening.bind(address)
        for listening in (tcp, named, unnamed):
            listening.listen()
            threading.Thread(target=_answer_all, args=(listening, token), daemon=True).start()
        threading.Thread(target=_echo_all, args=(udp, token), daemon=True).start()
        try:
            yield {
                "tcp": tcp.getsockname()[1],
                "udp": udp.getsockname()[1],
                "unix": path,
                "abstract": abstract,
            }
        finally:
            for listening in (tcp, udp, named, unnamed):
                with suppress(OSError):
                    listening.shutdown(socket.SHUT_RDWR)
                listening.close()


def _answer_all(listening: socket.socket, token: str) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1)
                connection.sendall(token.encode())


def _echo_all(listening: socket.socket, token: str) -> None:
    with suppress(OSError):
        while (sender := listening.recvfrom(100)[1]) is not None:  # None once it is shut down
            listening.sendto(token.encode(), sender)


def table() -> list[tuple[str, bool, bool]]:
    """Each escape: did it get through in the box, and outside of it?"""
    with (
        _host_facts(_TIGHT) as host,
        tempfile.TemporaryDirectory() as folder,
        Sandbox(Box(_TIGHT)) as box,
        Sandbox(Box(_TIGHT, confined=False), Path(folder)) as bare,
    ):
        inside = _one_by_one(box, host)
        outside = _one_by_one(bare, host)
    return [(escape.name, escape.name in inside, escape.name in outside) for escape in _ESCAPES]


def _one_by_one(sandbox: Sandbox, host: Mapping[str, Any]) -> set[str]:
    """Escapes that got through. Each is a command of its own: one may take the next one along."""
    got: set[str] = set()
    for escape in _ESCAPES:
        with suppress(SandboxFailed):
            got.update(through(sandbox, (escape,), host))
    return got


if __name__ == "__main__":
    for name, inside, outside in table():
        print(f"{name:40} {'THROUGH' if inside else 'held':10} {'through' if outside else 'HELD'}")
