"""What is deployed, with which parameters, and which errors are worth another try."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prefect.client.schemas.schedules import CronSchedule
from prefect.flows import Flow

from data.builds import BuildRunning
from data.errors import BenchmintError, ConfigError, InputError, ReleaseError
from flows import deployed
from flows.deployed import _is_worth_retrying
from tests.conftest import REPO

DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load((REPO / "prefect.yaml").read_text())[
    "deployments"
]


def flow_of(deployment: dict[str, Any]) -> Flow[..., Any]:
    module, _, name = deployment["entrypoint"].partition(":")
    assert module == "flows/deployed.py"
    flow = getattr(deployed, name)
    assert isinstance(flow, Flow)
    return flow


def test_what_is_deployed_and_when() -> None:
    result = {
        f"{flow_of(item).name}/{item['name']}": [schedule["cron"] for schedule in item["schedules"]]
        for item in DEPLOYMENTS
    }
    assert result == {
        "build-snapshot/build-snapshot": [],
        "build-snapshot/weekly-release": ["0 3 * * 1"],
        "refresh-signals/daily-signals": ["0 2 * * *"],
        "refresh-and-build/refresh-and-build": [],
        "evaluate-snapshot/evaluate-snapshot": [],
    }
    for item in DEPLOYMENTS:
        for schedule in item["schedules"]:
            CronSchedule(**schedule)
        flow_of(item).validate_parameters(item["parameters"])


@pytest.mark.parametrize(
    "name", ["build_snapshot", "refresh_signals", "refresh_and_build", "evaluate_snapshot"]
)
def test_every_parameter_is_plain_json_and_explained(name: str) -> None:
    flow: Flow[..., Any] = getattr(deployed, name)
    properties = flow.parameters.properties
    assert "overrides" in properties
    for parameter, result in properties.items():
        assert result.get("description"), parameter
    assert flow.parameters.required == []


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (OSError(5, "Input/output error"), True),
        (httpx.ConnectError("refused"), True),
        (BuildRunning("another build"), True),
        (ReleaseError("no task passed"), False),
        (ConfigError("unknown key"), False),
        (InputError("a", "b", "c", "d"), False),
        (BenchmintError("of any kind"), False),
        (ValueError("a bug"), False),
    ],
)
def test_only_what_time_may_heal_is_tried_again(error: BaseException, again: bool) -> None:
    assert _is_worth_retrying(error) is again


def service(command: str, folder: Path, port: object) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"BENCHMINT_SERVE_DIR": str(folder), "BENCHMINT_PORT": str(port)}
    return subprocess.run(
        [sys.executable, "-m", "flows.service", command],
        cwd=REPO,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_port_that_is_taken_is_told_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = service("start", tmp_path, port)
    assert result.returncode == 2
    assert result.stderr.startswith(f"benchmint: port {port} is in use by another program")
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.glob("*.pid")) == []


def test_stopping_what_does_not_run_is_no_error(tmp_path: Path) -> None:
    result = service("stop", tmp_path / "none", 0)
    assert (result.returncode, result.stdout) == (0, "nothing was running\n")
    assert service("status", tmp_path / "none", 0).returncode == 1
    assert "expected a port" in service("start", tmp_path, "http").stderr
