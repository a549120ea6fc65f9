"""Why a stage would run, in words: which parts of its key are others than they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from data.contracts import StageConfig
from data.stage_key import CODE, Change, StageKey, changes, part_digest
from flows.recipe import Recipe

_MOST = 4  # reasons that are told


def reason(root: Path, stage: str, key: StageKey, key_id: str) -> str:
    """What changed since the most similar output of the stage below `root`."""
    found = changes(root, stage, key)
    if found is None:
        there = any((root / stage).glob("*"))
        return "made by other code" if there else "not made yet"
    release_key = part_digest(key_id)
    told = [_told(one, key.parts.get(one.part) == release_key) for one in found]
    told = list(dict.fromkeys(told))
    rest = len(told) - _MOST
    more = [f"{rest} more"] if rest > 0 else []
    return "changed: " + ", ".join([*told[:_MOST], *more])


def _told(change: Change, is_release_key: bool) -> str:
    name, _, inner = change.part.partition(".")
    if name == CODE:
        return "the code"
    if is_release_key:
        return "the release key"
    if section := _sections().get(name):
        return f"[{section}] {inner}"
    what = "what it reads" if name.startswith("input ") else change.part
    if change.of is None:
        return what
    return f"{what} ({change.n} of {change.of})" if change.n else f"{what} (another order)"


@cache
def _sections() -> Mapping[str, str]:
    """The classes of the recipe's parts by name, with the part's place in the configuration.

    A stage that takes a part's first fields alone takes it as the class that it extends.
    """
    places: list[tuple[type[StageConfig], str]] = [(Recipe, "recipe"), *_below(Recipe, "")]
    bases = {base.__name__: place for kind, place in places for base in kind.__bases__}
    return bases | {kind.__name__: place for kind, place in reversed(places)}


def _below(model: type[StageConfig], prefix: str) -> Iterator[tuple[type[StageConfig], str]]:
    for name, found in model.model_fields.items():
        kind = found.annotation
        if isinstance(kind, type) and issubclass(kind, StageConfig):
            yield kind, f"{prefix}{name}"
            yield from _below(kind, f"{prefix}{name}.")
