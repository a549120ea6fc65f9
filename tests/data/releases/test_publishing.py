"""Publishing: read back at the target, never changed there, and the pointer last."""

from __future__ import annotations

import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fsspec
import orjson
import pytest

from data.errors import InputError, ReleaseError
from data.releases import publishing
from data.releases.publishing import POINTER, publish
from data.releases.tasks import read_tasks
from data.snapshot import verify, write_snapshot
from data.snapshot.signature import sign
from tests.data.snapshot.sample import release
from tests.data.snapshot.test_errata import published as with_errata
from tests.data.snapshot.test_signature import KEY

NAME = "demo-2026.07.01"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = write_snapshot(release(tmp_path), tmp_path / "out").path
    sign(path, KEY, verify(path))
    return path


def published(snapshot: Path, target: str, *, private: bool = False) -> publishing.Published:
    return publish(snapshot, NAME, read_tasks(snapshot).digest, target, private=private)


def test_a_folder_gets_the_public_half_and_then_the_pointer(snapshot: Path, tmp_path: Path) -> None:
    target = tmp_path / "there"
    done = published(snapshot, str(target))
    assert verify(target / NAME).ok and not (target / NAME / "private").exists()
    pointer = orjson.loads((target / POINTER).read_bytes())
    assert pointer == {
        "snapshot": NAME, "public_digest": read_tasks(target / NAME).digest, "private": False,
    }  # fmt: skip
    again = published(snapshot, str(target))
    assert (again.already, again.files) == (done.files, done.files)


def test_the_private_half_keeps_its_modes_and_errata_follow_later(
    snapshot: Path, tmp_path: Path
) -> None:
    target = tmp_path / "there"
    published(snapshot, str(target), private=True)
    assert verify(target / NAME) == verify(snapshot)
    answers = next((target / NAME / "private").glob("*/answers.json"))
    assert stat.S_IMODE(answers.stat().st_mode) == 0o600
    with_errata(snapshot)
    published(snapshot, str(target), private=True)
    assert read_tasks(target / NAME).withdrawn


def test_what_is_published_is_never_changed(snapshot: Path, tmp_path: Path) -> None:
    target = tmp_path / "there"
    published(snapshot, str(target))
    before = (target / POINTER).read_bytes()
    card = target / NAME / "public" / "README.md"
    content = card.read_bytes()
    card.write_bytes(content + b"\n")
    with pytest.raises(ReleaseError, match="other content is published"):
        published(snapshot, str(target))
    card.write_bytes(content)
    (target / NAME / "public" / "extra.txt").write_text("x")
    with pytest.raises(ReleaseError, match="which is not of the release"):
        published(snapshot, str(target))
    assert (target / POINTER).read_bytes() == before


def test_a_copy_that_was_cut_off_goes_on_and_had_no_pointer(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, written = tmp_path / "there", 0
    write: Any = publishing._write

    def cut_off(*given: Any) -> None:
        nonlocal written
        written += 1
        if written > 20:
            raise OSError("cut off")
        write(*given)

    monkeypatch.setattr(publishing, "_write", cut_off)
    with pytest.raises(InputError, match="cut off"):
        published(snapshot, str(target))
    assert not (target / POINTER).exists()
    monkeypatch.setattr(publishing, "_write", write)
    assert published(snapshot, str(target)).already == 20
    assert verify(target / NAME).ok


def test_the_target_is_outside_and_what_others_keep_there_stays(
    snapshot: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="a folder of the snapshot itself"):
        published(snapshot, str(snapshot / "public" / "copy"), private=True)
    assert verify(snapshot).ok
    target = tmp_path / "there"
    (target / ".thesis.part").mkdir(parents=True)
    (target / ".film.part").write_bytes(b"of somebody else")
    (target / f".{POINTER}.abcd_123.part").write_bytes(b"of a publisher that was killed")
    published(snapshot, str(target))
    assert sorted(path.name for path in target.glob(".*")) == [".film.part", ".thesis.part"]


def test_storage_that_loses_bytes_is_seen(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsspec's storage in memory, of which one file comes back shorter."""
    storage = fsspec.filesystem("memory")
    put = type(storage).pipe_file

    def lossy(self: Any, path: str, value: bytes, **more: Any) -> Any:
        return put(self, path, value[:-1] if path.endswith("tasks.jsonl") else value, **more)

    monkeypatch.setattr(type(storage), "pipe_file", lossy)
    with pytest.raises(ReleaseError, match=r"tasks\.jsonl: reads back differently"):
        published(snapshot, "memory://lossy")
    assert not storage.exists("/lossy/latest.json")


@pytest.mark.parametrize("target", ["", "s3://", "nothing://x", "/dev/null/x"])
def test_an_address_that_cannot_be_reached_is_an_error_of_one_line(
    snapshot: Path, target: str
) -> None:
    with pytest.raises(InputError, match="an address that fsspec reaches") as caught:
        published(snapshot, target)
    assert "\n" not in str(caught.value)


@contextmanager
def s3_server() -> Iterator[str]:
    """moto's server in a process of its own; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of an S3 server on the loopback."""
    if find_spec("s3fs") is None or find_spec("moto") is None:
        pytest.skip("s3fs and moto are not installed: no bucket is published to")
    with s3_server() as url:
        for name, value in {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "invented",
            "AWS_SECRET_ACCESS_KEY": "invented",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("releases")
        yield "s3://releases/train"


def test_a_bucket_gets_what_the_release_is(snapshot: Path, bucket: str, tmp_path: Path) -> None:
    published(snapshot, bucket, private=True)
    storage = fsspec.filesystem("s3", skip_instance_cache=True)
    storage.get(f"{bucket}/{NAME}", str(tmp_path / "back"), recursive=True)
    got = next((tmp_path / "back").rglob("run.json")).parent
    same = {path.relative_to(snapshot) for path in snapshot.rglob("*") if path.is_file()}
    assert {path.relative_to(got) for path in got.rglob("*") if path.is_file()} == same
    assert all((got / path).read_bytes() == (snapshot / path).read_bytes() for path in same)
    assert orjson.loads(storage.cat_file(f"{bucket}/{POINTER}"))["snapshot"] == NAME
    storage.pipe_file(f"{bucket}/{NAME}/public/README.md", b"other")
    with pytest.raises(ReleaseError, match="other content is published"):
        published(snapshot, bucket, private=True)
