"""Starting and stopping the service as a whole."""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

from data.atomic import PRIVATE_FILE, private_dir, write_bytes
from flows.service.processes import ServiceError, end, forget, marked, running, spawn
from flows.service.settings import LOOPBACK, POOL, Service, process_environment

NAMES = ("worker", "server")  # in the order they are ended
_PATIENCE = 180.0  # seconds for each step of a start, on a machine that is busy
_GRACE = 15.0  # seconds for a process to end by itself
_STEP = 0.2
_PASSWORD_BYTES = 24
_TOML = "# Written by `make serve`, removed by `make stop`.\n"


def start(service: Service) -> bool:
    """Start server and worker, deploy, wait until both are ready; False if they run already.

    What a killed service left behind is ended first, and its runs are taken up again.
    Raises ServiceError with the log to look at; then nothing stays behind.
    """
    private_dir(service.folder)
    with _alone(service):
        if all(running(service, name) for name in NAMES):
            return False
        _sweep(service)
        _require_free(service.port)
        try:
            _start(service)
        except BaseException:
            _sweep(service)
            raise
    return True


def stop(service: Service) -> int:
    """End all processes of the service; how many there were."""
    if not service.folder.is_dir():
        return 0
    with _alone(service):
        return _sweep(service)


def status(service: Service) -> dict[str, int | None]:
    """The process ids of server and worker, None for what does not run."""
    return {name: running(service, name) for name in reversed(NAMES)}


def _start(service: Service) -> None:
    # Whoever else is on this machine reaches the port: a new password each time keeps them out.
    password = f"benchmint:{secrets.token_urlsafe(_PASSWORD_BYTES)}"
    write_bytes(service.password, password.encode(), mode=PRIVATE_FILE)
    spawn(service, "server", ("flows.service.server", str(service.folder), str(service.port)))
    _wait(service, "server", lambda: _healthy(service.url()))
    url = service.url()
    assert url is not None  # it answered there
    os.environ.update(process_environment(service, url))
    from flows.service import setup  # imports Prefect, which reads the environment

    setup.prepare(service)
    _point_prefect(service, url)
    spawn(service, "deploy", ("prefect", "--no-prompt", "deploy", "--all"), url)
    worker = ("prefect", "worker", "start", "--pool", POOL, "--type", "process", "--name", "local")
    spawn(service, "worker", worker, url)
    _wait(service, "deploy", lambda: running(service, "deploy") is None, ends=True)
    missing = setup.missing_deployments(service)
    if missing:
        _fail(service, "deploy", f"not deployed: {', '.join(missing)}")
    _wait(service, "worker", setup.worker_is_online)


def _sweep(service: Service) -> int:
    """End worker, runs, server: a run that is cut off can still tell the server."""
    pids = marked(service)
    for name in NAMES:
        pid = running(service, name)
        if name == "server":
            end(service, [other for other in marked(service) if other != pid], _GRACE)
        if pid is not None:
            end(service, [pid], _GRACE)
        forget(service, name)
    end(service, marked(service), _GRACE)
    service.address.unlink(missing_ok=True)
    service.password.unlink(missing_ok=True)
    if service.folder.is_relative_to(service.root) and _is_ours(service):
        service.prefect_toml.unlink()
    return len(pids)


def _point_prefect(service: Service, url: str) -> None:
    """Lead `prefect` in the project's folder here, unless the user leads it elsewhere.

    Only for a service of the project's own: one that lies elsewhere is for whoever started it.
    """
    own = service.folder.is_relative_to(service.root)
    if own and (not service.prefect_toml.exists() or _is_ours(service)):
        profile = f'{_TOML}[api]\nurl = "{url}"\nauth_string = "{service.auth()}"\n'
        write_bytes(service.prefect_toml, profile.encode(), mode=PRIVATE_FILE)


def _is_ours(service: Service) -> bool:
    file = service.prefect_toml
    return file.is_file() and file.read_text(encoding="utf-8").startswith(_TOML)


@contextmanager
def _alone(service: Service) -> Iterator[None]:
    with (service.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ServiceError(
                f"{service.folder}: the service is being started or stopped. Wait for it."
            ) from None
        yield


def _require_free(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            raise ServiceError(
                f"port {port} is taken by another program. End it, or choose another port: "
                "BENCHMINT_PORT=4300 make serve (0: any free one)."
            ) from None


def _healthy(url: str | None) -> bool:
    if url is None:
        return False
    try:
        return httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _wait(service: Service, name: str, ready: Callable[[], bool], *, ends: bool = False) -> None:
    """Until `ready`. Raises ServiceError if the process ends before, or nothing comes of it."""
    deadline = time.monotonic() + _PATIENCE
    while not ready():
        if not ends and running(service, name) is None:
            _fail(service, name, "it ended")
        if time.monotonic() > deadline:
            _fail(service, name, f"not ready after {_PATIENCE:.0f} s")
        time.sleep(_STEP)


def _fail(service: Service, name: str, why: str) -> None:
    raise ServiceError(f"the {name} did not start: {why}. See {service.log(name)}")
