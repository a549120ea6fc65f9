"""What must not surface in a release (vaults, planted values, original identifiers), and the search
for it: in each candidate, then in the whole release (law 9)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from anonymization.leaks.contracts import GATE, Encoding, Leak, LeakConfig, PrivateValue, measure
from anonymization.leaks.leak_patterns import LeakPatterns, is_long_enough
from anonymization.leaks.scan import scan_bytes, scan_release
from anonymization.masking_gates import (
    INSTRUCTION,
    ChangedPart,
    InstructionConfig,
    changes_of,
    described,
)
from anonymization.session_masking import VAULTS
from anonymization.text.contracts import EntityType, Entry
from anonymization.text.known_values import known_value
from anonymization.text.masking.known_search import (
    FORMAL,
    NAMES,
    Listed,
    identifies_alone,
    is_distinctive,
    is_masked_everywhere,
    is_sought,
)
from anonymization.text.vault import Days, Vault, days_that_moved, holds_day
from data.canonical import canonical_json, keyed_digest
from data.contracts import Candidate, Lane, LedgerRow, Outcome, StageKind, Verdict
from data.errors import InputError, ReleaseError
from data.ledger import deciding, gated_row
from data.pool import write_pool
from data.schemas import MASKED_SPANS
from data.snapshot import layout
from data.stage_tables import CHANGED, write_private, write_stage_tables

_TRIPWIRE, _IDENTIFIER = "tripwire", "identifier"
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
        values |= {PrivateValue(value, _TRIPWIRE) for value in self.tripwires}
        values |= {  # `-` and `----` say that a row has none
            PrivateValue(value, _IDENTIFIER)
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


def _counts_of(targets: LeakTargets) -> dict[str, dict[str, int]]:
    """The number of values of each kind that are searched for, and that are too short."""
    patterns = targets.everywhere
    counts = Counter(private.kind for private in patterns.values)
    return {"sought": dict(sorted(counts.items())), "too_short": dict(patterns.too_short)}


def _digest_of(targets: LeakTargets) -> str:
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
        "leak_scan": _counts_of(targets),
    }


STAGE = GATE.stage
_STRICT = frozenset({_TRIPWIRE, _IDENTIFIER})
_SHOWN = 5
# The parts of a public task that are text of sessions, rather than text of this project, in which
# a name may occur by chance.
_QUOTED = frozenset({"instruction.md", layout.INPUTS})


def _places(leaks: Sequence[Leak]) -> str:
    """The positions and kinds of leaked values, never the values themselves."""
    listed = "; ".join(
        f"{leak.kind} in {leak.file} ({leak.encoding}, byte {leak.offset})"
        for leak in leaks[:_SHOWN]
    )
    return f"{listed} and {len(leaks) - _SHOWN} more" if len(leaks) > _SHOWN else listed


def _session_of(candidate: Candidate) -> str:
    """The scope of a candidate's vault: its session, or its own if it is of a repository."""
    if candidate.lane is Lane.REPOSITORIES:
        return candidate.provenance.item_id
    return candidate.provenance.item_id.rpartition("_i")[0]


def leaks_of(candidate: Candidate, files: Mapping[str, Path], targets: LeakTargets) -> list[Leak]:
    """The private values that a candidate and its files would release."""
    uid = _session_of(candidate)
    own = targets.of_session(uid)
    fields = candidate.model_dump(mode="json", exclude={"provenance"})
    parts = [("prompt", candidate.prompt.encode("utf-8", "surrogatepass"))]
    parts += [(item.path, files[item.sha256].read_bytes()) for item in candidate.fixtures]
    leaks = [leak for name, data in parts for leak in _search(name, data, uid, own, targets)]
    unmoved = targets.unmoved(uid)
    leaks += [
        Leak(name, EntityType.DATE, Encoding.RAW, 0, keyed_digest(targets.key, EntityType.DATE))
        for name, data in parts
        if holds_day(data, unmoved)
    ]
    # Rubric, rules and labels quote the prompt in text of this project, in which a name may occur
    # by chance; a value with a form of its own may not.
    distinct = targets.distinctive_of_session(uid)
    rest = _search("candidate", canonical_json(fields), uid, distinct, targets)
    formal = FORMAL | _STRICT
    return sorted({*leaks, *(leak for leak in rest if leak.kind in formal or not leak.digest)})


