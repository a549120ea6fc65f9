"""The fixture gate: is every input file that the task declares at hand, and safe to release?

The observation comes from an adapter at the edge, `construction.sessions.fixtures.resolve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from construction.mentions.files import BY_AGENT, CODE_EXTENSIONS, extension, missing_file
from data.contracts import (
    Bound,
    Count,
    Gate,
    GateReason,
    Limit,
    MissingInput,
    Scalar,
    StageConfig,
    Status,
    named_in_turn,
)


class FixtureReason(GateReason):
    UNRESOLVED = (
        "fixture.unresolved",
        "A file that was attached or that the agent read cannot be found.",
    )
    NAMED_ONLY = (
        "fixture.named_only",
        "A file that is only mentioned cannot be found; it may be an input or a result.",
    )
    NO_CODE = (
        "fixture.no_code",
        "The program code that the agent worked on is not among the files.",
    )
    IN_PART = (
        "fixture.in_part",
        "The log has only part of a file that the agent read, and the file itself cannot be found.",
    )
    NOT_FETCHED = (
        "fixture.not_fetched",
        "A declared file is only a pointer to content (Git LFS, git-annex).",
    )
    OUTSIDE_ROOTS = "fixture.outside_roots", "A declared file is outside the input folders."
    SYMLINK = "fixture.symlink", "A declared file is a symbolic link."
    CREDENTIAL = "fixture.credential", "A declared file contains credentials."
    TOO_LARGE = "fixture.too_large", "A declared file, or all of them together, is too large."
    UNSAFE_ARCHIVE = "fixture.unsafe_archive", "A declared archive is not safe to unpack."
    OPAQUE_ARCHIVE = (
        "fixture.opaque_archive",
        "A declared archive cannot be inspected: 7z, RAR, zstd or similar, encrypted, or corrupt.",
    )
    NOT_REGULAR = "fixture.not_regular", "A declared file is a device, pipe or socket."


class FixtureConfig(StageConfig):
    """Limits in bytes and numbers of files.

    An archive is unsafe if it inflates past `max_inflated_bytes`, or past `max_inflation_ratio`
    times its size once over `free_inflated_bytes`, or if archives are nested deeper than
    `max_nesting`. `workspace` says when to add the session's working folder to the inputs if the
    input roots contain it, since people take its content for granted and do not mention it.
    `unread` adds it if the log does not show which files the agent used.
    """

    max_file_bytes: Count = 50_000_000
    max_total_bytes: Count = 200_000_000
    max_folder_files: Count = 200
    max_observed_files: Count = 50
    workspace: Literal["never", "unread", "always"] = "unread"
    free_inflated_bytes: Count = 16_000_000
    max_inflated_bytes: Count = 500_000_000
    max_inflation_ratio: Count = 100
    max_nesting: Count = 3


class Strategy(StrEnum):
    """How a name was matched with a file."""

    INLINE = "inline"  # the session's own media
    KEPT = "kept"  # its text as the agent read it
    AS_IS = "as_is"  # an absolute path inside a root
    WORKING_FOLDER = "working_folder"  # relative to the folder that the session's cwd maps to
    ROOT = "root"  # relative to a root
    UNIQUE_TAIL = "unique_tail"  # the one file whose path ends like the name
    # The one file of the working folder so spelled but for capitals, signs and an older ending.
    OTHER_SPELLING = "other_spelling"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file to copy: `relative` to `root`, or inline media (base64); `target` is its wish.

    `root` is where it lies on this machine: runtime, never part of an output. `sha256` is of the
    content that was checked.
    """

    root: Path | None
    relative: str
    target: str
    bytes: int
    inline: str | None = field(default=None, repr=False)
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """What became of one named file or folder. `files` is empty exactly if there is a problem.

    `source` says how it is known: attached, named in the person's words, or read by the agent.
    """

    role: Literal["declared", "observed"]
    turn: int
    strategy: Strategy
    problem: FixtureReason | None
    files: tuple[FoundFile, ...] = ()
    name: str = field(default="", repr=False)  # as the person or the agent wrote it: private
    source: Literal["attached", "named", "read"] = "attached"


# Whether something that the task needs is lacking, screening tells.
_OPEN = (FixtureReason.NAMED_ONLY, FixtureReason.IN_PART)


