"""Remembers what was found in recently seen strings, up to a size."""

from __future__ import annotations

from collections import OrderedDict

from anonymization.text.contracts import Finding

_OVERHEAD = 64  # characters that an entry counts besides its text


class Memo:
    """Least recently used findings by text, bounded by characters."""

    def __init__(self, max_chars: int) -> None:
        self._left = max_chars
        self._found: OrderedDict[str, tuple[Finding, ...]] = OrderedDict()

    def get(self, text: str) -> tuple[Finding, ...] | None:
        if text in self._found:
            self._found.move_to_end(text)
        return self._found.get(text)

    def put(self, text: str, found: tuple[Finding, ...]) -> None:
        if text in self._found:
            return
        self._found[text] = found
        self._left -= len(text) + _OVERHEAD
        while self._left < 0 and self._found:
            old, _ = self._found.popitem(last=False)
            self._left += len(old) + _OVERHEAD