def _search(
    name: str, data: bytes, uid: str, own: LeakPatterns, targets: LeakTargets
) -> list[Leak]:
    leaks = scan_bytes(name, data, own, targets.config)
    others = scan_bytes(name, data, targets.everywhere, targets.config)
    return leaks + _not_made_here(others, targets, uid)


def guard_release(
    root: Path,
    candidates: Sequence[Candidate],
    targets: LeakTargets,
    given: Collection[str] = (),
) -> None:
    """Raise ReleaseError if what graders and the public receive holds a private value.

    `given`: files of the public half that are declared public and leave as they were. A company
    whose rows are anonymized elsewhere may well be named in them.
    """
    sessions = {
        task.task_id: _session_of(task)
        for task in candidates
        if task.lane is Lane.SESSIONS or _session_of(task) in targets.sessions
    }
    leaks = [
        leak
        for half in (layout.PUBLIC, layout.PRIVATE)
        for leak in _release_leaks(root / half, half, sessions, targets)
        if leak.kind != _IDENTIFIER or leak.file.partition("!")[0] not in given
    ]
    if leaks:
        raise ReleaseError(
            f"the leak scan found private values: {_places(leaks)}. Nothing was published; "
            "see `benchmint audit` for where they come from."
        )


def _release_leaks(
    root: Path, half: str, sessions: Mapping[str, str], targets: LeakTargets
) -> list[Leak]:
    folders = [root] if half == layout.PUBLIC else [root / task for task in sorted(sessions)]
    leaks: list[Leak] = []
    for folder in folders:
        for leak in scan_release(folder, targets.everywhere, targets.config):
            owner = _task_and_part(leak.file) if half == layout.PUBLIC else (folder.name, "")
            if leak.kind in NAMES and not (owner[0] in sessions and owner[1] in _QUOTED):
                continue
            leaks += _not_made_here([leak], targets, sessions.get(owner[0], ""))
    return leaks


def _task_and_part(file: str) -> tuple[str, str]:
    """The task that a public file belongs to, and the part of it; both empty if it is of none."""
    parts = file.replace("!", "/").split("/")
    return (parts[1], parts[2]) if parts[0] == layout.TASKS and len(parts) > 2 else ("", "")


def _not_made_here(leaks: Iterable[Leak], targets: LeakTargets, uid: str) -> list[Leak]:
    """The leaks without values that masking put there: a surrogate may be another's real name."""
    return [
        leak
        for leak in leaks
        if leak.kind in _STRICT or not leak.digest or not targets.is_made(leak, uid)
    ]


@dataclass(frozen=True, slots=True)
class MaskedRequests:
    """What masking changed in the request of each instance, and how much of it it may change."""

    changes: Mapping[str, Sequence[ChangedPart]]
    config: InstructionConfig


def _in_words(part: ChangedPart) -> tuple[str, str, str, str]:
    return part.kind.words, part.source, part.before, part.after


def write_leak_check(
    candidates: Sequence[Candidate],
    files: Mapping[str, Path],
    targets: LeakTargets,
    masked: MaskedRequests,
    out: Path,
) -> None:
    """Drop the candidates whose request masking changed, or that still hold a private value, their
    own or another session's.

    `files` maps the SHA-256 of an input file to its path.
    """
    ids = [task.task_id for task in candidates]
    verdicts: list[tuple[str, Verdict]] = []
    rows: list[LedgerRow] = []
    parts: list[tuple[str, ...]] = []
    for task in candidates:
        leaks, changed = leaks_of(task, files, targets), masked.changes[task.provenance.item_id]
        judged = (
            INSTRUCTION.judge(changes_of(changed), masked.config),
            GATE.judge(measure(leaks), targets.config),
        )
        verdicts += [(task.task_id, verdict) for verdict in judged]
        evidence = {"found": "; ".join(filter(None, (described(changed), _places(leaks))))}
        parts += [(STAGE, task.task_id, *_in_words(part)) for part in changed]
        rows.append(gated_row(STAGE, "candidate", task.task_id, deciding(judged), evidence))
    write_stage_tables(
        out, StageKind.FILTER, ids, rows, verdicts=verdicts, stage=STAGE, unit="candidate"
    )
    write_private(out, CHANGED, parts)
    kept = {row.item_id for row in rows if row.outcome is Outcome.KEPT}
    write_pool(out, [task for task in candidates if task.task_id in kept], {})
