"""Shards that are computed from shared storage alone: same outputs, nothing computed twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from data import sharding
from data.errors import ConfigError
from data.remote_folder import ShardStore, _SharedAltered, shard_store
from data.run_store import RunStore, _StageAltered, content_digest
from data.sharding import (
    Runner,
    Sharding,
    ShardPart,
    _SharedJob,
    computed_elsewhere,
    require_fitting,
)
from tests.conftest import REPO

KEY = bytes(range(32))
HERE = Sharding(workers=1)  # the worker's part runs in this process


@dataclass(frozen=True, slots=True)
class CopyJob:
    """Files and a folder to read; `log` is a text, not a path: it stays where it is."""

    files: tuple[Path, ...]
    folder: Path
    absent: Path
    log: str


def copy(job: CopyJob, out: Path) -> None:
    """Write what the job's paths lead to, and note in the log that it was done, and where."""
    with Path(job.log).open("a") as log:
        log.write(f"{job.folder}\n")
    assert not job.absent.exists()
    for number, file in enumerate(job.files):
        above = "/".join(file.parts[-3:])
        (out / f"{number}.txt").write_bytes(file.read_bytes() + above.encode())
    names = sorted(path.relative_to(job.folder).as_posix() for path in job.folder.rglob("*"))
    (out / "names.txt").write_text("\n".join(names))


@pytest.fixture
def storage(tmp_path: Path) -> ShardStore:
    (tmp_path / "shared").mkdir()
    return shard_store((tmp_path / "shared").as_uri(), KEY, tmp_path / "out")


def parts(folder: Path, outputs: Path, n: int = 3) -> list[ShardPart]:
    """Shards that read two files each, and one folder."""
    given = folder / "given/deep"
    given.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(n):
        files = (given / f"{number}.log", given / f"{number + 1}.log")
        for file in files:
            file.write_text(f"content of {file.name}")
        job = CopyJob(files, given.parent, folder / "absent", str(folder / "log"))
        store = RunStore(outputs, "code")
        made.append(ShardPart(store, "copy", store.key("copy", number), partial(copy, job)))
    return made


def done(folder: Path) -> list[str]:
    """Which folders the computed shards have read, in the order in which they were computed."""
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_outputs_are_those_of_a_build_on_one_disk(tmp_path: Path, storage: ShardStore) -> None:
    near = [part.store.run(*part[1:]).path for part in parts(tmp_path, tmp_path / "near")]
    shards = parts(tmp_path, tmp_path / "far")
    far = [output.path for output in computed_elsewhere(shards, HERE, storage)]
    assert list(map(content_digest, far)) == list(map(content_digest, near))
    assert [path.name for path in far] == [part.key for part in shards]
    read = done(tmp_path)
    assert set(read[:3]) == {str(tmp_path / "given")}
    assert all(path != str(tmp_path / "given") for path in read[3:])
    assert {Path(path).parts[-1] for path in read[3:]} == {"given"}
    assert list((tmp_path / "shared").rglob("*")) == []


