"""A build by a model that is killed goes on where it was: what came in is not asked for again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from data.demo import generate
from tests.flows.command import benchmint, command, environment, key_file
from tests.flows.judging_server import answered, judging

pytestmark = [pytest.mark.slow, pytest.mark.full]
CONCURRENCY = 1
BEFORE_THE_KILL = 4  # answers
REPLIES = Path("private", "captures", "llm", "replies.sqlite")


def arguments(workspace: Path, out: Path, url: str) -> list[object]:
    config = workspace / "model.toml"
    config.write_text(
        (workspace / "benchmint.toml").read_text()
        + '\n[judging.model]\nname = "fake-1"\n'
        + f'[runtime.llm]\nbase_url = "{url}/v1"\nconcurrency = {CONCURRENCY}\n'
        + '[runtime.model_calls]\nmode = "record"\n'
    )
    given = ("--files", workspace / "files", "--config", config, "--key", key_file(workspace))
    return ["build", workspace / "sessions", *given, "--out", out, "--quiet"]


def kept(out: Path) -> int:
    """How many replies are in the store."""
    with sqlite3.connect(out / REPLIES) as link:
        return int(link.execute("SELECT count(*) FROM replies").fetchone()[0])


def test_a_killed_build_pays_for_no_reply_twice(tmp_path: Path) -> None:
    workspace, out = tmp_path / "demo", tmp_path / "out"
    generate(workspace, 6, 5)
    with judging(tmp_path) as url:
        build = arguments(workspace, out, url)
        process = subprocess.Popen(
            command(*build), env=environment(), start_new_session=True, stderr=subprocess.DEVNULL
        )
        while len(answered(url)) < BEFORE_THE_KILL:
            assert process.poll() is None, "the build must be killed in its middle"
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = kept(out)
        result = benchmint(*build)
        assert result.returncode == 0, result.stderr
        counts = answered(url)
    assert before >= BEFORE_THE_KILL - CONCURRENCY
    assert len(counts) == kept(out) > before
    again = sum(times - 1 for times in counts.values())
    assert again <= CONCURRENCY, "only what was under way at the kill may be asked again"
