"""Which files the code version is made of, and who waits for whose lock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from data.builds import BuildRunning, building, code_version
from data.progress import FLOW_RUN


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("flows/run.py", True),
        ("construction/sessions/lexicon.toml", True),
        ("data/demonstration.py", True),
        ("data/demo/session.py", False),
        ("data/__pycache__/x.cpython-311.pyc", False),
        ("tests/flows/test_run.py", False),
    ],
)
def test_code_of_stages_counts_and_nothing_else(path: str, counts: bool, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("before")
    before = code_version.__wrapped__(tmp_path)
    file.write_text("after")
    assert (code_version.__wrapped__(tmp_path) != before) is counts


HOLDER = """
import os, sys
from pathlib import Path
from data.builds import building
with building(Path(sys.argv[1])):
    child = os.fork()
    if not child:
        sys.stdin.read()  # goes on when the build is gone
        os._exit(0)
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(out: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock, and has a child that lives on."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(out)],
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.kill()


def test_a_build_is_refused_beside_another_and_its_kill_frees_the_lock(tmp_path: Path) -> None:
    with held(tmp_path) as holder:
        with pytest.raises(BuildRunning, match="another build is running here"), building(tmp_path):
            pass
        holder.kill()
        holder.wait()
        # Some kernels close the files of a process shortly after it was waited for.
        with building(tmp_path, wait_seconds=5):
            assert (tmp_path / "private" / "build.lock").read_bytes() == b"build"


def test_a_build_waits_for_a_run_of_the_service_and_a_run_for_any_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for variables, seconds, line in (
        ({FLOW_RUN: "5a"}, 0.0, "a service run is building here"),
        ({}, 60.0, "another build is running here"),
    ):
        with held(tmp_path, **variables) as holder:
            timer = threading.Timer(0.7, holder.kill)
            timer.start()
            with building(tmp_path, seconds):
                pass
            assert capsys.readouterr().err == f"benchmint: {line}; waiting for it to finish\n"
