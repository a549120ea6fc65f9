"""Shards come back in order, whoever runs them; what is not installed is named."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import pytest

from data.errors import ConfigError
from data.sharding import Runner, map_shards

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


@pytest.mark.slow
@pytest.mark.parametrize("runner", CLUSTERS)
def test_a_real_cluster_keeps_the_order_and_hands_errors_on(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(CLUSTERS[runner]) is None:  # not imported: Ray reads the environment as it is
        pytest.skip(f"the extra benchmint[{runner}] is not installed")
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")  # so that what is set here is unset afterwards
        monkeypatch.delenv(name)
    check_runner(runner)


@pytest.mark.parametrize("runner", CLUSTERS)
def test_a_runner_that_is_not_installed_is_named(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, CLUSTERS[runner], None)
    with pytest.raises(ConfigError, match=rf"\.venv/bin/pip install -e '\.\[{runner}\]'"):
        list(map_shards(square, [1, 2], 2, runner))
