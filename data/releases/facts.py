"""The facts by which two releases are compared, read from a published or an unwritten release.

A published release is untrusted input: no links are followed, sizes are limited, and of its texts
only digests and neutralised names are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from data.canonical import canonical_json, digest
from data.contracts import PRIVATE_FIELDS, Candidate
from data.errors import InputError
from data.neutralise import one_line, storable_tree
from data.snapshot import layout, tasks
from data.snapshot.release import Release

# Where one of these differs, the agent gets another task: scores are not comparable.
CONTENT = ("prompt", "fixtures")
_LARGEST = 512 << 20  # bytes of a file that is read as a whole
_LONGEST = 200  # characters of a value that is shown
_PASSED = ("kept", "consumed", "chosen")
_NOT_COMPARED = frozenset({"task_id", "canary"})
_MADE_WITH = ("code_version", "lock_digest", "architecture", "seed", "release_key_digest")
_SELECTION, _PRIVACY = f"{layout.AUDIT}/selection.json", f"{layout.AUDIT}/privacy.json"

REPORT = "report"  # prefix of the facts from `audit/privacy.json`, among those about privacy

Stage = tuple[str, str]
_Reason = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """The comparable facts of a release. Texts of tasks are digests, other values short texts.

    `tasks`: id -> field -> digest; `grading`: the same for grader-only fields, None if the private
    half was not read. `funnel`: (stage, unit) -> (in, passed), in pipeline order.
    `rejections`: (stage, unit, gate, reason) -> units. `weights`: task family -> share of the
    mixture, empty without one.
    """

    snapshot: str
    released: str
    tasks: Mapping[str, Mapping[str, str]]
    grading: Mapping[str, Mapping[str, str]] | None
    families: Mapping[str, int]
    weights: Mapping[str, float]
    funnel: Mapping[Stage, tuple[int, int]]
    rejections: Mapping[_Reason, int]
    privacy: Mapping[str, str]
    recipe: Mapping[str, str]
    made_with: Mapping[str, str]
    inputs: Mapping[str, str] = field(default_factory=dict)


def facts_of_snapshot(snapshot: Path, *, private: bool = True) -> ReleaseFacts:
    """The facts of a snapshot directory or a public half; grader-only fields only if `private`.

    Raises InputError naming the file that is missing or invalid.
    """
    public, private_half = layout.halves(snapshot)
    for half in (public, private_half):
        if half is not None and half != snapshot and half.is_symlink():
            raise _not_there(half, "a symbolic link")
    manifest = _object(public, layout.MANIFEST)
    lines = _lines(public / layout.TASK_LIST)
    rows = [tasks.from_line(_json(line, public / layout.TASK_LIST)) for line in lines]
    try:
        return _facts(
            manifest,
            rows,
            _grading(private_half, rows) if private and private_half else None,
            _object(public, layout.FUNNEL)["stages"],
            _object(public, layout.LEDGER)["rejections"],
            _optional(public, _SELECTION),
            _optional(public, _PRIVACY),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            str(snapshot),
            f"a snapshot with unexpected content ({type(error).__name__})",
            "a snapshot written by this project",
            "Run `benchmint verify` on it.",
        ) from None


def facts_of_release(release: Release) -> ReleaseFacts:
    """The facts of a release that is not written yet; equal to those of its later snapshot."""
    from data.snapshot.ledger import counted, ledger_frames

    with counted(ledger_frames(release.ledger_tables)) as counts:
        funnel = counts.funnel(release.ledger_tables.tallies)
        rejections = counts.rejections()
    rows = [tasks.public_row(task, release.opaque, "") for task in release.candidates]
    build, allowed = release.build, release.authorization
    manifest = {
        "snapshot": layout.snapshot_id(release.name, release.released),
        "released": release.released.isoformat(),
        "privacy": str(release.privacy),
        "licence": release.card.licence,
        "authorization": {name: getattr(allowed, name) for name in allowed.__slots__},
        "recipe": storable_tree(dict(build.recipe)),
        "inputs": dict(build.inputs),
        **{name: getattr(build, name) for name in _MADE_WITH},
    }
    return _facts(
        manifest,
        rows,
        {task.task_id: _private_parts(task.model_dump(mode="json")) for task in release.candidates},
        funnel,
        rejections,
        release.selection or {},
        release.privacy_report or {},
    )


def _facts(
    manifest: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    grading: Mapping[str, Mapping[str, str]] | None,
    stages: Sequence[Mapping[str, Any]],
    rejections: Sequence[Mapping[str, Any]],
    selection: Mapping[str, Any],
    privacy: Mapping[str, Any],
) -> ReleaseFacts:
    families = Counter((row.get("task_family") or {}).get("value") or "(none)" for row in rows)
    mixture: Mapping[str, Any] = selection.get("mixture") or {}
    weights: Mapping[str, Any] = mixture.get("task_weights") or {}
    stamp = {name: manifest[name] for name in ("privacy", "licence", "authorization")}
    return ReleaseFacts(
        snapshot=_shown(manifest["snapshot"]),
        released=_shown(manifest["released"]),
        tasks={_shown(row["task_id"]): _fields(row) for row in rows},
        grading=grading,
        families={_shown(name): families[name] for name in sorted(families)},
        weights={_shown(n): float(w) for n, w in weights.items()},
        funnel={(_shown(s["stage"]), _shown(s["unit"])): _passage(s) for s in stages},
        rejections={_reason(row): int(row["n"]) for row in rejections},
        privacy=_leaves(stamp) | _leaves(_without_canary(privacy), REPORT),
        recipe=_leaves(manifest["recipe"]),
        made_with={name: _shown(manifest[name]) for name in _MADE_WITH},
        inputs={_shown(name): _shown(value) for name, value in manifest["inputs"].items()},
    )


@dataclass(frozen=True, slots=True)
class _TaskContent:
    """What makes a task the one it is: what an agent is given, and how it is graded, as digests.

    `graded` is None where the private half of a release was not read.
    """

    given: str
    graded: str | None


def _contents(facts: ReleaseFacts) -> dict[str, _TaskContent]:
    """The content of each task of a release."""
    grading = facts.grading
    return {
        name: _TaskContent(
            digest([fields.get(part) for part in CONTENT]),
            None if grading is None else digest(dict(grading.get(name, {}))),
        )
        for name, fields in facts.tasks.items()
    }


def _content_of(task: Candidate) -> _TaskContent:
    """The content of a candidate, as its release will have it."""
    fields = _fields(tasks.public_row(task, str, ""))
    given = digest([fields.get(part) for part in CONTENT])
    return _TaskContent(given, digest(_private_parts(task.model_dump(mode="json"))))


def _fields(row: Mapping[str, Any]) -> dict[str, str]:
    """Field -> digest of a public row; keyed ids of private items are not compared."""
    compared = {name: value for name, value in row.items() if name not in _NOT_COMPARED}
    if isinstance(compared.get("provenance"), dict):
        compared["provenance"] = {k: v for k, v in compared["provenance"].items() if k != "item_id"}
    return {_shown(name): digest(value) for name, value in compared.items()}


def _private_parts(parts: Mapping[str, Any]) -> dict[str, str]:
    kept = {name: parts[name] for name in sorted(PRIVATE_FIELDS) if parts.get(name)}
    return {name: digest(storable_tree(value)) for name, value in kept.items()}


def _grading(private: Path, rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Grader-only fields of each task, without the canary, which differs in every snapshot."""
    grading = {}
    for row in rows:
        task = str(row["task_id"])
        parts = {}
        for name in sorted(PRIVATE_FIELDS):
            if layout.is_id(task) and (private / task / f"{name}.json").is_file():
                parts[name] = _object(private / task, f"{name}.json")[name]
        grading[_shown(task)] = _private_parts(parts)
    return grading


