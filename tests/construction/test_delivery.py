"""What comes out of a box whose agent is hostile: bounded, whole, and below its folder."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from construction.sandbox.resources import Limits
from construction.sandbox.sandbox import Box, Sandbox, SandboxFailed, fetch_outputs
from tests.needs import needs_box

pytestmark = needs_box
DISK = 6 << 20
DEEP = """
import os
os.chdir("outputs")
for _ in range(20):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("file", "w").close()
"""


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(Box(Limits(disk_bytes=DISK))) as sandbox:
        sandbox.run(["mkdir", "outputs"], seconds=5)
        yield sandbox


def delivered(box: Sandbox, folder: Path, command: str) -> dict[str, int]:
    """The sizes of the files that come out once a command has run."""
    assert box.run(["sh", "-c", f"echo x > outputs/kept.txt; {command}"], seconds=20).code == 0
    fetch_outputs(box, folder)
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


@pytest.mark.parametrize(
    "command",
    [
        "cd outputs; for name in a b c d e; do truncate -s 4M $name; done",
        "cd outputs; head -c 1M /dev/zero > a; for name in b c d e f g h; do ln a $name; done",
    ],
)
def test_no_more_comes_out_than_the_disk_holds(box: Sandbox, tmp_path: Path, command: str) -> None:
    sizes = delivered(box, tmp_path / "out", command)
    assert DISK // 2 < sum(sizes.values()) <= DISK


def test_names_that_no_path_holds_stay_behind_and_the_rest_comes(
    box: Sandbox, tmp_path: Path
) -> None:
    assert delivered(box, tmp_path / "out", f"python3 -c '{DEEP}'") == {"kept.txt": 2}


def test_files_that_come_and_go_do_not_hide_the_others(box: Sandbox, tmp_path: Path) -> None:
    racing = "while :; do touch outputs/a; rm -f outputs/a; done"
    command = f"setsid sh -c '{racing}' >/dev/null 2>&1 &"
    for number in range(20):
        assert "kept.txt" in delivered(box, tmp_path / str(number), command)


def test_a_link_in_place_of_the_folder_delivers_nothing(box: Sandbox, tmp_path: Path) -> None:
    assert delivered(box, tmp_path / "out", "rm -r outputs; ln -s /opt outputs") == {}


def forge(box: Sandbox, *replies: object) -> None:
    """Let a process inside speak in the server's place, before the server does."""
    lines = "".join(f"{json.dumps(reply)}\n" for reply in replies)
    code = f"import os; os.write(os.open('/proc/2/fd/1', os.O_WRONLY), {lines.encode()!r})"
    box.run(["python3", "-c", code], seconds=5)


DONE = {"code": 0, "timed_out": False, "bytes": [0, 0]}


@pytest.mark.parametrize(
    "names", [["../x"], ["/x"], [""], ["a\0b"], ["\ud800"], [7], 7, ["x" * 256], ["x"] * 2001]
)
def test_names_that_a_box_made_up_end_it(box: Sandbox, tmp_path: Path, names: object) -> None:
    forge(box, DONE, {"bytes": [], "names": names})
    with pytest.raises(SandboxFailed):
        fetch_outputs(box, tmp_path / "out")


def test_names_that_contradict_each_other_do_no_harm(box: Sandbox, tmp_path: Path) -> None:
    forge(box, DONE, {"bytes": [], "names": ["a", "a/b"]}, {"bytes": [0]}, {"bytes": [0]})
    with suppress(SandboxFailed):  # replies that nobody asked for may end it
        fetch_outputs(box, tmp_path / "out")
    assert {path.name for path in tmp_path.rglob("*")} <= {"out", "a"}


SLOW = """
import json, os, signal, sys, time
if os.fork():
    time.sleep(0.3)
    sys.exit()
os.setsid()
time.sleep(0.5)
os.kill(2, signal.SIGSTOP)
replies = os.open("/proc/2/fd/1", os.O_WRONLY)
os.write(replies, json.dumps(dict(bytes=[], names=[str(name) for name in range(100)])).encode())
while True:
    os.write(replies, b"\\n" + json.dumps(dict(bytes=[0])).encode())
    time.sleep(0.1)
"""


def test_a_box_that_answers_slowly_is_ended_in_time(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.sandbox.sandbox._MOST_SECONDS", 1.0)
    assert box.run(["python3", "-c", SLOW], seconds=5).code == 0
    time.sleep(1)  # the forger has stopped the server by then
    with pytest.raises(SandboxFailed):
        fetch_outputs(box, tmp_path / "out")
    assert 0 < len([*(tmp_path / "out").iterdir()]) < 100
