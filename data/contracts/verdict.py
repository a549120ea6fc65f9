"""Verdicts: what a gate saw, what it allows, and what follows (law 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from data.contracts.missing import MissingInput

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
