"""Retention of model replies: old ones are removed, except those that releases were made of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import orjson

from construction.judging.calls.store import REPLIES, Store
from data.releases import REPLIES as REPLIES_FOLDER
from data.releases import Kind, Plan, Removal

_OLD = """
SELECT coalesce(sum(n), 0), coalesce(sum(size), 0), min(first), needed FROM (
  SELECT key, count(*) AS n, max(at) AS at, min(at) AS first,
    sum(length(CAST(text AS BLOB))) AS size,
    key IN (SELECT key FROM uses WHERE digest IN (SELECT value FROM json_each(:needed))) AS needed
  FROM replies GROUP BY key
) WHERE at < :before GROUP BY needed
"""
_DELETE = """
DELETE FROM replies
WHERE key IN (SELECT key FROM replies GROUP BY key HAVING max(at) < :before) AND key NOT IN
  (SELECT key FROM uses WHERE digest IN (SELECT value FROM json_each(:needed)))
"""


def with_replies(out: Path, plan: Plan, before: date, needed: frozenset[str]) -> Plan:
    """The plan with the model replies that are old enough, by the times in their store."""
    if any((out / part).is_symlink() for part in ("private/captures", REPLIES_FOLDER)):
        return Plan(
            plan.removals, (*plan.kept, (REPLIES_FOLDER, "a symbolic link is never followed"))
        )
    replies = old_replies(out / REPLIES_FOLDER, before, needed)
    kept, removals = list(plan.kept), list(plan.removals)
    if replies.unknown:
        why = "a release needs replies that the store does not know of: --all-replies removes them"
        kept += [(REPLIES_FOLDER, why)] if replies.needed else []
    elif replies.needed:
        kept.append((REPLIES_FOLDER, f"{replies.needed} replies that releases were made from"))
    if replies.since is not None:
        removals.append(
            Removal(Kind.REPLIES, REPLIES_FOLDER, replies.since, replies.replies, replies.size)
        )
    return Plan(tuple(removals), tuple(kept))


@dataclass(frozen=True, slots=True)
class OldReplies:
    """Replies that may be removed: how many, their bytes of text, the oldest; `needed` stay.

    `unknown`: a release was made from replies that this store does not know, so all stay.
    """

    replies: int = 0
    size: int = 0
    since: date | None = None
    needed: int = 0
    unknown: bool = False


def old_replies(folder: Path, before: date, releases: Collection[str]) -> OldReplies:
    """The replies stored in `folder` before the date; `releases` are digests of those to keep.

    The last reply to a question decides about its age. Raises StoreError.
    """
    if not (folder / REPLIES).is_file():
        return OldReplies()
    store = Store(folder)
    try:
        with store.reading() as reader:
            rows = reader.execute(_OLD, _bounds(before, releases)).fetchall()
            known = {row[0] for row in reader.execute("SELECT DISTINCT digest FROM uses")}
    finally:
        store.close()
    by_needed = {bool(row[3]): row for row in rows}
    replies, size, first, _ = by_needed.get(False, (0, 0, None, 0))
    stay = by_needed[True][0] if True in by_needed else 0
    if not known.issuperset(releases):
        return OldReplies(needed=stay + replies, unknown=True)
    since = datetime.fromtimestamp(first, UTC).date() if first is not None else None
    return OldReplies(replies, size, since, stay)


def forget_replies(folder: Path, before: date, releases: Collection[str]) -> None:
    """Remove the replies that `old_replies` counts, without a trace. Raises StoreError."""
    store = Store(folder)
    try:
        with store.writing() as writer:
            writer.execute(_DELETE, _bounds(before, releases))
            writer.execute("VACUUM")
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        store.close()


def _bounds(before: date, releases: Collection[str]) -> dict[str, float | str]:
    midnight = datetime(before.year, before.month, before.day, tzinfo=UTC)
    needed = orjson.dumps(sorted(releases)).decode()
    return {"before": midnight.timestamp(), "needed": needed}
