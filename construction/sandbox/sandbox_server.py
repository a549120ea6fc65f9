"""The program inside a sandbox: runs commands and moves files, as requested on standard input.

It runs as `python3 -I sandbox_server.py` inside the sandbox, so it imports the standard library
alone. A request and a reply are a line of JSON followed by as many bytes as its `bytes` says, for
each part. The agent's commands run under the same user and could speak in its place: what comes
out of here is worth no more than what the agent says.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

_CONTROL = int(sys.argv[1])  # a Unix socket to the host; commands do not inherit it
_Reply = tuple[dict[str, Any], list[bytes]]
_NO_COMMAND = b"a command holds no NUL byte and no half of a character\n"


def _execute(request: Mapping[str, Any], stdin: bytes) -> _Reply:
    """Run a command in a group of its own until it ends or its time is over."""
    most = request["most_bytes"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = subprocess.Popen(  # noqa: S603 (the agent's command, inside the sandbox)
                request["command"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=request["folder"],
                env={**os.environ, **request["variables"]},
                start_new_session=True,
                preexec_fn=_limited(request["memory_bytes"], request["processes"]),
            )
        except OSError as error:
            return {"code": 127, "timed_out": False}, [b"", f"{error.strerror}\n".encode()]
        except ValueError:
            return {"code": 127, "timed_out": False}, [b"", _NO_COMMAND]
        timed_out = False
        try:
            child.communicate(stdin, timeout=request["seconds"])
        except subprocess.TimeoutExpired:
            timed_out = True
        _end_group(child)
        parts = [_head(file, most) for file in (out, err)]
    return {"code": child.returncode, "timed_out": timed_out}, parts


def write(request: Mapping[str, Any], content: bytes) -> _Reply:
    """Write a file, making its folders."""
    path = Path(request["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {}, []


def read(request: Mapping[str, Any], _content: bytes) -> _Reply:
    """The content of a regular file, not by way of a symbolic link."""
    handle = os.open(request["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            return {"error": "is_directory"}, []
        if not stat.S_ISREG(state.st_mode):
            return {"error": "not_regular"}, []
        if state.st_size > request["most_bytes"]:
            return {"error": "too_large"}, []
        return {}, [file.read(request["most_bytes"])]


def names(request: Mapping[str, Any], _content: bytes) -> _Reply:
    """Relative names of the regular files below a folder, sorted, at most `most`.

    A name of more than `longest` bytes is left out: outside, it might be too long for a path.
    Folders with such a name are not entered, as they may be nested without end.
    """
    root = Path(request["path"])
    kept: list[str] = []
    for folder, folders, files in os.walk(root) if not root.is_symlink() else ():
        is_deep = len(os.fsencode(os.path.relpath(folder, root))) > request["longest"]
        folders[:] = [] if is_deep else sorted(folders)
        for path in (Path(folder, name) for name in sorted(files)):
            name = path.relative_to(root).as_posix()
            is_short = len(os.fsencode(name)) <= request["longest"]
            if len(kept) < request["most"] and is_short and _is_file(path):
                kept.append(name)
    return {"names": kept}, []


def _is_file(path: Path) -> bool:
    """Is it a regular file, and still there?"""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _listen(request: Mapping[str, Any], _content: bytes) -> _Reply:
    """Hand a listening socket on the loopback in here to the host, which answers on it."""
    with socket.create_server(("127.0.0.1", request["port"])) as listening:
        _hand_out(listening)
    return {}, []


def channel(_request: Mapping[str, Any], _content: bytes) -> _Reply:
    """Hand a second way to speak to the host; a process of its own answers there.

    So commands can run at the same time, each on a channel.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        _hand_out(theirs)
        if os.fork() == 0:
            theirs.close()
            serve(ours.makefile("rb"), ours.makefile("wb"))
            os._exit(0)
    return {}, []


def _hand_out(item: socket.socket) -> None:
    with socket.socket(fileno=os.dup(_CONTROL)) as control:
        socket.send_fds(control, [b"!"], [item.fileno()])


_ACTIONS: dict[str, Callable[[Mapping[str, Any], bytes], _Reply]] = {
    "execute": _execute,
    "write": write,
    "read": read,
    "names": names,
    "listen": _listen,
    "channel": channel,
}


def _limited(memory_bytes: int | None, processes: int | None) -> Callable[[], None]:
    """Limits of one process, None where a cgroup holds the whole sandbox to them."""

    def limit() -> None:
        if memory_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        if processes is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill what the command left in its group, and collect it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _head(file: BinaryIO, most: int) -> bytes:
    file.seek(0)
    return file.read(most)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests one by one until the host ends them."""
    while line := requests.readline():
        request = json.loads(line)
        content = requests.read(request["bytes"])
        try:
            header, parts = _ACTIONS[request["action"]](request, content)
        except FileNotFoundError:
            header, parts = {"error": "not_found"}, []
        except PermissionError:
            header, parts = {"error": "not_permitted"}, []
        except OSError as error:
            header, parts = {"error": error.strerror or type(error).__name__}, []
        except ValueError:
            header, parts = {"error": "no_path"}, []
        header["bytes"] = [len(part) for part in parts]
        replies.write(json.dumps(header).encode() + b"\n" + b"".join(parts))
        replies.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
