"""What the lane over repositories hands on: repositories, bases, references, environments, proofs.

Plain records, written as JSON lines between stages; patches and trees stay in the git store.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter

from data.contracts import Count, Share, StageConfig

_Record = TypeVar("_Record")


class RepositoryReason(StrEnum):
    """Why a session or a task over a repository is rejected; renaming one is a breaking change."""

    UNREADABLE = "repository.unreadable"
    UNMATCHED = "repository.unmatched"
    NO_LICENCE = "repository.no_licence"
    NO_TASK = "repository.no_task"
    BASE_UNCLEAR = "repository.base_unclear"
    MERGE = "repository.merge"
    NO_CHANGE = "repository.no_change"
    NO_TESTS = "repository.no_tests"
    UNSAFE_PATH = "repository.unsafe_path"
    LINK_OUTSIDE = "repository.link_outside"
    SUBMODULE = "repository.submodule"
    LFS = "repository.lfs"
    TOO_LARGE = "repository.too_large"
    SECRET = "repository.secret"  # noqa: S105 (a reason)
    ANSWER_IN_TREE = "repository.answer_in_tree"
    SAME_CHANGE = "repository.same_change"
    NO_ENVIRONMENT = "repository.no_environment"
    PRIVATE_DEPENDENCY = "repository.private_dependency"
    BUILDS_OFF = "environment.builds_off"
    NO_SANDBOX = "environment.no_sandbox"
    BUILD_FAILED = "environment.build_failed"
    NOT_RUN = "tests.not_run"
    TIMED_OUT = "tests.timed_out"
    NO_FAIL_TO_PASS = "tests.no_fail_to_pass"  # noqa: S105 (a reason)
    FLAKY = "tests.flaky"
    UNPROVEN = "tests.unproven"
    ATTACKED = "tests.attacked"
    NO_RUBRIC = "tests.no_rubric"
    NEEDS_MODEL = "request.needs_model"
    NO_REQUEST = "request.no_request"
    GIVES_PATCH = "request.gives_patch"
    UNSAID = "request.unsaid"
    OTHER_WORK = "request.other_work"


class RepositoriesConfig(StageConfig):
    """How to turn sessions in repositories into tasks. Building environments is off by default."""

    min_confidence: Share = 0.7  # least confidence that the base commit is right
    max_files: Count = 20_000
    max_bytes: Count = 64 << 20  # size of the shipped tree
    left_out: tuple[str, ...] = ()  # folders not to ship, besides recognised transcripts
    min_request_chars: Count = 20
    max_request_chars: Count = 8_000  # of a request written by a model
    max_given_share: Share = 0.2  # share of the patch's lines that the request may contain
    min_edited: Share = 0.6  # share of a change's files that the session must have edited
    max_unsaid: Count = 40  # names and texts from hidden tests that may be added to the request
    build_environments: bool = False
    build_seconds: Count = 900
    test_seconds: Count = 120
    runs: Count = 5  # of the tests on the reference; tests that differ between runs are flaky
    neighbours: Count = 12  # test files to run besides the hidden ones, nearest first
    rubric_without_tests: bool = False  # if no tests can be proven, a model writes a rubric


class EvidenceKind(StrEnum):
    """What says which commit a task began at, strongest first."""

    TRAILER = "trailer"  # a trailer of the ending commit names the session
    LOGGED = "logged"  # git printed the ending commit in the log
    CARRIED = "carried"  # the ending commit carries the transcript
    SUBJECT = "subject"  # a commit of that time has the subject that git printed
    CONTENTS = "contents"  # files that the agent read are those of one commit alone
    TIME = "time"  # the newest commit before the session


# How sure each kind alone makes; contents that agree or differ are added to it.
CONFIDENCE = {
    EvidenceKind.TRAILER: 0.95,
    EvidenceKind.LOGGED: 0.95,
    EvidenceKind.CARRIED: 0.8,
    EvidenceKind.SUBJECT: 0.8,
    EvidenceKind.CONTENTS: 0.9,
    EvidenceKind.TIME: 0.5,
}


@dataclass(frozen=True, slots=True)
class BaseCommit:
    """The commit that a task starts from, how it was found, and how sure that is (0 to 1)."""

    commit: str
    evidence: tuple[EvidenceKind, ...]
    confidence: float
    files_agree: int = 0
    files_differ: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file as the log has it: whole content, or old text to new text."""

    path: str
    content: str | None = None
    old: str | None = None
    new: str = ""
    everywhere: bool = False
    delete: bool = False


class Speaker(StrEnum):
    """Who or what said something in a session."""

    PERSON = "person"
    AGENT = "agent"
    OUTPUT = "output"  # of a tool that the agent called
    COMMIT = "commit"  # the subject of the commit that ended a task


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said in a session; `before`: in its tasks before this one."""

    speaker: Speaker
    text: str
    before: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryTask:
    """A task recovered from a session over a repository, before its tests are known.

    `base_tree` is the shipped tree, `reference_tree` that with the reference; both are git trees of
    the store. `replayed` is the share of changed files that the replay of the log leaves as the
    ending commit does, None where only one of the two exists.
    """

    task: str  # <repository>/<first letters of what ended it>
    repository: str
    licence: str
    session_uid: str
    source_path: str
    source_format: str
    talk: tuple[Said, ...]
    base: BaseCommit
    ending: str | None
    base_tree: str
    reference_tree: str
    replayed: float | None = None
    edited: float | None = None  # share of the visible files of the change; None without edits
    left_out: int = 0  # links and files that masking could not change

    @property
    def messages(self) -> tuple[str, ...]:
        """What the person said in this task, in order."""
        own = (said for said in self.talk if not said.before)
        return tuple(said.text for said in own if said.speaker is Speaker.PERSON)

    @property
    def opens(self) -> bool:
        """Did the person say nothing before it in the session, which the words may lean on?"""
        return not any(s.before and s.speaker is Speaker.PERSON for s in self.talk)


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """What the tests of a tree need: its kind, and the declared packages or install files."""

    kind: str  # python, npm, pnpm, bun
    packages: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # path -> text of manifests and locks
    project: str | None = None


@dataclass(frozen=True, slots=True)
class TestPlan:
    """How the hidden tests of a task are run: the commands, and the tests that decide.

    `hidden` are the files that are laid over a submission (base64, None: removed).
    """

    commands: tuple[dict[str, Any], ...]
    hidden: tuple[tuple[str, str | None], ...]
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    seconds: int = 120


@dataclass(frozen=True, slots=True)
class ProofOfTests:
    """What running showed: the plan with the tests that decide, or the reason why there is none."""

    task: str
    environment: str
    plan: TestPlan
    reason: RepositoryReason | None = None
    note: str = ""
    flaky: int = 0
    attacks: tuple[str, ...] = ()  # tried, none of which passed
    judge: str | None = None  # the model that wrote the tests; None: the session brought them
    mutants: tuple[int, int] = (0, 0)  # of the reference: noticed by tests of a model, and tried


def dump(record: object) -> bytes:
    """A record as one line of JSON."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS) + b"\n"


def load(kind: type[_Record], content: bytes) -> list[_Record]:
    """The records of a kind that `dump` wrote, a line each."""
    reader = TypeAdapter(kind)
    return [reader.validate_json(line) for line in content.splitlines()]
