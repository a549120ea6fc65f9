"""Snapshots: `write_snapshot` writes a release, `verify` checks one on disk."""

from typing import TYPE_CHECKING

from data.late import late
from data.snapshot.config import CardConfig
from data.snapshot.release import (
    Authorization,
    BuildFacts,
    LedgerTables,
    Picture,
    PrivacyStamp,
    Release,
    SnapshotRef,
)

if TYPE_CHECKING:
    from data.snapshot.verification import Check, Finding, VerifyReport, verify
    from data.snapshot.writer import mark_latest, write_snapshot

__all__ = [
    "Authorization",
    "BuildFacts",
    "CardConfig",
    "Check",
    "Finding",
    "LedgerTables",
    "Picture",
    "PrivacyStamp",
    "Release",
    "SnapshotRef",
    "VerifyReport",
    "mark_latest",
    "verify",
    "write_snapshot",
]

__getattr__ = late(
    __name__,
    {
        "verification": ("Check", "Finding", "VerifyReport", "verify"),
        "writer": ("mark_latest", "write_snapshot"),
    },
)
