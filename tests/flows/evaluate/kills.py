"""Runs that are killed at random points, and resumed until they have ended.

python -m tests.flows.evaluate.kills RELEASE FOLDER URL     one run, as a child does it
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.grading.logs import grade_attempts
from construction.sandbox.sandbox import bubblewrap
from data.attempts import REPLIES, write_tables
from data.canonical import file_digest
from data.endpoints import SUFFIX, spent
from data.releases.tasks import read_tasks
from tests.conftest import REPO
from tests.flows.evaluate.chat_server import Chat
from tests.flows.evaluate.plans import Messages, steps_taken

KEY = "a-secret-model-key"
SCORES = ("scores.parquet", "score_parts.parquet")
AT_ONCE = 2
_MODULE = "tests.flows.evaluate.kills"
_PATIENCE = 120.0  # seconds for a child to ask something


def slowly(messages: Messages) -> tuple[str, dict[str, Any]]:
    """Three steps with a file each, and an answer."""
    time.sleep(0.05)
    step = steps_taken(messages)
    if step < 3:
        # What is shown differs with every start: a resumed attempt must go on with what it was.
        return "shell", {"command": f"date +%N; echo {step} > outputs/{step}.txt"}
    return "submit", {"answer": "0.txt"}


def repeated(chat: Chat) -> int:
    """Requests that were made before, word for word."""
    requests = Counter(json.dumps(request) for request in chat.requests)
    return sum(requests.values()) - len(requests)


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


_DISK = """
import json, sys
from pathlib import Path
from data.errors import error_line
from data.releases.tasks import read_tasks
from flows.evaluate.run import evaluate
from tests.flows.evaluate.plans import plan

release, disk, url = sys.argv[1:]
folder, filler = Path(disk, "run"), Path(disk, "filler")

def run():
    return evaluate(plan(read_tasks(Path(release)), folder, base_url=url, samples_at_once=2))

filler.write_bytes(bytes(int(2.7 * (1 << 20))))
try:
    run()
    print("the disk was not full")
except OSError as error:
    print(error_line(error))
done = len(list(folder.glob("attempts/*.json")))
filler.unlink()
ended = run()
print(json.dumps([done, ended.done, ended.wanted]))
"""


@dataclass(frozen=True)
class FullDisk:
    """The line that a run on a full disk ended with, and how many attempts were done when."""

    line: str
    done_when_full: int
    done: int
    wanted: int


def run_on_full_disk(snapshot: Path, folder: Path, chat: Chat) -> FullDisk:
    """Run on a disk of 3 MiB that is nearly full, then with space. It is gone afterwards."""
    disk = folder / "disk"
    disk.mkdir()
    binary = bubblewrap()
    assert binary is not None
    namespace = [binary, "--dev-bind", "/", "/", "--size", str(3 << 20), "--tmpfs", str(disk)]
    done = subprocess.run(
        [*namespace, sys.executable, "-c", _DISK, str(snapshot), str(disk), chat.url],
        cwd=REPO,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    line, counts = done.stdout.splitlines()
    return FullDisk(line, *json.loads(counts))


def _environment() -> dict[str, str]:
    return {**os.environ, "BENCHMINT_API_KEY": KEY}


@contextmanager
def child(snapshot: Path, folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run in a process of its own, which is ended with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE, str(snapshot), str(folder), url],
        cwd=REPO,
        env=_environment(),
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
    evaluate(plan(read_tasks(Path(snapshot)), Path(folder), base_url=url, samples_at_once=AT_ONCE))


if __name__ == "__main__":
    main()
