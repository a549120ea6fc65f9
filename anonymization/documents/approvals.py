"""The record of pictures and PDFs that a person inspected and approved."""

from __future__ import annotations

from pathlib import Path

from data.errors import InputError

_DIGITS = set("0123456789abcdef")


def read_approvals(path: Path) -> frozenset[str]:
    """The digests of a file with lines `sha256  who, when, why`; `#` begins a comment.

    Raises InputError naming the first line that has another form.
    """
    digests: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        sha256 = words[0].lower()
        if len(sha256) != 64 or set(sha256) - _DIGITS or len(words) < 2:
            expected = "a SHA-256, then who approved it"
            raise InputError(str(path), "a line of another form", expected, "Fix the line.", number)
        digests.add(sha256)
    return frozenset(digests)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise InputError(str(path), problem, "a file of approvals", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "no UTF-8", "a text file", "Save it as UTF-8.") from error
