"""A Prefect server beside one build, for its processes alone.

Prefect can start such a server itself, but only once everything is imported, after importing the
whole server a second time, and it then takes any caller on the loopback. This one is imported on
the other core while the build imports its flows, and answers only who knows its password.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from data.loopback import LOOPBACK, listen
from flows import environment

OWN = "BENCHMINT_OWN_SERVER"  # set where the server is the build's own
_NAMING = {
    "prefect.toml": "",
    "pyproject.toml": "[tool.prefect",
    ".env": "PREFECT_",
}
_SECONDS = 5


@contextmanager
def own_server() -> Iterator[None]:
    """Lead Prefect, which must not be imported yet, to a server that ends with the block.

    Where the user names a server, or may do so in one of Prefect's files, nothing is done.
    """
    environment.apply()
    if is_named(os.environ, Path.cwd()):
        yield
        return
    with listen(0) as listening:
        port, password = listening.getsockname()[1], f"benchmint:{secrets.token_urlsafe()}"
        os.environ[OWN] = "1"
        os.environ["PREFECT_API_URL"] = f"http://{LOOPBACK}:{port}/api"
        os.environ["PREFECT_API_AUTH_STRING"] = password
        os.environ["PREFECT_SERVER_API_AUTH_STRING"] = password
        number = listening.fileno()
        child = subprocess.Popen(  # noqa: S603 (this interpreter and this module)
            [sys.executable, "-m", "flows.own_server", str(number)],
            stdin=subprocess.PIPE,
            pass_fds=[number],
            start_new_session=True,  # an interrupt is for the build, which tells the server last
        )
    ending = threading.Event()
    threading.Thread(target=_give_up_with, args=(child, ending), daemon=True).start()
    try:
        yield
    finally:
        ending.set()
        _end(child)


def _give_up_with(child: subprocess.Popen[bytes], ending: threading.Event) -> None:
    """End the build at once where its server is gone: Prefect would ask it for minutes."""
    code = child.wait()
    if ending.is_set():
        return
    print(
        f"Prefect's server beside this build ended early (exit code {code}). Build again: "
        "finished stages are kept.",
        file=sys.stderr,
        flush=True,
    )
    os._exit(2)


def is_named(variables: Mapping[str, str], folder: Path) -> bool:
    """Whether the environment or a file that Prefect reads may name a server."""
    if any(variables.get(f"PREFECT_{name}") for name in ("API_URL", "PROFILE", "PROFILES_PATH")):
        return True
    home = Path(variables.get("PREFECT_HOME") or Path.home() / ".prefect")
    files = {folder / name: part for name, part in _NAMING.items()}
    files[home / "profiles.toml"] = "PREFECT_API_URL"
    return any(file.is_file() and part in file.read_text("utf-8") for file, part in files.items())


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def serve(listening: socket.socket) -> None:
    """Serve on the socket until the build ends, in whichever way."""
    threading.Thread(target=_leave_with_the_build, daemon=True).start()
    port = listening.getsockname()[1]
    import uvicorn
    from prefect.server.api.server import create_app

    from flows.service.server import guarded_app

    app = guarded_app(create_app(ephemeral=True, final=True), port)
    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def _leave_with_the_build() -> None:
    """The build holds the other end of standard input: it closes when the build is gone."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    os.environ["PREFECT_UI_ENABLED"] = "false"
    # Its pages may lack a line when another build writes to the database too; nothing else does.
    os.environ["PREFECT_LOGGING_SERVER_LEVEL"] = "CRITICAL"
    os.environ["PREFECT_API_BLOCKS_REGISTER_ON_START"] = "false"  # for deployments only
    serve(socket.socket(fileno=int(sys.argv[1])))
