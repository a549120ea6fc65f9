"""A small run for the audit page: six items, two gates with limits, one without, one stage."""

from __future__ import annotations

from typing import Any

import polars as pl

from data.audit_page import Shown, build_columns
from data.audit_page.columns import Books, Gates, _judged
from data.canonical import canonical_json
from data.contracts import (
    Bound,
    Count,
    Gate,
    GateReason,
    Limit,
    Scalar,
    StageConfig,
    Status,
    Verdict,
)
from data.reasons import ReasonWords
from data.tables import VERDICTS as SCHEMA
from flows.gates import GATES as REGISTERED

WORDS = ReasonWords.of(REGISTERED)

GATES = ("length", "fixture", "leaks")
Row = dict[str, Any]


class Reason(GateReason):
    BAD = "sample.bad", "It is bad."


class Limits(StageConfig):
    min_chars: Count = 10
    missing: Count = 0


def _sample(limit: Limit, **more: Any) -> Gate[Any, Limits]:
    return Gate(
        name="sample",
        stage="gates",
        section="sample",
        meaning="Is it good?",
        config=Limits,
        reasons=Reason,
        measure=len,
        limits=(limit,),
        **more,
    )


def _own(*_: Any) -> Verdict:
    raise NotImplementedError  # verdicts of the sample are written by hand


_CHARS = Limit("min_chars", Bound.MIN, "characters", "At least so many characters.", Reason.BAD)
_FILES = Limit(
    "missing",
    Bound.MAX,
    "files",
    "At most so many files are missing.",
    Reason.BAD,
    lambda seen: seen["missing"],
)
CHECKS: Gates = {
    "length": (_sample(_CHARS), Limits()),
    "fixture": (_sample(_FILES, decide=_own), Limits()),
}


def verdict(item: str, gate: str, observed: int | None, *, failed: bool, **measures: Scalar) -> Row:
    limit = {"length": 10, "fixture": 0, "leaks": 0}[gate]
    return {
        "item": item, "gate": gate, "status": Status.FAILED if failed else Status.PASSED,
        "reason": f"{gate}.bad" if failed else None, "observed": observed, "limit": limit,
        "observed_text": observed if observed is None else str(observed), "limit_text": str(limit),
        "measures": canonical_json(measures).decode(),
    }  # fmt: skip


def rejection(item: str, gate: str | None, reason: str, **result: Any) -> Row:
    values: dict[str, Any] = {
        "stage": "gates", "unit": "instance", "outcome": "rejected", "observed": None,
        "limit": None, "n": 1, "path": f"logs/{item}.jsonl", "line": 3, "missing": None,
    }  # fmt: skip
    return values | {"item": item, "gate": gate, "reason": reason} | result


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
POOL = [("sessions", 1200, 4), ("workflows", 3, 3)]
LANES = {"scan": "sessions", "gates": "sessions", "drafts": "workflows", "rows": "tables"}
ABOUT = {"run_id": "demo-1", "snapshot": "demo", "released": "", "published": "", "privacy": ""}


def ledger(verdicts: tuple[Row, ...] = VERDICTS, rejections: tuple[Row, ...] = REJECTIONS) -> Books:
    """As `read_books` gives them, from the rows of a run."""
    schema = {"item": pl.String, **SCHEMA}
    rows = pl.DataFrame(verdicts, schema={name: schema[name] for name in VERDICTS[0]})
    kinds = dict.fromkeys(REJECTIONS[0], pl.String) | {"n": pl.Int64, "line": pl.Int64}
    gates = rows.group_by("gate", maintain_order=True)
    return Books(
        ABOUT,
        rows["item"].unique(maintain_order=True),
        {str(gate): _judged(frame) for (gate,), frame in gates},
        pl.DataFrame(rejections, schema=kinds),
        pl.DataFrame(POOL, schema=["lane", "pool", "released"], orient="row"),
    ).judged_by(GATES)


def columns(shown: Shown | None = None) -> dict[str, Any]:
    return build_columns(ledger(), CHECKS, shown or Shown(), WORDS, LANES)
