"""The sandbox: what goes in and out, its limits, and that nobody gets out of it."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from construction.sandbox import escapes
from construction.sandbox.resources import Limits, _Watchdog
from construction.sandbox.sandbox import Box, FileRefused, Sandbox, SandboxFailed
from tests.conftest import REPO
from tests.needs import needs_box

pytestmark = needs_box
SMALL = Limits(
    memory_bytes=128 << 20,
    disk_bytes=30 << 20,
    processes=32,
    output_bytes=1000,
    file_bytes=1000,
    files=3,
)
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = 65534


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(Box(SMALL)) as sandbox:
        yield sandbox


def held(rows: list[tuple[str, bool, bool]]) -> None:
    """Nothing gets out of the box, and without the wrapper everything does."""
    assert len(rows) >= 20
    assert [name for name, inside, _ in rows if inside] == []
    assert [name for name, _, outside in rows if not outside] == []


def test_no_escape_gets_through_and_each_is_noticed_without_the_wrapper() -> None:
    held(escapes.table())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason=f"no {SYSTEM_PYTHON}")
def test_the_same_holds_for_a_user_without_rights(tmp_path: Path) -> None:
    if not (REPO.stat().st_mode & 5 == 5 and _readable_by_others(REPO)):
        pytest.skip("the project's folder cannot be read by other users")
    done = subprocess.run(
        [SYSTEM_PYTHON, "-B", "-m", "construction.sandbox.escapes"],
        cwd=REPO,
        env={"PATH": "/usr/bin:/bin", "HOME": "/", "MODEL_API_KEY": "secret"},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.rsplit(maxsplit=2) for line in done.stdout.splitlines()]
    held([(name, inside != "held", outside != "HELD") for name, inside, outside in rows])


def _readable_by_others(path: Path) -> bool:
    return all(folder.stat().st_mode & 1 for folder in path.parents)


def test_a_run_starts_only_in_a_box_that_isolates(tmp_path: Path, box: Sandbox) -> None:
    escapes.assert_isolated(box)
    with (
        Sandbox(Box(SMALL, confined=False), tmp_path) as bare,
        pytest.raises(SandboxFailed, match=r"read a host file, .*connect to the loopback"),
    ):
        escapes.assert_isolated(bare)


CALL = """
import socket, sys
with socket.create_connection(("127.0.0.1", 8701), 5) as connection:
    print(connection.recv(100).decode())