def _passage(stage: Mapping[str, Any]) -> tuple[int, int]:
    outcomes = stage["outcomes"]
    return int(stage["n_in"]), sum(int(outcomes.get(name, 0)) for name in _PASSED)


def _reason(row: Mapping[str, Any]) -> _Reason:
    stage, unit, gate, reason = (_shown(row.get(n)) for n in ("stage", "unit", "gate", "reason"))
    return stage, unit, gate, reason


def _leaves(value: Any, name: str = "") -> dict[str, str]:
    """Dotted path -> shown value of every leaf of nested objects."""
    if isinstance(value, dict):
        leaves: dict[str, str] = {}
        for key in sorted(value):
            leaves |= _leaves(value[key], f"{name}.{_shown(key)}" if name else _shown(key))
        return leaves
    return {name: _shown(value)} if name else {}


def _without_canary(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != "canary"}


def _shown(value: Any) -> str:
    """A value as short harmless text; a long one as its digest."""
    text = value if isinstance(value, str) else canonical_json(value).decode()
    shown = one_line(text)
    return shown if len(shown) <= _LONGEST else f"{len(text)} characters, sha256 {digest(text)}"


def _lines(path: Path) -> list[bytes]:
    return _content(path).splitlines()


def _optional(root: Path, name: str) -> dict[str, Any]:
    return _object(root, name) if (root / name).exists() else {}


