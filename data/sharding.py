"""Running one function over many shards: here, in a pool of processes, or on a cluster.

Prefect sees one task per stage. The workers import neither Prefect nor the recipe, and so start
fast. On a cluster of several machines either all see the same disk, or what shards read and write
goes through shared storage (`data/remote_folder.py`).
"""

from __future__ import annotations

import atexit
import fcntl
import multiprocessing
import os
import pickle
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from multiprocessing import connection
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

from data.atomic import PRIVATE_FILE
from data.canonical import digest
from data.child import can_have_workers
from data.errors import BenchmintError, ConfigError
from data.neutralise import one_line
from data.remote_folder import ShardStore
from data.run_store import RunStore, StageOutput

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
_LOOPBACK = "127.0.0.1"
_WORKER_SECONDS = 60  # a cluster without a worker is waited for so long
_LOST_WORKERS = 3  # so often a shard is begun again whose worker ended


class Runner(StrEnum):
    """Who runs the shards of a stage. The output does not depend on it."""

    PROCESSES = "processes"
    DASK = "dask"
    RAY = "ray"


class _WorkersLost(BenchmintError):
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
            f"cluster = {cluster} with runner = processes, which does not use a cluster; "
            "expected runner = dask or ray"
        )
    if shared is not None and cluster is None:
        raise ValueError(
            f"shared = {shared} without cluster: workers on this machine can see its disk; "
            "expected the address of a cluster too"
        )
    if shared is not None and not shared.startswith("/") and "://" not in shared:
        raise ValueError(
            f"shared = {shared}: a path relative to a process's folder; expected a URL that "
            "means the same to all workers, such as s3://bucket/folder or file:///mnt/folder"
        )
    if shared is not None and shared.startswith("memory:"):
        raise ValueError(f"shared = {shared}: a single process's memory; expected shared storage")
    if cluster is not None and runner is Runner.DASK and not _is_safe(cluster):
        raise ValueError(
            f"cluster = {cluster}: jobs contain the release key and would be sent unencrypted to "
            "another machine; expected tls://HOST:PORT"
        )


def _is_safe(address: str) -> bool:
    """Is the connection to a Dask scheduler encrypted, or does it stay on this machine?"""
    parts = urlsplit(address)
    return parts.scheme == "tls" or parts.hostname in (_LOOPBACK, "localhost", "::1")


def map_shards(
    work: Callable[[_Job], _Result],
    jobs: Sequence[_Job],
    workers: int,
    runner: Runner = Runner.PROCESSES,
    cluster: str | None = None,
) -> Iterator[_Result]:
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
    work: Callable[[_Job], _Result], jobs: Sequence[_Job], workers: int
) -> Iterator[_Result]:
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
    work: Callable[[_Job], _Result], jobs: Sequence[_Job], workers: int, cluster: str | None
) -> Iterator[_Result]:
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


def _workers_lost() -> _WorkersLost:
    return _WorkersLost(
        f"a shard was started {_LOST_WORKERS + 1} times, and each time its worker died; expected "
        "workers with enough memory. Finished shards are kept: build again with larger workers."
    )


def _no_worker_left() -> _WorkersLost:
    return _WorkersLost(
        "the cluster has no workers left; expected at least one. Finished shards are kept: "
        "start workers and build again."
    )


def _on_ray(
    work: Callable[[_Job], _Result], jobs: Sequence[_Job], workers: int, cluster: str | None
) -> Iterator[_Result]:
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
        problem = f"no head node ({_why(error)})"
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


# Workers that do not see the disk ----------------------------------------------------------------
# All that they read is fetched by digest. A job is pickled once, with a reference to the shared
# storage for each path in it; what lies there is stored before. A worker fetches it into a folder
# of its own, computes, and stores the output; the build fetches the outputs in the order of the
# shards. So a path in a job is something that the job reads, and the names of the folders above it
# stay as they were: tasks are recovered by them.

_HOME = "benchmint-shards-"  # the folder of a worker process, below the one for temporary files
_LOCK = "lock"
_ROOT = Path(__file__).resolve().parent.parent


class _Reference(NamedTuple):
    """A path in a job: what lies there, and the digest of the file or of the list of the folder."""

    kind: Literal["file", "folder", "nothing"]
    path: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class _SharedJob:
    """What a worker gets: where to fetch the pickled job, what it is, and what must compute it."""

    store: ShardStore
    stage: str
    key: str
    packed: str
    made_by: str


def computed_elsewhere(
    parts: Sequence[ShardPart], how: Sharding, store: ShardStore
) -> Iterator[StageOutput]:
    """Have the shards computed by workers of a cluster; their outputs, in the order of `parts`.

    What an earlier run has left in the storage is not computed again. When all outputs are here,
    the storage is emptied. Raises InputError if it cannot be reached, SharedAltered if something
    there is not as it was written.
    """
    store.require()
    packer = _Packing(store)
    jobs = [packer.job(part) for part in parts]
    trees = map_shards(_compute_shared, jobs, how.workers, how.runner, how.cluster)
    for part, tree in zip(parts, trees, strict=True):
        yield part.store.receive(part.stage, part.key, partial(store.get_tree, tree))
    store.clear()


