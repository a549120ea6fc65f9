"""Prefect's server and worker as one service: `python -m flows.service start | stop | status`.

Where it lies and listens, how it is started and stopped.
"""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import typer

from data.atomic import PRIVATE_FILE, private_dir, write_bytes, write_once
from data.child import ProcessGroup, ServiceError
from data.errors import BenchmintError, ConfigError
from data.loopback import is_free
from flows import ROOT
from flows.surroundings import NOTHING_SENT

_POOL = "benchmint"
_MARK = "BENCHMINT_SERVICE"  # tells the service's processes from all others
_NAMES = ("worker", "server")  # in the order they are ended
_PORT = 4200
_MAX_PORT = 65535
_GRACE = 15.0  # seconds for a process to end by itself
_PASSWORD_BYTES = 24
_TOML = "# Written by `make serve`, removed by `make stop`.\n"
# Loops are short enough for a person who waits.
_DEFAULTS = {
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    "PREFECT_WORKER_PREFETCH_SECONDS": "5",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",  # SQLite has one writer, and builds take the machine
    "PREFECT_CLI_COLORS": "false",
}
# Settings of another server; the webhook's address goes into a secret block, not to the builds.
_PASSWORDS = ("PREFECT_API_AUTH_STRING", "PREFECT_SERVER_API_AUTH_STRING")
_LEADING_AWAY = {
    "PREFECT_API_URL",
    "PREFECT_API_KEY",
    "PREFECT_PROFILE",
    "BENCHMINT_WEBHOOK_URL",
    *_PASSWORDS,
}


@dataclass(frozen=True, slots=True)
class Service:
    """`folder` holds pid files, logs and Prefect's database; port 0 takes a free one."""

    folder: Path
    port: int
    webhook: str | None
    root: Path = ROOT

    @property
    def address(self) -> Path:
        """The file with the address of the API, there while the server listens."""
        return self.folder / "url"

    @property
    def password(self) -> Path:
        """The file with `user:password` of the API (0600), which every start keeps."""
        return self.folder / "auth"

    @property
    def prefect_toml(self) -> Path:
        """Leads the `prefect` command in the project's folder to this server."""
        return self.root / "prefect.toml"

    @property
    def processes(self) -> ProcessGroup:
        return ProcessGroup(self.folder, _MARK)

    def url(self) -> str | None:
        """The address of the API, None where no server listens."""
        return self.address.read_text().strip() if self.address.is_file() else None

    def auth(self) -> str | None:
        """`user:password` of the API, None where no server ever ran."""
        return self.password.read_text().strip() if self.password.is_file() else None


def from_environment(environment: Mapping[str, str] = os.environ) -> Service:
    """BENCHMINT_SERVE_DIR, BENCHMINT_PORT, BENCHMINT_WEBHOOK_URL. Raises ConfigError."""
    folder = Path(environment.get("BENCHMINT_SERVE_DIR") or "workspace/serve")
    given = environment.get("BENCHMINT_PORT") or str(_PORT)
    if not given.isascii() or not given.isdigit() or int(given) > _MAX_PORT:
        raise ConfigError("BENCHMINT_PORT: expected a port, or 0 for a free one.")
    webhook = environment.get("BENCHMINT_WEBHOOK_URL") or None
    if webhook and not webhook.startswith(("http://", "https://")):
        raise ConfigError(
            "BENCHMINT_WEBHOOK_URL: expected a URL beginning with http:// or https://."
        )
    return Service((ROOT / folder).resolve(), int(given), webhook)


