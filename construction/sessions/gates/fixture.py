"""The fixture gate: is every input file that the task declares at hand, and safe to release?

The observation comes from an adapter at the edge, `construction.sessions.fixtures.resolve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from data.contracts import Count, Scalar, StageConfig, Verdict

NAME = "fixture"


class FixtureReason(StrEnum):
    UNRESOLVED = "fixture.unresolved"
    OUTSIDE_ROOTS = "fixture.outside_roots"
    SYMLINK = "fixture.symlink"
    CREDENTIAL = "fixture.credential"
    TOO_LARGE = "fixture.too_large"
    UNSAFE_ARCHIVE = "fixture.unsafe_archive"
    NOT_REGULAR = "fixture.not_regular"


class FixtureConfig(StageConfig):
    """Limits in bytes and files.

    An archive is unsafe if it inflates past `max_inflated_bytes`, or past `max_inflation_ratio`
    times its size once it is over `free_inflated_bytes`, or if archives nest deeper than
    `max_nesting`. `include_workspace` adds the folder that the session worked in, where the roots
    hold it, to what the agent read: material that a person takes for granted without naming it.
    """

    max_file_bytes: Count = 50_000_000
    max_total_bytes: Count = 200_000_000
    max_folder_files: Count = 200
    max_observed_files: Count = 50
    include_workspace: bool = False
    free_inflated_bytes: Count = 16_000_000
    max_inflated_bytes: Count = 500_000_000
    max_inflation_ratio: Count = 100
    max_nesting: Count = 3


class Strategy(StrEnum):
    """How a name was matched with a file."""

    INLINE = "inline"  # the session's own media
    AS_IS = "as_is"  # an absolute path inside a root
    WORKING_FOLDER = "working_folder"  # relative to the folder that the session's cwd maps to
    ROOT = "root"  # relative to a root
    UNIQUE_TAIL = "unique_tail"  # the one file whose path ends like the name
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
    """What became of one named file or folder. `files` is empty exactly if there is a problem."""

    role: Literal["declared", "observed"]
    turn: int
    strategy: Strategy
    problem: FixtureReason | None
    files: tuple[FoundFile, ...] = ()


@dataclass(frozen=True, slots=True)
class FixtureObservation:
    """Counts are of mentions; a folder is one. `total_bytes` is of the declared files."""

    instance_id: str
    declared: int
    resolved: int
    total_bytes: int
    first_problem: FixtureReason | None
    mentions: tuple[ResolvedMention, ...]


def measure(instance_id: str, mentions: Sequence[ResolvedMention]) -> FixtureObservation:
    """Count what was declared and what of it is at hand."""
    declared = [mention for mention in mentions if mention.role == "declared"]
    problems = [mention.problem for mention in declared if mention.problem is not None]
    return FixtureObservation(
        instance_id=instance_id,
        declared=len(declared),
        resolved=len(declared) - len(problems),
        total_bytes=sum(file.bytes for mention in declared for file in mention.files),
        first_problem=problems[0] if problems else None,
        mentions=tuple(mentions),
    )


def judge(observation: FixtureObservation, config: FixtureConfig) -> Verdict:
    """Fails with the first problem: one declared file that is missing or refused rejects.

    `observed` is the number of resolved mentions, `limit` the number declared. What only the
    agent read never rejects.
    """
    seen = [mention for mention in observation.mentions if mention.role == "observed"]
    measures: dict[str, Scalar] = {
        "declared": observation.declared,
        "resolved": observation.resolved,
        "total_bytes": observation.total_bytes,
        "observed_files": sum(1 for mention in seen if mention.problem is None),
        "observed_left_out": sum(1 for mention in seen if mention.problem is not None),
    }
    resolved, declared = observation.resolved, observation.declared
    if observation.first_problem is not None:
        return Verdict.failing(NAME, observation.first_problem, resolved, declared, measures)
    if observation.total_bytes > config.max_total_bytes:
        return Verdict.failing(NAME, FixtureReason.TOO_LARGE, resolved, declared, measures)
    return Verdict.passing(NAME, resolved, declared, measures)
