"""The server of one build: who may call it, when it is not started, and that it never outlives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from data.errors import BenchmintError
from flows.server import _is_named, own_server

HOLDER = """
import os, sys
from flows.server import own_server
with own_server():
    print(os.environ["PREFECT_API_URL"], os.environ["PREFECT_API_AUTH_STRING"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("variables", "files", "named"),
    [
        ({}, {}, False),
        ({"PREFECT_API_URL": "http://127.0.0.1:4200/api"}, {}, True),
        ({"PREFECT_API_URL": ""}, {}, False),
        ({"PREFECT_PROFILE": "office"}, {}, True),
        ({}, {"prefect.toml": "[api]\nurl = 'http://x/api'\n"}, True),
        ({}, {"pyproject.toml": "[project]\nname = 'x'\n"}, False),
        ({}, {"pyproject.toml": "[tool.prefect]\nx = 1\n"}, True),
        ({}, {".env": "PREFECT_API_URL=http://x/api\n"}, True),
        ({}, {"home/profiles.toml": "active = 'ephemeral'\n"}, False),
        ({}, {"home/profiles.toml": "[profiles.o]\nPREFECT_API_URL = 'http://x/api'\n"}, True),
    ],
)
def test_a_server_that_the_user_may_have_named_is_left_alone(
    variables: dict[str, str], files: dict[str, str], named: bool, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert _is_named({"PREFECT_HOME": str(tmp_path / "home"), **variables}, tmp_path) is named


def held(folder: Path) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=kept | {"PREFECT_HOME": str(folder / "home")},
    )


def test_a_build_whose_server_is_killed_ends_at_once_and_says_so(tmp_path: Path) -> None:
    holder = held(tmp_path)
    assert holder.stdout is not None
    assert holder.stderr is not None
    holder.stdout.readline()
    (server,) = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
    os.kill(int(server), signal.SIGKILL)
    result = holder.stderr.read()
    assert holder.wait() == 2
    assert "ended early (exit code -9). Build again: finished stages are kept." in result


@pytest.mark.slow
def test_it_answers_the_build_alone_and_ends_when_the_build_is_killed(tmp_path: Path) -> None:
    holder = held(tmp_path)
    try:
        assert holder.stdout is not None
        url, password = holder.stdout.readline().split()
        who = tuple(password.split(":", 1))
        with httpx.Client(base_url=url, timeout=120) as client:
            known = client.get("/admin/version", auth=(who[0], who[1]))
            assert known.status_code == httpx.codes.OK
            assert client.get("/admin/version").status_code == httpx.codes.UNAUTHORIZED
            foreign = client.get("/admin/version", headers={"Host": "evil.example"})
            assert foreign.status_code == httpx.codes.FORBIDDEN
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        _until_closed(url)
    finally:
        holder.kill()
        holder.wait()


def _until_closed(url: str) -> None:
    while True:
        try:
            httpx.get(url, timeout=60)
        except httpx.TransportError:
            return
        time.sleep(0.05)


def test_a_home_of_prefect_without_room_is_named_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In /proc nothing can be written, by root neither, and there is no space."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", "/proc/none")
    with pytest.raises(BenchmintError, match=r"^/proc/none: found \S") as caught, own_server():
        pass
    assert "\n" not in str(caught.value)
