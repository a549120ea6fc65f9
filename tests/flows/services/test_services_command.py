"""`benchmint agents services`: a person starts a task's services, and goes on after a kill."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from construction.workflows.world_file import write_world
from flows.services.instance import Instance, logged
from tests.conftest import REPO
from tests.flows.services.test_http_app import mail_world

_MAIN = "from flows.cli import main; main()"


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, its address and the token that it printed."""
    child = subprocess.Popen(
        [sys.executable, "-c", _MAIN, "agents", "services", *arguments],
        stderr=subprocess.PIPE, text=True, cwd=REPO,
    )  # fmt: skip
    assert child.stderr is not None
    try:
        printed = "".join(child.stderr.readline() for _ in range(4))
        page = re.search(r"page: +(http://[0-9.:]+)/\?token=(\S+)", printed)
        assert page, printed
        yield child, page[1], page[2]
    finally:
        child.kill()
        child.communicate()


def test_a_person_tries_a_task_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    world, state = tmp_path / "world.json", tmp_path / "state.sqlite"
    write_world(world, mail_world())
    with started(str(world), "--state", str(state)) as (child, address, token):
        headers = {"authorization": f"Bearer {token}"}
        answer = httpx.patch(
            f"{address}/mail/messages/m-1", json={"folder": "done"}, headers=headers
        )
        assert answer.json()["folder"] == "done"
        child.send_signal(signal.SIGKILL)
        child.wait()
    with started(str(world), "--state", str(state)) as (child, address, token):
        page = httpx.get(f"{address}/", params={"token": token}).text
        assert "was killed" in page
        assert "mail.update_message" in page
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
    with Instance.reopen(state) as instance:
        assert not instance.was_killed
    assert [entry["status"] for entry in logged(state)] == ["ok"]


def test_a_world_that_is_not_there_is_named_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, "agents", "services", str(tmp_path / "none.json")],
        capture_output=True, text=True, cwd=REPO,
    )  # fmt: skip
    assert done.returncode == 2
    assert "found no file" in done.stderr
    assert done.stderr.count("\n") == 1
