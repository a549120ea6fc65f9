"""Which family a candidate task belongs to: its request is read as a signal is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from construction.signals.analyse import analyse
from construction.signals.codebook import UNCATEGORIZED
from construction.signals.config import SignalsConfig
from construction.signals.crosswalk import default_crosswalk
from data.contracts import Candidate, Label, Signal, SignalProvenance

_NO_DATE = dt.date(1970, 1, 1)  # a task is no market signal: it has no snapshot


def with_families(candidates: Sequence[Candidate], config: SignalsConfig) -> list[Candidate]:
    """The candidates with task family and display group, where the codebook knows one.

    A family that a lane has given already stays. The label's confidence is the score of the best
    pattern; its reason names the patterns.
    """
    unknown = [candidate for candidate in candidates if candidate.task_family is None]
    if not unknown:
        return list(candidates)
    analysis = analyse([_as_signal(candidate, config) for candidate in unknown], config)
    crosswalk, labels = default_crosswalk(), {}
    for one in analysis.assignments:
        shares = one.families(analysis.codebook)
        known = {family: share for family, share in shares.items() if family != UNCATEGORIZED}
        family = crosswalk.task_family(known)
        if family is not None:
            patterns = ", ".join(share.pattern for share in one.shares)
            confidence = round(min(1.0, one.shares[0].score), 9)
            labels[one.slug] = Label(value=family, confidence=confidence, reason=patterns)
    return [_labelled(candidate, labels.get(candidate.task_id)) for candidate in candidates]


def _as_signal(candidate: Candidate, config: SignalsConfig) -> Signal:
    provenance = SignalProvenance(candidate.provenance.source, _NO_DATE)
    popularity = {config.measure: 1}
    return Signal(candidate.task_id, "", candidate.prompt, None, popularity, (), provenance)


def _labelled(candidate: Candidate, label: Label | None) -> Candidate:
    if label is None or candidate.task_family is not None:
        return candidate
    group = default_crosswalk().display_group(label.value)
    return candidate.model_copy(update={"task_family": label, "display_group": group})
