"""Running one function over many shards: here, in a pool of processes, or on a cluster.

Prefect sees one task per stage. The workers import neither Prefect nor the recipe, and so start
fast. On a cluster of several machines either all see the same disk, or what shards read and write
goes through shared storage (`data/shared_shards.py`).
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from multiprocessing import connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from data.errors import BenchmintError, ConfigError
from data.neutralise import one_line
from data.processes import can_have_workers
from data.run_store import RunStore, StageOutput
from data.shard_store import ShardStore

Job = TypeVar("Job")
Result = TypeVar("Result")
_LOOPBACK = "127.0.0.1"
_WORKER_SECONDS = 60  # a cluster without a worker is waited for so long
_LOST_WORKERS = 3  # so often a shard is begun again whose worker ended


class Runner(StrEnum):
    """Who runs the shards of a stage. The output does not depend on it."""

    PROCESSES = "processes"
    DASK = "dask"
    RAY = "ray"


class WorkersLost(BenchmintError):
    """The workers that computed a shard ended again and again."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """How sharded stages are computed; `cluster` is the address of a running one.

    `storage`: where its workers find what they read, if they do not see the disk of the build.
    """

    workers: int
    runner: Runner = Runner.PROCESSES
    cluster: str | None = None
    quiet: bool = True
    storage: ShardStore | None = None


class ShardPart(NamedTuple):
    """A shard of a stage: where its output belongs, its key, and what computes it."""

    store: RunStore
    stage: str
    key: str
    compute: Callable[[Path], None]


def require_fitting(runner: Runner, cluster: str | None, shared: str | None) -> None:
    """Raise ValueError for settings of which one makes the other pointless or unsafe.

    `shared` is the address of the storage of workers that do not see the disk of the build.
    """
    if cluster is not None and runner is Runner.PROCESSES:
        raise ValueError(
            f"cluster = {cluster} with runner = processes, which uses no cluster; expected "
            "runner = dask or ray"
        )
    if shared is not None and cluster is None:
        raise ValueError(
            f"shared = {shared} without cluster: workers of this machine see its disk; expected "
            "the address of a cluster too"
        )
    if shared is not None and not shared.startswith("/") and "://" not in shared:
        raise ValueError(
            f"shared = {shared}: a path from where a process runs; expected an address that means "
            "the same to all workers, such as s3://bucket/folder or file:///mnt/folder"
        )
    if shared is not None and shared.startswith("memory:"):
        raise ValueError(f"shared = {shared}: the memory of one process; expected shared storage")
    if cluster is not None and runner is Runner.DASK and not _is_safe(cluster):
        raise ValueError(
            f"cluster = {cluster}: jobs hold the release key, and would go unencrypted to another "
            "machine; expected tls://HOST:PORT"
        )


def _is_safe(address: str) -> bool:
    """Is the connection to a Dask scheduler encrypted, or does it stay on this machine?"""
    parts = urlsplit(address)
    return parts.scheme == "tls" or parts.hostname in (_LOOPBACK, "localhost", "::1")


def map_shards(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int,
    runner: Runner = Runner.PROCESSES,
    cluster: str | None = None,
) -> Iterator[Result]:
    """Yield `work(job)` in the order of `jobs`. `work` and the jobs must be picklable.

    `cluster` is the address of a running Dask or Ray cluster; without one, one of `workers`
    processes is started on the loopback and ended again. A shard whose worker ends is begun again
    by another. Where processes cannot share a lock, all is computed here. Raises ConfigError if the
    runner is not installed or the cluster cannot be used, WorkersLost if a shard ends every worker
    that takes it.
    """
    alone = workers == 1 or len(jobs) < 2
    if cluster is None and (alone or (runner is Runner.PROCESSES and not can_have_workers())):
        yield from map(work, jobs)
        return
    workers = min(workers, len(jobs))
    if runner is Runner.DASK:
        yield from _on_dask(work, jobs, workers, cluster)
    elif runner is Runner.RAY:
        yield from _on_ray(work, jobs, workers, cluster)
    else:
        yield from _in_processes(work, jobs, workers)


def compute_shard(part: ShardPart) -> StageOutput:
    """The output of one shard: what a worker computes that sees the disk of the build."""
    return part.store.run(part.stage, part.key, part.compute)


def _in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[Result]:
    context = multiprocessing.get_context("forkserver")
    others = set(multiprocessing.active_children())  # Prefect's server: it hears of the end last
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_watch_build) as pool:
        try:
            yield from pool.map(work, jobs)
        except Exception:
            raise
        except BaseException:  # who stops a build does not wait for the shards that are begun
            threading.excepthook = lambda *_: None  # nor reads what the pool's thread says of that
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            raise


def _watch_build() -> None:
    """Let this worker end with its build: otherwise it computes on beside one that resumes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the build, which ends it
    threading.Thread(target=_end_with_build, daemon=True).start()


