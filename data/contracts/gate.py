"""A gate as one record: what it asks, what it measures, and the limits that decide.

Verdicts, the what-if of the audit page, the tables in the docs and the names of settings all
follow from this record, so that none of them can contradict another.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum, StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

# The recorded outcome of every unit of every stage (law 2), and the verdicts of gates (law 3).


class StageKind(StrEnum):
    FILTER = "filter"  # kept + rejected + errored = n_in
    DERIVE = "derive"  # consumed + rejected + errored = n_in; lineage names the children
    CHOOSE = "choose"  # chosen + not_chosen = n_in


class Outcome(StrEnum):
    KEPT = "kept"
    CONSUMED = "consumed"
    REJECTED = "rejected"
    ERRORED = "errored"
    CHOSEN = "chosen"
    NOT_CHOSEN = "not_chosen"


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The outcome of one unit in one stage, or of `n` units that share id, outcome and reason.

    Sessions, instances and candidates have one row each. A release holds hundreds of thousands of
    facts from filings, so facts with the same reason share a row; an id in parentheses names such
    a group by what its units have in common.

    `evidence` is a pointer, never text: source_path, line, turn index, offsets. For a unit
    that failed a gate, `gate`, `reason`, `observed` and `limit` come from the deciding verdict;
    an errored unit has `found` and `expected` in `evidence`. `missing` are the inputs that
    it lacks: their descriptions are stored in `evidence`, their names in a private table beside it.
    """

    stage: str
    unit: str  # file, line, session, turn, instance, candidate, …
    item_id: str
    outcome: Outcome
    gate: str | None = None
    reason: str | None = None
    observed: Scalar = None
    limit: Scalar = None
    stratum: str | None = None
    evidence: Mapping[str, Scalar] = field(default_factory=dict)
    n: int = 1
    missing: tuple[MissingInput, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """The one count of rejections: rejected and errored units, and the ledger rows they stand in.

    The two differ because equal facts share a row.
    """

    units: int
    entries: int

    def __str__(self) -> str:
        entries = "entry" if self.entries == 1 else "entries"
        return f"{self.units:,} unit{'s' * (self.units != 1)} in {self.entries:,} {entries}"


@dataclass(frozen=True, slots=True)
class LineageRow:
    """`child` was made from `parent` by `stage` because of `why`."""

    stage: str
    parent_unit: str
    parent: str
    child_unit: str
    child: str
    why: str


@dataclass(frozen=True, slots=True)
class StageTally:
    """The counts of a stage whose ledger rows were checked: every unit has exactly one outcome."""

    stage: str
    kind: StageKind
    unit: str
    n_in: int
    counts: Mapping[Outcome, int]


# Verdicts: what a gate saw, what it allows, and what follows -------------------------------------

Scalar = int | float | str | bool | None


class Status(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNVERIFIED = "unverified"  # could not be checked; the release policy decides
    NOT_MEASURED = "not_measured"  # `Verdict.blocked` says by what; never an outcome


_NOTHING: Mapping[str, Scalar] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One gate's judgement of one item.

    `observed` is the one scalar compared with `limit`; `measures` holds the rest of the
    observation (counts, never raw text). `reason` is set exactly if the status is failed or
    unverified; `blocked_by` exactly if it is not_measured.
    `missing` are the inputs for whose lack it failed; their names are private, so they are never
    stored with the verdict.
    """

    gate: str
    status: Status
    reason: str | None
    observed: Scalar
    limit: Scalar
    measures: Mapping[str, Scalar] = field(default_factory=lambda: _NOTHING)
    blocked_by: str | None = None
    missing: tuple[MissingInput, ...] = ()

    def __post_init__(self) -> None:
        if (self.reason is not None) != (self.status in (Status.FAILED, Status.UNVERIFIED)):
            raise ValueError(f"{self.gate}: only failed and unverified verdicts have a reason")
        if (self.blocked_by is not None) != (self.status is Status.NOT_MEASURED):
            raise ValueError(f"{self.gate}: only not_measured verdicts are blocked")

    @classmethod
    def passing(
        cls, gate: str, observed: Scalar, limit: Scalar, measures: Mapping[str, Scalar] = _NOTHING
    ) -> Verdict:
        return cls(gate, Status.PASSED, None, observed, limit, measures)

    @classmethod
    def failing(
        cls,
        gate: str,
        reason: StrEnum,
        observed: Scalar,
        limit: Scalar,
        measures: Mapping[str, Scalar] = _NOTHING,
    ) -> Verdict:
        return cls(gate, Status.FAILED, str(reason), observed, limit, measures)

    @classmethod
    def unverified(
        cls,
        gate: str,
        reason: StrEnum,
        observed: Scalar,
        limit: Scalar,
        measures: Mapping[str, Scalar] = _NOTHING,
    ) -> Verdict:
        return cls(gate, Status.UNVERIFIED, str(reason), observed, limit, measures)

    @classmethod
    def blocked(cls, gate: str, by: str) -> Verdict:
        """The gate did not run because `by` had already decided."""
        return cls(gate, Status.NOT_MEASURED, None, None, None, blocked_by=by)


# What an item lacks: its name for private views, its kind and source for public ones -------------

MISSING, MISSING_NAMES = "missing", "missing_names"  # keys of a ledger row's evidence


class MissingKind(StrEnum):
    FILE = "a file"
    FOLDER = "a folder"
    SITE = "a site"
    WEB = "the web"
    SYSTEM = "a system"
    ACCOUNT = "an account"
    CONVERSATION = "an earlier conversation"
    MATERIAL = "other material"
    DAY = "the day"
    ASKER = "the one who asks"


@dataclass(frozen=True, slots=True)
class MissingInput:
    """An input that is not at hand.

    `name` is the text that names it, and private. `source` says where that text is, in words of
    this code: "named in turn 2". `extension` is one of the known ones, or empty.
    """

    kind: MissingKind
    source: str
    name: str = field(repr=False)
    extension: str = ""

    @property
    def description(self) -> str:
        """The input without its name: "a file .xlsx, named in turn 2"."""
        extension = f" .{self.extension}" if self.extension else ""
        return f"{self.kind}{extension}, {self.source}"


def named_in_turn(position: int) -> str:
    """The source of what the person's message at this position, from 0, names."""
    return f"named in turn {position + 1}"


def descriptions(missing: Iterable[MissingInput]) -> str:
    """All inputs without their names; those that are described alike stand once, with a count."""
    counts = Counter(item.description for item in missing)
    return "; ".join(text if n == 1 else f"{text} ({n} times)" for text, n in counts.items())


Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


def _as_text(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# Prefect keeps the parameters of a flow as UTF-8, which the name of a file need not be.
AnyPath = Annotated[Path, PlainSerializer(_as_text, when_used="json")]


class StageConfig(BaseModel):
    """Settings of one stage. They are digested with the recipe, unless declared runtime."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False
    )


_Observation = TypeVar("_Observation")
_Config = TypeVar("_Config", bound=StageConfig)
Number = int | float
Measures = Mapping[str, Any]
OBSERVED = "observed"  # the name of an observation that is one number
_NO_ADAPTERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
_UNITS = 1e9  # comparisons are made in units of 1e-9 (law 5)


class Bound(StrEnum):
    """Which side of its limit a value has to stay on; the limit itself is allowed."""

    MIN = "min"
    MAX = "max"


class GateReason(StrEnum):
    """Why a gate fails an item: `NAME = "gate.reason", "What was wrong, in one sentence."`."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


def share(part: Number, whole: Number) -> float:
    """`part / whole`, rounded to 1e-9 (law 5); 0 of nothing."""
    return round(part / whole, 9) if whole else 0.0


def breaks(bound: Bound | str, value: Number | None, limit: Number) -> bool:
    """Is the value on the wrong side of the limit? None is never."""
    if value is None:
        return False
    difference = math.floor(value * _UNITS + 0.5) - math.floor(limit * _UNITS + 0.5)
    return difference < 0 if bound == Bound.MIN else difference > 0


def _observed(measures: Measures) -> Number:
    number: Number = measures[OBSERVED]
    return number


@dataclass(frozen=True, slots=True)
class Limit:
    """One comparison that a gate makes.

    `name` is the field of the gate's settings that holds the limit, or just a name where `at`
    gives a limit that is not a setting. `meaning` is a sentence about what passes. `value` computes
    the number compared from the recorded measures (an observation that is one number is recorded
    as `observed`), and `when` says whether the limit applies at all. `reason` None: the
    observation brings its own. `movable`: may an auditor try other values? `policy`: a field of
    the settings and the value for which this limit holds. `status` is what follows if it breaks.
    """

    name: str
    bound: Bound
    unit: str
    meaning: str
    reason: GateReason | None
    value: Callable[[Measures], Number] = _observed
    when: Callable[[Measures], bool] | None = None
    at: Number | None = None
    movable: bool = True
    policy: tuple[str, Scalar] | None = None
    status: Literal[Status.FAILED, Status.UNVERIFIED] = Status.FAILED

    def allowed(self, config: StageConfig) -> Number:
        """The value of the limit."""
        number: Number = getattr(config, self.name) if self.at is None else self.at
        return number

    def holds_under(self, config: StageConfig) -> bool:
        """Do the settings ask for this comparison?"""
        return self.policy is None or getattr(config, self.policy[0]) == self.policy[1]

    def compared(self, measures: Measures) -> Number | None:
        """The value to compare; None where the limit does not apply to these measures."""
        return self.value(measures) if self.when is None or self.when(measures) else None


def _measures_of(observation: object) -> dict[str, Scalar]:
    """The fields of an observation as they are recorded, except its reason and what is missing.

    An observation that is one number is recorded as the verdict's `observed`, and has none.
    """
    if not is_dataclass(observation):
        return {}
    values = ((field.name, getattr(observation, field.name)) for field in fields(observation))
    return {
        name: str(value) if isinstance(value, Enum) else value
        for name, value in values
        if name not in ("reason", "missing")
    }


def _missing_of(observation: object, _reason: str) -> tuple[MissingInput, ...]:
    """The missing inputs that an observation holds, if it holds any."""
    missing: tuple[MissingInput, ...] = getattr(observation, "missing", ())
    return missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Generic[_Observation, _Config]):
    """A gate: it measures an item, then judges the observation by its limits, in their order.

    `stage` is the stage of the pipeline that runs the gate and `section` the part of the recipe
    that holds its settings. `meaning` is the question that the gate asks. `measure` gives the
    observation; where files or the network have to be looked at, the stage brings an adapter that
    calls it. `measures` tells what of an observation is recorded, and
    `missing` the inputs for whose lack it fails for a reason.

    A verdict that passes shows the limit named `headline`, else the last one. `decide` replaces
    the judgement by limits where a verdict is more than that; then `complete` is false, as an
    item may fail without a broken limit. `replayable`: the recorded measures hold all that the
    limits compare.
    """

    name: str
    stage: str
    section: str
    meaning: str
    config: type[_Config]
    reasons: type[GateReason]
    measure: Callable[..., _Observation]
    limits: tuple[Limit, ...]
    measures: Callable[[_Observation], dict[str, Scalar]] = _measures_of
    missing: Callable[[_Observation, str], tuple[MissingInput, ...]] = _missing_of
    headline: str | None = None
    decide: Callable[[_Observation, _Config], Verdict] | None = None
    replayable: bool = True

    @property
    def complete(self) -> bool:
        """Does an item fail only if one of the limits is broken?"""
        return self.decide is None

    def limits_under(self, config: StageConfig) -> Iterator[Limit]:
        """The limits that the settings ask for, in the order in which they decide."""
        return (limit for limit in self.limits if limit.holds_under(config))

    def judge(self, observation: _Observation, config: _Config) -> Verdict:
        """The first broken limit gives status, reason, observed value and limit."""
        if self.decide is not None:
            return self.decide(observation, config)
        recorded = self.measures(observation)
        seen: Measures = recorded if recorded else {OBSERVED: observation}
        limits = tuple(self.limits_under(config))
        for limit in limits:
            value, allowed = limit.compared(seen), limit.allowed(config)
            if breaks(limit.bound, value, allowed):
                reason = str(limit.reason or getattr(observation, "reason", None))
                missing = self.missing(observation, reason)
                return Verdict(
                    self.name, limit.status, reason, value, allowed, recorded, missing=missing
                )
        shown = next((limit for limit in limits if limit.name == self.headline), limits[-1])
        return Verdict.passing(self.name, shown.value(seen), shown.allowed(config), recorded)


def gates_in(settings: type[StageConfig], stage: str | None = None) -> tuple[Gate[Any, Any], ...]:
    """The gates whose settings are fields of a model, `Annotated[Settings, GATE]`, in order.

    With `stage`, those that this stage runs. Raises ValueError for a field that is not named as
    its gate.
    """
    gates = []
    for name, about in settings.model_fields.items():
        for gate in about.metadata:
            if isinstance(gate, Gate):
                if gate.name != name:
                    raise ValueError(f"{settings.__name__}.{name} holds settings of {gate.name}")
                gates.append(gate)
    return tuple(gate for gate in gates if stage in (None, gate.stage))


def run_gates(
    gates: Iterable[Gate[Any, Any]],
    settings: StageConfig,
    item: Any,
    adapters: Mapping[str, Callable[[Any], Any]] = _NO_ADAPTERS,
) -> tuple[dict[str, Any], tuple[Verdict, ...]]:
    """Measure and judge an item by every gate: the observations by gate, and the verdicts.

    `settings` hold those of each gate under its name. `adapters` give the observations of gates
    for which files, the network or other material of the stage have to be looked at.
    """
    observations: dict[str, Any] = {}
    verdicts = []
    for gate in gates:
        observation = adapters.get(gate.name, gate.measure)(item)
        observations[gate.name] = observation
        verdicts.append(gate.judge(observation, getattr(settings, gate.name)))
    return observations, tuple(verdicts)
