"""The service: schedules fire, runs complete, survive a kill, and tell of their failure."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.service import Service
from tests.flows.command import benchmint, key_file, sums
from tests.flows.service import Running, serving, wait_for

pytestmark = [pytest.mark.slow(seconds=190), pytest.mark.timeout(1200)]
BUILD = "build-snapshot/build-snapshot"
DONE = ["COMPLETED"]
SIZE = 6
LANES = {"signals-to-mixture", "anonymize-tables", "sessions-to-tasks", "tables-to-questions"}
LANES |= {"select-subset"}


@contextmanager
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An address on the loopback, and what was posted there."""
    result: list[dict[str, Any]] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            result.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", result
    finally:
        server.shutdown()
        server.server_close()


def overrides(key: Path) -> dict[str, Any]:
    return {"demo": {"size": SIZE}, "runtime": {"key_file": str(key), "workers": 1}}


def schedule_soon(service: Running, out: Path) -> str:
    """A deployment of the signals flow like the daily one, due in a minute or two; its id.

    Due each five minutes from then on: each tick takes the machine from the builds.
    """
    listing = out.with_name("skills-2026-01-01.csv")
    listing.write_text("slug,name,downloads,summary\nslides,Slides,7,Make slides from notes.\n")
    daily = service.deployment("refresh-signals/daily-signals")
    copied = ("flow_id", "entrypoint", "path", "pull_steps", "work_pool_name", "work_queue_name")
    new = {name: daily[name] for name in copied} | {
        "name": "soon",
        "parameters": {"out": str(out), "signals": [str(listing)]},
        "schedules": [{"schedule": {"cron": _soon(), "timezone": "UTC"}, "active": True}],
        "parameter_openapi_schema": daily["parameter_openapi_schema"],
    }
    return str(service.api("deployments/", new)["id"])


def _soon() -> str:
    return f"{(datetime.now(UTC) + timedelta(minutes=2)).minute % 5}-59/5 * * * *"


def fired(service: Running, deployment: str) -> list[dict[str, Any]]:
    """Runs that the schedule made and the worker completed."""
    chosen = {
        "deployments": {"id": {"any_": [deployment]}},
        "flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}},
    }
    return [run for run in service.api("flow_runs/filter", chosen) if run["auto_scheduled"]]


def check_watched_build(service: Running, out: Path, key: Path) -> None:
    given = {"out": str(out), "overrides": overrides(key)}
    result = service.prefect("deployment", "run", BUILD, "--watch", "--params", json.dumps(given))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Flow run finished successfully in 'Completed'" in result.stdout
    verified = benchmint("verify", out / "snapshots" / "latest")
    assert verified.returncode == 0, verified.stdout