def _end_with_build() -> None:
    if (build := multiprocessing.parent_process()) is not None:
        connection.wait([build.sentinel])
        os._exit(1)


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
        client = stack.enter_context(_dask_client(distributed, address))
        futures = client.map(work, jobs, pure=False)
        try:
            for future in futures:
                yield _from_dask(client, future)
        except distributed.KilledWorker:
            raise _workers_lost() from None


def _from_dask(client: Any, future: Any) -> Any:
    """The result. Raises WorkersLost when the cluster has no worker that could compute it."""
    while True:
        try:
            return future.result(timeout=_WORKER_SECONDS)
        except TimeoutError:
            if future.done():  # the work itself ran out of some time
                raise
            if not client.scheduler_info(n_workers=-1)["workers"]:
                raise _no_worker_left() from None


def _dask_client(distributed: Any, address: Any) -> Any:
    """A client of a cluster that has workers, each of which computes one shard at a time."""
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise _no_cluster(Runner.DASK, address, f"no scheduler ({_why(error)})") from None
    try:
        client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except BaseException as error:
        client.close()
        if isinstance(error, TimeoutError):
            raise _no_cluster(Runner.DASK, address, "no worker") from None
        raise
    if any(worker["nthreads"] != 1 for worker in workers):
        client.close()
        raise _no_cluster(Runner.DASK, address, "a worker with several threads")
    return client


def _no_cluster(runner: Runner, address: str, state: str) -> ConfigError:
    return ConfigError(
        f"runtime.cluster = {address}: found {state}; expected a running {runner} cluster whose "
        f"workers compute one shard at a time (docs/operations.md, More than one machine)."
    )


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error))[:150]}"


def _workers_lost() -> WorkersLost:
    return WorkersLost(
        f"a shard was begun {_LOST_WORKERS + 1} times, and each time its worker ended; expected "
        "workers with enough memory. Finished shards are kept: build again with larger workers."
    )


def _no_worker_left() -> WorkersLost:
    return WorkersLost(
        "the cluster has no worker left; expected at least one. Finished shards are kept: start "
        "workers and build again."
    )


def _on_ray(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, cluster: str | None
) -> Iterator[Result]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if cluster is None:  # jobs hold the release key: nobody else may request them
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    ray = _extra("ray", Runner.RAY)
    local = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": _LOOPBACK}
    try:
        ray.init(
            address=cluster or "local",
            log_to_driver=False,
            logging_level="WARNING",
            **({} if cluster else local),
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        problem = f"no head ({_why(error)})"
        raise _no_cluster(Runner.RAY, cluster or "a new one on this machine", problem) from None
    try:
        remote = ray.remote(max_retries=_LOST_WORKERS)(work)
        for reference in [remote.remote(job) for job in jobs]:
            yield _from_ray(ray, reference)
    finally:
        ray.shutdown()


def _from_ray(ray: Any, reference: Any) -> Any:
    """The result, or the original error: Ray wraps it in its own class, with the traceback.

    Raises WorkersLost when the cluster has no worker that could compute it.
    """
    try:
        while not ray.wait([reference], timeout=_WORKER_SECONDS)[0]:
            if not ray.cluster_resources().get("CPU"):
                raise _no_worker_left()
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError):
        raise _workers_lost() from None


def _extra(module: str, runner: Runner) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ConfigError(
            f"runtime.runner = {runner}: not installed. In the checkout run: "
            f".venv/bin/pip install -e '.[{runner}]'"
        ) from None
