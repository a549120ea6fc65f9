"""Running the command as a user does: installed, in a process of its own, or in this one."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from data.progress import LOGGER, console
from flows import cli

BENCHMINT = Path(sys.executable).with_name("benchmint")
KEY = "5a" * 32
# A test that starts a build in its own process leaves the address of its server behind.
_OWN = ("BENCHMINT_", "PREFECT_API_", "PREFECT_SERVER_API_")


def key_file(folder: Path) -> Path:
    """A release key, for builds that must give the same digest."""
    path = folder / "release.key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


def command(*arguments: object) -> list[str]:
    return [str(BENCHMINT), *map(str, arguments)]


def environment() -> dict[str, str]:
    """The caller's environment, activated, without the settings of this project and of a server."""
    path = os.pathsep.join((str(BENCHMINT.parent), os.environ["PATH"]))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    return kept | {"PATH": path}


def benchmint(
    *arguments: object, cwd: Path | None = None, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end, perhaps with programs of its own, and return output and exit code."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment() | ({} if path is None else {"PATH": path}),
        timeout=900,
        check=False,
    )


@contextmanager
def _logging_as_before() -> Iterator[None]:
    """What a command prints of the log ends with the command."""
    logger = logging.getLogger(LOGGER)
    handlers, level, propagate = [*logger.handlers], logger.level, logger.propagate
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def inline(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in this process, whose modules are loaded: for commands that start no build."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    given = command(*arguments)
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(err),
        _logging_as_before(),
    ):
        patch.setattr(sys, "argv", given)
        patch.setattr(console, "quiet", False)
        for name in os.environ.keys() - environment().keys():
            patch.delenv(name)
        patch.setenv("PATH", environment()["PATH"])
        if cwd is not None:
            patch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            cli.main()
    code = ended.value.code
    assert code is None or isinstance(code, int), code
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(given, code or 0, *texts)


def invoked(app: typer.Typer, *arguments: object, code: int = 0) -> str:
    """What commands of a small program of their own print; an error is raised as it is."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.output


def inline_build(*arguments: object) -> subprocess.CompletedProcess[str]:
    """`benchmint build` in this process, its stages called as plain functions, without a server."""
    from flows.prefect_adapter import without_prefect  # imports Prefect, which takes seconds

    with pytest.MonkeyPatch.context() as patch, without_prefect():
        patch.setenv("PREFECT_PROFILE", "ephemeral")  # who names one gets none
        return inline("build", *arguments)


def sums(out: Path) -> dict[str, bytes]:
    """Both SHA256SUMS of the newest snapshot."""
    latest = out / "snapshots" / "latest"
    return {half: (latest / half / "SHA256SUMS").read_bytes() for half in ("public", "private")}
