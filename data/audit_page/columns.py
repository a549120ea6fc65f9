"""A run's rejections and verdicts as columns: what the audit page is made of.

`{about, words, ids, items, steps, rejections}`: `ids` names the items that gates judged (the
first `items` of them), then whatever else was rejected. A step is a gate, or another stage that
turned items away; its columns are aligned with `rows`, places in `ids`. A column in which all
values are equal is stored as `{"same": value}`. Words stand once, in `words`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from data.audit_page.reading import Books, Check, Gates, Judged, checks_of, contradictions
from data.canonical import keyed_digest
from data.contracts import Scalar
from data.neutralise import one_line, public_text
from data.randomness import release_key
from data.reasons import ReasonWords

# The codes of the statuses, in the order of `Status`.
PASSED, FAILED, UNVERIFIED, NOT_MEASURED = range(4)
_EXACT = 2.0**53  # beyond, a number of a script is not exact
Column = list[Any] | dict[str, Any]
_NO_WHATIF = {"complete": False, "whatif": False, "contradictions": 0}
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
    "missing",
)
WORDS = ("stage", "unit", "outcome", "gate", "reason", "path", "missing")


@dataclass(frozen=True, slots=True)
class Shown:
    """How much a page may show: all that staging holds, or (`opaque` given) what may leave.

    Then ids are opaque, files and lines are left out, and of texts only the length is given.
    """

    opaque: Callable[[str], str] | None = None

    def name(self, item: str) -> str:
        return self.opaque(item) if self.opaque else _shown(item)

    def scalars(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Values as they are shown; texts mostly repeat, and are looked at once."""
        if str not in set(map(type, values)):
            return list(values)
        act = cache(public_text if self.opaque else _shown)
        return [act(value) if isinstance(value, str) else value for value in values]


def opaque_names(out: Path) -> Callable[[str], str]:
    """Names as the public report has them: keyed ids, or numbers after `benchmint privacy seal`."""
    path = out / "private" / "release.key"
    if path.is_file():
        key = release_key(path, demo=True)
        return lambda item: f"x-{keyed_digest(key, item)[:16]}"
    numbers: dict[str, int] = {}
    return lambda item: f"item-{numbers.setdefault(item, len(numbers) + 1)}"


def _shown(text: str) -> str:
    """As `one_line`, which most names need not go through."""
    return text if text.isascii() and text.isprintable() else one_line(text)


class _Index:
    """Places of names: none is "", and so has a place where "" has one."""

    def __init__(self, names: Iterable[pl.Series]) -> None:
        every = pl.concat([name.cast(pl.String).fill_null("") for name in names])
        self.names: list[str] = every.unique(maintain_order=True).to_list()
        self._places = {name: place for place, name in enumerate(self.names)}

    def of(self, names: pl.Series) -> list[int]:
        return [self._places[name or ""] for name in names.to_list()]


def cell(values: Column, row: int) -> Any:
    """The value of a column at a row."""
    return values["same"] if isinstance(values, dict) else values[row]


def item_ids(ledger: Books) -> tuple[str, ...]:
    """The items that gates judged or stages rejected, in the order of `ids`."""
    every = pl.concat([ledger.items, ledger.turned_away()["item"]])
    return tuple(every.unique(maintain_order=True))


def build_columns(
    ledger: Books,
    gates: Gates,
    shown: Shown,
    reasons: ReasonWords,
    lanes: Mapping[str, str],
) -> dict[str, Any]:
    """The columns of a run, its gates as `ledger` orders them; `gates` are those with a what-if.

    `lanes` has the lane of each stage of the ledger.
    """
    gone = ledger.rejections
    if shown.opaque is not None:
        gone = gone.with_columns(path=pl.lit(None, pl.String), line=pl.lit(None, pl.Int64))
    items = item_ids(ledger)
    ids = _Index([pl.Series(items, dtype=pl.String), gone["item"]])
    words = _Index(
        [
            pl.Series([""]),
            *(judged.reason for judged in ledger.gates.values()),
            *(gone[name] for name in WORDS),
        ]
    )
    steps = [
        _gate(name, judged, words, ids, shown) | _whatif(name, judged, gates)
        for name, judged in ledger.gates.items()
    ]
    away = ledger.turned_away().filter(pl.col("gate").is_null())
    for (stage,), rows in away.group_by("stage", maintain_order=True):
        places = ids.of(rows["item"].unique(maintain_order=True))
        steps.insert(_place_of(steps, places), _stage(str(stage), places))
    return {
        "about": _about(ledger, lanes) | {"opaque": shown.opaque is not None},
        "items": len(items),
        "steps": steps,
        "rejections": _rejections(gone, words, ids, shown),
        "words": [_shown(word) for word in words.names],
        **_in_words(ledger, words.names, reasons),
        "ids": [shown.name(item) for item in ids.names],
    }


