"""Has a stage's output been altered since it was written? Its files and digests, beside it.

"Done" means "exists" (law 6), so an output that somebody edits would go into the next release.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from data.atomic import write_bytes
from data.canonical import canonical_json, file_digest
from data.errors import BenchmintError

FILE = "sums.json"
_NAMED = 3


class StageAltered(BenchmintError):
    """A stage's output is not what the stage wrote."""


def write_sums(output: Path) -> None:
    """Write down what the files of a finished output are."""
    write_bytes(output / FILE, canonical_json(_sums(output)))


def read_sums(output: Path) -> dict[str, str]:
    """The digests that `write_sums` wrote, by file; empty if they cannot be read."""
    try:
        known: dict[str, str] = orjson.loads((output / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return known


def require_unaltered(output: Path) -> None:
    """Raise StageAltered if any file is another, missing, or too many. Reads every file once."""
    known = read_sums(output)
    now = _sums(output)
    if now == known:
        return
    names = sorted(name for name in {*now, *known} if now.get(name) != known.get(name))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    raise StageAltered(
        f"{output}: found {', '.join(names[:_NAMED])}{more} altered since the stage was computed; "
        "expected its output as it was written. Remove this folder, and it is computed anew."
    )


def _sums(output: Path) -> dict[str, str]:
    files = (path for path in output.rglob("*") if path.is_file())
    named = {path.relative_to(output).as_posix(): path for path in files}
    return {name: file_digest(path) for name, path in named.items() if name != FILE}
