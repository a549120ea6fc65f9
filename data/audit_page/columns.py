"""A run's rejections and verdicts as columns: what the audit page is made of.

`{about, words, ids, items, steps, rejections}`: `ids` names the items that gates judged (the
first `items` of them), then whatever else was rejected. A step is a gate, or another stage that
turned items away; its columns are aligned with `rows`, places in `ids`. A column in which all
values are equal is stored as `{"same": value}`. Words stand once, in `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from data.audit_page.checks import Check, GateChecks, Seen
from data.audit_page.reading import Books, Rejection, Row
from data.contracts import Scalar, Status
from data.snapshot.neutralise import one_line, public_text

PASSED, FAILED, UNVERIFIED, NOT_MEASURED = range(4)
_CODES = {
    Status.PASSED: PASSED,
    Status.FAILED: FAILED,
    Status.UNVERIFIED: UNVERIFIED,
    Status.NOT_MEASURED: NOT_MEASURED,
}
Column = list[Any] | dict[str, Any]
# Of a rejection: the columns, and the fields of the downloads.
FIELDS = (
    "id",
    "stage",
    "unit",
    "outcome",
    "gate",
    "reason",
    "observed",
    "limit",
    "n",
    "path",
    "line",
)


@dataclass(frozen=True, slots=True)
class Shown:
    """How much a page may show: all that staging holds, or (`opaque` given) what may leave.

    Then ids are opaque, files and lines are left out, and of texts only the length is told.
    """

    opaque: Callable[[str], str] | None = None

    def name(self, item: str) -> str:
        return self.opaque(item) if self.opaque else one_line(item)

    def scalar(self, value: Scalar) -> Scalar:
        if not isinstance(value, str):
            return value
        return public_text(value) if self.opaque else one_line(value)


@dataclass(slots=True)
class _Index:
    """Places of names in order of first use."""

    places: dict[str, int] = field(default_factory=dict)

    def of(self, name: str | None) -> int:
        return self.places.setdefault(name or "", len(self.places))


def cell(values: Column, row: int) -> Any:
    """The value of a column at a row."""
    return values["same"] if isinstance(values, dict) else values[row]


def item_ids(books: Books) -> tuple[str, ...]:
    """The items that gates judged or stages turned away, in the order of `ids`."""
    turned_away = (gone.item for gone in books.rejections if gone.is_item)
    return tuple(dict.fromkeys([*(row.item for row in books.verdicts), *turned_away]))


def build_columns(
    books: Books, gates: Sequence[str], checks: Sequence[GateChecks], shown: Shown
) -> dict[str, Any]:
    """The columns of a run. `gates` are in declared order; gates it does not name come last."""
    words, ids = _Index(), _Index()
    words.of("")
    items = len([ids.of(item) for item in item_ids(books)])
    named = {row.gate: None for row in books.verdicts}
    order = [gate for gate in gates if gate in named]
    order += [gate for gate in named if gate not in gates]
    by_gate: dict[str, list[Row]] = {gate: [] for gate in order}
    for row in books.verdicts:
        by_gate[row.gate].append(row)
    known = {gate.gate: gate for gate in checks}
    steps = [_gate(gate, by_gate[gate], known.get(gate), words, ids, shown) for gate in order]
    for stage, places in _other_stages(books.rejections, ids).items():
        steps.insert(_place_of(steps, places), _stage(stage, places))
    return {
        "about": dict(books.about)
        | {"opaque": shown.opaque is not None, "n_rows": len(books.rejections)},
        "items": items,
        "steps": steps,
        "rejections": _rejections(books.rejections, words, ids, shown),
        "words": [one_line(word) for word in words.places],
        "ids": [shown.name(item) for item in ids.places],
    }


def _packed(values: list[Any]) -> Column:
    first = values[0] if values else None
    alike = all(value == first and type(value) is type(first) for value in values)
    return {"same": first} if alike else values


def _gate(
    gate: str, rows: Sequence[Row], known: GateChecks | None, words: _Index, ids: _Index, s: Shown
) -> dict[str, Any]:
    seen = [Seen(row.observed, row.reason, row.measures) for row in rows]
    names = dict.fromkeys(name for row in rows for name in row.measures)
    values = [[check.value(item) for item in seen] for check in known.checks] if known else []
    wrong = _contradictions(rows, known, values) if known else 0
    return {
        "name": one_line(gate),
        "kind": "gate",
        "rows": [ids.of(row.item) for row in rows],
        "status": _packed([_CODES[row.status] for row in rows]),
        "reason": _packed([words.of(row.reason) for row in rows]),
        "observed": _packed([s.scalar(row.observed) for row in rows]),
        "limit": _packed([s.scalar(row.limit) for row in rows]),
        "measures": {
            one_line(name): _packed([s.scalar(row.measures.get(name)) for row in rows])
            for name in names
        },
        "complete": bool(known and known.complete),
        "whatif": known is not None and not wrong,
        "contradictions": wrong,
        "checks": [
            _check(check, column)
            for check, column in zip(known.checks if known else (), values, strict=True)
        ],
    }


def _check(check: Check, values: list[float | None]) -> dict[str, Any]:
    whole = all(value is None or float(value).is_integer() for value in [check.limit, *values])
    plain = [value if value is None or not whole else int(value) for value in values]
    return {
        "name": check.name,
        "meaning": check.meaning,
        "bound": str(check.bound),
        "limit": int(check.limit) if whole else check.limit,
        "whole": whole,
        "fixed": check.fixed,
        "values": _packed(plain),
    }


def _contradictions(
    rows: Sequence[Row], known: GateChecks, values: Sequence[Sequence[float | None]]
) -> int:
    """Recorded verdicts that do not follow from the checks: their limits were other ones."""
    wrong = 0
    for place, row in enumerate(rows):
        if row.status is Status.NOT_MEASURED:
            continue
        broken = any(
            check.broken(column[place]) for check, column in zip(known.checks, values, strict=True)
        )
        failed = row.status is Status.FAILED
        wrong += (broken and not failed) or (failed and not broken and known.complete)
    return wrong


def _other_stages(rejections: Sequence[Rejection], ids: _Index) -> dict[str, list[int]]:
    """Items that stages without a gate turned away, in pipeline order of the stages."""
    found: dict[str, dict[int, None]] = {}
    for gone in rejections:
        if gone.is_item and gone.gate is None:
            found.setdefault(gone.stage, {})[ids.of(gone.item)] = None
    return {stage: list(places) for stage, places in found.items()}


def _place_of(steps: Sequence[Mapping[str, Any]], items: Sequence[int]) -> int:
    """Where a stage stands: behind the last step that saw any of its items."""
    wanted = set(items)
    after = [i + 1 for i, step in enumerate(steps) if not wanted.isdisjoint(step["rows"])]
    return max(after, default=0)


def _stage(stage: str, places: list[int]) -> dict[str, Any]:
    nothing: dict[str, Any] = {"same": None}
    return {
        "name": one_line(stage),
        "kind": "stage",
        "rows": places,
        "status": {"same": FAILED},
        "reason": {"same": 0},
        "observed": nothing,
        "limit": nothing,
        "measures": {},
        "complete": False,
        "whatif": False,
        "contradictions": 0,
        "checks": [],
    }


def _rejections(
    rejections: Sequence[Rejection], words: _Index, ids: _Index, shown: Shown
) -> dict[str, Column]:
    rows = [_told(gone, words, ids, shown) for gone in rejections]
    nothing: list[tuple[Any, ...]] = [()] * len(FIELDS)
    return {
        name: _packed(list(column))
        for name, column in zip(FIELDS, zip(*rows, strict=True) if rows else nothing, strict=True)
    }


def _told(gone: Rejection, words: _Index, ids: _Index, shown: Shown) -> Iterator[Any]:
    yield ids.of(gone.item)
    for name in (gone.stage, gone.unit, gone.outcome, gone.gate, gone.reason):
        yield words.of(name)
    yield shown.scalar(gone.observed)
    yield shown.scalar(gone.limit)
    yield gone.n
    yield words.of(gone.path if shown.opaque is None else None)
    yield gone.line if shown.opaque is None else None
