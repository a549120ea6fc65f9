"""Ledger rows: the recorded outcome of every unit of every stage (law 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from data.contracts.missing import MissingInput
from data.contracts.verdict import Scalar


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
