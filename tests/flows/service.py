"""The service as a user starts it, in a folder and on a port of its own, and its API."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from flows.service import Service
from tests.conftest import REPO
from tests.flows.command import BENCHMINT

PREFECT = Path(sys.executable).with_name("prefect")
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Running:
    """`python -m flows.service` for one folder; `api` asks the server that runs there."""

    folder: Path
    variables: dict[str, str]

    @property
    def url(self) -> str:
        return (self.folder / "url").read_text().strip()

    @property
    def auth(self) -> tuple[str, str]:
        user, _, password = (self.folder / "auth").read_text().partition(":")
        return user, password

    def order(self, command: str) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, "-m", "flows.service", command], self.variables)

    @property
    def leading_here(self) -> dict[str, str]:
        """What a command of the user needs in its environment."""
        return self.variables | {
            "PREFECT_API_URL": self.url,
            "PREFECT_API_AUTH_STRING": ":".join(self.auth),
            "PREFECT_HOME": str(self.folder / "client"),
        }

    def prefect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(PREFECT), *arguments], self.leading_here)

    def build(self, arguments: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(BENCHMINT), "build", *arguments], self.leading_here | settings)

    def api(self, path: str, body: dict[str, Any] | None = None, method: str = "POST") -> Any:
        """The answer; asked again while the server's database is busy, as Prefect's client does."""
        url, answers = f"{self.url}/{path}", list[httpx.Response]()

        def answered() -> bool:
            requests = httpx.request(
                method, url, json=body, auth=self.auth, timeout=PATIENCE, trust_env=False
            )
            answers.append(requests)
            return requests.status_code != httpx.codes.SERVICE_UNAVAILABLE

        wait_for(answered)
        answers[-1].raise_for_status()
        return answers[-1].json() if answers[-1].content else None

    def deployment(self, name: str) -> dict[str, Any]:
        actual: dict[str, Any] = self.api(f"deployments/name/{name}", method="GET")
        return actual

    def start_run(self, name: str, **parameters: object) -> str:
        """A run of a deployment as `prefect deployment run` makes it; its id."""
        path = f"deployments/{self.deployment(name)['id']}/create_flow_run"
        return str(self.api(path, {"parameters": parameters})["id"])

    def run(self, run_id: str) -> dict[str, Any]:
        actual: dict[str, Any] = self.api(f"flow_runs/{run_id}", method="GET")
        return actual

    def ended(self, run_id: str) -> dict[str, Any]:
        """The run once it has ended."""
        wait_for(lambda: self.run(run_id)["state_type"] in ENDED)
        return self.run(run_id)

    def kill(self) -> int:
        """SIGKILL for server, worker and runs at once; how many there were."""
        pids = Service(self.folder, 0, None).processes.members()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return len(pids)

    def _run(
        self, command: list[str], variables: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=REPO,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def wait_for(holds: Callable[[], object]) -> None:
    """Until `holds`; a machine under load gets its time."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {PATIENCE:.0f} s"
        time.sleep(0.2)


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[Running]:
    """A started service, of which nothing is left afterwards."""
    outside = ("PREFECT_", "BENCHMINT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    own = {"BENCHMINT_SERVE_DIR": str(folder), "BENCHMINT_PORT": "0"}
    service = Running(folder, kept | own | variables)
    try:
        result = service.order("start")
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith("serving: http://127.0.0.1:")
        yield service
    finally:
        service.order("stop")
        service.kill()
