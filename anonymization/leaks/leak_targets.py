"""What must not surface in a release: vaults, planted values, original identifiers.

Also the masking part of `audit/privacy.json`: counts only, nothing private.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from anonymization.leaks.contracts import Leak, LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns, is_long_enough
from anonymization.session_masking import VAULTS
from anonymization.text.contracts import EntityType, Entry
from anonymization.text.masking.known_search import (
    Listed,
    identifies_alone,
    is_distinctive,
    is_masked_everywhere,
    is_sought,
)
from anonymization.text.spelling.known_values import known_value
from anonymization.text.vault import Days, Vault, days_that_moved
from data.canonical import canonical_json, keyed_digest
from data.errors import InputError
from data.schemas import MASKED_SPANS

TRIPWIRE, IDENTIFIER = "tripwire", "identifier"
_MAX_TRIPWIRES = 64 << 20  # bytes


@dataclass(frozen=True)
class LeakTargets:
    """All values that must not surface: those of each session's vault, and those given by hand.

    Of a source that `is_public` the inputs are published already: a value of one session is
    searched for in the others only if it identifies somebody wherever it stands.
    """

    sessions: Mapping[str, tuple[Entry, ...]]
    tripwires: tuple[str, ...]
    identifiers: tuple[str, ...]
    config: LeakConfig
    key: bytes
    is_public: bool = False

    @cached_property
    def everywhere(self) -> LeakPatterns:
        """The values that no other session and no page of a release may contain."""
        values = {
            PrivateValue(entry.value, entry.type)
            for entries in self.sessions.values()
            for entry in entries
            if _is_sought_in_others(entry, self.is_public)
        }
        values |= {PrivateValue(value, TRIPWIRE) for value in self.tripwires}
        values |= {  # `-` and `----` say that a row has none
            PrivateValue(value, IDENTIFIER)
            for value in self.identifiers
            if any(map(str.isalnum, value))
        }
        return LeakPatterns(values, self.key, self.config)

    def of_session(self, uid: str) -> LeakPatterns:
        """All values of one session that masking replaced wherever they occurred."""
        swept = (
            e
            for e in self.sessions.get(uid, ())
            if not e.is_ordinary
            and (is_masked_everywhere(e.type, e.value) or (e.is_listed and is_sought(e.value)))
        )
        return LeakPatterns((PrivateValue(e.value, e.type) for e in swept), self.key, self.config)

    def distinctive_of_session(self, uid: str) -> LeakPatterns:
        """The values of one session that are distinct from other words wherever they occur."""
        kept = (
            entry
            for entry in self.sessions.get(uid, ())
            if not entry.is_ordinary and is_distinctive(_sought_as(entry), entry.value)
        )
        return LeakPatterns((PrivateValue(e.value, e.type) for e in kept), self.key, self.config)

    def is_made(self, leak: Leak, uid: str) -> bool:
        """Did masking itself put the value into the session (or into any, if `uid` is of none)?

        In any spelling: the name in a surrogate address may be someone's real name.
        """
        value = self.values[leak.digest]
        made = self._surrogates
        text = made[uid] if uid in made else "\0".join(made.values())
        return value in text or known_value(leak.kind, value, True).is_in(text)

    def unmoved(self, uid: str) -> Days:
        """The days of a session that masking moved, and that may not stand beside moved ones."""
        return days_that_moved(self.sessions.get(uid, ()))

    @cached_property
    def values(self) -> dict[str, str]:
        """The values that are searched for everywhere, by their keyed digests."""
        patterns = self.everywhere
        return {patterns.digest(n): private.value for n, private in enumerate(patterns.values)}

    @cached_property
    def _surrogates(self) -> dict[str, str]:
        return {
            uid: "\0".join(entry.surrogate for entry in entries)
            for uid, entries in self.sessions.items()
        }


def _is_sought_in_others(entry: Entry, is_public: bool) -> bool:
    is_searched = identifies_alone if is_public else is_distinctive
    return not entry.is_ordinary and is_searched(_sought_as(entry), entry.value)


def _sought_as(entry: Entry) -> EntityType:
    """A listed value is a name, whatever its kind: of several words, it is so everywhere."""
    return EntityType.PERSON if entry.is_listed else entry.type


def leak_targets(
    masked: Iterable[Path],
    key: bytes,
    config: LeakConfig,
    tripwires: Path | None,
    identifiers: Sequence[str] = (),
    *,
    is_public: bool = False,
) -> LeakTargets:
    """The values that must not surface in a release made of these outputs of masking.

    `tripwires` is a file of planted values, `identifiers` are original codes and names of tables.
    """
    planted = read_tripwires(tripwires, config)
    sought = tuple(sorted(identifiers))
    return LeakTargets(read_vaults(masked, key), planted, sought, config, key, is_public)


def read_vaults(folders: Iterable[Path], key: bytes) -> dict[str, tuple[Entry, ...]]:
    """The entries of the vaults in the outputs of masking, by session."""
    vaults = [
        Vault.load(path, key)
        for folder in folders
        for path in sorted((folder / VAULTS).glob("*.json"))
    ]
    return {vault.scope: vault.entries for vault in vaults}


def shared_values(sessions: Mapping[str, Iterable[Entry]], *, is_public: bool) -> Listed:
    """The values of sessions that are private in all of them, each of the kind that most show.

    They are those that the search for leaks looks for in other sessions than their own; what the
    owner listed is masked in all of them anyway.
    """
    kinds: defaultdict[str, Counter[EntityType]] = defaultdict(Counter)
    for entries in sessions.values():
        for entry in entries:
            if not entry.is_listed and _is_sought_in_others(entry, is_public):
                kinds[entry.value][entry.type] += 1
    return tuple(
        (min(counts, key=lambda kind: (-counts[kind], kind)), value)
        for value, counts in sorted(kinds.items())
    )


def read_tripwires(path: Path | None, config: LeakConfig) -> tuple[str, ...]:
    """Planted values, one per line; empty lines do not count. Raises InputError.

    A value that is too short to be searched for is refused: its owner relies on the search.
    """
    if path is None:
        return ()
    try:
        if not path.is_file() or path.stat().st_size > _MAX_TRIPWIRES:
            raise OSError
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        actual, expected = type(error).__name__, "UTF-8 text under 64 MiB, with one value per line"
        raise InputError(
            str(path), actual, expected, "Save it as UTF-8 text with one value per line."
        ) from error
    values = {line.strip(): number for number, line in enumerate(lines, start=1) if line.strip()}
    for value, number in values.items():
        if not is_long_enough(value, config):
            actual, todo = f"{len(value)} characters", "Plant longer values."
            raise InputError(str(path), actual, "a value that cannot occur by chance", todo, number)
    return tuple(sorted(values))


def counts_of(targets: LeakTargets) -> dict[str, dict[str, int]]:
    """The number of values of each kind that are searched for, and that are too short."""
    patterns = targets.everywhere
    counts = Counter(private.kind for private in patterns.values)
    return {"sought": dict(sorted(counts.items())), "too_short": dict(patterns.too_short)}


def digest_of(targets: LeakTargets) -> str:
    """A keyed digest of the targets, which reveals nothing of them."""
    entry_rows = sorted(
        [entry.type, entry.value, entry.surrogate]
        for entries in targets.sessions.values()
        for entry in entries
    )
    whole = canonical_json([entry_rows, targets.tripwires, targets.identifiers]).decode()
    return keyed_digest(targets.key, whole)


def masking_report(masked: Sequence[Path], targets: LeakTargets) -> dict[str, Any] | None:
    """How much was masked, by kind and recognizer, and what the leak scan searched for.

    None if no session was masked. A release with a leak is never written.
    """
    if not masked:
        return None
    spans = pl.concat(
        [pl.read_parquet(folder / f"{MASKED_SPANS.name}.parquet") for folder in masked]
    )
    ledger = pl.concat([pl.read_parquet(folder / "ledger.parquet") for folder in masked])
    refused = ledger.filter(pl.col("reason").is_not_null())["reason"]
    return {
        "sessions": len(targets.sessions),
        "instances": ledger.height,
        "refused": dict(sorted(Counter(refused).items())),
        "spans": dict(sorted(Counter(spans["type"]).items())),
        "recognizers": dict(sorted(Counter(spans["recognizer"]).items())),
        "leak_scan": counts_of(targets),
    }
