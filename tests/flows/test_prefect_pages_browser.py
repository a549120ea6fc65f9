"""What an operator sees of a build on Prefect's pages, and that those pages call nobody else."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import REPO
from tests.flows.browser import chromium
from tests.flows.command import environment

pytestmark = [pytest.mark.slow(seconds=40), pytest.mark.timeout(300)]

_PASSWORD = "benchmint:of-this-test"
_BUILD = """
from data.stages import StageEnd
from flows.prefect_adapter import as_flow, as_task, keep_table
label = {"snapshot": "demo-2026.01.15", "out": "workspace"}
def lane():
    as_task("scan", lambda: StageEnd("scan", False, {"kept": 21, "rejected": 4}))
    as_task("labels", lambda: StageEnd("labels", True, {"kept": 20}))
def build():
    as_flow("sessions-to-tasks", label, lane)
    keep_table("funnel", [{"stage": "scan", "rejected": 4}], "What entered each stage")
as_flow("build-snapshot", label, build)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prefect server as the service starts it, on whose pages one build is."""
    folder = tmp_path_factory.mktemp("prefect")
    kept = {name: value for name, value in environment().items() if not name.startswith("PREFECT_")}
    variables = kept | {
        "PREFECT_HOME": str(folder / "home"),
        "PREFECT_API_AUTH_STRING": _PASSWORD,
        "PREFECT_SERVER_API_AUTH_STRING": _PASSWORD,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "flows.server", str(folder), "0"], cwd=REPO, env=variables
    ) as process:
        try:
            url = _answering(folder / "url")
            subprocess.run(
                [sys.executable, "-c", _BUILD], cwd=REPO, check=True, timeout=200,
                env=variables | {"PREFECT_API_URL": url},
            )  # fmt: skip
            yield url
        finally:
            process.terminate()


def _answering(file: Path) -> str:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if file.is_file():
            url = file.read_text().strip()
            try:
                httpx.get(f"{url}/health", timeout=5, trust_env=False).raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.2)
            else:
                return url
        time.sleep(0.2)
    raise AssertionError("the server did not answer within 120 s")


def _rows(url: str, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    user, _, password = _PASSWORD.partition(":")
    answer = httpx.post(
        f"{url}/{path}", json=body, auth=(user, password), timeout=60, trust_env=False
    )
    answer.raise_for_status()
    actual: list[dict[str, Any]] = answer.json()
    return actual


def _run(url: str, name: str) -> str:
    (run,) = _rows(url, "flow_runs/filter", {"flow_runs": {"name": {"any_": [name]}}})
    return str(run["id"])


def test_the_log_of_a_build_reads_from_stage_to_stage(server: str) -> None:
    run = _run(server, "snapshot of demo-2026.01.15")
    wanted = {"logs": {"flow_run_id": {"any_": [run]}}, "sort": "TIMESTAMP_ASC"}
    lines = [log["message"] for log in _rows(server, "logs/filter", wanted)]
    counted = ["scan: 21 kept, 4 rejected", "labels: 20 kept, already done"]
    assert [line for line in lines if line in counted] == counted


def test_the_pages_show_it_and_call_nobody_else(server: str) -> None:
    run = _run(server, "snapshot of demo-2026.01.15")
    lane = _run(server, "tasks of demo-2026.01.15")
    pages = f"{server.removesuffix('/api')}/v2/runs"
    hosts: set[str | None] = set()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1100})
        page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
        page.goto(pages)
        page.fill("input[type=password]", _PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_text("snapshot of demo-2026.01.15").first.wait_for()
        page.goto(f"{pages}/flow-run/{run}?tab=Logs")
        page.get_by_text("scan: 21 kept, 4 rejected", exact=True).wait_for()
        page.goto(f"{pages}/flow-run/{run}?tab=Artifacts")
        page.get_by_text("What entered each stage").wait_for()
        page.goto(f"{pages}/flow-run/{run}?tab=SubflowRuns")
        page.get_by_role("link", name="tasks of demo-2026.01.15").first.wait_for()
        page.goto(f"{pages}/flow-run/{lane}?tab=TaskRuns")
        page.get_by_text("Cached", exact=True).first.wait_for()
    assert hosts - {None, ""} == {"127.0.0.1"}
