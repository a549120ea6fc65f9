"""Publishing to a bucket: a real S3 server on the loopback, and several publishers at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import orjson
import pytest

from data.errors import BenchmintError, ReleaseError
from data.releases.publishing import POINTER
from data.remote_folder import RemoteFolder
from data.snapshot.signature import sign
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from tests.data.releases.test_publishing import NAME, published, signed_snapshot
from tests.data.snapshot.sample import release
from tests.data.snapshot.test_errata import published as with_errata
from tests.data.snapshot.test_signature import KEY
from tests.s3 import s3_bucket


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return signed_snapshot(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A bucket of an S3 server on the loopback."""
    with s3_bucket("releases") as (address, environment), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield address


@pytest.fixture
def bucket(server: str, tmp_path: Path) -> str:
    """A folder in it for this test alone."""
    return f"{server}/{tmp_path.name}"


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


def test_of_two_releases_under_a_name_at_once_one_is_published(
    snapshot: Path, bucket: str, tmp_path: Path
) -> None:
    """Without turns: each object is created once, so that nobody gets a mixture."""
    given = release(tmp_path / "b")
    fewer = replace(given, candidates=given.candidates[:-1])
    other = write_snapshot(fewer, tmp_path / "b" / "out").path
    sign(other, KEY, verify(other))

    def outcome(path: Path) -> str:
        try:
            return f"{published(path, bucket).files} files"
        except BenchmintError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(outcome, (snapshot, other)))
    winners = [
        path
        for path, text in zip((snapshot, other), outcomes, strict=True)
        if text[0] in "0123456789"
    ]
    assert len(winners) == 1, outcomes
    assert any(
        "which is not part of the release" in text or "other content" in text for text in outcomes
    )
    storage = fsspec.filesystem("s3", skip_instance_cache=True)
    storage.get(f"{bucket}/{NAME}", str(tmp_path / "back"), recursive=True)
    got = next((tmp_path / "back").rglob("manifest.json")).parent
    assert verify(got).public_digest == verify(winners[0]).public_digest
    assert orjson.loads(storage.cat_file(f"{bucket}/{POINTER}"))["snapshot"] == NAME


@pytest.mark.slow
def test_two_publishers_of_a_release_into_a_bucket_both_succeed(
    snapshot: Path, bucket: str
) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: published(snapshot, bucket, private=True), range(2)))
    assert done[0].files == done[1].files


def test_errata_that_came_in_between_are_not_overwritten(
    snapshot: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(snapshot, bucket)
    notice = with_errata(snapshot)
    storage = fsspec.filesystem("s3", skip_instance_cache=True)
    later = b"errata of a publisher who was faster"
    content = RemoteFolder.content

    def overtaken(there: Any, path: str) -> bytes | None:
        read = content(there, path)
        if path == notice.name and not storage.exists(f"{bucket}/{path}"):
            storage.pipe_file(f"{bucket}/{path}", later)
        return read

    monkeypatch.setattr(RemoteFolder, "content", overtaken)
    with pytest.raises(ReleaseError, match="another publisher has just written it"):
        published(snapshot, bucket)
    assert storage.cat_file(f"{bucket}/{notice.name}") == later