@dataclass(frozen=True, slots=True)
class FixtureObservation:
    """Counts of files that are inputs by facts: attached, at hand and named, or read by the agent.

    A folder is one. `refused` ones exist but must not be released; `absent` ones cannot be found.
    `unverified` files are only named in words, or known in part, and are nowhere. `total_bytes` is
    of the declared files. `reason` is that of the first that is absent or refused; where most of
    these are program code and none is at hand, that is the reason.
    """

    instance_id: str
    declared: int
    resolved: int
    refused: int
    absent: int
    unverified: int
    total_bytes: int
    reason: FixtureReason | None
    mentions: tuple[ResolvedMention, ...]

    @property
    def missing(self) -> tuple[MissingInput, ...]:
        """The files and folders that are not at hand, or must not be released; facts first."""
        problems = sorted((m for m in self.mentions if _is_fact(m)), key=lambda m: m.turn < 0)
        return tuple(
            missing_file(m.name, BY_AGENT if m.source == "read" else named_in_turn(m.turn))
            for m in problems or [m for m in self.mentions if m.problem in _OPEN]
        )


def _is_fact(mention: ResolvedMention) -> bool:
    """Does it fail the gate? A file outside the folders that an agent looked at is none."""
    if mention.problem is None or mention.problem in _OPEN:
        return False
    return mention.source != "read" or mention.problem is FixtureReason.UNRESOLVED


def measure(instance_id: str, mentions: Sequence[ResolvedMention]) -> FixtureObservation:
    """Count what is an input and what of it is at hand."""
    facts = [mention for mention in mentions if _is_fact(mention)]
    inputs = [mention for mention in mentions if mention.role == "declared" and mention.files]
    absent = [mention for mention in facts if mention.problem is FixtureReason.UNRESOLVED]
    return FixtureObservation(
        instance_id=instance_id,
        declared=len(inputs) + len(facts),
        resolved=len(inputs),
        refused=len(facts) - len(absent),
        absent=len(absent),
        unverified=sum(mention.problem in _OPEN for mention in mentions),
        total_bytes=sum(file.bytes for mention in inputs for file in mention.files),
        reason=_reason(facts, absent, mentions),
        mentions=tuple(mentions),
    )


def _reason(
    facts: Sequence[ResolvedMention],
    absent: Sequence[ResolvedMention],
    mentions: Sequence[ResolvedMention],
) -> FixtureReason | None:
    if not facts:
        return next((one.problem for one in mentions if one.problem in _OPEN), None)
    refused = [mention.problem for mention in facts if mention not in absent]
    if refused or not absent:
        return refused[0] if refused else None
    code = [mention for mention in absent if extension(mention.name) in CODE_EXTENSIONS]
    is_at_hand = any(
        extension(file.target) in CODE_EXTENSIONS for mention in mentions for file in mention.files
    )
    is_code = len(code) * 2 > len(absent) and not is_at_hand
    return FixtureReason.NO_CODE if is_code else FixtureReason.UNRESOLVED


def _counts(observation: FixtureObservation) -> dict[str, Scalar]:
    """What is recorded."""
    observed = [mention for mention in observation.mentions if mention.role == "observed"]
    return {
        "declared": observation.declared,
        "resolved": observation.resolved,
        "refused": observation.refused,
        "absent": observation.absent,
        "unverified": observation.unverified,
        "total_bytes": observation.total_bytes,
        "observed_files": sum(1 for mention in observed if mention.files),
        "observed_left_out": sum(1 for mention in observed if not mention.files),
    }


GATE = Gate(
    name="fixture",
    stage="gates",
    section="sessions.fixture",
    meaning="Is every declared input file available and safe to release?",
    config=FixtureConfig,
    reasons=FixtureReason,
    measure=measure,
    measures=_counts,
    headline="missing files",
    limits=(
        Limit(
            "refused files",
            Bound.MAX,
            "files",
            "No declared file is unsafe, secret or too large.",
            None,
            lambda seen: seen["refused"],
            at=0,
            movable=False,
        ),
        Limit(
            "missing files",
            Bound.MAX,
            "files",
            "Every file that was attached or that the agent read can be found.",
            None,
            lambda seen: seen["absent"],
            at=0,
        ),
        Limit(
            "max_total_bytes",
            Bound.MAX,
            "bytes",
            "The declared files have at most this total size.",
            FixtureReason.TOO_LARGE,
            lambda seen: seen["total_bytes"],
        ),
        Limit(
            "unverified files",
            Bound.MAX,
            "files",
            "A file that is only mentioned, or only partly in the log, is available, or "
            "screening can tell what it is.",
            None,
            lambda seen: seen["unverified"],
            at=0,
            movable=False,
            status=Status.UNVERIFIED,
        ),
    ),
)
