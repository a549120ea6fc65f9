"""Publishing: read back at the target, never changed there, and the pointer last."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import fsspec
import orjson
import pytest

from data.atomic import write_bytes
from data.errors import InputError, ReleaseError
from data.releases import publishing
from data.releases.publishing import POINTER, check_errata, publish
from data.releases.tasks import read_tasks
from data.snapshot.errata import Action, Erratum, corrections_path, write_notice
from data.snapshot.signature import sign
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import release
from tests.data.snapshot.test_errata import DAY, ids
from tests.data.snapshot.test_errata import published as with_errata
from tests.data.snapshot.test_signature import KEY

NAME = "demo-2026.07.01"


def signed_snapshot(folder: Path) -> Path:
    path = write_snapshot(release(folder), folder / "out").path
    sign(path, KEY, verify(path))
    return path


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return signed_snapshot(tmp_path)


def published(snapshot: Path, target: str, *, private: bool = False) -> publishing._Published:
    return publish(snapshot, read_tasks(snapshot), target, private=private)


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
    with pytest.raises(ReleaseError, match="which is not part of the release"):
        published(snapshot, str(target))
    assert (target / POINTER).read_bytes() == before


def test_a_copy_that_was_cut_off_goes_on_and_had_no_pointer(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, written = tmp_path / "there", 0
    write = write_bytes

    def cut_off(path: Path, content: bytes, **given: Any) -> None:
        nonlocal written
        written += 1
        if written > 20:
            raise OSError("cut off")
        write(path, content, **given)

    monkeypatch.setattr("data.remote_folder.write_bytes", cut_off)
    with pytest.raises(InputError, match="cut off"):
        published(snapshot, str(target))
    assert not (target / POINTER).exists()
    monkeypatch.setattr("data.remote_folder.write_bytes", write)
    assert published(snapshot, str(target)).already == 20
    assert verify(target / NAME).ok


def test_the_target_is_outside_and_what_others_keep_there_stays(
    snapshot: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="a folder inside the snapshot itself"):
        published(snapshot, str(snapshot / "public" / "copy"), private=True)
    assert verify(snapshot).ok
    target = tmp_path / "there"
    (target / ".thesis.part").mkdir(parents=True)
    (target / ".film.part").write_bytes(b"of somebody else")
    (target / f".{POINTER}.abcd_123.part").write_bytes(b"of a publisher that was killed")
    published(snapshot, str(target))
    assert sorted(path.name for path in target.glob(".*.part")) == [".film.part", ".thesis.part"]


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
    with pytest.raises(InputError, match="a URL that fsspec can reach") as caught:
        published(snapshot, target)
    assert "\n" not in str(caught.value)


def withdrawn_too(snapshot: Path, notice: Path, number: int) -> None:
    """One task more is withdrawn by the notice of a snapshot."""
    known = read_tasks(snapshot)
    more = Erratum(ids(snapshot)[number], Action.WITHDRAWN, "Not one answer.", DAY)
    errata = [*known.notice.errata.values(), more] if known.notice else [more]
    write_notice(notice, known.about, errata, {}, KEY)


def test_errata_there_are_replaced_by_their_successors_alone(
    snapshot: Path, tmp_path: Path
) -> None:
    target = tmp_path / "there"
    notice = with_errata(snapshot)
    first = notice.read_bytes()
    withdrawn_too(snapshot, notice, 2)
    second = notice.read_bytes()
    published(snapshot, str(target))

    notice.write_bytes(first)  # an older copy of the release
    with pytest.raises(ReleaseError, match="errata that the local notice is not based on"):
        published(snapshot, str(target))
    withdrawn_too(snapshot, notice, 3)  # and what somebody made from it
    with pytest.raises(ReleaseError, match="repeat your errata and publish again"):
        published(snapshot, str(target))
    notice.unlink()
    published(snapshot, str(target))
    assert (target / notice.name).read_bytes() == second

    notice.write_bytes(second)
    withdrawn_too(snapshot, notice, 3)
    published(snapshot, str(target))
    assert len(read_tasks(target / NAME).withdrawn) == 3


def test_corrected_answers_go_with_the_private_half(snapshot: Path, tmp_path: Path) -> None:
    notice, target = with_errata(snapshot), tmp_path / "there"
    published(snapshot, str(target), private=True)
    copy = target / corrections_path(notice).name
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert check_errata(target / NAME, [KEY.public_key()], verify(target / NAME))[1] == ()
    published(snapshot, str(tmp_path / "public"))
    assert not (tmp_path / "public" / copy.name).exists()


def test_a_second_publisher_waits_for_the_first(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, begun, go_on = tmp_path / "there", Event(), Event()
    part = target / f".{POINTER}.abcd_123.part"
    write = write_bytes

    def slow(path: Path, content: bytes, **given: Any) -> None:
        if not begun.is_set():
            part.write_bytes(b"what the first is writing")
            begun.set()
            assert go_on.wait(60)
        write(path, content, **given)

    monkeypatch.setattr("data.remote_folder.write_bytes", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(published, snapshot, str(target))
        assert begun.wait(60)
        second = pool.submit(published, snapshot, str(target))
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        assert part.exists()
        go_on.set()
        assert (first.result().already, second.result().already) == (0, first.result().files)
    assert verify(target / NAME).ok


def test_a_link_to_the_target_is_followed(snapshot: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    target = tmp_path / "current"
    target.symlink_to("disk")
    assert published(snapshot, str(target)).where == str(tmp_path / "disk" / NAME)
    assert verify(tmp_path / "disk" / NAME).ok
    (tmp_path / "own").symlink_to(snapshot)
    with pytest.raises(InputError, match="a folder inside the snapshot itself"):
        published(snapshot, str(tmp_path / "own"))


@pytest.mark.parametrize(
    "link", [NAME, f"{NAME}/public", f"{NAME}/public/tasks.jsonl", POINTER, f"{NAME}.errata.json"]
)
def test_links_in_the_target_are_refused(snapshot: Path, tmp_path: Path, link: str) -> None:
    """Otherwise a release could be published that is nothing but a link to its own source."""
    target = tmp_path / "there"
    path = target / link
    path.parent.mkdir(parents=True)
    source = snapshot.parent / link
    path.symlink_to(source if source.exists() else tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="a symbolic link"):
        published(snapshot, str(target))
    assert not (tmp_path / "elsewhere").exists() and verify(snapshot).ok