def _object(root: Path, name: str) -> dict[str, Any]:
    return _json(_content(root / name), root / name)


def _json(content: bytes, path: Path) -> dict[str, Any]:
    """A JSON object. Raises InputError for anything else."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise _not_there(path, f"{len(content)} bytes that are not a JSON object")
    return document


def _content(path: Path) -> bytes:
    """The content of a regular file; links are not followed. Raises InputError for others."""
    if path.is_symlink() or not path.is_file():
        raise _not_there(path, "a symbolic link" if path.is_symlink() else "no file")
    try:
        if path.stat().st_size > _LARGEST:
            raise _not_there(path, "more than 512 MiB")
        return path.read_bytes()
    except FileNotFoundError:  # purged or moved away in the meantime
        raise _not_there(path, "no file") from None


def _not_there(path: Path, actual: str) -> InputError:
    return InputError(str(path), actual, "a file in a snapshot", "Pass a snapshot directory.")


# One task, one id --------------------------------------------------------------------------------
# A release never has another task under an id that an earlier one gave away, and never a task of
# an earlier one under another id: scores would be compared that are not comparable.


class _IdentityReason(StrEnum):
    """Why a candidate cannot go by its id."""

    OTHER_TASK = "select.id_of_another_task"
    OTHER_ID = "select.released_under_another_id"


@dataclass(frozen=True, slots=True)
class Past:
    """The tasks of earlier releases: the content of each id, the newest one's if there are more."""

    contents: Mapping[str, _TaskContent]

    def contradictions(self, candidates: Iterable[Candidate]) -> dict[str, _IdentityReason]:
        """The candidates that earlier releases contradict, by task id."""
        ids: dict[_TaskContent, set[str]] = {}
        for name, content in self.contents.items():
            if content.graded is not None:
                ids.setdefault(content, set()).add(name)
        wrong: dict[str, _IdentityReason] = {}
        for task in candidates if self.contents else ():
            content, known = _content_of(task), self.contents.get(task.task_id)
            if known is not None and known.given != content.given:
                wrong[task.task_id] = _IdentityReason.OTHER_TASK
            elif known is None and content in ids:
                wrong[task.task_id] = _IdentityReason.OTHER_ID
        return wrong


def past_of(releases: Sequence[Path]) -> Past:
    """What releases call their tasks; later ones of the sequence go over earlier ones."""
    known: dict[str, _TaskContent] = {}
    for release in releases:
        known |= _contents(facts_of_snapshot(release))
    return Past(known)
