"""Configuration: the recipe (digested) and the runtime (never digested), from TOML and environment.

Everything has a default; `BENCHMINT_<SECTION>__<KEY>` overrides a value, e.g.
`BENCHMINT_RELEASE__SEED=7` or `BENCHMINT_RUNTIME__WORKERS=4` (values are read as TOML).
"""

from __future__ import annotations

import datetime as dt
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetPydanticSchema, PlainSerializer, ValidationError
from pydantic_core.core_schema import any_schema

from construction.judging.calls.config import LlmRuntime
from construction.judging.judge import JudgingConfig, ModelCalls
from construction.sessions.config import SessionsConfig
from construction.sessions.probe.client import NetworkRuntime
from construction.signals.collect import CollectConfig
from construction.signals.config import SignalsConfig
from construction.tables.enrichment.contracts import EnrichmentConfig
from construction.tables.filters import FilterConfig
from construction.tables.hierarchy.rebuild import HierarchyConfig
from construction.tables.questions.contracts import QuestionConfig
from construction.tables.readers.edinet.config import EdinetConfig
from construction.tables.readers.sec.config import SecConfig
from data.canonical import canonical_json, digest
from data.contracts import Disclosure, SourceFormat, StageConfig
from data.errors import ConfigError
from data.snapshot.release import CardConfig
from flows.masking_recipe import MaskingRecipe
from flows.sharding import Runner
from flows.tables_recipe import TablesRecipe
from selection.config import Band, Objective
from selection.sampling.config import SamplingConfig

Section = TypeVar("Section", bound=StageConfig)

PREFIX = "BENCHMINT_"
DEMO_DATE = dt.date(2026, 1, 15)


class ReleaseConfig(StageConfig):
    """What is released, under which name and date, and the public seed of all sampling."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)] = (
        "benchmint-demo"
    )
    release_date: dt.date = DEMO_DATE
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    seed: Annotated[int, Field(ge=0)] = 20260115
    card: CardConfig = CardConfig()


class SourceConfig(StageConfig):
    """Where the sessions come from and who allowed their use (EnterpriseClawBench §6)."""

    name: str = "demo"
    disclosure: Disclosure = Disclosure.PUBLIC
    licence: str | None = None
    authorization: str = "not recorded"
    reviewer: str = "not recorded"
    reviewed: str = "not recorded"  # ISO date
    retention: str = "not recorded"
    format: SourceFormat | None = None  # None: detected file by file


class DemoConfig(StageConfig):
    """The generated workspace that is built when no sessions are given."""

    size: Annotated[int, Field(gt=0)] = 60
    seed: Annotated[int, Field(ge=0)] = 7


class SignalsRecipe(StageConfig):
    """What is popular: which registry, how its signals are chosen and shared out."""

    source: str = "registry"
    collect: CollectConfig = CollectConfig()
    analysis: SignalsConfig = SignalsConfig()


class SelectionRecipe(StageConfig):
    """Which candidates are released.

    `max_tasks`: more candidates than that are selected from (None: all are released), by family
    quotas from the market's mixture, spread over difficulties and sources. Where the runtime names
    pilot scores, `objective` says what they decide, `pilots` which models count (none: all) and
    `selection_threshold` what passes. `lane_shares` hold wherever candidates come from more than
    one lane. `lite_size`: tasks of the subset for manual audit (None: none is drawn).
    """

    max_tasks: Annotated[int, Field(gt=0)] | None = None
    max_changed: Annotated[float, Field(ge=0, le=1)] | None = None
    objective: Objective = Objective.MARGINS
    pilots: tuple[str, ...] = ()
    selection_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    lane_shares: Mapping[str, Band] = Field(default_factory=lambda: {"questions": Band(high=0.3)})
    lite_size: Annotated[int, Field(gt=0)] | None = None


class QuestionsRecipe(StageConfig):
    """How statements become questions: readers, names, periods, filters, sampling, wording."""

    sec: SecConfig = SecConfig()
    edinet: EdinetConfig = EdinetConfig()
    hierarchy: HierarchyConfig = HierarchyConfig()
    filters: FilterConfig = FilterConfig()
    sampling: SamplingConfig = SamplingConfig()
    wording: QuestionConfig = QuestionConfig()
    enrichment: EnrichmentConfig = EnrichmentConfig()
    licence: str | None = None


class Recipe(StageConfig):
    """All that decides what a snapshot holds. Stored whole in the manifest."""

    release: ReleaseConfig = ReleaseConfig()
    source: SourceConfig = SourceConfig()
    demo: DemoConfig = DemoConfig()
    sessions: SessionsConfig = SessionsConfig()
    masking: MaskingRecipe = MaskingRecipe()
    judging: JudgingConfig = JudgingConfig()
    signals: SignalsRecipe = SignalsRecipe()
    questions: QuestionsRecipe = QuestionsRecipe()
    tables: TablesRecipe = TablesRecipe()
    selection: SelectionRecipe = SelectionRecipe()

    def digest(self) -> str:
        return digest(self.model_dump(mode="json"))


def _as_text(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# Prefect keeps the parameters of a flow as UTF-8, which the name of a file need not be.
AnyPath = Annotated[Path, PlainSerializer(_as_text, when_used="json")]


class Runtime(StageConfig):
    """How a build is run, not what it makes: paths, workers, politeness. Never digested."""

    sessions: tuple[AnyPath, ...] = ()  # session logs and folders; none: the demo workspace
    signals: tuple[AnyPath, ...] = ()  # popularity snapshots, the date in each file's name
    files: tuple[AnyPath, ...] = ()  # folders the sessions' files lie in
    scores: AnyPath | None = None  # pilot scores by task id: item,family,model,score
    last_release: AnyPath | None = None  # the snapshot that `max_changed` compares with
    sec: tuple[AnyPath, ...] = ()  # SEC data sets: zips or folders
    tickers: AnyPath | None = None  # today's US listings: cik, ticker, exchange
    edinet: tuple[AnyPath, ...] = ()  # EDINET summaries, the code list beside them
    tables: tuple[AnyPath, ...] = ()  # tables to anonymize, and folders of them
    categories: AnyPath | None = None  # a table of categories instead of the project's own
    out: AnyPath = Path("workspace")
    approvals: AnyPath | None = None  # pictures and PDFs that a person released: sha256, who
    tripwires: AnyPath | None = None  # planted values that must never surface, one a line
    key_file: AnyPath | None = None  # default: <out>/private/release.key
    workers: Annotated[int, Field(ge=1)] = min(4, os.cpu_count() or 1)
    runner: Runner = Runner.PROCESSES  # who runs the shards; dask and ray are extras
    cluster: str | None = None  # address of a Dask or Ray cluster; none: one on this machine
    shard_bytes: Annotated[int, Field(ge=1)] = 8 * 1024 * 1024
    network: NetworkRuntime = NetworkRuntime()
    llm: LlmRuntime = LlmRuntime()  # the model's endpoint; [judging.model] in the recipe names it
    model_calls: ModelCalls = ModelCalls()
    revision: bool = False  # write -r2 when the name is taken by another digest
    quiet: bool = False

    @property
    def shards(self) -> tuple[int, Runner, str | None]:
        """How sharded stages are run: `map_shards` takes it."""
        return self.workers, self.runner, self.cluster


# Prefect makes a JSON schema of each flow's parameters, half a second for models of this size; who
# deploys has plain parameters instead (flows.deployed).
_PASSED_ON = GetPydanticSchema(lambda _source, _handler: any_schema())
FlowRecipe = Annotated[Recipe, _PASSED_ON]
FlowRuntime = Annotated[Runtime, _PASSED_ON]


class Settings(StageConfig):
    """One configuration file: the recipe's sections and [runtime]."""

    release: ReleaseConfig = ReleaseConfig()
    source: SourceConfig = SourceConfig()
    demo: DemoConfig = DemoConfig()
    sessions: SessionsConfig = SessionsConfig()
    masking: MaskingRecipe = MaskingRecipe()
    judging: JudgingConfig = JudgingConfig()
    signals: SignalsRecipe = SignalsRecipe()
    questions: QuestionsRecipe = QuestionsRecipe()
    tables: TablesRecipe = TablesRecipe()
    selection: SelectionRecipe = SelectionRecipe()
    runtime: Runtime = Runtime()

    @property
    def recipe(self) -> Recipe:
        """The recipe, which remembers what was set and what is default."""
        return Recipe.model_validate(self.model_dump(exclude_unset=True, exclude={"runtime"}))


