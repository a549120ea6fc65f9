"""Prefect's server on the loopback: the service's, or one beside a single build.

Prefect can start a server for a build itself, but only once everything is imported, after importing
the whole server a second time, and it then takes any caller on the loopback. This one is forked
from the build, with what both import, imports the rest on the other core while the build imports
its flows, and answers only who knows its password.

Run as `python -m flows.server FOLDER PORT` it serves the service, whose address it writes to
FOLDER/url.
"""

from __future__ import annotations

import os
import resource
import secrets
import shutil
import signal
import socket
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
from data.builds import nearest
from data.errors import BenchmintError, InputError, NoSpaceError
from data.loopback import LOOPBACK, Application, Receive, Scope, Send, guarded_app, listen
from data.neutralise import one_line
from flows import surroundings
from flows.surroundings import require_for_builds

_OF_A_BUILD = {
    "PREFECT_UI_ENABLED": "false",
    # Its pages may lack a line when another build writes to the database too; nothing else does.
    "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",  # for deployments only
    # Automations and the events that they read are the service's; the token keeps web pages out,
    # which do not know the password.
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "false",
}
_NAMING = {
    "prefect.toml": "",
    "pyproject.toml": "[tool.prefect",
    ".env": "PREFECT_",
}
_UNWRITABLE = 74  # how a server ends whose database cannot be written
_SECONDS = 5
_ANSWER_SECONDS = 20.0
_HERE = b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'none'"
_LEAST_HOME = 16 << 20  # bytes: Prefect's database, which is new or holds earlier runs


class _ServerUnreachable(BenchmintError):
    """The settings name a Prefect server, and none is there."""


@contextmanager
def own_server() -> Iterator[None]:
    """Lead Prefect, which must not be imported yet, to a server that ends with the block.

    Where the user names a server, or may do so in one of Prefect's files, that one is used; else
    the service of this project, if it runs. Raises ServerUnreachable if there is none after all.
    """
    require_for_builds()
    if leads_to_server():
        _require_answer()
        yield
        return
    _require_room()
    with listen(0) as listening:
        port, password = listening.getsockname()[1], f"benchmint:{secrets.token_urlsafe()}"
        os.environ["PREFECT_API_URL"] = f"http://{LOOPBACK}:{port}/api"
        os.environ["PREFECT_API_AUTH_STRING"] = password
        os.environ["PREFECT_SERVER_API_AUTH_STRING"] = password
        os.environ.update(_OF_A_BUILD)
        import prefect.flows  # noqa: F401 (once, for this process and for the one that is forked)

        watched, held = os.pipe()
        arguments = (listening, watched, held)
        child = get_context("fork").Process(target=_serve_build, args=arguments, daemon=True)
        child.start()
        os.close(watched)
    ending = threading.Event()
    threading.Thread(target=_give_up_with, args=(child, ending), daemon=True).start()
    try:
        yield
    finally:
        ending.set()
        _end(child)
        os.close(held)


def leads_to_server() -> bool:
    """Whether a server is there that runs are recorded in, named by the user or the service's."""
    surroundings.set_prefect_up()
    return _is_named(os.environ, Path.cwd()) or _leads_to_service()


def _leads_to_service() -> bool:
    """Lead Prefect to the service of this project's folder, if it runs."""
    from flows.service import from_environment

    service = from_environment()
    url = service.url()
    if url is None or service.processes.running("server") is None:
        return False
    os.environ["PREFECT_API_URL"] = url
    os.environ["PREFECT_API_AUTH_STRING"] = service.auth() or ""
    return True


def _require_answer() -> None:
    """Raise ServerUnreachable if the server does not answer: Prefect would ask for minutes."""
    import httpx
    from prefect.settings import PREFECT_API_URL

    url = PREFECT_API_URL.value()
    if not url:
        return  # a file of Prefect's that names none after all: Prefect starts its own
    try:
        httpx.get(f"{url}/health", timeout=_ANSWER_SECONDS)  # any status: somebody is there
    except httpx.TransportError:
        raise _ServerUnreachable(
            f"{url}: no Prefect server responds there. Start it (make serve), or build without "
            "one: make stop, or unset PREFECT_API_URL."
        ) from None


def _require_room() -> None:
    """Raise NoSpaceError or InputError if Prefect's database, in its home, has no room."""
    home = _home(os.environ)
    if not os.access(nearest(home), os.W_OK):
        raise InputError(
            str(home), "a folder that cannot be created or written to",
            "a home for Prefect's database",
            "Set PREFECT_HOME to a folder that you own.",
        )  # fmt: skip
    database = home / "prefect.db"
    room = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    known = database.stat().st_size if database.is_file() else 0
    if room != resource.RLIM_INFINITY and room < known + _LEAST_HOME:
        raise InputError(
            str(database), f"files of at most {room >> 20:,} MiB",
            f"at least {known + _LEAST_HOME >> 20:,} MiB", "Raise the limit (ulimit -f).",
        )  # fmt: skip
    free = shutil.disk_usage(nearest(home)).free
    if free < _LEAST_HOME:
        raise NoSpaceError(home, free, _LEAST_HOME)


def _home(variables: Mapping[str, str]) -> Path:
    return Path(variables.get("PREFECT_HOME") or Path.home() / ".prefect")


def _give_up_with(child: BaseProcess, ending: threading.Event) -> None:
    """End the build at once where its server is gone: Prefect would ask it for minutes."""
    connection.wait([child.sentinel])
    if ending.is_set():
        return
    child.join()
    if child.exitcode == _UNWRITABLE:
        what = (
            f"{_home(os.environ)}: Prefect's database there cannot be written: the disk is full, "
            "or the file size limit is too low (ulimit -f). Free some space, or set "
            "PREFECT_HOME to another folder, and build"
        )
    else:
        what = f"This build's Prefect server ended early (exit code {child.exitcode}). Build"
    print(f"benchmint: {what} again: finished stages are kept.", file=sys.stderr, flush=True)
    os._exit(2)


def _is_named(variables: Mapping[str, str], folder: Path) -> bool:
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
            str(file), f"invalid TOML ({one_line(str(error))[:100]})", "a file Prefect can read",
            "Correct it, or move it away.",
        ) from error  # fmt: skip
    return text


def _end(child: BaseProcess) -> None:
    child.terminate()
    child.join(_SECONDS)
    if child.is_alive():
        child.kill()
        child.join()


def _serve_build(listening: socket.socket, watched: int, held: int) -> None:
    """Serve on the socket until the build ends, in whichever way: it holds `held`."""
    os.setsid()  # an interrupt is for the build, which tells the server last
    for number in (signal.SIGINT, signal.SIGTERM):  # what the build does then is not for its server
        signal.signal(number, signal.SIG_DFL)
    os.close(held)
    threading.Thread(target=_leave_with_the_build, args=(watched,), daemon=True).start()
    _leave_with_the_database()
    _serve(listening, "critical", ephemeral=True)


def _leave_with_the_database() -> None:
    """End where the database can no longer be written, instead of failing each request anew."""
    from sqlalchemy import Engine, ExceptionContext, event

    def end(context: ExceptionContext) -> None:
        name = getattr(context.original_exception, "sqlite_errorname", "")
        if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
            os._exit(_UNWRITABLE)

    event.listen(Engine, "handle_error", end)


def _leave_with_the_build(watched: int) -> None:
    while os.read(watched, 1024):
        pass
    os._exit(0)


def _serve_service(folder: Path, port: int) -> None:
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
    _serve_service(Path(sys.argv[1]), int(sys.argv[2]))
