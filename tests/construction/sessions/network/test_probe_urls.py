"""Many URLs: replay, capture, freeze, offline, politeness, and what is raised."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import time
from pathlib import Path

import pytest

from construction.sessions.config import NetworkRuntime
from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from construction.sessions.network.probe import Captures, frozen_fixture, frozen_path, probe_urls
from construction.sessions.network.transport import Wire
from data.errors import ConfigError
from tests.construction.sessions.network.servers import LocalServer, respond
from tests.construction.sessions.network.wires import AT_ONCE, TRUST, ScriptedWeb

CHECK, FREEZE = NetworkConfig(), NetworkConfig(mode="freeze")
OFFLINE = NetworkConfig(mode="offline")
A, B, DEAD = "http://a.example/", "http://b.example/", "http://gone.example/"
PAGE = b"<html>page</html>"


def web(**behaviour: object) -> ScriptedWeb:
    page = {"status": 200, "body": PAGE, "headers": {"Content-Type": "Text/HTML; charset=gbk"}}
    return ScriptedWeb(
        {"a.example": ["93.184.216.34"], "b.example": ["1.1.1.1"]},
        {A: page | behaviour, B: {"status": 404}},
    )


def no_wire() -> Wire:
    async def fail(*_: object) -> None:
        raise AssertionError("the network was used")

    return Wire(fail, fail, TRUST)  # type: ignore[arg-type]


def test_results_are_by_normalised_url_and_sorted() -> None:
    urls = [
        "HTTP://B.example",
        "http://a.example#x",
        A,
        DEAD,
        "http://10.0.0.1",
        "http://256.1.1.1",
    ]
    for order in itertools.islice(itertools.permutations(urls), 0, 720, 97):
        results = probe_urls(order, CHECK, AT_ONCE, Captures(), wire=web().wire)
        assert list(results.items()) == [
            ("http://10.0.0.1/", ProbeResult("http://10.0.0.1/", Cause.FORBIDDEN_ADDRESS)),
            ("http://256.1.1.1", ProbeResult("http://256.1.1.1", Cause.MALFORMED)),
            (A, ProbeResult(A, None, 200)),
            (B, ProbeResult(B, Cause.HTTP_STATUS, 404)),
            (DEAD, ProbeResult(DEAD, Cause.NO_SUCH_HOST)),
        ]


def test_captured_results_are_replayed_without_the_network(tmp_path: Path) -> None:
    captures = Captures.load(tmp_path / "captures.jsonl")
    first = probe_urls([A, B], CHECK, AT_ONCE, captures, wire=web().wire)
    captures.save()
    again = Captures.load(tmp_path / "captures.jsonl")
    assert probe_urls([B, A], CHECK, AT_ONCE, again, wire=no_wire()) == first
    for refresh in ("never", "all"):
        runtime = AT_ONCE.model_copy(update={"refresh": refresh})
        assert probe_urls([A], OFFLINE, runtime, again, wire=no_wire()) == {A: first[A]}
    policy = NetworkConfig(unverified="keep")
    assert probe_urls([A], policy, AT_ONCE, again, wire=no_wire()) == {A: first[A]}


def test_a_changed_recipe_probes_again() -> None:
    captures, scripted = Captures(), web()
    probe_urls([A], CHECK, AT_ONCE, captures, wire=scripted.wire)
    probe_urls([A], NetworkConfig(max_redirects=3), AT_ONCE, captures, wire=scripted.wire)
    assert len(scripted.requests) == 2
    assert len(captures) == 2


def test_refresh_probes_again_what_it_names() -> None:
    captures, scripted = Captures(), web(status=500)
    probe_urls([A], CHECK, AT_ONCE, captures, wire=scripted.wire)
    unverified = AT_ONCE.model_copy(update={"refresh": "unverified"})
    everything = AT_ONCE.model_copy(update={"refresh": "all"})
    assert probe_urls([A], CHECK, unverified, captures, wire=no_wire())[A].http_status == 500
    assert probe_urls([A], CHECK, everything, captures, wire=web().wire)[A].http_status == 200
    assert probe_urls([A], CHECK, AT_ONCE, captures, wire=no_wire())[A].http_status == 200


def test_refresh_of_the_unverified() -> None:
    captures = Captures()

    async def silent(host: str) -> list[str]:
        raise TimeoutError

    down = Wire(silent, no_wire().connect, TRUST)
    unverified = AT_ONCE.model_copy(update={"refresh": "unverified"})
    assert probe_urls([A], CHECK, AT_ONCE, captures, wire=down)[A].cause is Cause.NO_NETWORK
    assert probe_urls([A], CHECK, AT_ONCE, captures, wire=no_wire())[A].cause is Cause.NO_NETWORK
    assert probe_urls([A], CHECK, unverified, captures, wire=web().wire)[A].cause is None


def test_offline_opens_no_socket() -> None:
    captures = Captures()
    urls = [A, "http://a.example/unsubscribe", "http://127.0.0.1/"]
    results = probe_urls(urls, OFFLINE, AT_ONCE, captures, wire=no_wire())
    assert [result.cause for result in results.values()] == [
        Cause.FORBIDDEN_ADDRESS,
        Cause.OFFLINE,
        Cause.ONE_TIME_PATH,
    ]
    assert len(captures) == 0


def test_frozen_content_is_kept_by_digest(tmp_path: Path) -> None:
    scripted = web()
    result = probe_urls([A], FREEZE, AT_ONCE, Captures(), tmp_path / "frozen", scripted.wire)[A]
    sha256 = hashlib.sha256(PAGE).hexdigest()
    assert result == ProbeResult(
        A, None, 200, bytes=len(PAGE), sha256=sha256, media_type="text/html"
    )
    assert scripted.requests == [f"GET {A}"]
    path = frozen_path(sha256, tmp_path / "frozen")
    assert path.read_bytes() == PAGE
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    fixture = frozen_fixture(result, 2)
    assert (fixture.path, fixture.sha256, fixture.bytes) == ("page-2.html", sha256, len(PAGE))
    assert (fixture.media_type, fixture.role) == ("text/html", "frozen_page")


@pytest.mark.parametrize(
    ("declared", "media_type", "name"),
    [
        ("application/pdf", "application/pdf", "page-1.pdf"),
        ("application/x-sh", "application/x-sh", "page-1.bin"),
        ("../../etc/passwd", "application/octet-stream", "page-1.bin"),
        ("", "application/octet-stream", "page-1.bin"),
        ("text/html/../x", "application/octet-stream", "page-1.bin"),
    ],
)
def test_frozen_names_are_safe(declared: str, media_type: str, name: str, tmp_path: Path) -> None:
    scripted = web(headers={"Content-Type": declared})
    result = probe_urls([A], FREEZE, AT_ONCE, Captures(), tmp_path, scripted.wire)[A]
    fixture = frozen_fixture(result, 1)
    assert (fixture.media_type, fixture.path) == (media_type, name)


def test_nothing_frozen_is_no_fixture() -> None:
    with pytest.raises(ValueError, match="no frozen content"):
        frozen_fixture(ProbeResult(A, None, 200), 1)


def test_a_frozen_result_is_replayed_only_with_its_content(tmp_path: Path) -> None:
    captures = Captures()
    first = probe_urls([A], FREEZE, AT_ONCE, captures, tmp_path, web().wire)
    assert probe_urls([A], FREEZE, AT_ONCE, captures, tmp_path, no_wire()) == first
    frozen_path(str(first[A].sha256), tmp_path).write_bytes(b"tampered")
    with pytest.raises(AssertionError, match="the network was used"):
        probe_urls([A], FREEZE, AT_ONCE, captures, tmp_path, no_wire())
    assert probe_urls([A], OFFLINE, AT_ONCE, captures, tmp_path)[A].cause is Cause.OFFLINE


def test_too_large_to_freeze_is_unverified(tmp_path: Path) -> None:
    config = NetworkConfig(mode="freeze", max_bytes=len(PAGE) - 1)
    result = probe_urls([A], config, AT_ONCE, Captures(), tmp_path, web().wire)[A]
    assert (result.cause, result.http_status) == (Cause.TOO_LARGE, 200)
    exact = NetworkConfig(mode="freeze", max_bytes=len(PAGE))
    result = probe_urls([A], exact, AT_ONCE, Captures(), tmp_path, web().wire)[A]
    assert (result.cause, result.bytes) == (None, len(PAGE))


def test_freezing_needs_a_directory() -> None:
    with pytest.raises(ConfigError, match="freeze"):
        probe_urls([A], FREEZE, AT_ONCE, Captures(), wire=no_wire())


def test_a_full_disk_is_raised_and_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("construction.sessions.network.probe.write_bytes", full)
    captures = Captures()
    with pytest.raises(OSError, match="No space"):
        probe_urls([A], FREEZE, AT_ONCE, captures, tmp_path, web().wire)
    assert len(captures) == 0


def test_a_fault_of_the_prober_is_raised() -> None:
    async def broken(host: str) -> list[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        probe_urls([A, B], CHECK, AT_ONCE, Captures(), wire=Wire(broken, no_wire().connect, TRUST))


def test_hosts_are_asked_one_request_at_a_time_with_pauses_and_few_at_once() -> None:
    busy: dict[str, int] = {}
    seen: list[tuple[str, float]] = []
    most = 0

    async def resolve(host: str) -> list[str]:
        nonlocal most
        busy[host] = busy.get(host, 0) + 1
        most = max(most, sum(busy.values()))
        assert busy[host] == 1
        seen.append((host, time.monotonic()))
        await asyncio.sleep(0.01)
        busy[host] -= 1
        return []

    urls = [f"http://h{host}.example/{page}" for host in range(6) for page in range(3)]
    runtime = NetworkRuntime(concurrency=3, host_delay=0.1, backoff=0)
    wire = Wire(resolve, no_wire().connect, TRUST)
    results = probe_urls(urls, CHECK, runtime, Captures(), wire=wire)
    assert {result.cause for result in results.values()} == {Cause.NO_SUCH_HOST}
    assert most == 3
    for host in {host for host, _ in seen}:
        times = [moment for name, moment in seen if name == host]
        assert all(later - earlier >= 0.1 for earlier, later in itertools.pairwise(times))


def test_a_host_that_many_others_redirect_to_is_asked_one_request_at_a_time() -> None:
    busy = 0

    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        nonlocal busy
        if target != "/shared":
            writer.write(respond("302 Found", b"", "Location: http://b.example/shared"))
            return
        busy += 1
        await asyncio.sleep(0.01)
        writer.write(respond("200 OK" if busy == 1 else "404 Not Found"))
        busy -= 1

    urls = [f"http://h{n}.example/x" for n in range(12)]
    with LocalServer(page) as server:
        results = probe_urls(urls, CHECK, AT_ONCE, Captures(), wire=server.wire())
    assert {result.http_status for result in results.values()} == {200}


def test_results_do_not_depend_on_concurrency() -> None:
    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        number = int(target[1:])
        status = "404 Not Found" if number % 3 == 0 else "200 OK"
        writer.write(respond(status))

    urls = [f"http://h{n % 7}.example/{n}" for n in range(60)]
    digests = set()
    with LocalServer(page) as server:
        for concurrency in (1, 4, 16):
            captures = Captures()
            runtime = AT_ONCE.model_copy(update={"concurrency": concurrency})
            probe_urls(urls, CHECK, runtime, captures, wire=server.wire())
            digests.add(captures.digest)
    assert len(digests) == 1


def test_no_file_descriptors_are_left_open() -> None:
    async def stall(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3600)

    config = NetworkConfig(attempts=1, deadline=0.05)
    urls = [f"https://h{n}.example/" for n in range(20)]
    with LocalServer(stall) as server:
        before = len(list(Path("/proc/self/fd").iterdir()))
        results = probe_urls(urls, config, AT_ONCE, Captures(), wire=server.wire())
        after = len(list(Path("/proc/self/fd").iterdir()))
    assert {result.cause for result in results.values()} == {Cause.TIMEOUT}
    assert after - before <= 4  # the server may still be closing its own ends
