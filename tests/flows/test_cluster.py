"""A build on two machines that share storage alone: the digest of a build on one, whatever ends."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import fsspec
import pytest

from tests.demo import Demo
from tests.flows.cluster import Cluster, dask_cluster, ray_cluster, require_hiding
from tests.flows.command import command, environment, sums
from tests.s3 import s3_bucket

pytestmark = [pytest.mark.full, pytest.mark.slow(seconds=300), pytest.mark.timeout(1200)]
SMALL = {"BENCHMINT_RUNTIME__SHARD_BYTES": "100000"}  # the demo is one shard otherwise
CLUSTERS: dict[str, tuple[str, Callable[..., AbstractContextManager[Cluster]]]] = {
    "dask": ("distributed", dask_cluster),
    "ray": ("ray", ray_cluster),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A cluster, the storage that it shares with builds, and where the build goes."""

    demo: Demo
    cluster: Cluster
    shared: str
    environment: dict[str, str]
    out: Path
    ending: ExitStack

    def build(self, *more: object) -> subprocess.Popen[bytes]:
        """Start a build whose shards are computed on the cluster."""
        where = ["--runner", self.cluster.runner, "--cluster", self.cluster.address]
        arguments = self.demo.build(self.out, *where, "--shared", self.shared, *more)
        with (self.out.parent / "build.log").open("ab") as log:
            started = subprocess.Popen(
                command(*arguments), env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.ending.callback(end, started)
        return started

    @property
    def log(self) -> str:
        return (self.out.parent / "build.log").read_text(encoding="utf-8")

    def stored(self) -> list[str]:
        """What lies in the shared storage now."""
        bucket = fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)
        return list(bucket.find(self.shared))


def end(build: subprocess.Popen[bytes]) -> None:
    """End what a failed test has left running."""
    if build.poll() is None:
        build.kill()
    build.wait()


@pytest.fixture(params=CLUSTERS)
def setting(
    request: pytest.FixtureRequest, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Setting]:
    """Two workers that see neither the input nor the output of the build, and an S3 server."""
    module, start = CLUSTERS[request.param]
    if find_spec(module) is None:
        pytest.skip(f"the extra benchmint[{request.param}] is not installed (make cluster)")
    require_hiding(tmp_path / "out")
    with s3_bucket("shards") as (shared, secret):
        for name, value in secret.items():
            monkeypatch.setenv(name, value)
        hide = [demo.folder.parent, tmp_path / "out"]
        with start(tmp_path / "machines", hide, secret) as cluster:
            own = {**environment(), **secret, **cluster.environment, **SMALL}
            with ExitStack() as ending:
                yield Setting(demo, cluster, f"{shared}/builds", own, tmp_path / "out", ending)


def has_fetched(machine: Path) -> bool:
    """Has a worker of this machine fetched something from the storage?"""
    return any((machine / "tmp").glob("benchmint-shards-*"))


def test_two_machines_give_the_digest_of_one(setting: Setting) -> None:
    build = setting.build()
    used: set[Path] = set()
    while build.poll() is None:
        used |= {each.folder for each in setting.cluster.machines if has_fetched(each.folder)}
        time.sleep(0.05)
    assert build.returncode == 0, setting.log
    assert sums(setting.out) == sums(setting.demo.out)
    assert len(used) == 2
    assert setting.stored() == []


def killed_while_computing(setting: Setting, stage: str) -> subprocess.Popen[bytes]:
    """Start a build, and kill the first machine that is writing an output of the stage."""
    build = setting.build()
    while True:
        assert build.poll() is None, setting.log
        for machine in setting.cluster.machines:
            if machine.is_computing(stage):
                machine.kill()
                return build
        time.sleep(0.005)


@pytest.mark.parametrize("stage", ["recover", "masking"])
def test_a_machine_that_is_lost_in_mid_stage_loses_nothing(setting: Setting, stage: str) -> None:
    build = killed_while_computing(setting, stage)
    assert not (setting.out / "snapshots" / "latest").exists()
    assert build.wait() == 0, setting.log
    assert sums(setting.out) == sums(setting.demo.out)
    assert setting.stored() == []


def test_a_build_ends_when_all_machines_are_lost(setting: Setting) -> None:
    build = killed_while_computing(setting, "recover")
    for machine in setting.cluster.machines:
        machine.kill()
    assert build.wait() == 2, setting.log
    assert "the cluster has no workers left" in setting.log
    assert not (setting.out / "snapshots" / "latest").exists()


def test_a_build_that_is_killed_goes_on_with_what_was_stored(setting: Setting) -> None:
    build = setting.build()
    while not any("/done/masking/" in name for name in setting.stored()):
        assert build.poll() is None, setting.log
        time.sleep(0.05)
    os.kill(build.pid, 9)
    build.wait()
    again = setting.build()
    assert again.wait() == 0, setting.log
    assert sums(setting.out) == sums(setting.demo.out)
    assert setting.stored() == []
