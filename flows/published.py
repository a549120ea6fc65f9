"""A release that is there already is verified, not written again: its key says what made it.

Writing a release to see that it equals the one that is there takes as long as writing it. The key
holds all that a release is made of: the keys and contents of the stages' outputs, recipe, code,
locked packages, release key, and the release before. The record lies with the snapshots' owner, in
`private/`, and says which snapshot the key led to, with which digest.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from data.atomic import PRIVATE_FILE, write_bytes
from data.builds import PUBLISHED, architecture, lock_digest
from data.canonical import digest, file_digest, pretty_json
from data.run_store import content_digest
from data.snapshot import layout
from data.snapshot.release import PrivacyStamp, SnapshotRef
from data.snapshot.verification import verify
from data.snapshot.writer import mark_latest
from data.stages import Results
from flows import ROOT
from flows.run import Run


def release_key_of(run: Run, results: Results, privacy: PrivacyStamp) -> str | None:
    """What the release is made of, digested; None where an output has no key of its own."""
    if any(not folder.is_relative_to(run.store.root) for folder in results.folders):
        return None  # sealed: it stands in for a stage
    before = run.runtime.release_before(run.recipe)
    return digest(
        {
            "outputs": [[folder.name, content_digest(folder)] for folder in results.folders],
            "inputs": results.inputs,
            "recipe": run.recipe.digest(),
            "release": [run.runtime.revision, str(privacy)],
            "before": _digest_of(before) if before is not None else None,
            "made_with": [run.store.code_version, lock_digest(ROOT), architecture(), run.key_id],
        }
    )


def published_before(run: Run, key: str | None) -> SnapshotRef | None:
    """The snapshot that the key led to, verified and marked as the latest; None if there is none.

    Raises ReleaseError if it does not verify.
    """
    try:
        known = orjson.loads((run.private / PUBLISHED).read_bytes())
    except (OSError, ValueError):
        return None
    if key is None or known.get("key") != key:
        return None
    path = run.snapshots / known["snapshot"]
    if not path.is_dir() or _digest_of(path) != known["sums"]:
        return None
    ref = SnapshotRef(known["snapshot"], path, known["digest"], written=False)
    mark_latest(ref, verify(path))
    return ref


def remember(run: Run, key: str | None, ref: SnapshotRef) -> None:
    """Keep which snapshot a key led to."""
    row = {"key": key, "snapshot": ref.snapshot, "digest": ref.digest, "sums": _digest_of(ref.path)}
    write_bytes(run.private / PUBLISHED, pretty_json(row), mode=PRIVATE_FILE)


def _digest_of(snapshot: Path) -> str | None:
    """Of the sums of both halves; None where one is away."""
    files = [snapshot / half / layout.SUMS for half in (layout.PUBLIC, layout.PRIVATE)]
    return digest([file_digest(file) for file in files if file.is_file()])
