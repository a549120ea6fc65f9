"""The input of the writer: everything that makes up a release, except where it is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, model_validator

from data.contracts import (
    Candidate,
    Count,
    Disclosure,
    LedgerRow,
    LineageRow,
    Share,
    SourceFormat,
    StageConfig,
    StageTally,
    Verdict,
)
from data.reasons import Labels, ReasonWords, own_labels

# Configuration of a release: its name and card, the source of its sessions, the demo.

DEMO_NAME, DEMO_DATE = "benchmint-demo", dt.date(2026, 1, 15)


class CardConfig(StageConfig):
    """Settings for publishing the release.

    Without a `summary`, the card says how many tasks came from which kind of material.
    """

    title: str = Field(default="Benchmint snapshot", min_length=1)
    summary: Annotated[str, Field(min_length=1)] | None = None
    creator: str = Field(default="The publisher of this snapshot", min_length=1)
    url: str = Field(default="https://example.org/benchmint", pattern=r"^https?://[^\s]+$")
    licence: Annotated[str, Field(min_length=1)] | None = None  # none: no licence is declared
    licence_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$")] | None = None
    contact: str = ""

    @model_validator(mode="after")
    def _url_of_a_licence(self) -> CardConfig:
        if self.licence is None and self.licence_url is not None:
            raise ValueError("licence_url without a licence: state the licence, or leave out both")
        return self


# The demo is generated, so that nobody else has rights in it.
DEMO_LICENCE = {
    "licence": "CC-BY-4.0",
    "licence_url": "https://creativecommons.org/licenses/by/4.0/",
}


class ReleaseConfig(StageConfig):
    """What to release, under which name and date, and the public seed for all sampling.

    The demo workspace sets its own name and date.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)] = "benchmint"
    release_date: dt.date = DEMO_DATE
    # None: by date and revision, such as 20260115.0.0, since each selection is another MAJOR.
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")] | None = None
    seed: Count = 20260115
    # The key that signs: `SHA256:…`, as `ssh-keygen -l` names it. None: nobody is expected to.
    signer: Annotated[str, Field(pattern=r"^SHA256:[A-Za-z0-9+/]{43}$")] | None = None
    card: CardConfig = CardConfig()


class SourceConfig(StageConfig):
    """Where the sessions come from and who allowed their use (EnterpriseClawBench §6).

    An undeclared source is private; the demo workspace declares its own.
    """

    name: str = "sessions"
    disclosure: Disclosure = Disclosure.PRIVATE
    licence: str | None = None
    authorization: str = "not recorded"
    reviewer: str = "not recorded"
    reviewed: str = "not recorded"  # ISO date
    retention: str = "not recorded"
    format: SourceFormat | None = None  # none: detected for each file


class DemoConfig(StageConfig):
    """The generated workspace to build when there are no sessions."""

    size: Annotated[int, Field(gt=0)] = 60
    seed: Count = 7


# What a manifest also holds has no other keys than these.
_CLOSED = ConfigDict(extra="forbid")


class PrivacyStamp(StrEnum):
    """What was done about private text; printed on the card, the manifest and the report."""

    GENERATED = "generated"  # the input was made by the demo generator
    PUBLIC = "public"  # the recipe declares all sources public
    MASKED = "masked"  # masking and the leak scan have run


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What a rebuild needs. `inputs` maps public names of inputs to SHA-256, no file names."""

    recipe: Mapping[str, Any]
    inputs: Mapping[str, str]
    code_version: str
    lock_digest: str
    architecture: str
    release_key_digest: str
    seed: int


@dataclass(frozen=True, slots=True)
class LedgerTables:
    """The ledger, verdicts and lineage of a release.

    `tallies` are in pipeline order and `gates` in declared order (gates that are not listed
    follow by name); no other order matters. `verdicts` pairs item ids with verdicts, and `words`
    say what reasons and limits mean.
    """

    ledger: Sequence[LedgerRow]
    verdicts: Sequence[tuple[str, Verdict]]
    lineage: Sequence[LineageRow]
    tallies: Sequence[StageTally]
    gates: Sequence[str] = ()
    words: ReasonWords = field(default_factory=lambda: ReasonWords.of(()))


@dataclass(frozen=True, slots=True)
class Authorization:
    """Who authorized the use of the source, who reviewed it and when, and its retention."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED
    source: str
    authorization: str
    reviewer: str
    reviewed: str  # ISO date
    retention: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of the release: `inline` is an `<svg>` for a page that includes `style`,
    `standalone` the same as a separate file. Deterministic, without private text."""

    title: str
    inline: str
    standalone: str
    style: str


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """A Parquet file of the release, and the meaning of one row and of its columns."""

    path: Path
    row: str
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditedKind:
    """One kind of probe of the graders: of so many tasks, and in how many they did as expected.

    `expected` is `accepted` or `rejected`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED
    kind: str
    expected: Annotated[str, Field(pattern=r"^(accepted|rejected)$")]
    tasks: Count
    held: Count


@dataclass(frozen=True, slots=True)
class GradingFacts:
    """How the tasks of a release are scored.

    `formula`, `pass_threshold` and `null_limit` are those of the recipe. `deterministic_share` is
    the mean over the tasks of the share of weight that is scored without a judge; `judge_only`
    counts the tasks in which it is 0, `verified` those that were tried in a sandbox. `audit`: what
    the tasks' graders did with submissions whose worth is known.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED
    formula: str
    pass_threshold: Share
    null_limit: Share
    deterministic_share: Share
    judge_only: Count
    verified: Count = 0  # manifests of earlier versions have neither this
    audit: tuple[AuditedKind, ...] = ()  # nor this


@dataclass(frozen=True, slots=True)
class Release:
    """A release before it is written.

    `fixture_file` finds the stored content of a fixture by SHA-256; `opaque` turns a private
    id into the keyed id that the public half shows (letters, digits, `._-`; no two alike).
    `selection` and `privacy_report` become `audit/selection.json` and `audit/privacy.json`.
    `pictures` become `audit/<name>.svg` and sections of the report. `tables` become
    `tables/<name>.parquet` of the public half, and `answers`, a Parquet file, `answers.parquet`
    of the private one; `private_files` are further files of the private half by path, `worlds`
    files by task id, each the `world.json` of its private folder. `labels`: what labels mean.
    `run_info` (times, host, tool versions) is the only part that may differ between rebuilds.
    """

    name: str
    released: date
    candidates: Sequence[Candidate]
    fixture_file: Callable[[str], Path]
    opaque: Callable[[str], str]
    build: BuildFacts
    ledger_tables: LedgerTables
    privacy: PrivacyStamp
    authorization: Authorization
    card: CardConfig = field(default_factory=CardConfig)
    version: str | None = None  # None: by date and revision
    changes: Sequence[str] = ()
    grading: GradingFacts | None = None
    selection: Mapping[str, Any] | None = None
    privacy_report: Mapping[str, Any] | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    tables: Mapping[str, ReleasedTable] = field(default_factory=dict)
    answers: Path | None = None
    private_files: Mapping[str, Path] = field(default_factory=dict)
    worlds: Mapping[str, Path] = field(default_factory=dict)
    labels: Labels = field(default_factory=own_labels)
    run_info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SnapshotRef:
    """A complete snapshot on disk: its id, directory and digest.

    `written` is false if the same snapshot existed before.
    """

    snapshot: str
    path: Path
    digest: str
    written: bool
