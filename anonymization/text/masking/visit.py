"""How the parts of a text are visited: which look, and what to do with files inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from anonymization.text.masking.pieces import Look
from anonymization.text.vault.contracts import Edit

MAX_DEPTH = 4  # JSON in JSON in base64 in JSON

# A file inside a text, and the visit: its masked bytes and what was found, or None if it is of a
# kind that cannot be opened.
OpenBlob = Callable[[bytes, "Visit"], tuple[bytes, Sequence[Edit]] | None]


@dataclass(frozen=True, slots=True)
class Visit:
    """`depth` counts how deep forms are nested in forms."""

    look: Look
    open_blob: OpenBlob
    depth: int = 0

    def deeper(self) -> Visit:
        """The visit of what lies inside."""
        return replace(self, depth=self.depth + 1)
