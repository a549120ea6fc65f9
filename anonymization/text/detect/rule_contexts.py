"""Words around a value that speak for or against a rule; data/contexts.toml lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """Words searched for around a value, in lower case."""

    words: tuple[str, ...]
    before: int
    after: int
    of_value: bool

    def holds(self, lowered: str, start: int, end: int) -> bool:
        """Is one of the words near the value, or the value itself one of them?"""
        if self.of_value:
            return lowered[start:end] in self.words
        near = lowered[max(0, start - self.before) : start]
        behind = lowered[end : end + self.after]
        return any(word in near or word in behind for word in self.words)


def context_named(contexts: Mapping[str, Any], name: str | None) -> Context | None:
    """The context of a rule; None for a rule without one."""
    if name is None:
        return None
    entry = contexts[name]
    return Context(
        words=tuple(entry["words"]),
        before=entry.get("before", 0),
        after=entry.get("after", 0),
        of_value=entry.get("value", False),
    )
