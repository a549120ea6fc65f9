"""What must not surface in a release: vaults, planted values, original identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from anonymization.leaks.contracts import Leak, LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns, is_long_enough
from anonymization.session_masking import VAULTS
from anonymization.text.contracts import EntityType, Entry
from anonymization.text.masking.known_search import is_masked_everywhere
from anonymization.text.spelling.known_values import known_value
from anonymization.text.vault import Vault
from data.canonical import canonical_json, keyed_digest
from data.errors import InputError

TRIPWIRE, IDENTIFIER = "tripwire", "identifier"
# Kinds whose form tells them from other words: they are looked for in every file of a release.
FORMAL = frozenset(
    {
        EntityType.EMAIL,
        EntityType.PHONE,
        EntityType.IP_ADDRESS,
        EntityType.BANK_CARD,
        EntityType.BANK_ACCOUNT,
        EntityType.NATIONAL_ID,
        EntityType.COMPANY_CODE,
        EntityType.PASSPORT,
        EntityType.PLATE,
        EntityType.ACCOUNT,
        EntityType.CASE_NUMBER,
        EntityType.PERSON_NUMBER,
        EntityType.SECRET,
    }
)
# Names are looked for in the tasks that sessions became: a public company may have the same one.
NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.ADDRESS})
_MIN_HAN_NAME = 3
_MAX_TRIPWIRES = 64 << 20  # bytes


@dataclass(frozen=True)
class LeakTargets:
    """All that must not surface: what each session's vault holds, and values given by hand."""

    sessions: Mapping[str, tuple[Entry, ...]]
    tripwires: tuple[str, ...]
    identifiers: tuple[str, ...]
    config: LeakConfig
    key: bytes

    @cached_property
    def everywhere(self) -> LeakPatterns:
        """The values that no other session and no page of a release may hold."""
        values = {
            PrivateValue(entry.value, entry.type)
            for entries in self.sessions.values()
            for entry in entries
            if _is_telling(entry)
        }
        values |= {PrivateValue(value, TRIPWIRE) for value in self.tripwires}
        values |= {PrivateValue(value, IDENTIFIER) for value in self.identifiers}
        return LeakPatterns(values, self.key, self.config)

    def of_session(self, uid: str) -> LeakPatterns:
        """All values of one session that masking replaced wherever they stood."""
        swept = (e for e in self.sessions.get(uid, ()) if is_masked_everywhere(e.type, e.value))
        return LeakPatterns((PrivateValue(e.value, e.type) for e in swept), self.key, self.config)

    def is_made(self, leak: Leak, uid: str) -> bool:
        """Did masking itself put the value into a session (into any, where it is none)?

        In its own spelling or another: the name in one's new address may be another's real one.
        """
        value = self.values[leak.digest]
        made = self._surrogates
        text = made[uid] if uid in made else "\0".join(made.values())
        return value in text or known_value(leak.kind, value, True).is_in(text)

    @cached_property
    def values(self) -> dict[str, str]:
        """The values that are looked for everywhere, by their keyed digests."""
        patterns = self.everywhere
        return {patterns.digest(n): private.value for n, private in enumerate(patterns.values)}

    @cached_property
    def _surrogates(self) -> dict[str, str]:
        return {
            uid: "\0".join(entry.surrogate for entry in entries)
            for uid, entries in self.sessions.items()
        }


def leak_targets(
    masked: Iterable[Path],
    key: bytes,
    config: LeakConfig,
    tripwires: Path | None,
    identifiers: Sequence[str] = (),
) -> LeakTargets:
    """What must not surface in a release made of these outputs of masking.

    `tripwires` is a file of planted values, `identifiers` are original codes and names of tables.
    """
    planted = read_tripwires(tripwires, config)
    return LeakTargets(read_vaults(masked, key), planted, tuple(sorted(identifiers)), config, key)


def read_vaults(folders: Iterable[Path], key: bytes) -> dict[str, tuple[Entry, ...]]:
    """What the vaults in the outputs of masking hold, by session."""
    vaults = [
        Vault.load(path, key)
        for folder in folders
        for path in sorted((folder / VAULTS).glob("*.json"))
    ]
    return {vault.scope: vault.entries for vault in vaults}


def read_tripwires(path: Path | None, config: LeakConfig) -> tuple[str, ...]:
    """Planted values, one a line; empty lines do not count. Raises InputError.

    A value that is too short to be looked for is refused: its owner relies on it.
    """
    if path is None:
        return ()
    try:
        if not path.is_file() or path.stat().st_size > _MAX_TRIPWIRES:
            raise OSError
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found, expected = type(error).__name__, "a UTF-8 text below 64 MiB, one value a line"
        raise InputError(
            str(path), found, expected, "Save it as UTF-8 text, one value per line."
        ) from error
    values = {line.strip(): number for number, line in enumerate(lines, start=1) if line.strip()}
    for value, number in values.items():
        if not is_long_enough(value, config):
            found, todo = f"{len(value)} characters", "Plant longer values."
            raise InputError(str(path), found, "a value that cannot stand by chance", todo, number)
    return tuple(sorted(values))


def counts_of(targets: LeakTargets) -> dict[str, dict[str, int]]:
    """How many values of each kind are looked for, and how many are too short to be."""
    patterns = targets.everywhere
    counts = Counter(private.kind for private in patterns.values)
    return {"sought": dict(sorted(counts.items())), "too_short": dict(patterns.too_short)}


def digest_of(targets: LeakTargets) -> str:
    """Keyed: changes with what is looked for, and tells nothing of it."""
    told = sorted(
        [entry.type, entry.value, entry.surrogate]
        for entries in targets.sessions.values()
        for entry in entries
    )
    whole = canonical_json([told, targets.tripwires, targets.identifiers]).decode()
    return keyed_digest(targets.key, whole)


def _is_telling(entry: Entry) -> bool:
    """Can it be told from other words outside its session?"""
    if entry.type in FORMAL:
        return is_masked_everywhere(entry.type, entry.value)
    if entry.type not in NAMES:
        return False
    value = entry.value.strip()
    return " " in value if value.isascii() else len(value) >= _MIN_HAN_NAME
