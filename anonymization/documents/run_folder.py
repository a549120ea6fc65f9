"""The folder of one `benchmint mask` run: claimed at its start, marked until it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anonymization.documents.scopes import FILES
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.errors import InputError

PRIVATE, REPORTS = "private", "reports"
_UNFINISHED = "unfinished"
_NEW_FOLDER = "Name a new folder with --out, or move this one away."


@contextmanager
def claimed(out: Path) -> Iterator[Path]:
    """Yield the new private folder of a run into `out`, which only its owner can enter.

    A run that fails leaves nothing of its own; one that is killed leaves a mark for
    `require_finished`. Raises InputError if `out` has the files of another run, or if one has
    claimed it at the same moment: its vault is all that can restore them.
    """
    private = out / PRIVATE
    out.mkdir(parents=True, exist_ok=True)
    for name in (FILES, REPORTS):
        if (out / name).exists():
            raise _occupied(out, name)
    try:
        private.mkdir(mode=PRIVATE_DIR)  # of two runs at once only one can create it
    except FileExistsError:
        raise _occupied(out, PRIVATE) from None
    try:
        write_bytes(private / _UNFINISHED, b"", mode=PRIVATE_FILE)
        yield private
        (private / _UNFINISHED).unlink()
    except BaseException:
        for name in (FILES, REPORTS, PRIVATE):  # last the claim, so that no other run comes between
            shutil.rmtree(out / name, ignore_errors=True)
        raise


def require_finished(directory: Path) -> None:
    """Raises InputError if the run that wrote `directory` was interrupted or is still going on."""
    if (directory / PRIVATE / _UNFINISHED).exists():
        actual = "a masking run that was interrupted or is still going on"
        raise InputError(str(directory), actual, "a finished run", "Mask again into a new folder.")


def _occupied(out: Path, name: str) -> InputError:
    return InputError(str(out), f"{name}/ of another run", "a folder without a run", _NEW_FOLDER)
