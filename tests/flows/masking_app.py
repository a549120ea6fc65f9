"""`mask`, `scan` and `restore` in this process, for tests that want their errors raised."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from data.errors import BenchmintError
from flows.commands.anonymize import (
    mask_command,
    restore_command,
    scan_command,
    words_command,
)

app = typer.Typer()
app.command("mask")(mask_command)
app.command("scan")(scan_command)
app.command("restore")(restore_command)
app.command("words")(words_command)


def run(*arguments: object) -> tuple[int, str]:
    """The exit code and what was printed. Raises the error of the command."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, BenchmintError):
        raise done.exception
    return done.exit_code, done.output