def _about(ledger: Books, lanes: Mapping[str, str]) -> dict[str, Any]:
    gone = ledger.rejections
    counted = {"units": int(gone["n"].sum()), "entries": gone.height}
    return {**ledger.about, **counted, "lanes": _lanes(ledger, lanes)}


def _lanes(ledger: Books, lanes: Mapping[str, str]) -> list[dict[str, Any]]:
    """What each lane lost, brought to the pool and has in the release, in pipeline order."""
    pool = {lane: counts for lane, *counts in ledger.pool.iter_rows()}
    stages = ledger.rejections.group_by("stage").agg(pl.col("n").sum())
    lost: Counter[str] = Counter()
    for stage, n in stages.iter_rows():
        lost[lanes.get(stage, stage)] += int(n)
    rows = []
    for lane in dict.fromkeys([*lanes.values(), *sorted(lost), *sorted(pool)]):
        in_pool, released = pool.get(lane, (0, 0))
        if lost[lane] or in_pool:
            rows.append({"lane": lane, "lost": lost[lane], "pool": in_pool, "released": released})
    return rows


def _in_words(ledger: Books, names: Iterable[str], reasons: ReasonWords) -> dict[str, Any]:
    """The sentences of reasons, and what stands around the number of a limit."""
    sentences = {name: reasons.sentences[name] for name in names if name in reasons.sentences}
    return {"sentences": sentences, "around": _around(ledger, reasons)}


def _around(ledger: Books, reasons: ReasonWords) -> dict[str, tuple[str, str]]:
    """What stands before and after a limit, by gate, reason and limit."""
    seen = {
        (gate, reason, limit)
        for gate, judged in ledger.gates.items()
        for reason, limit in zip(judged.reason, judged.limit, strict=True)
    }
    seen.update(ledger.rejections.select("gate", "reason", "limit").unique().iter_rows())
    pairs = (
        (f"{gate or ''} {reason or ''} {limit}", reasons.around(gate, reason, limit))
        for gate, reason, limit in seen
    )
    return {name: around for name, around in sorted(pairs, key=str) if around is not None}


def _packed(values: list[Any]) -> Column:
    """A list, unless all values are equal and of one type."""
    alike = not values or (
        values.count(values[0]) == len(values) and len(set(map(type, values))) == 1
    )
    return {"same": values[0] if values else None} if alike else values


def _gate(gate: str, judged: Judged, words: _Index, ids: _Index, shown: Shown) -> dict[str, Any]:
    return {
        "name": one_line(gate),
        "kind": "gate",
        "rows": ids.of(judged.items),
        "status": _packed(judged.status.to_physical().to_list()),
        "reason": _packed(words.of(judged.reason)),
        "observed": _packed(shown.scalars(judged.observed)),
        "limit": _packed(shown.scalars(judged.limit)),
        "measures": {
            one_line(name): _packed(shown.scalars(values))
            for name, values in judged.measures.items()
        },
    }


def _whatif(name: str, judged: Judged, gates: Gates) -> dict[str, Any]:
    """What a page needs to try other limits; nothing where the verdicts do not follow."""
    if name not in gates:
        return {**_NO_WHATIF, "checks": []}
    gate, config = gates[name]
    checks = checks_of(gate, config, judged)
    wrong = contradictions(gate, checks, judged.status)
    return {
        "complete": bool(checks) and gate.complete,
        "whatif": bool(checks) and not wrong,
        "contradictions": wrong,
        "checks": [_check(check) for check in checks],
    }


def _check(check: Check) -> dict[str, Any]:
    limit, allowed, values = check.limit, check.allowed, check.values
    integral = (values == values.floor()) & (values.abs() < _EXACT)
    whole = float(allowed).is_integer() and bool(integral.all())
    return {
        "name": limit.name,
        "meaning": limit.meaning,
        "unit": limit.unit,
        "bound": str(limit.bound),
        "limit": int(allowed) if whole else allowed,
        "whole": whole,
        "fixed": not limit.movable,
        "values": _packed((values.cast(pl.Int64) if whole else values).to_list()),
    }


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
        "checks": [],
        **_NO_WHATIF,
    }


def _rejections(gone: pl.DataFrame, words: _Index, ids: _Index, shown: Shown) -> dict[str, Column]:
    made: dict[str, list[Any]] = {name: words.of(gone[name]) for name in WORDS} | {
        "id": ids.of(gone["item"]),
        "observed": shown.scalars(gone["observed"].to_list()),
        "limit": shown.scalars(gone["limit"].to_list()),
        "n": gone["n"].to_list(),
        "line": gone["line"].to_list(),
    }
    return {name: _packed(made[name]) for name in FIELDS}