def _compute_shared(job: _SharedJob) -> str:
    """What a worker does: the digest of the stored output of a shard.

    Raises ConfigError if this worker has other code or tools than the build, SharedAltered if what
    it fetches is not what the build stored.
    """
    from data.builds import code_version, host_and_tools  # local workers do not need it

    if (known := job.store.recorded(job.stage, job.key)) is not None:
        return known
    if _made_by() != job.made_by:
        raise ConfigError(
            f"a worker on {host_and_tools()['host']}: found different code, libraries or a "
            "different processor than the build's; expected the same checkout and lock file. "
            "Update it and restart its worker."
        )
    home = _home()
    with tempfile.TemporaryDirectory(dir=home) as folder:
        compute = _unpack(job.store.get(job.packed), job.store, Path(folder) / "in")
        outputs = RunStore(Path(folder) / "out", code_version(_ROOT))
        output = outputs.run(job.stage, job.key, compute)
        tree = job.store.put_tree(output.path)
    job.store.record(job.stage, job.key, tree)
    return tree


@cache
def _made_by() -> str:
    """A digest of what decides the bytes of an output besides its input: code, tools, processor."""
    from data.builds import architecture, code_version, host_and_tools

    facts = host_and_tools()
    return digest([code_version(_ROOT), architecture(), facts["python"], facts["tools"]])


@dataclass(frozen=True, slots=True)
class _Packing:
    """Turns shards into jobs; what several of them read is stored once."""

    store: ShardStore
    known: dict[Path, _Reference] = field(default_factory=dict)

    def job(self, part: ShardPart) -> _SharedJob:
        buffer = BytesIO()
        _Pickler(buffer, self.reference).dump(part.compute)
        packed = self.store.put(buffer.getvalue())
        return _SharedJob(self.store, part.stage, part.key, packed, _made_by())

    def reference(self, path: Path) -> _Reference:
        if path not in self.known:
            self.known[path] = self._stored(path.absolute())
        return self.known[path]

    def _stored(self, path: Path) -> _Reference:
        name = str(path)
        if path.is_dir():
            return _Reference("folder", name, self.store.put_tree(path))
        if path.exists():
            return _Reference("file", name, self.store.put(path.read_bytes()))
        return _Reference("nothing", name)


class _Pickler(pickle.Pickler):
    def __init__(self, out: BytesIO, reference: Callable[[Path], _Reference]) -> None:
        super().__init__(out)
        self._reference = reference

    def persistent_id(self, obj: Any) -> Any:
        return tuple(self._reference(obj)) if isinstance(obj, Path) else None


class _Unpickler(pickle.Unpickler):
    """Reads what this build has pickled: its digest came with the job, by way of the cluster."""

    def __init__(self, packed: BytesIO, local: Callable[[_Reference], Path]) -> None:
        super().__init__(packed)
        self._local = local

    def persistent_load(self, pid: Any) -> Any:
        return self._local(_Reference(*pid))


def _unpack(packed: bytes, store: ShardStore, folder: Path) -> Callable[[Path], None]:
    """The function of a job, whose paths lead to what was fetched."""
    compute: Callable[[Path], None] = _Unpickler(
        BytesIO(packed), partial(_local, store=store, folder=folder)
    ).load()
    return compute


def _local(wanted: _Reference, store: ShardStore, folder: Path) -> Path:
    """Fetch what a reference names: a file for this job, a folder for this process."""
    if wanted.kind == "folder":
        return _fetched_folder(store, wanted.path, wanted.sha256)
    path = folder / wanted.path.lstrip("/")
    if wanted.kind == "file" and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.get(wanted.sha256))
    return path


_FOLDERS: dict[Path, str] = {}  # the folders that this process has fetched, with their digests


def _fetched_folder(store: ShardStore, path: str, sha256: str) -> Path:
    """A folder below the one of this process, under its own path; fetched once."""
    target = _home() / "folders" / path.lstrip("/")
    if _FOLDERS.get(target) != sha256:
        if target.exists():
            shutil.rmtree(target)
        target.mkdir(parents=True)
        store.get_tree(sha256, target, Path(path))
        _FOLDERS[target] = sha256
    return target


@cache
def _home() -> Path:
    """The folder of this process for what it fetches; it goes when the process ends.

    Folders of processes that were killed are removed: they hold private originals.
    """
    temporary = Path(tempfile.gettempdir())
    for folder in temporary.glob(f"{_HOME}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".{_HOME}", dir=temporary))
    handle = os.open(new / _LOCK, os.O_CREAT | os.O_RDWR, PRIVATE_FILE)
    fcntl.flock(handle, fcntl.LOCK_EX)  # held until the process ends, however it ends
    home = new.rename(temporary / new.name.removeprefix("."))  # only now others look at it
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _is_abandoned(folder: Path) -> bool:
    """Has the process that held the lock of this folder ended?"""
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
