"""Resumable stages (law 6): a stage's output is a directory that is there whole or not at all.

The directory is named by the stage's key (input digests + recipe digest + code version), so
"done" means "exists", and as it was written: beside the output lie the digests of its files, what
the key was made of and what the stage took, which nothing is digested from. An output that somebody
has altered is named and computed anew: it would go into the next release.

A key is a digest over all that an output depends on. The digests of its parts decide nothing: they
let a later run say why it has to compute again.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from data.atomic import private_dir, replacing_dir, write_bytes
from data.canonical import canonical_json, digest, file_digest
from data.contracts import StageConfig
from data.errors import BenchmintError, guarded
from data.neutralise import one_line

_SUMS_FILE = "sums.json"
_NAMED = 3


KEY_FILE = "key.json"
_CODE = "code"
_KEY_LENGTH = 24
_MOST_REASONS = 4
_WORDS = {
    _CODE: "the code",
    "release key": "the release key",
    "input files": "input files",
    "shard": "what it reads",
    "what it observed": "what it reads",
}
_SHORT = 12  # hex digits that are kept of a part: told apart, not proved

# A single value's digest, or those of the items of a list in their order.
_Parts = Mapping[str, str | list[str]]


class StageKey(str):
    """The key as the name of a folder; `parts` are the digests that it was made of."""

    parts: _Parts

    def __new__(cls, key: str, parts: _Parts) -> StageKey:
        made = super().__new__(cls, key)
        made.parts = parts
        return made

    def __getnewargs__(self) -> tuple[str, _Parts]:  # type: ignore[override]
        """Jobs carry keys to other processes."""
        return str(self), self.parts


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of a key that is another than it was: of a list, how many of its items are."""

    part: str
    n: int = 1
    of: int | None = None  # None: a single value


def _stage_key(stage: str, code: str, parts: Sequence[Any], named: Mapping[str, Any]) -> StageKey:
    """The key over the stage's name, the code, and the parts.

    What is told of the parts: a configuration field by field, under its class's name; what bears
    no name of its own by its place, `input 1` and so on; a list item by item.
    """
    whole = digest([stage, code, *parts, *([named] if named else [])])[:_KEY_LENGTH]
    digests: dict[str, str | list[str]] = {_CODE: _part_digest(code)}
    for name, part in (*_named("input ", parts), *named.items()):
        digests.update(_digests(name, part))
    return StageKey(whole, digests)


def _part_digest(part: Any) -> str:
    """The digest that is kept of a single value."""
    return digest(canonical_json(part))[:_SHORT]


def _write_key(folder: Path, key: StageKey) -> None:
    """Keep the parts of a stage's key beside its output."""
    write_bytes(folder / KEY_FILE, canonical_json(key.parts))


def _changes(root: Path, stage: str, key: StageKey) -> list[_Change] | None:
    """What is another than in the most similar output of the stage below `root`; None: no other.

    Outputs of older code, which do not record what they were made of, are left out.
    """
    known = (_read(path) for path in sorted((root / stage).glob(f"*/{KEY_FILE}")))
    compared = [_compared(before, key.parts) for before in known if before is not None]
    return min(compared, key=_distance) if compared else None


def change_reason(root: Path, stage: str, key: StageKey) -> str:
    """Why a stage has to run: what changed since its most similar output below `root`."""
    known = _changes(root, stage, key)
    if known is None:
        has_output = any((root / stage).glob("*"))
        return "made by different code" if has_output else "not made yet"
    reasons = list(dict.fromkeys(map(_in_words, known)))
    more = [f"{len(reasons) - _MOST_REASONS} more"] if len(reasons) > _MOST_REASONS else []
    return "changed: " + ", ".join([*reasons[:_MOST_REASONS], *more])


def _in_words(change: _Change) -> str:
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


def _compared(before: _Parts, now: _Parts) -> list[_Change]:
    names = dict.fromkeys([*now, *before])
    return [
        _change(name, before.get(name), now.get(name))
        for name in names
        if before.get(name) != now.get(name)
    ]


def _change(name: str, before: str | list[str] | None, now: str | list[str] | None) -> _Change:
    if not isinstance(now, list):
        return _Change(name)
    old, new = Counter(_items(before)), Counter(now)
    return _Change(name, max((new - old).total(), (old - new).total()), max(len(now), old.total()))


def _items(part: str | list[str] | None) -> Iterable[str]:
    return part if isinstance(part, list) else ()


def _distance(changed: Sequence[_Change]) -> int:
    return sum(change.n for change in changed)


def _read(path: Path) -> _Parts | None:
    try:
        parts = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return parts if isinstance(parts, dict) else None


class _StageAltered(BenchmintError):
    """A stage's output is not what the stage wrote."""


def _write_sums(output: Path) -> None:
    """Write down what the files of a finished output are."""
    write_bytes(output / _SUMS_FILE, canonical_json(_sums(output)))


