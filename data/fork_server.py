"""Forks children whose modules are imported already, so that a start costs milliseconds.

    python -m data.fork_server MODULE

Standard input is a Unix socket. `{"spawn": [arguments]}`, with two file descriptors for the
child's standard input and output, is answered with the child's process id; `{"end": id}` kills
the child and reaps it. The server itself reads nothing untrusted, and ends when its parent does.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable

_MESSAGE = 4096


def main() -> None:
    """Serve until the other end of the socket is closed."""
    module = sys.argv[1]
    run: Callable[[], None] = importlib.import_module(module).main
    requests = socket.socket(fileno=os.dup(0))
    children: set[int] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, _MESSAGE, 2)
        if not message:
            break
        request = json.loads(message)
        if "spawn" in request:
            pid = os.fork()
            if pid == 0:
                requests.close()
                _become(run, [module, *request["spawn"]], descriptors)
            children.add(pid)
            for descriptor in descriptors:
                os.close(descriptor)
            requests.sendall(json.dumps(pid).encode())
        else:
            _end(request["end"], children)
            requests.sendall(b"0")
    for pid in list(children):
        _end(pid, children)


def _become(run: Callable[[], None], arguments: list[str], descriptors: list[int]) -> None:
    """Turn this fork into the child; never returns."""
    status = 1
    try:
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        sys.argv = arguments
        run()
        status = 0
    finally:
        os._exit(status)


def _end(pid: int, children: set[int]) -> None:
    """Until it is reaped a child keeps its process id, so the signal cannot hit another process."""
    if pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        children.discard(pid)


if __name__ == "__main__":
    main()
