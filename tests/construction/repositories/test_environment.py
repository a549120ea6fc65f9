"""The way to the registries: only to them, and a failure of theirs decides nothing."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

import pytest

from construction.repositories import environment
from construction.repositories.contracts import (
    EnvironmentSpec,
    RepositoriesConfig,
)
from construction.repositories.environment import build
from construction.repositories.stages import Outside, prove_all, write_tasks
from construction.repositories.tasks import find_repositories
from construction.sandbox.sandbox import SandboxFailed
from construction.sessions.scan import scan
from data.errors import InputError
from tests.construction.repositories.invented import clone, log
from tests.needs import needs_box

NOBODY = "https://127.0.0.1/simple"  # nobody answers at port 443 of this machine


def answer_to(request: bytes, allowed: set[str | None]) -> tuple[bytes, bool]:
    """What a client hears of the proxy, and whether a registry was out of reach."""
    inside, outside = socket.socketpair()
    cut_off = threading.Event()
    with inside:
        inside.sendall(request)
        environment._tunnel(outside, allowed, cut_off)
        return inside.recv(4096), cut_off.is_set()


@pytest.mark.parametrize(
    "request_line",
    ["CONNECT evil.example:443", "CONNECT registry.example:22", "GET http://registry.example/"],
)
def test_only_registries_are_reached_and_a_refusal_is_no_outage(request_line: str) -> None:
    request = f"{request_line} HTTP/1.1\r\n\r\n".encode()
    said, cut_off = answer_to(request, {"registry.example"})
    assert said.startswith(b"HTTP/1.1 403")
    assert not cut_off


def test_a_registry_that_is_not_there_is_an_outage() -> None:
    assert answer_to(b"CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", {"127.0.0.1"}) == (b"", True)


@pytest.mark.parametrize("breaks_off", [True, False])
def test_a_download_that_breaks_off_is_an_outage_and_one_that_ends_is_none(
    breaks_off: bool,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        source = socket.create_connection(listening.getsockname())
        registry, _ = listening.accept()
    inside, outside = socket.socketpair()
    registry.sendall(b"half a file")
    if breaks_off:
        registry.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    cut_off = threading.Event()
    with source, inside, outside:
        assert source.recv(5) == b"half "
        registry.close()
        environment._copy(source, outside, cut_off)
    assert cut_off.is_set() is breaks_off


@needs_box
@pytest.mark.slow
def test_without_a_network_a_build_stops_and_nothing_is_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = {"pip": NOBODY, "files": NOBODY, "npm": NOBODY}
    monkeypatch.setattr(environment, "_registries", lambda: addresses)
    with pytest.raises(SandboxFailed, match="a registry could not be reached"):
        build(EnvironmentSpec("python", ("pytest",)), tmp_path / "environment", 60)
    assert not (tmp_path / "environment").exists()
    _, _, ending = clone(tmp_path)
    files = scan([log(tmp_path, ending).parent])
    config = RepositoriesConfig(build_environments=True)
    write_tasks(find_repositories([tmp_path / "repos"]), files, config, tmp_path / "tasks")
    captures = tmp_path / "captures"
    outside = Outside(config, captures, tmp_path / "environments", has_sandbox=True)
    with pytest.raises(InputError, match="run the same command again"):
        prove_all(tmp_path / "tasks", outside)
    assert not list(captures.glob("*.jsonl*"))
