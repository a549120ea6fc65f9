"""Where the service lies and listens, and the environment its processes run in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from data.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent.parent
LOOPBACK = "127.0.0.1"
POOL = "benchmint"
MARK = "BENCHMINT_SERVICE"  # tells the service's processes from all others
_PORT = 4200
_MAX_PORT = 65535

# Nothing is sent anywhere; loops are short enough for a person who waits.
_DEFAULTS = {
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    "PREFECT_WORKER_PREFETCH_SECONDS": "5",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",  # SQLite has one writer, and builds take the machine
    "PREFECT_CLI_COLORS": "false",
}
_ALWAYS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
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
        """The file with `user:password` of the API (0600), there while the server runs."""
        return self.folder / "auth"

    @property
    def prefect_toml(self) -> Path:
        """Leads the `prefect` command in the project's folder to this server."""
        return self.root / "prefect.toml"

    def log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def url(self) -> str | None:
        """The address of the API, None where no server listens."""
        return self.address.read_text().strip() if self.address.is_file() else None

    def auth(self) -> str | None:
        """`user:password` of the API, None where no server runs."""
        return self.password.read_text().strip() if self.password.is_file() else None


def from_environment(environment: Mapping[str, str] = os.environ) -> Service:
    """BENCHMINT_SERVE_DIR, BENCHMINT_PORT, BENCHMINT_WEBHOOK_URL. Raises ConfigError."""
    folder = Path(environment.get("BENCHMINT_SERVE_DIR") or "workspace/serve")
    given = environment.get("BENCHMINT_PORT") or str(_PORT)
    if not given.isascii() or not given.isdigit() or int(given) > _MAX_PORT:
        raise ConfigError("BENCHMINT_PORT: expected a port, 0 for a free one.")
    webhook = environment.get("BENCHMINT_WEBHOOK_URL") or None
    if webhook and not webhook.startswith(("http://", "https://")):
        raise ConfigError("BENCHMINT_WEBHOOK_URL: expected an address with http:// or https://.")
    return Service((ROOT / folder).resolve(), int(given), webhook)


def process_environment(service: Service, url: str | None = None) -> dict[str, str]:
    """The caller's environment, led to this server (once its address is known) and its folder."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEADING_AWAY}
    paths = {
        MARK: str(service.folder),
        "BENCHMINT_HOME": str(service.root),
        "PREFECT_HOME": str(service.folder / "prefect"),
    }
    led = {"PREFECT_API_URL": url} if url else {}
    if (auth := service.auth()) is not None:
        led |= dict.fromkeys(_PASSWORDS, auth)
    return _DEFAULTS | kept | _ALWAYS | paths | led


# Settings of another server; the webhook's address goes into a secret block, not to the builds.
_PASSWORDS = ("PREFECT_API_AUTH_STRING", "PREFECT_SERVER_API_AUTH_STRING")
_LEADING_AWAY = {
    "PREFECT_API_URL",
    "PREFECT_API_KEY",
    "PREFECT_PROFILE",
    "BENCHMINT_WEBHOOK_URL",
    *_PASSWORDS,
}