def load_settings(
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Defaults, then the file, then the environment, then `overrides` (from the command line).

    Raises ConfigError naming the file, each wrong key, what was found and what is expected.
    """
    values = _layers(path, environment)
    _merge(values, overrides or {})
    return _validated(Settings, values, path)


def load_section(
    model: type[Section],
    name: str,
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Section:
    """One section of a configuration file for a command that stands alone; the same layers."""
    values = _layers(path, environment).get(name, {})
    _merge(values, overrides or {})
    return _validated(model, values, path)


def recipe_over(path: Path, recipe: Recipe) -> Recipe:
    """The configuration file `path` with what `recipe` was explicitly given on top."""
    values = {name: part for name, part in _read(path).items() if name in Recipe.model_fields}
    _merge(values, recipe.model_dump(exclude_unset=True))
    return _validated(Recipe, values, path)


def _layers(path: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if path is not None:
        _merge(values, _read(path))
    _merge(values, _from_environment(environment))
    return values


def _validated(model: type[Section], values: Mapping[str, Any], path: Path | None) -> Section:
    try:
        section = model.model_validate(values)
        # What no JSON can hold, the manifest cannot; paths may be any bytes.
        canonical_json(section.model_dump(mode="json", exclude={"runtime"}))
        return section
    except ValidationError as error:
        lines = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)
        )
        raise ConfigError(f"{path or 'configuration'}: {lines}") from None
    except TypeError:
        raise ConfigError(
            f"{path or 'configuration'}: found an integer of more than 64 bits, or a text that "
            "is no UTF-8; expected smaller numbers and plain text."
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not TOML ({error}).") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in sorted(environment):
        section, separator, rest = name.removeprefix(PREFIX).partition("__")
        if not name.startswith(PREFIX) or not separator:
            continue
        nested: Any = _parsed(environment[name])
        for part in reversed([section, *rest.split("__")]):
            nested = {part.lower(): nested}
        _merge(values, nested)
    return values


def _parsed(text: str) -> Any:
    """A TOML value, or the text itself where it is none (so that words need no quotes)."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        elif isinstance(value, Mapping):
            into[name] = {}
            _merge(into[name], value)
        else:
            into[name] = value
