"""Which model replies retention removes, as part of a purge's plan."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from construction.judging.calls.store import old_replies
from data.releases import REPLIES as REPLIES_FOLDER
from data.releases import Kind, Plan, Removal


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
        kept.append((REPLIES_FOLDER, f"{replies.needed} replies that releases were made of"))
    if replies.since is not None:
        removals.append(
            Removal(Kind.REPLIES, REPLIES_FOLDER, replies.since, replies.replies, replies.size)
        )
    return Plan(tuple(removals), tuple(kept))
