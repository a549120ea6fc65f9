"""Shards come back in order, whoever runs them; what is not installed is named."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import pytest

from data.errors import ConfigError
from data.sharding import Runner, _WorkersLost, map_shards

# What a runner is imported as, and what its extra is called.
CLUSTERS = {Runner.DASK: "distributed", Runner.RAY: "ray"}


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse(number: int) -> int:
    if number == 3:
        raise ConfigError("three is refused")
    return number


def test_one_worker_stays_in_this_process() -> None:
    assert list(map_shards(square, [3, 1, 2], 1)) == [(n * n, os.getpid()) for n in (3, 1, 2)]
    assert list(map_shards(square, [], 2)) == []


def check_runner(runner: Runner) -> None:
    results = list(map_shards(square, [4, 3, 2, 1, 0], 2, runner))
    assert [result for result, _ in results] == [16, 9, 4, 1, 0]
    assert os.getpid() not in {pid for _, pid in results}
    with pytest.raises(ConfigError, match=r"^three is refused$"):
        list(map_shards(refuse, [1, 2, 3], 2, runner))


def test_processes_keep_the_order_and_hand_errors_on() -> None:
    check_runner(Runner.PROCESSES)


def test_who_stops_ends_the_workers_and_nobody_else() -> None:
    other = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,), daemon=True)
    other.start()
    try:
        shards = cast("Generator[tuple[int, int]]", map_shards(square, range(40), 2))
        next(shards)
        with pytest.raises(KeyboardInterrupt):
            shards.throw(KeyboardInterrupt)
        assert multiprocessing.active_children() == [other]
    finally:
        other.kill()
        other.join()


_SLEEPING = """
import sys, time
from data.sharding import map_shards
if __name__ == "__main__":
    list(map_shards(time.sleep, [60, 60], 2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_workers_end_with_a_killed_build(tmp_path: Path) -> None:
    program = tmp_path / "build.py"
    program.write_text(_SLEEPING)
    build = subprocess.Popen([sys.executable, program], cwd=tmp_path, start_new_session=True)
    try:
        wait_until(lambda: len(members(build.pid)) >= 5)  # a fork server, a tracker, two workers
    finally:
        build.kill()
        build.wait()
    wait_until(lambda: not members(build.pid))


def members(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
            alive += [int(stat.parent.name)] if int(of) == session and state != "Z" else []
    return alive


def wait_until(is_true: Callable[[], bool]) -> None:
    """Wait for half a minute at most."""
    until = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.05)


def end_once(marker: str) -> str:
    """Ends its process the first time: a marker is there afterwards."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return marker


def end_always(_number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """A runner that is installed; what it sets in the environment is unset afterwards.

    Not after each test: Ray remembers its token for the whole process.
    """
    runner = Runner(request.param)
    if find_spec(CLUSTERS[runner]) is None:  # not imported: Ray reads the environment as it is
        pytest.skip(f"the extra benchmint[{runner}] is not installed")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"):
            patch.setenv(name, "")
            patch.delenv(name)
        yield runner


@pytest.mark.slow
def test_a_real_cluster_keeps_the_order_and_hands_errors_on(cluster: Runner) -> None:
    check_runner(cluster)


@pytest.mark.slow
def test_a_shard_whose_worker_ends_is_begun_again_but_not_for_ever(
    cluster: Runner, tmp_path: Path
) -> None:
    markers = [str(tmp_path / name) for name in "abc"]
    assert list(map_shards(end_once, markers, 2, cluster)) == markers
    with pytest.raises(_WorkersLost, match="begun 4 times"):
        list(map_shards(end_always, [1, 2], 2, cluster))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_cluster_that_is_not_there_is_named(address: str, cluster: Runner) -> None:
    with pytest.raises(ConfigError, match=f"^runtime.cluster = {address}: found no "):
        list(map_shards(square, [1, 2], 2, cluster, address))


@pytest.mark.parametrize("runner", CLUSTERS)
def test_a_runner_that_is_not_installed_is_named(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, CLUSTERS[runner], None)
    with pytest.raises(ConfigError, match=rf"\.venv/bin/pip install -e '\.\[{runner}\]'"):
        list(map_shards(square, [1, 2], 2, runner))
