"""The fixture gate: is every input file that the task declares at hand, and safe to release?

The observation comes from an adapter at the edge, `construction.sessions.fixtures.resolve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from construction.mentions.extensions import CODE_EXTENSIONS, extension, is_tool, tail
from construction.mentions.missing_paths import BY_AGENT, missing_path
from data.contracts import (
    Bound,
    Count,
    Gate,
    GateReason,
    Limit,
    MissingInput,
    Scalar,
    StageConfig,
    named_in_turn,
)

_SOME_FILES = 3  # of code: with fewer, an agent may have looked at a tool of its own


class FixtureReason(GateReason):
    UNRESOLVED = "fixture.unresolved", "A declared file cannot be found."
    NO_CODE = (
        "fixture.no_code",
        "The program code that the agent worked on is not among the files.",
    )
    NOT_FETCHED = (
        "fixture.not_fetched",
        "A declared file is only a pointer to content (Git LFS, git-annex).",
    )
    OUTSIDE_ROOTS = "fixture.outside_roots", "A declared file lies outside the given folders."
    SYMLINK = "fixture.symlink", "A declared file is a symbolic link."
    CREDENTIAL = "fixture.credential", "A declared file contains credentials."
    TOO_LARGE = "fixture.too_large", "A declared file, or all of them together, is too large."
    UNSAFE_ARCHIVE = "fixture.unsafe_archive", "A declared archive is not safe to unpack."
    OPAQUE_ARCHIVE = (
        "fixture.opaque_archive",
        "A declared archive cannot be looked into: 7z, RAR, zstd and the like, encrypted, damaged.",
    )
    NOT_REGULAR = "fixture.not_regular", "A declared file is a device, a pipe or a socket."


class FixtureConfig(StageConfig):
    """Limits in bytes and files.

    An archive is unsafe if it inflates past `max_inflated_bytes`, or past `max_inflation_ratio`
    times its size once it is over `free_inflated_bytes`, or if archives nest deeper than
    `max_nesting`. `workspace` says when the folder that the session worked in is added to the
    inputs, if the roots contain it: people take its content for granted and do not name it.
    `unread`: if the log does not tell which files the agent used.
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
    AS_IS = "as_is"  # an absolute path inside a root
    WORKING_FOLDER = "working_folder"  # relative to the folder that the session's cwd maps to
    ROOT = "root"  # relative to a root
    UNIQUE_TAIL = "unique_tail"  # the one file whose path ends like the name
    # The one file of the working folder so spelled but for capitals, signs and an older ending.
    OTHER_SPELLING = "other_spelling"
    TEXT = "text"  # a text of the working folder that says what the picture or recording holds
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
    name: str = field(default="", repr=False)  # as the person or the agent wrote it: private


@dataclass(frozen=True, slots=True)
class FixtureObservation:
    """Counts are of declared mentions; a folder is one. `total_bytes` is of the declared files.

    `refused` mentions exist but must not be released. `reason` is that of the first mention that
    is missing or refused. Where the agent worked on code and none is at hand, that is the reason
    unless a code file is missing by name: in a talk about a program, folders, data and pictures are
    mostly of its output.
    """

    instance_id: str
    declared: int
    resolved: int
    refused: int
    total_bytes: int
    reason: FixtureReason | None
    mentions: tuple[ResolvedMention, ...]

    @property
    def missing(self) -> tuple[MissingInput, ...]:
        """The declared files and folders that are not at hand, or must not be released.

        Missing code comes first, where it is the reason that which the agent read.
        """
        code = _missing_code(self.mentions) if self.reason is FixtureReason.NO_CODE else ()
        problems = [m for m in self.mentions if m.role == "declared" and m.problem is not None]
        return (
            *(missing_path(name, BY_AGENT) for name in code),
            *(
                missing_path(mention.name, named_in_turn(mention.turn))
                for mention in sorted(problems, key=_clearest_first)
            ),
        )


def measure(instance_id: str, mentions: Sequence[ResolvedMention]) -> FixtureObservation:
    """Count what was declared and what of it is at hand."""
    declared = [mention for mention in mentions if mention.role == "declared"]
    problems = [mention.problem for mention in declared if mention.problem is not None]
    reason = problems[0] if problems else None
    if problems and set(problems) == {FixtureReason.UNRESOLVED}:
        missing = [m.name for m in declared if m.problem is not None]
        reason = FixtureReason.NO_CODE if _is_about_code(missing, mentions) else reason
    return FixtureObservation(
        instance_id=instance_id,
        declared=len(declared),
        resolved=len(declared) - len(problems),
        refused=sum(problem is not FixtureReason.UNRESOLVED for problem in problems),
        total_bytes=sum(file.bytes for mention in declared for file in mention.files),
        reason=reason,
        mentions=tuple(mentions),
    )


def _is_about_code(missing: Sequence[str], mentions: Sequence[ResolvedMention]) -> bool:
    """Is the code that is not at hand more of an obstacle than what is missing by name?"""
    only_folders = all(name and not extension(name) for name in missing)
    is_much = len(_missing_code(mentions)) >= (1 if only_folders else _SOME_FILES)
    return is_much and not any(extension(name) in CODE_EXTENSIONS for name in missing)


def _clearest_first(mention: ResolvedMention) -> int:
    """Code, then other files, then folders, which a name in a talk may not even be."""
    kind = extension(mention.name)
    return 0 if kind in CODE_EXTENSIONS else 1 if kind or not mention.name else 2


def _missing_code(mentions: Sequence[ResolvedMention]) -> tuple[str, ...]:
    """The code files that the agent read and that are not at hand, if no code file is."""
    code = [m for m in mentions if extension(m.name) in CODE_EXTENSIONS]
    if any(mention.files for mention in code):
        return ()
    read = (m.name for m in code if m.role == "observed" and not is_tool(m.name))
    return tuple({tail(name): name for name in read}.values())


def counts(observation: FixtureObservation) -> dict[str, Scalar]:
    """What is recorded. Files that only the agent read are counted, and never reject."""
    observed = [mention for mention in observation.mentions if mention.role == "observed"]
    return {
        "declared": observation.declared,
        "resolved": observation.resolved,
        "refused": observation.refused,
        "total_bytes": observation.total_bytes,
        "observed_files": sum(1 for mention in observed if mention.problem is None),
        "observed_left_out": sum(1 for mention in observed if mention.problem is not None),
    }


GATE = Gate(
    name="fixture",
    stage="gates",
    section="sessions.fixture",
    meaning="Is every declared input file available, and safe to release?",
    config=FixtureConfig,
    reasons=FixtureReason,
    measure=measure,
    measures=counts,
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
            "At most this many declared files cannot be found.",
            None,
            lambda seen: seen["declared"] - seen["resolved"] - seen["refused"],
            at=0,
        ),
        Limit(
            "max_total_bytes",
            Bound.MAX,
            "bytes",
            "All declared files together have at most this size.",
            FixtureReason.TOO_LARGE,
            lambda seen: seen["total_bytes"],
        ),
    ),
)
