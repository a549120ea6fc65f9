"""Parts of a build that write, each alone, so that a small disk can be full in the middle of it.

Run as `python -m tests.flows.disk_work KIND FOLDER`; errors end it as they end the command.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

from data.atomic import replacing_dir
from data.attempts import AttemptRecord, attempt_id_of, write_attempt
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.errors import error_line
from data.neutralise import one_line
from data.pool import ContentStore
from data.snapshot.writer import write_snapshot
from data.staging.runs import stage_run
from tests.data.snapshot.sample import release
from tests.data.staging.test_runs import FACTS, stage


def _staging(folder: Path) -> None:
    """More rows than the disk has room for, in stage outputs that lie elsewhere."""
    items = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(20_000)]
    stage_run(folder / "out", FACTS, stage(Path(sys.argv[3]), *items))


def _database(folder: Path) -> None:
    """The tables of the run fit, the database made of them does not."""
    stage_run(folder / "out", FACTS, stage(Path(sys.argv[3]), "x"))


def _fixtures(folder: Path) -> None:
    """Contents as a stage keeps them: in a folder that appears when it is whole."""
    content = b"0123456789abcdef" * 4096
    with replacing_dir(folder / "recover") as part:
        store = ContentStore(part / "fixtures")
        for number in range(100):
            piece = content + str(number).encode()
            store.add(hashlib.sha256(piece).hexdigest(), [piece])
        store.close()


def _snapshot(folder: Path) -> None:
    write_snapshot(release(Path(sys.argv[3])), folder / "snapshots")


def _attempts(folder: Path) -> None:
    for number in range(100):
        attempt = Attempt(
            attempt_id_of("d" * 64, f"t-{number}", "agent", 1), "d" * 64, f"t-{number}",
            Configuration("agent", "h", "m"), 1,
            AttemptStatus.COMPLETED, None, 1, Usage(), 1.0, 0, "d" * 64,
        )  # fmt: skip
        write_attempt(folder, AttemptRecord(attempt, Submission(answer="words " * 2000)))


WORK: dict[str, Callable[[Path], None]] = {
    "staging": _staging,
    "database": _database,
    "fixtures": _fixtures,
    "snapshot": _snapshot,
    "attempts": _attempts,
}


def main() -> None:
    """Do one kind of work; an error is one line and exit code 2, as in `flows.cli`."""
    try:
        WORK[sys.argv[1]](Path(sys.argv[2]))
    except Exception as error:
        print(f"benchmint: {one_line(error_line(error))}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
