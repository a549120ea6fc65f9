"""A process of our own that cannot read keys, vaults and originals.

It begins inside bubblewrap: an empty folder lies over each folder that it must not read, and
nothing over each file. It looks for itself before it begins its work (`require_closed_off`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from construction.sandbox.sandbox import bubblewrap
from data.errors import BenchmintError, InputError, error_line
from data.neutralise import one_line

_LONGEST_ERROR = 500
_STOPPED = 2  # exit code of a process that ended with one line on standard error


class ClosedOffStopped(BenchmintError):
    """A process that was closed off has ended before its work was done."""


def readable(hidden: Iterable[Path]) -> list[Path]:
    """Those of the paths of which this process can read anything."""
    return [path for path in hidden if _is_readable(path)]


def _is_readable(path: Path) -> bool:
    try:
        return any(path.iterdir()) if path.is_dir() else bool(path.read_bytes()[:1])
    except OSError:
        return False


def run_closed_off(module: str, job: bytes, hidden: Sequence[Path]) -> None:
    """Run `python -m module` with the job as its standard input; its lines are printed here.

    `module` is a trusted module of this project. Raises InputError without bubblewrap,
    ClosedOffStopped where the process does not end well.
    """
    binary = bubblewrap()
    if binary is None:
        raise InputError(
            "sandbox", "no bwrap", "bubblewrap, to keep keys from models",
            "Run `make system`.",
        )  # fmt: skip
    command = [binary, "--dev-bind", "/", "/", "--die-with-parent", *_covers(hidden)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 (bubblewrap and our own program)
            [*command, "--", sys.executable, "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        ) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(job)
        process.stdin.close()
        for line in process.stdout:
            print(line.decode(errors="replace").rstrip("\n"), flush=True)
        code = process.wait()
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    if code:
        why = one_line(lines[-1])[:_LONGEST_ERROR] if lines else f"code {code}"
        raise ClosedOffStopped(f"{why}. Run the same command again to continue.")


def _covers(hidden: Sequence[Path]) -> list[str]:
    """Arguments of bubblewrap that put nothing over each path."""
    covers = []
    for path in sorted({path.resolve() for path in hidden}):
        if path.is_dir():
            covers += ["--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.exists():
            covers += ["--ro-bind", "/dev/null", str(path)]
    return covers


def work_closed_off(work: Callable[[bytes], None]) -> None:
    """The process itself: its job from standard input, and one line where it cannot go on."""
    try:
        work(sys.stdin.buffer.read())
    except BenchmintError as error:
        print(error_line(error), file=sys.stderr)
        sys.exit(_STOPPED)


def require_closed_off(hidden: Iterable[Path]) -> None:
    """Raises ClosedOffStopped where this process can read any of the paths."""
    if seen := readable(hidden):
        raise ClosedOffStopped(f"{seen[0]} can be read where models run; expected that nothing can")
