"""Runs that are killed at random points, and resumed until they have ended.

python -m tests.flows.evaluate.kills RELEASE FOLDER URL     one run, as a child does it
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from construction.grading.logs import grade_attempts
from data.attempts import write_tables
from data.canonical import file_digest
from data.releases.tasks import read_tasks
from flows.evaluate.journal import SUFFIX, spent
from flows.evaluate.plan import REPLIES
from tests.conftest import REPO
from tests.flows.evaluate.chat_server import Chat

KEY = "a-secret-model-key"
SCORES = ("scores.parquet", "score_parts.parquet")
_PATIENCE = 120.0  # seconds for a child to ask something


@dataclass(frozen=True)
class Killed:
    """How often a run was killed, and the calls that were cut off before their reply was kept."""

    kills: int
    open_calls: int


def run_with_kills(snapshot: Path, folder: Path, chat: Chat, kills: int, seed: int) -> Killed:
    """Start a run again and again, and kill it at a random point each time but the last."""
    chance = random.Random(seed)
    done = 0
    while done < kills:
        with child(snapshot, folder, chat.url) as process:
            _wait_for_requests(chat, len(chat.requests) + chance.randint(1, 3), process)
            time.sleep(chance.random() * 0.3)
            if process.poll() is not None:
                break
            done += 1
            process.send_signal(signal.SIGKILL)
    with child(snapshot, folder, chat.url) as process:
        assert process.wait() == 0
    journals = (folder / REPLIES).glob(f"*{SUFFIX}")
    return Killed(done, sum(is_open for path in journals for _, is_open in spent(path)))


@contextmanager
def child(snapshot: Path, folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run in a process of its own, which is ended with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(snapshot), str(folder), url],
        cwd=REPO,
        env={**os.environ, "BENCHMINT_API_KEY": KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait_for_requests(chat: Chat, wanted: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while len(chat.requests) < wanted and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def score_digests(snapshot: Path, folder: Path, *, workers: int = 1) -> dict[str, str]:
    """The digests of the tables of scores."""
    run = grade_attempts(read_tasks(snapshot), folder, workers=workers)
    out = folder / f"graded-{workers}"
    write_tables(out, run.attempts, run.scores)
    return {name: file_digest(out / name) for name in SCORES}


def main() -> None:
    from flows.evaluate.run import evaluate
    from tests.flows.evaluate.plans import plan

    snapshot, folder, url = sys.argv[1:]
    evaluate(plan(read_tasks(Path(snapshot)), Path(folder), base_url=url, samples_at_once=2))


if __name__ == "__main__":
    main()
