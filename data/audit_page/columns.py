"""A run's rejections and verdicts as columns: what the audit page is made of.

`{about, words, ids, items, steps, rejections}`: `ids` names the items that gates judged (the
first `items` of them), then whatever else was rejected. A step is a gate, or another stage that
turned items away; its columns are aligned with `rows`, places in `ids`. A column in which all
values are equal is stored as `{"same": value}`. Words stand once, in `words`.

Verdicts and rejections of the newest run are read from a staging file, column by column. The limits
of a gate are applied anew to its recorded verdicts: a page offers another limit only if the
recorded ones reproduce every recorded verdict first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import orjson
import polars as pl

from data.canonical import keyed_digest
from data.contracts import Bound, Gate, Limit, Scalar, StageConfig, Status
from data.contracts.gate import OBSERVED, Number
from data.errors import NOT_BUILT, InputError
from data.neutralise import one_line, public_text
from data.randomness import release_key
from data.reasons import ReasonWords
from data.staging.database import open_read_only

# The codes of the statuses, in the order of `Status`.
_PASSED, FAILED, _UNVERIFIED, NOT_MEASURED = range(4)
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


_STATUSES = pl.Enum([str(status) for status in Status])
_TRUTH = ("True", "False")
_ITEMS = ("instance", "candidate")
# Which instance a candidate was made from.
_MADE = (
    "SELECT child AS task, min(parent) AS instance FROM lineage "
    "WHERE child_unit = 'candidate' AND parent_unit = 'instance' GROUP BY child"
)
_ABOUT = (
    "SELECT run_id, snapshot, released, published, privacy FROM runs "
    "ORDER BY built_at DESC NULLS LAST, run_id DESC LIMIT 1"
)
_VERDICTS = f"""
    SELECT coalesce(c.instance, v.item_id) AS item, gate, status, reason, observed,
           observed_text, v."limit" AS "limit", limit_text, measures
    FROM verdicts v LEFT JOIN ({_MADE}) c ON c.task = v.item_id
    ORDER BY 1, 2, v.item_id"""  # noqa: S608 — a constant
_REJECTIONS = f"""
    SELECT coalesce(c.instance, r.item_id, '') AS item, r.stage, unit, r.outcome, gate, reason,
           observed, "limit", n, path, line, evidence ->> '$.missing' AS missing
    FROM rejections r
    LEFT JOIN ({_MADE}) c ON c.task = r.item_id AND unit = 'candidate'
    LEFT JOIN (SELECT stage, min(step) AS step FROM funnel GROUP BY stage) f ON f.stage = r.stage
    ORDER BY gate IS NULL, f.step NULLS LAST, 2, 5, 6, 1, r.item_id, path, line, unit, 7, 8"""  # noqa: S608

_POOL = """
    SELECT lane, count(*) AS pool, count(*) FILTER (outcome = 'chosen') AS released
    FROM candidates GROUP BY lane ORDER BY lane"""


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdicts of one gate; all columns have a place per verdict.

    `items` are instances, also where the gate judged their candidates. `observed` and `limit` are
    the scalars compared.
    """

    items: pl.Series
    status: pl.Series
    reason: pl.Series
    observed: Sequence[Scalar]
    limit: Sequence[Scalar]
    measures: Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class Books:
    """What an audit page is made of: facts of the run, the verdicts of each gate, and a frame of
    the rejections (and errors): a unit, or `n` that share a row. `items` are what gates judged,
    `pool` how many candidates each lane brought to the selection, and how many were released.
    """

    about: Mapping[str, Any]
    items: pl.Series
    gates: Mapping[str, _Judged]
    rejections: pl.DataFrame
    pool: pl.DataFrame

    def judged_by(self, gates: Sequence[str]) -> Books:
        """The books of these gates, in this order, then of others that judged the same items.

        A gate that judges other things, such as a table, has no place in the funnel of the items.
        """
        order = [gate for gate in gates if gate in self.gates]
        ours = pl.concat([self.items.clear(), *(self.gates[gate].items for gate in order)])
        others = [gate for gate in self.gates if gate not in gates]
        order += [gate for gate in others if self.gates[gate].items.is_in(ours.implode()).any()]
        kept = {gate: self.gates[gate] for gate in order}
        items = pl.concat([self.items.clear(), *(judged.items for judged in kept.values())])
        items = self.items.filter(self.items.is_in(items.unique().implode()))
        return replace(self, items=items, gates=kept)

    def turned_away(self) -> pl.DataFrame:
        """The rejections of items, one each."""
        return self.rejections.filter(pl.col("unit").is_in(_ITEMS), pl.col("n") == 1)


def read_books(staging: Path) -> Books:
    """The newest run of a staging file. Raises InputError where there is none."""
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging database", NOT_BUILT)
    try:
        with open_read_only(staging) as connection:
            return _read(connection)
    except (duckdb.Error, pl.exceptions.PolarsError, ValueError) as error:
        actual = f"a file that cannot be used ({type(error).__name__})"
        expected = "a staging database from this version"
        raise InputError(str(staging), actual, expected, "Build again.") from error


def _read(connection: duckdb.DuckDBPyConnection) -> Books:
    names = ("run_id", "snapshot", "released", "published", "privacy")
    about = connection.execute(_ABOUT).fetchall() or [(None,) * len(names)]
    texts = ["" if value is None else str(value) for value in about[0]]
    verdicts = _frame(connection, _VERDICTS)
    return Books(
        dict(zip(names, texts, strict=True)),
        verdicts["item"].unique(maintain_order=True),
        {
            str(gate): _judged(rows)
            for (gate,), rows in verdicts.group_by("gate", maintain_order=True)
        },
        _frame(connection, _REJECTIONS),
        _frame(connection, _POOL),
    )