def _process_environment(service: Service, url: str | None = None) -> dict[str, str]:
    """The caller's environment, led to this server (once its address is known) and its folder."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEADING_AWAY}
    paths = {
        "BENCHMINT_HOME": str(service.root),
        "PREFECT_HOME": str(service.folder / "prefect"),
    }
    led = {"PREFECT_API_URL": url} if url else {}
    if (auth := service.auth()) is not None:
        led |= dict.fromkeys(_PASSWORDS, auth)
    return _DEFAULTS | kept | NOTHING_SENT | paths | led


def _start_service(service: Service) -> bool:
    """Start server and worker, deploy, wait until both are ready; False if they run already.

    What a killed service left behind is ended first, and its runs are taken up again; so are runs
    that crashed while the service went on.
    Raises ServiceError with the log to look at; then nothing stays behind.
    """
    private_dir(service.folder)
    with service.processes.alone():
        if all(service.processes.running(name) for name in _NAMES):
            _lead_prefect(service)
            from flows.service_setup import resume_crashed

            resume_crashed()
            return False
        _sweep(service)
        _require_free(service.port)
        try:
            _start(service)
        except BaseException:
            _sweep(service)
            raise
    return True


def _stop_service(service: Service) -> int:
    """End all processes of the service; how many there were."""
    if not service.folder.is_dir():
        return 0
    with service.processes.alone():
        return _sweep(service)


def processes_of(service: Service) -> dict[str, int | None]:
    """The process ids of server and worker, None for what does not run."""
    return {name: service.processes.running(name) for name in reversed(_NAMES)}


def _start(service: Service) -> None:
    # Whoever else is on this machine reaches the port: a password keeps them out. It stays the
    # same, so that browsers that show the pages go on after a restart.
    password = f"benchmint:{secrets.token_urlsafe(_PASSWORD_BYTES)}"
    write_once(service.password, password.encode(), mode=PRIVATE_FILE)
    processes = service.processes
    server = ("flows.server", str(service.folder), str(service.port))
    processes.spawn("server", server, service.root, _process_environment(service))
    processes.wait("server", lambda: _healthy(service.url()))
    url = service.url()
    assert url is not None  # it answered there
    _lead_prefect(service)
    from flows.service_setup import missing_deployments, prepare, worker_is_online

    environment = _process_environment(service, url)
    prepare(_POOL, service.webhook)
    _point_prefect(service, url)
    deploy = ("prefect", "--no-prompt", "deploy", "--all")
    processes.spawn("deploy", deploy, service.root, environment)
    worker = ("prefect", "worker", "start", "--pool", _POOL, "--type", "process", "--name", "local")
    processes.spawn("worker", worker, service.root, environment)
    processes.wait("deploy", lambda: processes.running("deploy") is None, ends=True)
    missing = missing_deployments(service.root)
    if missing:
        processes.fail("deploy", f"not deployed: {', '.join(missing)}")
    processes.wait("worker", lambda: worker_is_online(_POOL))


def _lead_prefect(service: Service) -> None:
    """Let the environment lead Prefect to the server: its import, which comes after, reads it."""
    os.environ.update(_process_environment(service, service.url()))


def _sweep(service: Service) -> int:
    """End worker, runs, server: a run that is cut off can still tell the server."""
    processes = service.processes
    pids = processes.members()
    for name in _NAMES:
        pid = processes.running(name)
        if name == "server":
            processes.end([other for other in processes.members() if other != pid], _GRACE)
        if pid is not None:
            processes.end([pid], _GRACE)
        processes.forget(name)
    processes.end(processes.members(), _GRACE)
    service.address.unlink(missing_ok=True)
    if service.folder.is_relative_to(service.root) and _is_ours(service):
        service.prefect_toml.unlink()
    return len(pids)


def _point_prefect(service: Service, url: str) -> None:
    """Lead `prefect` in the project's folder here, unless the user leads it elsewhere.

    Only for the project's own service; another one is left to whoever started it.
    """
    own = service.folder.is_relative_to(service.root)
    if own and (not service.prefect_toml.exists() or _is_ours(service)):
        profile = f'{_TOML}[api]\nurl = "{url}"\nauth_string = "{service.auth()}"\n'
        write_bytes(service.prefect_toml, profile.encode(), mode=PRIVATE_FILE)


def _is_ours(service: Service) -> bool:
    file = service.prefect_toml
    return file.is_file() and file.read_text(encoding="utf-8").startswith(_TOML)


def _require_free(port: int) -> None:
    if not is_free(port):
        raise ServiceError(
            f"port {port} is in use by another program. Stop it, or choose another port: "
            "BENCHMINT_PORT=4300 make serve (0: any free one)."
        )


def _healthy(url: str | None) -> bool:
    if url is None:
        return False
    try:
        return httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


_app = typer.Typer(
    help="Prefect's server and worker for this project, on the loopback.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@_app.command()
def start() -> None:
    """Start server and worker, deploy prefect.yaml, return when a run can be started."""
    service = from_environment()
    started = _start_service(service)
    url = service.url() or ""
    print(f"{'serving' if started else 'already running'}: {url.removesuffix('/api')}")
    _tell(service, url)


@_app.command()
def stop() -> None:
    """End server, worker and the runs in hand."""
    ended = _stop_service(from_environment())
    print(f"{ended} processes ended" if ended else "nothing was running")


@_app.command()
def status() -> None:
    """Tell what runs; exit 1 unless all does."""
    service = from_environment()
    status = processes_of(service)
    for name, pid in status.items():
        print(f"{name}: {f'runs, process {pid}' if pid else 'not running'}")
    if not all(status.values()):
        raise typer.Exit(1)
    _tell(service, service.url() or "")


def _tell(service: Service, url: str) -> None:
    print(f"address: {url}")
    print(
        f"elsewhere: export PREFECT_API_URL={url} "
        f'PREFECT_API_AUTH_STRING="$(cat {shlex.quote(str(service.password))})"'
    )
    print(f"logs: {service.folder / 'logs'}")
    print("build: .venv/bin/prefect deployment run build-snapshot/build-snapshot --watch")


def main() -> None:
    """Run a command; errors become one readable line on standard error."""
    try:
        _app()
    except (BenchmintError, OSError) as error:
        print(f"benchmint: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
