"""Settings of task recovery."""

from __future__ import annotations

from pydantic import Field

from data.contracts import StageConfig


class RecoveryConfig(StageConfig):
    """When two neighbouring turns of a person belong to two tasks.

    `threshold`: a cut is made where the evidence of `cues.CUES` sums to at least this value.
    `usual_pause_seconds`: the pause expected between turns where a session has too few of them;
    a pause `long_pause_factor` times as long as usual counts in full (3 minutes: 12 hours).
    `said_chars`, `reply_chars`: the length of the part of a turn from which topic terms are taken.
    """

    threshold: float = 0.0
    usual_pause_seconds: float = Field(default=180.0, gt=0)
    long_pause_factor: float = Field(default=240.0, gt=1)
    said_chars: int = Field(default=600, gt=0)
    reply_chars: int = Field(default=400, gt=0)
