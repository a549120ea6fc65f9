"""The recorded outcome of every unit of every stage (law 2), and the verdicts of gates (law 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


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
