"""Prefect's server on the loopback: the service's, or one beside a single build.

Prefect can start a server for a build itself, but only once everything is imported, after importing
the whole server a second time, and it then takes any caller on the loopback. This one is imported
on the other core while the build imports its flows, and answers only who knows its password.

Run as `python -m flows.server SOCKET` it serves a build until that ends; as
`python -m flows.server FOLDER PORT` the service, whose address it writes to FOLDER/url.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
from data.builds import nearest
from data.errors import InputError, NoSpaceError
from data.loopback import LOOPBACK, Application, Receive, Scope, Send, guarded_app, listen
from data.neutralise import one_line
from flows import environment
from flows.surroundings import require_for_builds

OWN = "BENCHMINT_OWN_SERVER"  # set where the server is the build's own
_NAMING = {
    "prefect.toml": "",
    "pyproject.toml": "[tool.prefect",
    ".env": "PREFECT_",
}
_SECONDS = 5
_HERE = b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'"
_LEAST_HOME = 16 << 20  # bytes: Prefect's database, which is new or holds earlier runs


@contextmanager
def own_server() -> Iterator[None]:
    """Lead Prefect, which must not be imported yet, to a server that ends with the block.

    Where the user names a server, or may do so in one of Prefect's files, nothing is done.
    """
    require_for_builds()
    environment.apply()
    if is_named(os.environ, Path.cwd()):
        yield
        return
    _require_room()
    with listen(0) as listening:
        port, password = listening.getsockname()[1], f"benchmint:{secrets.token_urlsafe()}"
        os.environ[OWN] = "1"
        os.environ["PREFECT_API_URL"] = f"http://{LOOPBACK}:{port}/api"
        os.environ["PREFECT_API_AUTH_STRING"] = password
        os.environ["PREFECT_SERVER_API_AUTH_STRING"] = password
        number = listening.fileno()
        child = subprocess.Popen(  # noqa: S603 (this interpreter and this module)
            [sys.executable, "-m", "flows.server", str(number)],
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


def _require_room() -> None:
    """Raise NoSpaceError or InputError if Prefect's database, in its home, has no room."""
    home = _home(os.environ)
    if not os.access(nearest(home), os.W_OK):
        raise InputError(
            str(home), "no folder that can be made or written", "the home of Prefect's database",
            "Set PREFECT_HOME to a folder of yours.",
        )  # fmt: skip
    free = shutil.disk_usage(nearest(home)).free
    if free < _LEAST_HOME:
        raise NoSpaceError(home, free, _LEAST_HOME)


def _home(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("PREFECT_HOME") or Path.home() / ".prefect")


def _give_up_with(child: subprocess.Popen[bytes], ending: threading.Event) -> None:
    """End the build at once where its server is gone: Prefect would ask it for minutes."""
    code = child.wait()
    if ending.is_set():
        return
    print(
        f"benchmint: Prefect's server beside this build ended early (exit code {code}). Build "
        "again: finished stages are kept.",
        file=sys.stderr,
        flush=True,
    )
    os._exit(2)


def is_named(variables: Mapping[str, str], folder: Path) -> bool:
    """Whether the environment or a file that Prefect reads may name a server."""
    if any(variables.get(f"PREFECT_{name}") for name in ("API_URL", "PROFILE", "PROFILES_PATH")):
        return True
    home = _home(variables)
    files = {folder / name: part for name, part in _NAMING.items()}
    files[home / "profiles.toml"] = "PREFECT_API_URL"
    return any(file.is_file() and part in _readable(file) for file, part in files.items())


def _readable(file: Path) -> str:
    """The text of a file of Prefect's. Raises InputError where it is no UTF-8, or no TOML."""
    try:
        text = file.read_text("utf-8")
        if file.suffix == ".toml":
            tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            str(file), f"no TOML ({one_line(str(error))[:100]})", "a file that Prefect can read",
            "Correct it, or move it away.",
        ) from error  # fmt: skip
    return text


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def serve_build(listening: socket.socket) -> None:
    """Serve on the socket until the build ends, in whichever way."""
    threading.Thread(target=_leave_with_the_build, daemon=True).start()
    os.environ["PREFECT_UI_ENABLED"] = "false"
    # Its pages may lack a line when another build writes to the database too; nothing else does.
    os.environ["PREFECT_LOGGING_SERVER_LEVEL"] = "CRITICAL"
    os.environ["PREFECT_API_BLOCKS_REGISTER_ON_START"] = "false"  # for deployments only
    _serve(listening, "error", ephemeral=True)


def _leave_with_the_build() -> None:
    """The build holds the other end of standard input: it closes when the build is gone.

    Read without a buffer: a thread that holds the buffer's lock makes the end of a server that
    fails a fatal error of the interpreter, in ten lines.
    """
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(0)


def serve_service(folder: Path, port: int) -> None:
    """Listen, write the address, serve until ended. Raises InputError if the port is taken."""
    listening = listen(port)
    port = listening.getsockname()[1]
    # Before Prefect is imported: its pages learn the address of the API from these.
    os.environ["PREFECT_SERVER_API_HOST"] = LOOPBACK
    os.environ["PREFECT_SERVER_API_PORT"] = str(port)
    write_bytes(folder / "url", f"http://{LOOPBACK}:{port}/api\n".encode())
    _serve(listening, "warning")


def _serve(listening: socket.socket, log_level: str, *, ephemeral: bool = False) -> None:
    """Prefect checks neither Host nor Origin, and its pages count their use at another site.

    So the application is guarded, and its pages are kept to this server (law 10).
    """
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=ephemeral, final=True)
    config = uvicorn.Config(
        guarded_app(_kept_here(app), listening.getsockname()[1]),
        log_level=log_level,
        access_log=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _kept_here(app: Application) -> Application:
    """An ASGI application whose pages may load and call nothing but this server."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"content-security-policy", _HERE)]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, sending)

    return answer


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve_build(socket.socket(fileno=int(sys.argv[1])))
    else:
        serve_service(Path(sys.argv[1]), int(sys.argv[2]))