def jobs_of(
    shards: list[ShardPart], storage: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> list[_SharedJob]:
    """The jobs as the workers get them; the build is cut off before any is computed."""
    caught: list[_SharedJob] = []

    def cut_off(_work: object, jobs: list[_SharedJob], *_: object) -> list[str]:
        caught.extend(jobs)
        raise ConnectionError("the build is killed")

    with monkeypatch.context() as patch, pytest.raises(ConnectionError):
        patch.setattr(sharding, "map_shards", cut_off)
        list(computed_elsewhere(shards, HERE, storage))
    return caught


def test_what_workers_finished_for_a_killed_build_is_not_computed_again(
    tmp_path: Path, storage: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = parts(tmp_path, tmp_path / "far")
    jobs = jobs_of(shards, storage, monkeypatch)
    finished = sharding._compute_shared(jobs[1])
    assert sharding._compute_shared(jobs[1]) == finished
    assert len(done(tmp_path)) == 1
    assert len(list(computed_elsewhere(shards, HERE, storage))) == 3
    assert len(done(tmp_path)) == 3


def objects(storage: ShardStore) -> dict[Path, bytes]:
    folder = Path(storage.address.removeprefix("file://"))
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_input_that_changed_in_the_storage_is_refused_by_the_worker(
    tmp_path: Path, storage: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pickled job, each file, and the list of the folder in which these files lie."""
    storage.require()  # leaves an object that no job reads
    before = objects(storage)
    (job,) = jobs_of(parts(tmp_path, tmp_path / "far", n=1), storage, monkeypatch)
    given = {path: content for path, content in objects(storage).items() if path not in before}
    assert len(given) == 4
    for path, content in given.items():
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(_SharedAltered, match=path.name):
            sharding._compute_shared(job)
        path.write_bytes(content)
    assert done(tmp_path) == []
    sharding._compute_shared(job)
    assert len(done(tmp_path)) == 1


def test_an_output_that_changed_in_the_storage_is_refused_by_the_build(
    tmp_path: Path, storage: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = parts(tmp_path, tmp_path / "far", n=1)
    (job,) = jobs_of(shards, storage, monkeypatch)
    before = objects(storage)
    sharding._compute_shared(job)
    outputs = {path: content for path, content in objects(storage).items() if path not in before}
    assert len(outputs) >= 5  # two texts, names, sums, timings, their list, the note
    for path, content in outputs.items():
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(_SharedAltered, match=path.name):
            list(computed_elsewhere(shards, HERE, storage))
        assert not (tmp_path / "far" / "copy" / shards[0].key).exists()
        path.write_bytes(content)
    assert len(list(computed_elsewhere(shards, HERE, storage))) == 1


def test_an_output_that_is_not_what_was_computed_is_not_received(tmp_path: Path) -> None:
    def forged(folder: Path) -> None:
        (folder / "a.txt").write_text("a")
        (folder / "sums.json").write_text('{"a.txt":"00"}')

    with pytest.raises(_StageAltered, match=r"a\.txt"):
        RunStore(tmp_path, "code").receive("copy", "k", forged)
    assert not (tmp_path / "copy" / "k").exists()


def test_a_worker_with_other_code_or_libraries_is_refused(
    tmp_path: Path, storage: ShardStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = jobs_of(parts(tmp_path, tmp_path / "far", n=1), storage, monkeypatch)
    with pytest.raises(ConfigError, match="different code, libraries or a different processor"):
        sharding._compute_shared(replace(job, made_by="of last week"))
    assert done(tmp_path) == []


HOLD = "import time; from data.sharding import _home; print(_home(), flush=True); "


def test_what_a_killed_worker_fetched_is_removed_by_the_next(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    def worker(then: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLD + then]
        return subprocess.Popen(
            command, cwd=REPO, env=environment, stdout=subprocess.PIPE, text=True
        )

    def home(process: subprocess.Popen[str]) -> Path:
        assert process.stdout is not None
        return Path(process.stdout.readline().strip())

    living, killed = worker("time.sleep(300)"), worker("time.sleep(300)")
    kept, gone = home(living), home(killed)
    (gone / "original").write_text("private")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert (gone / "original").exists()
    last = worker("")
    own = home(last)
    assert last.wait() == 0
    assert not own.exists()
    assert not gone.exists()
    assert kept.exists()
    living.kill()
    living.wait()


Fitting = tuple[Runner, str | None, str | None]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((Runner.PROCESSES, "tls://a:1", None), "does not use a cluster"),
        ((Runner.PROCESSES, None, "s3://b"), "without cluster"),
        ((Runner.DASK, None, "s3://b"), "without cluster"),
        ((Runner.RAY, "a:1", "shared"), "a path relative to a process's folder"),
        ((Runner.RAY, "a:1", "memory://b"), "a single process's memory"),
        ((Runner.DASK, "tcp://10.0.0.1:8786", "s3://b"), "expected tls://"),
        ((Runner.DASK, "10.0.0.1:8786", None), "expected tls://"),
        ((Runner.DASK, "tcp://localhost.example:8786", None), "expected tls://"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given: Fitting, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        require_fitting(*given)


@pytest.mark.parametrize(
    "given",
    [
        (Runner.PROCESSES, None, None),
        (Runner.DASK, None, None),
        (Runner.DASK, "tls://10.0.0.1:8786", "s3://b/c"),
        (Runner.DASK, "tcp://127.0.0.1:8786", "/mnt/shared"),
        (Runner.RAY, "10.0.0.1:6379", "file:///mnt/shared"),
    ],
)
def test_settings_that_fit_are_taken(given: Fitting) -> None:
    require_fitting(*given)
