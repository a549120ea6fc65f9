"""Shards whose workers do not see the disk of the build: all that they read is fetched by digest.

A job is pickled once, with a reference to the shared storage for each path in it; what lies there
is stored before. A worker fetches it into a folder of its own, computes, and stores the output. The
build fetches the outputs in the order of the shards. So a path in a job is something that the job
reads, and the names of the folders above it stay as they were: tasks are recovered by them.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple

from data.atomic import PRIVATE_FILE
from data.builds import architecture, code_version, host_and_tools
from data.canonical import digest
from data.errors import ConfigError
from data.run_store import RunStore, StageOutput
from data.shard_store import ShardStore
from data.sharding import Sharding, ShardPart, map_shards

_HOME = "benchmint-shards-"  # the folder of a worker process, below the one for temporary files
_LOCK = "lock"
_ROOT = Path(__file__).resolve().parent.parent


class Reference(NamedTuple):
    """A path in a job: what lies there, and the digest of the file or of the list of the folder."""

    kind: Literal["file", "folder", "nothing"]
    path: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class SharedJob:
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
    trees = map_shards(compute_shared, jobs, how.workers, how.runner, how.cluster)
    for part, tree in zip(parts, trees, strict=True):
        yield part.store.receive(part.stage, part.key, partial(store.get_tree, tree))
    store.clear()


def compute_shared(job: SharedJob) -> str:
    """What a worker does: the digest of the stored output of a shard.

    Raises ConfigError if this worker has other code or tools than the build, SharedAltered if what
    it fetches is not what the build stored.
    """
    if (known := job.store.recorded(job.stage, job.key)) is not None:
        return known
    if made_by() != job.made_by:
        raise ConfigError(
            f"a worker on {host_and_tools()['host']}: found other code, libraries or processor "
            "than those of the build; expected the same checkout and the same lock file. Update "
            "it and start its worker again."
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
def made_by() -> str:
    """A digest of what decides the bytes of an output besides its input: code, tools, processor."""
    facts = host_and_tools()
    return digest([code_version(_ROOT), architecture(), facts["python"], facts["tools"]])


@dataclass(frozen=True, slots=True)
class _Packing:
    """Turns shards into jobs; what several of them read is stored once."""

    store: ShardStore
    known: dict[Path, Reference] = field(default_factory=dict)

    def job(self, part: ShardPart) -> SharedJob:
        buffer = BytesIO()
        _Pickler(buffer, self.reference).dump(part.compute)
        packed = self.store.put(buffer.getvalue())
        return SharedJob(self.store, part.stage, part.key, packed, made_by())

    def reference(self, path: Path) -> Reference:
        if path not in self.known:
            self.known[path] = self._stored(path.absolute())
        return self.known[path]

    def _stored(self, path: Path) -> Reference:
        name = str(path)
        if path.is_dir():
            return Reference("folder", name, self.store.put_tree(path))
        if path.exists():
            return Reference("file", name, self.store.put(path.read_bytes()))
        return Reference("nothing", name)


class _Pickler(pickle.Pickler):
    def __init__(self, out: BytesIO, reference: Callable[[Path], Reference]) -> None:
        super().__init__(out)
        self._reference = reference

    def persistent_id(self, obj: Any) -> Any:
        return tuple(self._reference(obj)) if isinstance(obj, Path) else None


class _Unpickler(pickle.Unpickler):
    """Reads what this build has pickled: its digest came with the job, by way of the cluster."""

    def __init__(self, packed: BytesIO, local: Callable[[Reference], Path]) -> None:
        super().__init__(packed)
        self._local = local

    def persistent_load(self, pid: Any) -> Any:
        return self._local(Reference(*pid))


def _unpack(packed: bytes, store: ShardStore, folder: Path) -> Callable[[Path], None]:
    """The function of a job, whose paths lead to what was fetched."""
    compute: Callable[[Path], None] = _Unpickler(
        BytesIO(packed), partial(_local, store=store, folder=folder)
    ).load()
    return compute


def _local(wanted: Reference, store: ShardStore, folder: Path) -> Path:
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