def _read_sums(output: Path) -> dict[str, str]:
    """The digests that `_write_sums` wrote, by file; empty if they cannot be read."""
    try:
        known: dict[str, str] = orjson.loads((output / _SUMS_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return known


def _require_unaltered(output: Path) -> None:
    """Raise StageAltered if any file is another, missing, or too many. Reads every file once."""
    if altered := _altered(output):
        raise _StageAltered(
            f"{output}: found {altered} altered since the stage was computed; expected "
            "unmodified output."
        )


def _altered(output: Path) -> str:
    """The first files that are others, missing, or too many; none if there are none."""
    known, now = _read_sums(output), _sums(output)
    if now == known:
        return ""
    names = sorted(name for name in {*now, *known} if now.get(name) != known.get(name))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return one_line(", ".join(names[:_NAMED]) + more)


def _sums(output: Path) -> dict[str, str]:
    files = (path for path in output.rglob("*") if path.is_file())
    named = {path.relative_to(output).as_posix(): path for path in files}
    return {name: file_digest(path) for name, path in named.items() if name != _SUMS_FILE}


log = logging.getLogger("benchmint.stages")


# Files beside an output that say how it was made, not what it is.
_ABOUT = frozenset({KEY_FILE, "timings.parquet"})


def content_digest(output: Path) -> str:
    """A digest of what a stage wrote: the same for the same content, whenever it was computed."""
    return digest({name: sha for name, sha in _read_sums(output).items() if name not in _ABOUT})


@dataclass(frozen=True, slots=True)
class StageOutput:
    """Where a stage's tables lie, and whether they were there before this run."""

    stage: str
    path: Path
    cached: bool


@dataclass(frozen=True, slots=True)
class RunStore:
    """The private working directory of builds: `<root>/<stage>/<key>/…`."""

    root: Path
    code_version: str

    def key(self, stage: str, *parts: Any, **named: Any) -> StageKey:
        """The key of a stage: everything its output depends on, digested.

        Parts with a name are told by it where a plan says what changed.
        """
        return _stage_key(stage, self.code_version, parts, named)

    def path(self, stage: str, key: str) -> Path:
        return self.root / stage / key

    def is_done(self, stage: str, key: str) -> bool:
        """Is the output there, as it was written?"""
        target = self.path(stage, key)
        return target.is_dir() and not _altered(target)

    def run(self, stage: str, key: str, compute: Callable[[Path], None]) -> StageOutput:
        """Return the finished output of (stage, key), computing it only if it is not there.

        `compute` writes into an empty directory, which is then moved into place. If another
        process finishes the same key first, its (identical) output is used. An output that is not
        as it was written is named, and computed anew.
        """
        target = self.path(stage, key)
        if self.is_done(stage, key):
            log.info("already done", extra={"stage": stage, "output": key})
            return StageOutput(stage, target, cached=True)
        self._discard_altered(stage, key)
        log.info("computing", extra={"stage": stage, "output": key})
        from data.metrics import cpu_seconds, write_timing  # loads Polars: most runs compute little

        private_dir(target.parent)
        began, cpu_before = time.perf_counter(), cpu_seconds()
        try:
            with guarded(stage), replacing_dir(target) as part:
                compute(part)
                seconds = time.perf_counter() - began
                size = write_timing(part, stage, seconds, cpu_seconds() - cpu_before)
                if isinstance(key, StageKey):
                    _write_key(part, key)
                _write_sums(part)
        except (OSError, BenchmintError):
            if not target.is_dir():
                raise
        else:
            details = {"stage": stage, "output": key, "seconds": round(seconds, 3), "bytes": size}
            log.info("computed", extra=details)
        return StageOutput(stage, target, cached=False)

    def _discard_altered(self, stage: str, key: str) -> None:
        """Remove an output that somebody altered: it would go into the next release."""
        target = self.path(stage, key)
        if not target.is_dir() or not (altered := _altered(target)):
            return
        log.warning("altered", extra={"stage": stage, "output": key, "files": altered})
        print(
            f"benchmint: {target}: {altered} altered since the stage was computed; recomputed",
            file=sys.stderr,
        )
        shutil.rmtree(target)

    def receive(self, stage: str, key: str, fetch: Callable[[Path], None]) -> StageOutput:
        """Put the output of (stage, key), which was computed elsewhere, where it belongs.

        `fetch` writes it into an empty directory. Raises StageAltered if that is not what was
        computed.
        """
        target = self.path(stage, key)
        self._discard_altered(stage, key)
        private_dir(target.parent)
        with replacing_dir(target) as part:
            fetch(part)
            _require_unaltered(part)
        log.info("computed elsewhere", extra={"stage": stage, "output": key})
        return StageOutput(stage, target, cached=False)

    def prune(self, keep: set[Path]) -> int:
        """Remove outputs that are not in `keep` and what killed runs left behind."""
        removed = 0
        for folder in sorted(self.root.glob("*/*")):
            if folder not in keep:
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed
