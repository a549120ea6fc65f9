"""A series of releases: which exist, what changed from one to the next, what may be purged."""

from typing import TYPE_CHECKING

from data.late import late

if TYPE_CHECKING:
    from data.releases.diff import Diff, changes_between, with_changes
    from data.releases.facts import ReleaseFacts, facts_of_release, facts_of_snapshot
    from data.releases.listing import ReleaseInfo, State, previous_release, releases
    from data.releases.retention import (
        REPLIES,
        Kind,
        Plan,
        Removal,
        carry_out,
        plan_purge,
        replies_needed,
    )

__all__ = [
    "REPLIES",
    "Diff",
    "Kind",
    "Plan",
    "ReleaseFacts",
    "ReleaseInfo",
    "Removal",
    "State",
    "carry_out",
    "changes_between",
    "facts_of_release",
    "facts_of_snapshot",
    "plan_purge",
    "previous_release",
    "releases",
    "replies_needed",
    "with_changes",
]

__getattr__ = late(
    __name__,
    {
        "diff": ("Diff", "changes_between", "with_changes"),
        "facts": ("ReleaseFacts", "facts_of_release", "facts_of_snapshot"),
        "listing": ("ReleaseInfo", "State", "previous_release", "releases"),
        "retention": (
            "REPLIES",
            "Kind",
            "Plan",
            "Removal",
            "carry_out",
            "plan_purge",
            "replies_needed",
        ),
    },
)
