from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.contracts import LedgerRow, Outcome, StageKind, Status, Verdict
from data.errors import LedgerError
from data.ledger import _merge, close, deciding, gated_row, tally


class Reason(StrEnum):
    SHORT = "length.too_short"
    GONE = "network.offline"


def rows(*outcomes: Outcome) -> list[LedgerRow]:
    return [LedgerRow("s", "instance", str(i), outcome) for i, outcome in enumerate(outcomes)]


def test_a_stage_that_adds_up_closes() -> None:
    result = tally(
        "s", StageKind.FILTER, "instance", "012", rows(*[Outcome.KEPT] * 2, Outcome.REJECTED)
    )
    assert result.counts == {Outcome.KEPT: 2, Outcome.REJECTED: 1, Outcome.ERRORED: 0}


@pytest.mark.parametrize(
    ("ids", "given_rows", "message"),
    [
        ("012", rows(Outcome.KEPT, Outcome.KEPT), "1 have no outcome"),
        ("0", rows(Outcome.KEPT) * 2, "1 have several"),
        ("0", rows(Outcome.KEPT, Outcome.KEPT), "1 rows belong to none"),
        ("0", rows(Outcome.CHOSEN), "a filter stage has no outcome chosen"),
    ],
)
def test_a_stage_that_does_not_add_up_is_named(
    ids: str, given_rows: list[LedgerRow], message: str
) -> None:
    with pytest.raises(LedgerError, match=message):
        tally("s", StageKind.FILTER, "instance", ids, given_rows)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)), min_size=1))
def test_merged_shards_close_too(parts: list[tuple[int, int, int]]) -> None:
    names = (Outcome.KEPT, Outcome.REJECTED, Outcome.ERRORED)
    shards = [
        close("s", StageKind.FILTER, "file", sum(part), dict(zip(names, part, strict=True)))
        for part in parts
    ]
    (whole,) = _merge(shards)
    assert whole.n_in == sum(map(sum, parts))
    assert whole.counts == {name: sum(p[i] for p in parts) for i, name in enumerate(names)}


def test_the_first_failing_gate_decides() -> None:
    passed = Verdict.passing("length", 12, 10)
    unverified = Verdict.unverified("network", Reason.GONE, 1, 0)
    failed = Verdict.failing("length", Reason.SHORT, 1, 10)
    assert deciding([passed]) is None
    assert deciding([passed, unverified]) is None
    assert deciding([passed, unverified, failed]) is failed
    row = gated_row("gates", "instance", "i", failed, {"line": 3})
    assert (row.outcome, row.reason, row.observed, row.limit) == (
        Outcome.REJECTED,
        "length.too_short",
        1,
        10,
    )


def test_a_verdict_without_its_reason_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="have a reason"):
        Verdict("g", Status.FAILED, None, 1, 2)
    with pytest.raises(ValueError, match="have a reason"):
        Verdict("g", Status.PASSED, "x", 1, 2)
    with pytest.raises(ValueError, match="blocked"):
        Verdict("g", Status.NOT_MEASURED, None, None, None)
