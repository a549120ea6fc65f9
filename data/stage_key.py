"""The key of a stage: a digest over all that its output depends on, and a digest of each part.

The parts decide nothing: they let a later run say why it has to compute again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import StageConfig

FILE = "key.json"
CODE = "code"
_KEY_LENGTH = 24
_MOST_REASONS = 4
_WORDS = {
    CODE: "the code",
    "release key": "the release key",
    "input files": "input files",
    "shard": "what it reads",
    "what it observed": "what it reads",
}
_SHORT = 12  # hex digits that are kept of a part: told apart, not proved

# A single value's digest, or those of the items of a list in their order.
Parts = Mapping[str, str | list[str]]


class StageKey(str):
    """The key as the name of a folder; `parts` are the digests that it was made of."""

    parts: Parts

    def __new__(cls, key: str, parts: Parts) -> StageKey:
        made = super().__new__(cls, key)
        made.parts = parts
        return made

    def __getnewargs__(self) -> tuple[str, Parts]:  # type: ignore[override]
        """Jobs carry keys to other processes."""
        return str(self), self.parts


@dataclass(frozen=True, slots=True)
class Change:
    """A part of a key that is another than it was: of a list, how many of its items are."""

    part: str
    n: int = 1
    of: int | None = None  # None: a single value


def stage_key(stage: str, code: str, parts: Sequence[Any], named: Mapping[str, Any]) -> StageKey:
    """The key over the stage's name, the code, and the parts.

    What is told of the parts: a configuration field by field, under its class's name; what bears
    no name of its own by its place, `input 1` and so on; a list item by item.
    """
    whole = digest([stage, code, *parts, *([named] if named else [])])[:_KEY_LENGTH]
    digests: dict[str, str | list[str]] = {CODE: _part_digest(code)}
    for name, part in (*_named("input ", parts), *named.items()):
        digests.update(_digests(name, part))
    return StageKey(whole, digests)


def _part_digest(part: Any) -> str:
    """The digest that is kept of a single value."""
    return digest(canonical_json(part))[:_SHORT]


def write_key(folder: Path, key: StageKey) -> None:
    """Keep the parts of a stage's key beside its output."""
    write_bytes(folder / FILE, canonical_json(key.parts))


def changes(root: Path, stage: str, key: StageKey) -> list[Change] | None:
    """What is another than in the most similar output of the stage below `root`; None: no other.

    Outputs of older code, which do not record what they were made of, are left out.
    """
    known = (_read(path) for path in sorted((root / stage).glob(f"*/{FILE}")))
    compared = [_compared(before, key.parts) for before in known if before is not None]
    return min(compared, key=_distance) if compared else None


def change_reason(root: Path, stage: str, key: StageKey) -> str:
    """Why a stage has to run: what changed since its most similar output below `root`."""
    known = changes(root, stage, key)
    if known is None:
        has_output = any((root / stage).glob("*"))
        return "made by different code" if has_output else "not made yet"
    reasons = list(dict.fromkeys(map(_in_words, known)))
    more = [f"{len(reasons) - _MOST_REASONS} more"] if len(reasons) > _MOST_REASONS else []
    return "changed: " + ", ".join([*reasons[:_MOST_REASONS], *more])


def _in_words(change: Change) -> str:
    section, _, setting = change.part.partition(".")
    if section in _WORDS:
        words = _WORDS[section]
    elif section.startswith("output of "):
        return f"the {section}"
    else:
        return f"[{section}] {setting}" if setting else section
    if change.of is None:
        return words
    return f"{words} ({change.n} of {change.of})" if change.n else f"{words} (different order)"


def _digests(name: str, part: Any) -> Iterator[tuple[str, str | list[str]]]:
    if isinstance(part, StageConfig):
        part = part.model_dump(mode="json")
    if isinstance(part, Mapping) and part:
        for inner in sorted(part, key=str):
            yield from _digests(f"{name}.{inner}", part[inner])
    elif not isinstance(part, list | tuple) or not part:
        yield name, _part_digest(part)
    elif any(isinstance(item, StageConfig) for item in part):  # parts, told as one
        for inner, item in _named(f"{name}.", part):
            yield from _digests(inner, item)
    else:
        yield name, [_part_digest(item) for item in part]


def _named(prefix: str, parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for number, part in enumerate(parts, 1):
        is_config = isinstance(part, StageConfig)
        yield type(part).__name__ if is_config else f"{prefix}{number}", part


def _compared(before: Parts, now: Parts) -> list[Change]:
    names = dict.fromkeys([*now, *before])
    return [
        _change(name, before.get(name), now.get(name))
        for name in names
        if before.get(name) != now.get(name)
    ]


def _change(name: str, before: str | list[str] | None, now: str | list[str] | None) -> Change:
    if not isinstance(now, list):
        return Change(name)
    old, new = Counter(_items(before)), Counter(now)
    return Change(name, max((new - old).total(), (old - new).total()), max(len(now), old.total()))


def _items(part: str | list[str] | None) -> Iterable[str]:
    return part if isinstance(part, list) else ()


def _distance(changed: Sequence[Change]) -> int:
    return sum(change.n for change in changed)


def _read(path: Path) -> Parts | None:
    try:
        parts = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return parts if isinstance(parts, dict) else None
