"""A small run for the audit page: six items, two gates with limits, one without, one stage."""

from __future__ import annotations

from typing import Any

from data.audit_page import Bound, Check, GateChecks, Shown, build_columns
from data.audit_page.checks import Seen
from data.audit_page.reading import Books, Rejection, Row
from data.contracts import Scalar, Status

GATES = ("length", "fixture", "leaks")


def typed(seen: Seen) -> float | None:
    return float(seen.observed) if isinstance(seen.observed, int) else None


CHECKS = (
    GateChecks("length", (Check("min_chars", "characters, at least", Bound.MIN, 10, typed),)),
    GateChecks(
        "fixture",
        (Check("missing", "missing files, at most", Bound.MAX, 0, lambda s: s.number("missing")),),
        complete=False,
    ),
)


def verdict(item: str, gate: str, observed: Scalar, *, failed: bool, **measures: Scalar) -> Row:
    limit = {"length": 10, "fixture": 0, "leaks": 0}[gate]
    status = Status.FAILED if failed else Status.PASSED
    return Row(item, gate, status, f"{gate}.bad" if failed else None, observed, limit, measures)


def rejection(item: str, gate: str | None, reason: str, **told: Any) -> Rejection:
    values: dict[str, Any] = {
        "stage": "gates", "unit": "instance", "outcome": "rejected", "observed": None,
        "limit": None, "n": 1, "path": f"logs/{item}.jsonl", "line": 3,
    }  # fmt: skip
    return Rejection(item=item, gate=gate, reason=reason, **(values | told))


# a is kept; b is short by two characters, c by two and a file; d lacks a file; e was refused a
# file; f is a copy that the stage "distinct" turned away.
VERDICTS = (
    verdict("a", "length", 12, failed=False),
    verdict("a", "fixture", 0, failed=False, missing=0),
    verdict("a", "leaks", 0, failed=False),
    verdict("b", "length", 8, failed=True),
    verdict("b", "fixture", 0, failed=False, missing=0),
    verdict("c", "length", 8, failed=True),
    verdict("c", "fixture", 1, failed=True, missing=1),
    verdict("d", "length", 40, failed=False),
    verdict("d", "fixture", 1, failed=True, missing=1),
    verdict("e", "length", 40, failed=False),
    verdict("e", "fixture", 1, failed=True, missing=0),
    verdict("f", "length", 11, failed=False),
    verdict("f", "fixture", 0, failed=False, missing=0),
)
REJECTIONS = (
    rejection("private name.jsonl", None, "file.empty", stage="scan", unit="file"),
    rejection("b", "length", "length.bad", observed="8", limit="10"),
    rejection("c", "length", "length.bad", observed="8", limit="10"),
    rejection("d", "fixture", "fixture.bad", observed="1", limit="0"),
    rejection("e", "fixture", "fixture.bad", observed="=SUM(A1)", limit="0"),
    rejection("f", None, "instance.duplicate", stage="distinct"),
)
ABOUT = {"run_id": "demo-1", "snapshot": "demo", "released": "", "published": "", "privacy": ""}


def books(verdicts: tuple[Row, ...] = VERDICTS) -> Books:
    return Books(ABOUT, verdicts, REJECTIONS)


def columns(shown: Shown | None = None) -> dict[str, Any]:
    return build_columns(books(), GATES, CHECKS, shown or Shown())
