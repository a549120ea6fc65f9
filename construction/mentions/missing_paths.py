"""A named path that is not at hand, as a missing input."""

from __future__ import annotations

import re

from construction.mentions.extensions import BARE_NAMES, extension
from data.contracts import MissingInput, MissingKind

BY_AGENT = "read by the agent"


def missing_path(path: str, source: str) -> MissingInput:
    """A path whose last part has no dot names a folder, unless such files are known."""
    last = re.split(r"[/\\]", path)[-1]
    is_folder = bool(path) and "." not in last and last not in BARE_NAMES
    kind = MissingKind.FOLDER if is_folder else MissingKind.FILE
    return MissingInput(kind, source, path, extension(path))
