"""Configuration: the recipe (digested) and the runtime (never digested), from TOML and environment.

Everything has a default; `BENCHMINT_<SECTION>__<KEY>` overrides a value, e.g.
`BENCHMINT_RELEASE__SEED=7` or `BENCHMINT_RUNTIME__WORKERS=4` (values are read as TOML).
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from anonymization.masking_recipe import MaskingRecipe, for_source
from anonymization.tables.config import TablesRecipe
from construction.analytics.config import AnalyticsRecipe
from construction.grading.gate import GradingRecipe
from construction.grading.sandbox_preflight import SandboxRecipe
from construction.judging.calls.contracts import LlmRuntime
from construction.judging.settings import Judges, JudgingConfig, ModelCalls
from construction.repositories.contracts import RepositoriesConfig
from construction.sessions.config import NetworkRuntime, SessionsConfig
from construction.signals.config import RegistryConfig, SignalsRecipe
from construction.statements.questions.contracts import StatementsRecipe
from construction.workflows.screening import WorkflowsRecipe
from data.canonical import digest
from data.configuration import Section, merge, read_layers, read_section, validated
from data.contracts import AnyPath, StageConfig
from data.sharding import Runner, require_fitting
from data.snapshot import layout
from data.snapshot.release import DEMO_NAME, DemoConfig, ReleaseConfig, SourceConfig
from selection.config import SamplingConfig, SelectionRecipe


class QuestionsRecipe(StatementsRecipe):
    """How to turn statements into questions, and how many of each kind to draw."""

    sampling: SamplingConfig = SamplingConfig()


class _Sections(StageConfig):
    """The sections of the recipe, in the order of the documentation."""

    release: ReleaseConfig = ReleaseConfig()
    source: SourceConfig = SourceConfig()
    demo: DemoConfig = DemoConfig()
    sessions: SessionsConfig = SessionsConfig()
    masking: MaskingRecipe = MaskingRecipe()
    judging: JudgingConfig = JudgingConfig()
    signals: SignalsRecipe = SignalsRecipe()
    questions: QuestionsRecipe = QuestionsRecipe()
    tables: TablesRecipe = TablesRecipe()
    analytics: AnalyticsRecipe = AnalyticsRecipe()
    workflows: WorkflowsRecipe = WorkflowsRecipe()
    repositories: RepositoriesConfig = RepositoriesConfig()
    grading: GradingRecipe = GradingRecipe()
    selection: SelectionRecipe = SelectionRecipe()
    preflight: SandboxRecipe = SandboxRecipe()


class Recipe(_Sections):
    """All that decides what a snapshot holds. Stored whole in the manifest."""

    @model_validator(mode="after")
    def _with_masking_level(self) -> Self:
        """The level of masking is decided by the source, and remains a default if it was one."""
        level = for_source(self.masking, self.source.disclosure).level
        values = dict(self.masking) | {"level": level}
        masking = MaskingRecipe.model_construct(self.masking.model_fields_set, **values)
        object.__setattr__(self, "masking", masking)  # the model is frozen once it is validated
        return self

    def digest(self) -> str:
        return digest(self.model_dump(mode="json"))


class Runtime(StageConfig):
    """How to run a build, not what it makes: paths, workers, revision. Not part of the digest."""

    sessions: tuple[AnyPath, ...] = ()  # session logs and folders; with none, the demo is built
    signals: tuple[AnyPath, ...] = ()  # popularity snapshots, with the date in each file name
    registry: RegistryConfig = RegistryConfig()  # where `refresh-signals` collects snapshots
    files: tuple[AnyPath, ...] = ()  # folders with the sessions' input files
    repos: tuple[AnyPath, ...] = ()  # folders with clones or bundles that sessions worked in
    scores: AnyPath | None = None  # pilot scores by task ID: item,family,model,score
    last_release: AnyPath | None = None  # snapshot for `max_changed` to compare with
    sec: tuple[AnyPath, ...] = ()  # SEC data sets: zips or folders
    tickers: AnyPath | None = None  # today's US listings: cik, ticker, exchange
    edinet: tuple[AnyPath, ...] = ()  # EDINET summaries, with the code list in the same folder
    xbrl: tuple[AnyPath, ...] = ()  # xBRL-JSON documents: files, zips or folders
    tables: tuple[AnyPath, ...] = ()  # tables to anonymize: files or folders
    environment: AnyPath | None = None  # environment declaration for analytics tasks
    environment_files: AnyPath | None = None  # its files, if not in the declaration's folder
    proposals: AnyPath | None = None  # proposed workflow tasks, one JSON object per line
    categories: AnyPath | None = None  # category table to use instead of the built-in one
    out: AnyPath = Path("workspace")
    approvals: AnyPath | None = None  # pictures and PDFs a person approved: SHA-256, who
    private_values: AnyPath | None = None  # values the owner knows to be private, one per line
    reviewed: AnyPath | None = None  # words.csv with decisions, from an earlier build or mask run
    tripwires: AnyPath | None = None  # planted values that must not be released, one per line
    key_file: AnyPath | None = None  # default: <out>/private/release.key
    workers: Annotated[int, Field(ge=1)] = min(4, os.cpu_count() or 1)
    runner: Runner = Runner.PROCESSES  # what runs the shards; dask and ray are extras
    cluster: str | None = None  # address of a Dask or Ray cluster; none: a local one
    shared: str | None = None  # storage for a cluster that cannot see `out`: s3://, file://
    shard_bytes: Annotated[int, Field(ge=1)] = 8 * 1024 * 1024
    network: NetworkRuntime = NetworkRuntime()
    llm: LlmRuntime = LlmRuntime()  # the model's endpoint; [judging.model] in the recipe names it
    recogniser: LlmRuntime = LlmRuntime()  # that of the model in [masking.recogniser]
    model_calls: ModelCalls = ModelCalls()
    revision: bool = False  # add -r2 to the name if a release with another digest has it
    quiet: bool = False

    @model_validator(mode="after")
    def _with_fitting_runner(self) -> Self:
        require_fitting(self.runner, self.cluster, self.shared)
        return self

    @property
    def material(self) -> tuple[Path, ...]:
        """What must lie apart from the output."""
        given = (self.environment, self.environment_files)
        environment = [path for path in given if path is not None]
        sources = (*self.sessions, *self.files, *self.repos, *self.statements, *self.tables)
        return *sources, *environment

    @property
    def statements(self) -> tuple[Path, ...]:
        """Where financial statements come from, in any form."""
        return *self.sec, *self.edinet, *self.xbrl

    @property
    def single_files(self) -> tuple[Path | None, ...]:
        """The paths of which there is at most one."""
        known = (self.scores, self.last_release, self.approvals, self.proposals)
        owners = (self.private_values, self.reviewed)
        return (
            *known,
            *owners,
            self.tripwires,
            self.tickers,
            self.categories,
            self.model_calls.recorded,
        )

    @property
    def has_input(self) -> bool:
        """Is real material given? Otherwise the demo workspace is built."""
        return bool(self.sessions or self.statements or self.tables or self.environment)

    def label(self, recipe: Recipe) -> dict[str, str]:
        """What Prefect shows of a run: which snapshot is built, and where. Nothing else of it."""
        name = layout.snapshot_id(recipe.release.name, recipe.release.release_date)
        return {"snapshot": name, "out": self.model_dump(mode="json", include={"out"})["out"]}

    def release_before(self, recipe: Recipe) -> Path | None:
        """The release that this one follows: the one given, else the newest with its name."""

        from data.releases.listing import previous_release

        release = recipe.release
        snapshots = self.out / "snapshots"
        return self.last_release or previous_release(snapshots, release.name, release.release_date)

    def judges(self, recipe: Recipe) -> Judges:
        """Who judges in a build, and how its models are reached."""
        return Judges(recipe.judging, self.model_calls, self.llm, self.out)


def demo_folder(recipe: Recipe, runtime: Runtime) -> Path:
    """Where a build without input writes the demo workspace."""
    return runtime.out / f"demo-{recipe.demo.size}-{recipe.demo.seed}"


class Settings(_Sections):
    """One configuration file: the recipe's sections and [runtime]."""

    runtime: Runtime = Runtime()

    @property
    def recipe(self) -> Recipe:
        """The recipe, which remembers what was set and what is default."""
        return Recipe.model_validate(self.model_dump(exclude_unset=True, exclude={"runtime"}))

    def dated(self, day: dt.date) -> Self:
        """Released as of `day`, where real input is given and no date is configured."""
        if not self.runtime.has_input or "release_date" in self.release.model_fields_set:
            return self
        return self.released(day)

    @property
    def snapshot_id(self) -> str:
        """The snapshot that a build makes: the demo's has a name of its own, unless configured."""
        release = self.release
        own = not self.runtime.has_input and "name" not in release.model_fields_set
        return layout.snapshot_id(DEMO_NAME if own else release.name, release.release_date)

    def released(self, day: dt.date) -> Self:
        """Released as of `day`, overriding the configuration."""
        release = self.release.model_copy(update={"release_date": day})
        return self.model_copy(update={"release": release})


def load_settings(
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Defaults, then the file, then the environment, then `overrides` (from the command line).

    Raises ConfigError naming the file, each wrong key, what was found and what is expected.
    """
    values = read_layers(path, environment)
    merge(values, overrides or {})
    return validated(Settings, values, path)


def load_section(
    model: type[Section],
    name: str,
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Section:
    """One section of a build's configuration for a standalone command; the same layers."""
    values = read_layers(path, os.environ)
    return read_section(model, name, Settings(), values, path, overrides or {})
