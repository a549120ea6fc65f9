"""The search for private values: in each candidate, then in the whole release (law 9)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymization.instruction_gate import GATE as INSTRUCTION
from anonymization.instruction_gate import ChangedPart, InstructionConfig, described
from anonymization.instruction_gate import measure as changes_of
from anonymization.leaks.contracts import Encoding, Leak
from anonymization.leaks.gate import GATE, measure
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.leak_targets import IDENTIFIER, TRIPWIRE, LeakTargets
from anonymization.leaks.scan import scan_bytes, scan_release
from anonymization.text.contracts import EntityType
from anonymization.text.masking.known_search import FORMAL, NAMES
from anonymization.text.vault import holds_day
from data.canonical import canonical_json, keyed_digest
from data.contracts import Candidate, Lane, LedgerRow, Outcome, StageKind, Verdict
from data.errors import ReleaseError
from data.ledger import deciding, gated_row
from data.pool import write_pool
from data.snapshot import layout
from data.stage_tables import CHANGED, write_private, write_stage_tables

STAGE = GATE.stage
_STRICT = frozenset({TRIPWIRE, IDENTIFIER})
_SHOWN = 5
# The parts of a public task that are text of sessions, rather than text of this project, in which
# a name may occur by chance.
_QUOTED = frozenset({"instruction.md", layout.INPUTS})


def places(leaks: Sequence[Leak]) -> str:
    """The positions and kinds of leaked values, never the values themselves."""
    listed = "; ".join(
        f"{leak.kind} in {leak.file} ({leak.encoding}, byte {leak.offset})"
        for leak in leaks[:_SHOWN]
    )
    return f"{listed} and {len(leaks) - _SHOWN} more" if len(leaks) > _SHOWN else listed


def session_of(candidate: Candidate) -> str:
    """The scope of a candidate's vault: its session, or its own if it is of a repository."""
    if candidate.lane is Lane.REPOSITORIES:
        return candidate.provenance.item_id
    return candidate.provenance.item_id.rpartition("_i")[0]


def leaks_of(candidate: Candidate, files: Mapping[str, Path], targets: LeakTargets) -> list[Leak]:
    """The private values that a candidate and its files would release."""
    uid = session_of(candidate)
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
        task.task_id: session_of(task)
        for task in candidates
        if task.lane is Lane.SESSIONS or session_of(task) in targets.sessions
    }
    leaks = [
        leak
        for half in (layout.PUBLIC, layout.PRIVATE)
        for leak in _release_leaks(root / half, half, sessions, targets)
        if leak.kind != IDENTIFIER or leak.file.partition("!")[0] not in given
    ]
    if leaks:
        raise ReleaseError(
            f"the leak scan found private values: {places(leaks)}. Nothing was published; "
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
    parts = re.split("[/!]", file)
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
        evidence = {"found": "; ".join(filter(None, (described(changed), places(leaks))))}
        parts += [(STAGE, task.task_id, *_in_words(part)) for part in changed]
        rows.append(gated_row(STAGE, "candidate", task.task_id, deciding(judged), evidence))
    write_stage_tables(
        out, StageKind.FILTER, ids, rows, verdicts=verdicts, stage=STAGE, unit="candidate"
    )
    write_private(out, CHANGED, parts)
    kept = {row.item_id for row in rows if row.outcome is Outcome.KEPT}
    write_pool(out, [task for task in candidates if task.task_id in kept], {})
