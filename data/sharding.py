"""Running one function over many shards: here, in a pool of processes, or on a cluster.

Prefect sees one task per stage. The workers import neither Prefect nor the recipe, and so start
fast. All workers must see what they write: a cluster of several machines needs a shared file
system.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from data.errors import ConfigError
from data.run_store import RunStore, StageOutput

Job = TypeVar("Job")
Result = TypeVar("Result")
_LOOPBACK = "127.0.0.1"


class Runner(StrEnum):
    """Who runs the shards of a stage. The output does not depend on it."""

    PROCESSES = "processes"
    DASK = "dask"
    RAY = "ray"


@dataclass(frozen=True, slots=True)
class Sharding:
    """How sharded stages are computed; `cluster` is the address of a running one."""

    workers: int
    runner: Runner = Runner.PROCESSES
    cluster: str | None = None
    quiet: bool = True


def map_shards(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int,
    runner: Runner = Runner.PROCESSES,
    cluster: str | None = None,
) -> Iterator[Result]:
    """Yield `work(job)` in the order of `jobs`. `work` and the jobs must be picklable.

    `cluster` is the address of a running Dask or Ray cluster; without one, one of `workers`
    processes is started on the loopback and ended again. Raises ConfigError if the runner is not
    installed.
    """
    if cluster is None and (workers == 1 or len(jobs) < 2):
        yield from map(work, jobs)
        return
    workers = min(workers, len(jobs))
    if runner is Runner.DASK:
        yield from _on_dask(work, jobs, workers, cluster)
    elif runner is Runner.RAY:
        yield from _on_ray(work, jobs, workers, cluster)
    else:
        yield from _in_processes(work, jobs, workers)


def compute_shard(part: tuple[RunStore, str, str, Callable[[Path], None]]) -> StageOutput:
    """The output of one shard (store, stage, key, compute): what a worker computes."""
    store, stage, key, compute = part
    return store.run(stage, key, compute)


def _in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[Result]:
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(work, jobs)


def _on_dask(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, cluster: str | None
) -> Iterator[Result]:
    distributed = _extra("distributed", Runner.DASK)
    with ExitStack() as stack:
        address: Any = cluster or stack.enter_context(
            distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=_LOOPBACK,
                dashboard_address=None,
                security=True,  # jobs hold the release key: TLS with keys of this run alone
            )
        )
        client = stack.enter_context(distributed.Client(address, set_as_default=False))
        futures = client.map(work, jobs, pure=False)
        for future in futures:
            yield future.result()


def _on_ray(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, cluster: str | None
) -> Iterator[Result]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if cluster is None:  # jobs hold the release key: nobody else may request them
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    ray = _extra("ray", Runner.RAY)
    local = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": _LOOPBACK}
    ray.init(address=cluster or "local", log_to_driver=False, **({} if cluster else local))
    try:
        remote = ray.remote(max_retries=0)(work)
        for reference in [remote.remote(job) for job in jobs]:
            yield _from_ray(ray, reference)
    finally:
        ray.shutdown()


def _from_ray(ray: Any, reference: Any) -> Any:
    """The result, or the original error: Ray wraps it in its own class, with the traceback."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def _extra(module: str, runner: Runner) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ConfigError(
            f"runtime.runner = {runner}: not installed. In the checkout run: "
            f".venv/bin/pip install -e '.[{runner}]'"
        ) from None