def check_recorded_build(service: Running, out: Path, key: Path) -> None:
    """A build by hand is recorded too, and its release tells what changed since the one before."""
    snapshots = out / "snapshots"
    before = _task_ids(snapshots / "latest")
    result = service.build(
        ["--out", str(out), "--key", str(key), "--workers", "1", "--quiet"],
        BENCHMINT_DEMO__SIZE=str(SIZE),
        BENCHMINT_RELEASE__RELEASE_DATE="2026-01-22",
        BENCHMINT_SELECTION__MAX_TASKS="3",
    )
    assert result.returncode == 0, result.stderr
    latest = snapshots / "latest"
    assert latest.readlink().name == "benchmint-demo-2026.01.22"
    now = _task_ids(latest)
    changes = (latest / "public" / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (
        f"Since benchmint-demo-2026.01.15: {len(now - before)} tasks added, "
        f"{len(before - now)} removed, 0 changed; {len(before)} tasks before, 3 now."
    ) in changes
    assert len(now) == 3 < len(before)
    names = {flow["id"]: flow["name"] for flow in service.api("flows/filter", {})}
    runs = service.api("flow_runs/filter", {"flow_runs": {"state": {"type": {"any_": DONE}}}})
    assert {names[run["flow_id"]] for run in runs} >= {"build-snapshot"} | LANES
    by_hand = [run for run in runs if not run["deployment_id"] and not run["parent_task_run_id"]]
    assert [names[run["flow_id"]] for run in by_hand] == ["build-snapshot"]
    snapshot = "benchmint-demo-2026.01.22"
    parts = {f"{lane.rpartition('-')[2]} of {snapshot}" for lane in LANES}
    named = {snapshot, "benchmint-demo-2026.01.15"} | parts
    assert {run["name"] for run in runs} >= named
    artifacts = service.api("artifacts/filter", {})
    assert {artifact["key"] for artifact in artifacts} >= {"funnel", "commonest-reasons", "release"}
    secret = key.read_text().strip()
    assert secret not in str(runs) + str(artifacts), "the release key stays in the private store"


def _task_ids(snapshot: Path) -> set[str]:
    rows = (snapshot / "public" / "tasks.jsonl").read_bytes().splitlines()
    return {json.loads(row)["task_id"] for row in rows}


def check_killed_build(service: Running, out: Path, key: Path) -> None:
    """Worker and server are killed in mid-run; the next start takes the run up again."""
    run_id = service.start_run(BUILD, out=str(out), overrides=overrides(key))
    wait_for((out / "private" / "stages" / "signals").is_dir)
    assert service.kill() >= 3, "server, worker and run"
    assert not (out / "snapshots" / "latest").exists()
    result = service.order("start")
    assert result.stdout.startswith("serving: "), result.stderr
    run = service.ended(run_id)
    assert (run["state_type"], run["run_count"]) == ("COMPLETED", 2), run["state"]


def check_killed_run(service: Running, out: Path, key: Path) -> None:
    """The process of a run is killed while worker and server live; the next start goes on."""
    run_id = service.start_run(BUILD, out=str(out), overrides=overrides(key))
    wait_for((out / "private" / "stages" / "signals").is_dir)
    (log,) = (out / "private" / "logs").glob("*.jsonl")
    os.kill(int(log.stem.rpartition("-")[2]), signal.SIGKILL)
    assert service.ended(run_id)["state"]["name"] == "Crashed"
    assert service.order("start").stdout.startswith("already running: ")
    parts = service.api("flow_runs/filter", _parts_of(run_id))
    assert {part["state_type"] for part in parts} <= {"COMPLETED", "CRASHED"}
    wait_for(lambda: service.run(run_id)["state_type"] == "COMPLETED")
    assert service.run(run_id)["run_count"] == 2
    parts = service.api("flow_runs/filter", _parts_of(run_id))
    assert {part["state_type"] for part in parts} <= {"COMPLETED", "CRASHED"}


def _parts_of(run_id: str) -> dict[str, Any]:
    return {"flow_runs": {"parent_flow_run_id": {"any_": [run_id]}}}


def check_failed_run(service: Running, run_id: str, result: list[dict[str, Any]]) -> None:
    """Wrong configuration is not tried again, and the webhook hears of it."""
    run = service.ended(run_id)
    assert (run["state_type"], run["run_count"]) == ("FAILED", 1), run["state"]
    assert run["name"] == f"build-snapshot of {run['expected_start_time'][:10]}"
    wait_for(lambda: result)
    assert {call["run_id"] for call in result} == {run_id}  # delivered once at least
    assert (result[0]["deployment"], result[0]["state"]) == ("build-snapshot", "Failed")
    assert "nonsense" in result[0]["message"]


def check_strangers_are_refused(service: Running) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        requests = httpx.get(f"{service.url}/health", headers=headers, timeout=30, trust_env=False)
        assert requests.status_code == 403


def test_the_service_from_start_to_stop(tmp_path: Path) -> None:
    key = key_file(tmp_path)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    folder = tmp_path / "serve"
    with webhook() as (url, result), serving(folder, BENCHMINT_WEBHOOK_URL=url) as service:
        ticking = schedule_soon(service, tmp_path / "ticked")
        failing = service.start_run(BUILD, out=str(tmp_path / "failed"), overrides={"nonsense": 1})
        assert service.order("start").stdout.startswith("already running: ")
        check_strangers_are_refused(service)
        check_watched_build(service, whole, key)
        expected = sums(whole)
        check_failed_run(service, failing, result)
        check_recorded_build(service, whole, key)
        wait_for(lambda: fired(service, ticking))
        assert (tmp_path / "ticked" / "mixture.svg").is_file()
        service.api(f"deployments/{ticking}", method="DELETE")
        check_killed_run(service, tmp_path / "crashed", key)
        assert sums(tmp_path / "crashed") == expected
        check_killed_build(service, broken, key)
        assert sums(broken) == expected
        assert service.order("status").returncode == 0
        assert service.order("stop").returncode == 0
        assert Service(folder, 0, None).processes.members() == []
        assert service.order("status").returncode == 1
