"""What the service hands to its processes and its server, without starting either."""

from __future__ import annotations

import tomllib
from datetime import timedelta
from pathlib import Path

import pytest
from prefect.client.schemas.objects import TERMINAL_STATES
from prefect.events import EventTrigger

from data.atomic import PRIVATE_FILE, write_bytes
from flows import service as lifecycle
from flows import service_setup
from flows.service import Service, _process_environment

URL = "http://127.0.0.1:4242/api"
STALE = {
    "PREFECT_API_URL": "http://elsewhere.example/api",
    "PREFECT_API_AUTH_STRING": "me:elsewhere",
    "PREFECT_SERVER_API_AUTH_STRING": "me:elsewhere",
}


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """A service in mid-start, in a project folder of its own."""
    made = Service(tmp_path / "workspace" / "serve", 0, None, tmp_path)
    write_bytes(made.password, b"benchmint:secret", mode=PRIVATE_FILE)
    return made


def test_both_sides_get_the_password_of_this_start_and_no_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in STALE.items():
        monkeypatch.setenv(name, value)
    result = _process_environment(service, URL)
    assert {name: result[name] for name in STALE} == {
        "PREFECT_API_URL": URL,
        "PREFECT_API_AUTH_STRING": "benchmint:secret",
        "PREFECT_SERVER_API_AUTH_STRING": "benchmint:secret",
    }
    service.password.unlink()
    assert not STALE.keys() & _process_environment(service).keys()


def test_only_its_owner_reads_the_file_that_leads_prefect_there(service: Service) -> None:
    lifecycle._point_prefect(service, URL)
    assert tomllib.loads(service.prefect_toml.read_text())["api"] == {
        "url": URL,
        "auth_string": "benchmint:secret",
    }
    assert service.prefect_toml.stat().st_mode & 0o077 == 0
    assert lifecycle._stop_service(service) == 0
    assert not service.prefect_toml.exists()
    assert service.password.read_text() == "benchmint:secret", "browsers go on after a restart"


def test_no_run_is_lost_that_ended_or_still_gives_signs_of_life(service: Service) -> None:
    trigger = service_setup._watch(service_setup.SILENCE).trigger
    assert isinstance(trigger, EventTrigger)
    names = {event.removeprefix("prefect.flow-run.") for event in trigger.expect}
    assert {state.value.capitalize() for state in TERMINAL_STATES} | {"heartbeat"} <= names
    assert "Running" not in names  # seen before the first sign of life, and after a retry
    assert trigger.within == service_setup.SILENCE
    every = timedelta(
        seconds=int(_process_environment(service)["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"])
    )
    assert trigger.within >= 5 * every, "a busy machine is late"
