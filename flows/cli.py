"""The `benchmint` command. Exit codes: 0 good, 1 the check failed, 2 wrong use or bad input."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from io import TextIOWrapper
from time import monotonic
from types import FrameType
from typing import Annotated, NoReturn, Self

import typer
from typer.core import TyperGroup
from typer.main import get_command

from data.errors import InputError, error_line
from flows.commands.table import GOES_ON, CommandGroup, add_commands, renamed
from flows.surroundings import require_surroundings

_COMPLETION = ("--install-completion", "--show-completion")
# Typer's switch from options that look for the shell in use to such as take its name.
_SHELL_IS_NAMED = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"
# Words that other programs take for commands.
_AS_OPTIONS: dict[tuple[str, ...], list[str]] = {("help",): ["--help"], ("version",): ["--version"]}
_INTERRUPTED = 128 + signal.SIGINT
_NUDGE = signal.SIGURG  # means nothing: the main thread looks what else has come
_UNWIND_SECONDS = 8.0  # after Ctrl-C or SIGTERM; what takes longer is left as a kill leaves it
_HURRIED_SECONDS = 1.5  # after a second one: Uvicorn raises the first again, once it has closed

app = typer.Typer(
    help="Mint agent benchmarks: turn raw sessions into an audited, verified snapshot.",
    cls=CommandGroup,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"benchmint {version('benchmint')}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log each stage as it runs.")
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of every command (`--debug` is taken by `main`, wherever it stands)."""
    if quiet:
        from data.progress import hush

        hush()
    if verbose:
        from data.progress import tell_all

        tell_all()


def main() -> None:
    """Run a command; errors become one readable line on standard error."""
    _take_any_text()
    debug, arguments = _split(sys.argv[1:])
    arguments = _AS_OPTIONS.get(tuple(arguments), arguments)
    arguments, words = renamed(arguments)
    if words:
        new = " ".join(("benchmint", *words))
        print(f"benchmint: use `{new}`; the next release drops the old name", file=sys.stderr)
    try:
        require_surroundings()
    except InputError as error:
        _fail(str(error))
    if any(one in _COMPLETION for one in arguments[:-1]):
        os.environ[_SHELL_IS_NAMED] = "1"
    with _Ending(arguments) as ending:
        _run(arguments, ending, debug=debug)


def _run(arguments: list[str], ending: _Ending, *, debug: bool) -> NoReturn:
    try:
        code = _program()(arguments, standalone_mode=False)
        sys.exit(ending.tell() if code == _INTERRUPTED else code)
    except typer.Abort:
        print("aborted", file=sys.stderr)
        sys.exit(1)
    except typer.TyperException as error:
        _fail(_misused(error))
    except Exception as error:
        if debug:
            raise
        _fail(error_line(error))


class _Ending:
    """Lets Ctrl-C and SIGTERM end a command within seconds, with what it leaves in a line.

    They unwind it; who else handles them (Prefect does, in a flow), and what the program is at,
    does not matter for the time: a thread is woken too, and ends what has not unwound by then.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._number = int(signal.SIGINT)
        self._waking, self._woken = socket.socketpair()

    def __enter__(self) -> Self:
        self._waking.setblocking(False)
        self._before = signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        self._terminate = signal.signal(signal.SIGTERM, self._unwind)
        signal.signal(_NUDGE, lambda *_: None)
        threading.Thread(target=self._end_in_time, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._before)
        signal.signal(signal.SIGTERM, self._terminate)
        self._waking.close()

    def tell(self) -> int:
        """Say that the command has stopped; its exit code."""
        print(_stopped(self._arguments), file=sys.stderr, flush=True)
        return 128 + self._number

    def _unwind(self, number: int, _frame: FrameType | None) -> NoReturn:
        self._number = number
        raise KeyboardInterrupt

    def _end_in_time(self) -> None:
        """After the first signal there are some seconds, after another one or two."""
        ending: float | None = None  # when, by the clock
        while True:
            self._woken.settimeout(None if ending is None else max(0.01, ending - monotonic()))
            try:
                received = self._woken.recv(1)
            except TimeoutError:
                break
            if not received:
                return
            if received[0] not in (signal.SIGINT, signal.SIGTERM):
                continue
            if ending is None:
                self._number, ending = received[0], monotonic() + _UNWIND_SECONDS
                # Polars takes SIGINT so that a thread which waits for a lock waits on.
                signal.pthread_kill(threading.main_thread().ident or 0, _NUDGE)
            else:
                ending = min(ending, monotonic() + _HURRIED_SECONDS)
        os._exit(self.tell())


def _take_any_text() -> None:
    """Files and pipes get UTF-8 in any locale; what a terminal cannot show is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _split(arguments: list[str]) -> tuple[bool, list[str]]:
    """Is `--debug` among the arguments, before or after the command? And the others."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [one for one in arguments[:end] if one != "--debug"]
    return len(options) < end, options + arguments[end:]


def _program() -> TyperGroup:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    add_commands(group)
    return group


def _stopped(arguments: Sequence[str]) -> str:
    """What a command leaves that somebody interrupted."""
    goes_on = any(name in GOES_ON for name in arguments)
    kept = "; finished work is kept: run the same command again to continue" if goes_on else ""
    return f"benchmint: stopped{kept}"


def _misused(error: typer.TyperException) -> str:
    """What is wrong with the arguments, and the command whose help says more."""
    context = getattr(error, "ctx", None)
    names: list[str] = context.command_path.split()[1:] if context is not None else []
    path = " ".join(["benchmint", *names])
    message = error.format_message().rstrip(".")
    return f"{message}{'' if message.endswith('?') else '.'} See `{path} --help`."


def _fail(message: str) -> NoReturn:
    from data.errors import runnable
    from data.neutralise import one_line  # loads the tables of the house

    print(f"benchmint: {one_line(runnable(message))}", file=sys.stderr)
    sys.exit(2)
