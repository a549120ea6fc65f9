"""The same build with a Prefect server of its own: the run and its funnel are to be seen there."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.flows.command import BENCHMINT, command, environment

pytestmark = pytest.mark.slow
START_SECONDS = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A running server, as the environment variables that lead to it."""
    port = free_port()
    variables = environment() | {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    process = subprocess.Popen(
        [
            BENCHMINT.with_name("prefect"),
            "server",
            "start",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ],
        env={name: value for name, value in variables.items() if name != "PREFECT_API_URL"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_healthy(variables["PREFECT_API_URL"], process)
        yield variables
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    pytest.fail("the Prefect server did not start")


def test_a_build_is_recorded_by_a_configured_server(server: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = subprocess.run(
        command("build", "--out", out, "--quiet"),
        env=server,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    url = server["PREFECT_API_URL"]
    runs = httpx.post(f"{url}/flow_runs/filter", json={"sort": "START_TIME_ASC"}, timeout=30).json()
    assert {run["state_type"] for run in runs} == {"COMPLETED"}
    flows = {
        flow["id"]: flow["name"]
        for flow in httpx.post(f"{url}/flows/filter", json={}, timeout=30).json()
    }
    lanes = {"sessions-to-tasks", "signals-to-mixture", "tables-to-questions", "select-subset"}
    lanes |= {"anonymize-tables", "judge-instances"}
    assert {flows[run["flow_id"]] for run in runs} == {"build-snapshot"} | lanes
    artifacts = httpx.post(f"{url}/artifacts/filter", json={}, timeout=30).json()
    assert {artifact["key"] for artifact in artifacts} >= {"funnel", "funnel-summary"}
    key = (out / "private" / "release.key").read_text().strip()
    assert key not in str(runs) + str(artifacts), "the release key never leaves the private store"
