"""Pictures that go with a prompt: an input file itself, or a page without text, scaled and anew.

Each is opened as hostile input in the confined child of `views`, and written anew without what it
holds besides (places, cameras, comments). The same file gives the same picture, whose digest is
part of the question's key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from construction.grading.file_look import RuleLimits, read_regular
from construction.grading.text_openers import TooLarge
from construction.judging.calls.contracts import Image
from construction.judging.evidence.contracts import ImageRef
from construction.judging.evidence.views import CHILD
from data.child import Child, ChildFailed, ChildLimits
from data.contracts import Fixture

PIXELS = 1_200  # of the longer side
_LIMITS = ChildLimits(seconds=30, memory_bytes=2 << 30, answer_bytes=8 << 20)


class Pictures:
    """Makes the pictures of released files, which it finds by their SHA-256; each is made once."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._made: dict[tuple[str, str], Image | None] = {}

    def of(
        self, fixtures: Iterable[Fixture], references: Iterable[ImageRef]
    ) -> list[tuple[ImageRef, Image]]:
        """The pictures that can be made, each with what it shows."""
        digests = {fixture.path: fixture.sha256 for fixture in fixtures}
        made = [(one, self._picture(digests.get(one.path, ""), one.picture)) for one in references]
        return [(reference, image) for reference, image in made if image is not None]

    def _picture(self, sha256: str, picture: str) -> Image | None:
        path, key = self._files.get(sha256), (sha256, picture)
        if path is not None and key not in self._made:
            self._made[key] = _scaled(path, picture)
        return self._made.get(key)


def _scaled(path: Path, picture: str) -> Image | None:
    task = {"picture": picture, "pixels": PIXELS, "most": RuleLimits().pixels}
    try:
        content = read_regular(str(path.parent), path.name, RuleLimits().file_bytes)
        with Child(CHILD, _LIMITS) as child:
            child.send(json.dumps(task).encode())
            child.send(content)
            made = child.receive()
    except (ChildFailed, OSError, TooLarge):
        return None
    return Image("image/jpeg", made) if made else None
