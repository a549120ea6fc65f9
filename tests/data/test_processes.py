"""Processes that outlive their command: found by their mark, ended for good, started by one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from data.child import ProcessGroup, ServiceError
from data.loopback import is_free, listen

IDLE = ("timeit", "-n1", "-r1", "import time; time.sleep(60)")
ENDS = ("timeit", "-n1", "-r1", "pass")


@pytest.fixture
def group(tmp_path: Path) -> ProcessGroup:
    return ProcessGroup(tmp_path, "BENCHMINT_TEST_GROUP")


def test_a_process_is_known_by_its_mark_until_it_is_ended(group: ProcessGroup) -> None:
    pid = group.spawn("idle", IDLE, group.folder, os.environ)
    try:
        group.wait("idle", lambda: group.running("idle") == pid)
        assert group.members() == [pid]
        assert ProcessGroup(group.folder, "ANOTHER_MARK").members() == []
    finally:
        group.end([pid], 5)
    assert (group.running("idle"), group.members()) == (None, [])
    os.waitpid(pid, 0)


def test_a_process_is_known_as_soon_as_it_is_spawned(group: ProcessGroup) -> None:
    """An environment is empty while its process begins: a third of these were missed so."""
    names = [f"idle{number}" for number in range(20)]
    pids = []
    try:
        for name in names:
            pids.append(group.spawn(name, IDLE, group.folder, os.environ))
            assert group.running(name) == pids[-1]
    finally:
        group.end(pids, 5)
    for pid in pids:
        os.waitpid(pid, 0)


def test_a_process_that_ends_before_it_is_ready_is_named_with_its_log(group: ProcessGroup) -> None:
    pid = group.spawn("short", ENDS, group.folder, os.environ)
    with suppress(ChildProcessError):  # spawn has seen its end, where it was that short
        os.waitpid(pid, 0)
    with pytest.raises(
        ServiceError, match=r"the short did not start: it exited\. See .*short\.log"
    ):
        group.wait("short", lambda: False)
    assert "loop" in group.log("short").read_text()
    group.forget("short")
    assert group.running("short") is None


def test_only_one_starts_or_ends_a_group_at_a_time(group: ProcessGroup) -> None:
    busy = pytest.raises(ServiceError, match="is being started or stopped")
    with group.alone(), busy, ProcessGroup(group.folder, "other").alone():
        pass


def test_a_port_is_free_until_somebody_listens_there() -> None:
    with listen(0) as listening:
        port = listening.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)