class _ArrowStream:
    """A result as an Arrow stream and nothing else.

    Polars remembers the class of what it reads: of DuckDB's own class, the bindings would say at
    exit that it leaked.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def _frame(connection: duckdb.DuckDBPyConnection, sql: str) -> pl.DataFrame:
    return pl.DataFrame(_ArrowStream(connection.sql(sql)))


def _judged(rows: pl.DataFrame) -> _Judged:
    """The verdicts of one gate, from rows as `verdicts` of staging has them.

    Raises ValueError or PolarsError for a status or measures that no verdict has.
    """
    return _Judged(
        rows["item"],
        rows["status"].cast(_STATUSES),
        rows["reason"],
        _scalars(rows["observed"], rows["observed_text"]),
        _scalars(rows["limit"], rows["limit_text"]),
        _measures(rows["measures"]),
    )


def _scalars(numbers: pl.Series, texts: pl.Series) -> list[Scalar]:
    """The numbers, whole where they are; else the texts. Truth values are stored as 0 and 1."""
    as_text = numbers.is_null() | texts.is_in(_TRUTH).fill_null(value=False)
    if as_text.all():
        return texts.to_list()
    if not as_text.any() and (numbers == numbers.cast(pl.Int64, strict=False)).all(
        ignore_nulls=False
    ):
        return numbers.cast(pl.Int64).to_list()
    values = zip(as_text.to_list(), numbers.to_list(), texts.to_list(), strict=True)
    return [text if is_text else _plain(number) for is_text, number, text in values]


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number


def _measures(recorded: pl.Series) -> dict[str, list[Scalar]]:
    """The measures by name, in order of first use; None where a verdict has none of it.

    All objects are parsed as one array: 100,000 single ones take several times as long.
    """
    rows = orjson.loads("[" + ",".join(text or "{}" for text in recorded.to_list()) + "]")
    if len(rows) != recorded.len() or not {dict}.issuperset(map(type, rows)):
        raise ValueError("measures that are not a JSON object")
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


_UNITS = 1e9  # comparisons are made in units of 1e-9 (law 5)
Gates = Mapping[str, tuple[Gate[Any, Any], StageConfig]]  # by name, with the settings of the run


@dataclass(frozen=True, slots=True)
class _Check:
    """A limit with its value, and what each recorded verdict compares with it (null: nothing)."""

    limit: Limit
    allowed: Number
    values: pl.Series

    def broken(self) -> pl.Series:
        """Per verdict: is the compared value on the wrong side?"""
        distance = (self.values * _UNITS + 0.5).floor() - (float(self.allowed) * _UNITS + 0.5) // 1
        wrong = distance < 0 if self.limit.bound is Bound.MIN else distance > 0
        return wrong.fill_null(value=False)


def _checks_of(gate: Gate[Any, Any], config: StageConfig, judged: _Judged) -> tuple[_Check, ...]:
    """The checks that let an item fail; none where no limit may be moved, or where the verdicts
    do not hold what the limits compare.
    """
    limits = [limit for limit in gate.limits_under(config) if limit.status is Status.FAILED]
    if not gate.replayable or not any(limit.movable for limit in limits):
        return ()
    rows = _recorded(judged)
    try:
        return tuple(_Check(limit, limit.allowed(config), _values(limit, rows)) for limit in limits)
    except (KeyError, TypeError):  # verdicts of another version
        return ()


def _contradictions(gate: Gate[Any, Any], checks: Sequence[_Check], status: pl.Series) -> int:
    """Recorded verdicts that do not follow from the checks: their limits were other ones."""
    if not checks:
        return 0
    broken = pl.DataFrame([check.broken().alias(f"{i}") for i, check in enumerate(checks)])
    frame = broken.select(broken=pl.any_horizontal(pl.all())).with_columns(status.alias("status"))
    failed = pl.col("status") == Status.FAILED
    unfounded = failed & ~pl.col("broken") if gate.complete else pl.lit(value=False)
    wrong = (pl.col("broken") & ~failed) | unfounded
    return int(frame.select((wrong & (pl.col("status") != Status.NOT_MEASURED)).sum()).item())


def _recorded(judged: _Judged) -> list[dict[str, Scalar] | None]:
    """What each verdict recorded, by name; None where nothing was measured."""
    names = tuple(judged.measures) or (OBSERVED,)
    columns = tuple(judged.measures.values()) or (judged.observed,)
    measured = (judged.status != Status.NOT_MEASURED).to_list()
    return [
        dict(zip(names, row, strict=True)) if is_measured else None
        for row, is_measured in zip(zip(*columns, strict=True), measured, strict=True)
    ]


def _values(limit: Limit, rows: Sequence[Mapping[str, Scalar] | None]) -> pl.Series:
    compared = [None if row is None else limit.compared(row) for row in rows]
    if not {type(value) for value in compared} <= {int, float, bool, type(None)}:
        raise TypeError(limit.name)
    return pl.Series(
        [None if value is None else float(value) for value in compared], dtype=pl.Float64
    )


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


def _gate(gate: str, judged: _Judged, words: _Index, ids: _Index, shown: Shown) -> dict[str, Any]:
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


def _whatif(name: str, judged: _Judged, gates: Gates) -> dict[str, Any]:
    """What a page needs to try other limits; nothing where the verdicts do not follow."""
    if name not in gates:
        return {**_NO_WHATIF, "checks": []}
    gate, config = gates[name]
    checks = _checks_of(gate, config, judged)
    wrong = _contradictions(gate, checks, judged.status)
    return {
        "complete": bool(checks) and gate.complete,
        "whatif": bool(checks) and not wrong,
        "contradictions": wrong,
        "checks": [_check(check) for check in checks],
    }


def _check(check: _Check) -> dict[str, Any]:
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
