"""The folder of one `privacy mask` run: claimed at its start, marked until it is whole, and
restored from its vault."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from anonymization.documents.scopes import FILES, ORIGINALS
from anonymization.text.vault import Vault, restore
from data.atomic import PRIVATE_DIR, PRIVATE_FILE, write_bytes
from data.errors import InputError

PRIVATE, REPORTS = "private", "reports"
_UNFINISHED = "unfinished"
_NEW_FOLDER = "Choose a new folder with --out, or move this one away."


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
        actual = "a masking run that was interrupted or is still in progress"
        raise InputError(str(directory), actual, "a finished run", "Mask again into a new folder.")


def _occupied(out: Path, name: str) -> InputError:
    return InputError(
        str(out), f"{name}/ from another run", "a folder with no run in it", _NEW_FOLDER
    )


def restore_folder(folder: Path, vaults: Path, key: bytes, out: Path) -> list[str]:
    """Restore every file recorded in the vaults below `vaults`; returns the original paths.

    Raises VaultRefused before anything is written if a vault or a masked file was altered.
    """
    files = sorted(vaults.glob("*.json")) if vaults.is_dir() else [vaults]
    if not files or not all(path.is_file() for path in files):
        raise InputError(str(vaults), "no vault", "a vault or folder of vaults", "See --vault.")
    originals = files[0].parent.parent / ORIGINALS
    restored: dict[str, bytes] = {}
    for path in files:
        for document in Vault.load(path, key).documents.values():
            masked = folder / document.path
            if not masked.is_file():
                todo = "Restore from a complete copy."
                raise InputError(str(masked), "nothing", "the masked file", todo)
            restored[document.original_path] = restore(masked.read_bytes(), document, originals)
    for name, data in sorted(restored.items()):
        write_bytes(out / _inside(name), data)
    return sorted(restored)


def _inside(name: str) -> PurePath:
    """The path, if it stays inside its folder; even a sealed path is checked."""
    path = PurePath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(
            "the vault", "a path that leads outside the folder", "a path below", "Do not use it."
        )
    return path