"""


def test_what_listens_for_one_attempt_is_out_of_reach_of_others(box: Sandbox) -> None:
    with Sandbox(Box(SMALL)) as other:
        for sandbox, word in ((box, b"first"), (other, b"second")):
            listening = sandbox.listen(8701)
            thread = threading.Thread(target=_answer_once, args=(listening, word))
            thread.start()
            assert sandbox.run(["python3", "-c", CALL], seconds=9).stdout == word + b"\n"
            thread.join()
            with pytest.raises(FileRefused, match="in use"):
                sandbox.listen(8701)
            listening.close()
        assert b"refused" in other.run(["python3", "-c", CALL], seconds=9).stderr
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 8701), 5)


def _answer_once(listening: socket.socket, word: bytes) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.sendall(word)


def test_no_process_inside_holds_what_the_sockets_are_handed_out_on(box: Sandbox) -> None:
    box.listen(8701).close()
    shown = box.run(["sh", "-c", "ls -l /proc/self/fd; cat /proc/net/unix"], seconds=5)
    assert b"socket:" not in shown.stdout
    assert box.run(["ls", "/opt/programs"], seconds=5).code != 0


def test_files_go_in_and_come_out(box: Sandbox) -> None:
    box.write("inputs/table.csv", b"a,b\n")
    assert box.read("inputs/table.csv") == b"a,b\n"
    assert box.run(["cat", "inputs/table.csv"], seconds=5).stdout == b"a,b\n"
    assert box.run(["pwd"], seconds=5, folder="inputs").stdout == b"/work/inputs\n"
    assert box.names(".") == ["inputs/table.csv"]


def test_commands_get_their_input_and_variables(box: Sandbox) -> None:
    done = box.run(
        ["sh", "-c", "cat; echo $WORD; exit 3"], seconds=5, stdin=b"in", variables={"WORD": "x"}
    )
    assert (done.code, done.stdout) == (3, b"inx\n")
    assert box.run(["no-such-command"], seconds=5).code == 127


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_what_is_no_command_or_path_does_not_end_the_box(box: Sandbox, word: str) -> None:
    assert box.run(["echo", word], seconds=5).code == 127
    with pytest.raises(FileRefused, match="no_path"):
        box.write(word, b"")
    assert box.run(["true"], seconds=5).code == 0


def test_a_box_that_takes_no_more_outputs_still_answers(box: Sandbox) -> None:
    box.run(["chmod", "000", "/tmp"], seconds=5)
    done = box.run(["true"], seconds=5)
    assert (done.code, done.stderr) == (127, b"not_permitted\n")


def test_outputs_are_cut_at_the_limit(box: Sandbox) -> None:
    assert len(box.run(["head", "-c", "5000", "/dev/zero"], seconds=5).stdout) == 1000


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        ("ln -s /etc/passwd x", "symbolic links"),
        ("mkdir x", "is_directory|Is a directory"),
        ("mkfifo x", "not_regular"),
        ("head -c 1001 /dev/zero > x", "too_large"),
        ("true", "not_found"),
    ],
)
def test_only_regular_files_of_a_bounded_size_come_out(
    box: Sandbox, make: str, reason: str
) -> None:
    box.run(["sh", "-c", make], seconds=5)
    with pytest.raises(FileRefused, match=reason):
        box.read("x")


def test_names_are_regular_files_and_no_more_than_allowed(box: Sandbox) -> None:
    box.run(["sh", "-c", "touch a b c d; ln -s a link; mkfifo pipe"], seconds=5)
    assert box.names(".") == ["a", "b", "c"]
    assert box.names("nowhere") == []


def test_folders_without_end_end_no_box(box: Sandbox) -> None:
    nest = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d'); open('f', 'w').close()"
    box.run(["python3", "-c", f"open('a', 'w').close()\n{nest}"], seconds=20)
    names = box.names(".")
    assert {"a", "d/f", "d/d/f"} <= set(names)
    assert all(len(name) <= 1024 for name in names)
    assert box.run(["true"], seconds=5).code == 0


def test_a_command_out_of_time_is_killed_with_its_children(box: Sandbox) -> None:
    started = time.monotonic()
    done = box.run(["sh", "-c", "sleep 100 & sleep 100"], seconds=1)
    assert done.timed_out
    assert time.monotonic() - started < 10
    # A killed process is listed until the kernel has ended it, which takes a moment under load.
    while b"sleep" in box.run(["sh", "-c", "cat /proc/*/comm"], seconds=5).stdout:
        assert time.monotonic() - started < 20


def test_more_memory_than_the_limit_kills_the_command_not_the_host(box: Sandbox) -> None:
    done = box.run(["python3", "-c", "x = bytes(range(256)) * (4 << 20)"], seconds=20)
    assert done.code != 0


def test_the_watchdog_kills_a_box_over_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(Box(SMALL))
    sandbox._enforcer = _Watchdog(SMALL)
    grow = "import time; x = [bytes(range(256)) * (1 << 18) for _ in range(1)]; time.sleep(20)"
    with sandbox, pytest.raises(SandboxFailed):
        script = "for i in 1 2 3 4; do python3 -c '" + grow + "' & done; wait"
        sandbox.run(["sh", "-c", script], seconds=30)


def test_nothing_outlives_the_box() -> None:
    marker = f"2{os.getpid()}"
    with Sandbox(Box(SMALL)) as sandbox:
        sandbox.run(["sh", "-c", f"setsid sleep {marker} >/dev/null 2>&1 & sleep 0.5"], seconds=5)
        group = sandbox._enforcer
        assert _sleeping(marker)
    deadline = time.monotonic() + 10
    while _sleeping(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _sleeping(marker)
    assert [folder for folder in getattr(group, "folders", ()) if folder.exists()] == []


def _sleeping(marker: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().split(b"\0")[:2] == [b"sleep", marker.encode()]:
                return True
        except OSError:
            continue
    return False


def test_a_box_that_was_killed_is_an_infrastructure_error(box: Sandbox) -> None:
    assert box._process is not None
    box._process.kill()
    with pytest.raises(SandboxFailed):
        for _ in range(100):  # what is inside ends a moment after the wrapper
            box.run(["sleep", "0.1"], seconds=5)


def test_a_box_that_does_not_answer_in_time_is_killed(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("construction.sandbox.sandbox._GRACE_SECONDS", 0.2)
    stop = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP)"
    started = time.monotonic()
    with pytest.raises(SandboxFailed):
        box.run(["python3", "-c", stop], seconds=1)
        box.run(["true"], seconds=1)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "reply",
    [
        '{"bytes": [99999999999999]}',
        '{"bytes": [-1]}',
        '{"bytes": ["x"]}',
        "[]",
        "no JSON",
        '{"code": 0}',
        '{"bytes": [0, 0], "code": "x"}',
        '{"bytes": [0, 0], "code": 0}',
        '{"bytes": [0, 0, 0], "code": 0}',
        "[" * 2000 + "]" * 2000,
    ],
)
def test_a_reply_that_an_agent_forged_is_refused(box: Sandbox, reply: str) -> None:
    forge = f"import os; f = os.open('/proc/2/fd/1', os.O_WRONLY); os.write(f, b'''{reply}\\n''')"
    with pytest.raises((SandboxFailed, FileRefused)):
        box.run(["python3", "-c", forge], seconds=5)
        box.read("x")


def test_commands_run_at_the_same_time(box: Sandbox) -> None:
    """Each waits for the file that the other makes."""
    meet = "touch {}; for i in $(seq 100); do [ -e {} ] && exit 7; sleep 0.05; done"
    codes: list[int] = []

    def run(mine: str, other: str) -> None:
        codes.append(box.run(["sh", "-c", meet.format(mine, other)], seconds=10).code)

    threads = [threading.Thread(target=run, args=names) for names in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [7, 7]
    assert box.names("") == ["a", "b"]


@pytest.mark.parametrize(("reserves", "code"), [(False, 1), (True, 0)])
def test_a_box_may_reserve_more_addresses_than_memory(
    monkeypatch: pytest.MonkeyPatch, reserves: bool, code: int
) -> None:
    monkeypatch.setattr("construction.sandbox.sandbox.enforcer", lambda limits: _Watchdog(limits))
    reserve = "import mmap; mmap.mmap(-1, 1 << 30)"
    with Sandbox(Box(SMALL, reserves=reserves)) as sandbox:
        assert sandbox.run(["python3", "-c", reserve], seconds=10).code == code


def test_the_box_says_what_holds_it_to_its_limits(box: Sandbox) -> None:
    assert box.enforced_by in ("cgroup v1", "cgroup v2", "watchdog")
