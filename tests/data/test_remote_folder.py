"""Shared storage: what is read there is what was written, or an error that names the object."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from data.canonical import digest
from data.errors import InputError
from data.remote_folder import ShardStore, _SharedAltered, shard_store
from tests.s3 import s3_bucket

KEY = bytes(range(32))
SECRET = b"Isolde Kerrigan, 4 Example Street"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3_bucket("shards") as (address, environment), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield address


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ShardStore:
    """An empty store: in a folder, and in a bucket of a real S3 server."""
    if request.param == "folder":
        address = tmp_path.as_uri()
    else:
        address = f"{request.getfixturevalue('bucket')}/{tmp_path.name}"
    made = shard_store(address, KEY, tmp_path / "out")
    made.require()
    return made


class Raw:
    """The storage as somebody without the key sees it, who may write."""

    def __init__(self, store: ShardStore) -> None:
        self.system, self.base = fsspec.core.url_to_fs(
            store.address, use_listings_cache=False, skip_instance_cache=True
        )

    def names(self) -> set[str]:
        return set(self.system.find(self.base))

    def read(self, name: str) -> bytes:
        return bytes(self.system.cat_file(name))

    def write(self, name: str, content: bytes) -> None:
        self.system.pipe_file(name, content)

    def remove(self, name: str) -> None:
        self.system.rm_file(name)


def test_what_is_stored_comes_back_and_has_one_name(store: ShardStore) -> None:
    raw, contents = Raw(store), [b"", SECRET, os.urandom(3_000_000)]
    before = raw.names()
    names = [store.put(content) for content in contents]
    assert names == [digest(content) for content in contents]
    assert [store.get(name) for name in names] == contents
    written = raw.names()
    assert len(written - before) == len(contents)
    assert store.put(SECRET) == names[1]
    assert raw.names() == written
    assert store.get(names[1]) == SECRET


def test_who_reads_the_storage_learns_neither_contents_nor_digests(store: ShardStore) -> None:
    raw, tree = Raw(store), store.put(SECRET)
    store.record("masking", "a key", tree)
    for name in raw.names():
        assert SECRET not in raw.read(name)
        assert tree.encode() not in raw.read(name)
        assert tree not in name


def flipped(raw: Raw, name: str, other: str) -> None:
    content = bytearray(raw.read(name))
    content[len(content) // 2] ^= 1
    raw.write(name, bytes(content))


def cut(raw: Raw, name: str, other: str) -> None:
    raw.write(name, raw.read(name)[:-1])


def emptied(raw: Raw, name: str, other: str) -> None:
    raw.write(name, b"")


def exchanged(raw: Raw, name: str, other: str) -> None:
    raw.write(name, raw.read(other))


def lost(raw: Raw, name: str, other: str) -> None:
    raw.remove(name)


@pytest.mark.parametrize("attack", [flipped, cut, emptied, exchanged, lost])
def test_an_object_that_changed_between_write_and_read_is_refused(
    attack: Callable[[Raw, str, str], None], store: ShardStore
) -> None:
    raw, before = Raw(store), Raw(store).names()
    sha256 = store.put(SECRET)
    (name,) = raw.names() - before
    other = store.put(b"another content")
    attack(raw, name, next(iter(raw.names() - before - {name})))
    with pytest.raises(_SharedAltered, match=name.rpartition("/")[2]):
        store.get(sha256)
    assert store.get(other) == b"another content"


def test_a_note_about_a_finished_shard_cannot_be_forged(store: ShardStore) -> None:
    raw, before = Raw(store), Raw(store).names()
    assert store.recorded("recover", "k1") is None
    store.record("recover", "k1", digest(b"first"))
    (first,) = raw.names() - before
    store.record("recover", "k2", digest(b"second"))
    assert store.recorded("recover", "k1") == digest(b"first")
    (second,) = raw.names() - before - {first}
    raw.write(second, raw.read(first))  # a true note, of another shard
    with pytest.raises(_SharedAltered, match="done/recover/k2"):
        store.recorded("recover", "k2")


def test_a_folder_comes_back_with_all_that_lies_in_it(store: ShardStore, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "inner/empty").mkdir(parents=True)
    odd = Path(os.fsdecode(os.fsencode(source) + b"/inner/bad\xff.txt"))
    odd.write_bytes(b"odd")
    (source / "again").write_bytes(b"odd")
    (source / "up").symlink_to("../outside")
    (source / "inside").symlink_to(source / "again")
    os.mkfifo(source / "pipe")
    target.mkdir()
    store.get_tree(store.put_tree(source), target, source)
    names = {os.fsencode(path.relative_to(source)) for path in source.rglob("*")}
    assert {os.fsencode(path.relative_to(target)) for path in target.rglob("*")} == names
    assert (target / odd.relative_to(source)).read_bytes() == b"odd"
    assert (target / "up").readlink() == Path("../outside")
    assert (target / "inside").resolve() == (target / "again").resolve()
    assert stat.S_ISFIFO((target / "pipe").lstat().st_mode)
    assert not any((target / "inner/empty").iterdir())


@pytest.mark.parametrize("path", ["../../escaped", "/tmp/escaped", "inner/../../escaped", "", "."])
def test_a_list_of_files_never_leads_out_of_its_folder(
    path: str, store: ShardStore, tmp_path: Path
) -> None:
    tree = store.put(json.dumps([("file", path, store.put(b"x"))]).encode())
    target = tmp_path / "a/target"
    target.mkdir(parents=True)
    with pytest.raises(_SharedAltered, match="a path that leaves its folder"):
        store.get_tree(tree, target)
    assert not any(target.iterdir())


def test_nothing_is_written_through_a_link_of_the_list(store: ShardStore, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    rows = [("link", "a", str(victim)), ("file", "a", store.put(b"theirs"))]
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(OSError, match="exists"):
        store.get_tree(store.put(json.dumps(rows).encode()), target)
    assert victim.read_bytes() == b"mine"


def test_builds_at_one_address_are_apart_and_one_is_cleared(
    store: ShardStore, tmp_path: Path
) -> None:
    address = store.address.rpartition("/")[0]
    other = shard_store(address, KEY, tmp_path / "other")
    assert other.address != store.address
    other.require()
    kept, gone = other.put(SECRET), store.put(SECRET)
    store.clear()
    assert other.get(kept) == SECRET
    assert Raw(store).names() == set()
    with pytest.raises(_SharedAltered, match="found nothing"):
        store.get(gone)


def test_storage_that_cannot_be_reached_is_named_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for address in ("s3://nobody/here", f"{tmp_path}/not-mounted", "nonsense://here"):
        with pytest.raises(InputError, match=f"^{address}/[0-9a-f]{{16}}: found .*all workers"):
            shard_store(address, KEY, tmp_path).require()
    assert not (tmp_path / "not-mounted").exists()


def test_a_folder_of_the_storage_can_be_entered_by_its_owner_alone(tmp_path: Path) -> None:
    made = shard_store(str(tmp_path), KEY, tmp_path / "out")
    made.require()
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*/*")} == {0o600}
