"""`python -m flows.service start | stop | status`."""

from __future__ import annotations

import shlex
import sys

import typer

from data.errors import BenchmintError
from flows.service import lifecycle
from flows.service.lifecycle import Service, from_environment

app = typer.Typer(
    help="Prefect's server and worker for this project, on the loopback.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.command()
def start() -> None:
    """Start server and worker, deploy prefect.yaml, return when a run can be started."""
    service = from_environment()
    started = lifecycle.start(service)
    url = service.url() or ""
    print(f"{'serving' if started else 'already running'}: {url.removesuffix('/api')}")
    _tell(service, url)


@app.command()
def stop() -> None:
    """End server, worker and the runs in hand."""
    ended = lifecycle.stop(from_environment())
    print(f"{ended} processes ended" if ended else "nothing was running")


@app.command()
def status() -> None:
    """Tell what runs; exit 1 unless all does."""
    service = from_environment()
    status = lifecycle.status(service)
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
        app()
    except (BenchmintError, OSError) as error:
        print(f"benchmint: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
