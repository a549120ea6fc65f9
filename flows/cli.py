"""The `benchmint` command. Exit codes: 0 good, 1 the check failed, 2 wrong use or bad input."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from typer._click.exceptions import ClickException, NoArgsIsHelpError
from typer.core import TyperGroup
from typer.main import get_command

from data.errors import BenchmintError, place
from flows.commands.table import add_commands

app = typer.Typer(
    help="Mint agent benchmarks: raw sessions in, an audited and verified snapshot out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show each stage as it is logged.")
    ] = False,
) -> None:
    """Options of every command (`--debug` is read in `main`)."""
    if quiet:
        from flows.progress import hush

        hush()
    if verbose:
        from flows.logs import tell_all

        tell_all()


def main() -> None:
    """Run a command; errors become one readable line on standard error."""
    try:
        sys.exit(_program()(standalone_mode=False))
    except NoArgsIsHelpError as error:
        print(error.format_message())
        sys.exit(2)
    except ClickException as error:
        _fail(f"{error.format_message().rstrip('.')}. See `benchmint --help`.")
    except BenchmintError as error:
        if "--debug" in sys.argv:
            raise
        _fail(str(error))
    except OSError as error:
        if "--debug" in sys.argv:
            raise
        _fail(_trouble(error))
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        _fail(f"internal error: {type(error).__name__} at {place(error)}. Run with --debug.")


def _program() -> TyperGroup:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    add_commands(group)
    return group


def _trouble(error: OSError) -> str:
    """What the operating system says about which file: its names are no session text."""
    why = error.strerror or type(error).__name__
    if error.filename is None:
        return f"{why} at {place(error)}. Run with --debug."
    name = os.fsdecode(error.filename) if not isinstance(error.filename, int) else "a file"
    return f"{name}: found {why}; expected a file or folder of use. Check path, rights and space."


def _fail(message: str) -> None:
    from data.snapshot.neutralise import one_line  # loads the tables of the house

    print(f"benchmint: {one_line(message)}", file=sys.stderr)
    sys.exit(2)
