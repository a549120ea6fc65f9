"""Reading the newest run's verdicts and rejections from a staging file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from data.contracts import Scalar, Status
from data.errors import InputError
from data.staging import open_read_only

_ITEMS = ("instance", "candidate")
# Which instance a candidate was made from.
_MADE = (
    "SELECT child AS task, min(parent) AS instance FROM lineage "
    "WHERE child_unit = 'candidate' AND parent_unit = 'instance' GROUP BY child"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict; `item` is the instance, also where a gate judged its candidate."""

    item: str
    gate: str
    status: Status
    reason: str | None
    observed: Scalar
    limit: Scalar
    measures: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Rejection:
    """One rejected or errored unit, or `n` that share a row."""

    item: str
    stage: str
    unit: str
    outcome: str
    gate: str | None
    reason: str | None
    observed: str | None
    limit: str | None
    n: int
    path: str | None
    line: int | None

    @property
    def is_item(self) -> bool:
        return self.unit in _ITEMS and self.n == 1


@dataclass(frozen=True, slots=True)
class Books:
    """What an audit page is made of: facts of the run, its verdicts, its rejections."""

    about: Mapping[str, Any]
    verdicts: tuple[Row, ...]
    rejections: tuple[Rejection, ...]


def read_books(staging: Path) -> Books:
    """The newest run of a staging file. Raises InputError where there is none."""
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging file", "Run `benchmint build` first.")
    try:
        with open_read_only(staging) as connection:
            return _read(connection)
    except (duckdb.Error, ValueError) as error:
        found = f"a file that cannot be used ({type(error).__name__})"
        expected = "a staging file of this version"
        raise InputError(str(staging), found, expected, "Build again.") from error


def _read(connection: duckdb.DuckDBPyConnection) -> Books:
    about = connection.execute(
        "SELECT run_id, snapshot, released, published, privacy FROM runs "
        "ORDER BY built_at DESC NULLS LAST, run_id DESC LIMIT 1"
    ).fetchone()
    names = ("run_id", "snapshot", "released", "published", "privacy")
    told = ["" if value is None else str(value) for value in about or [None] * len(names)]
    verdicts = connection.execute(
        f"""SELECT coalesce(c.instance, v.item_id), gate, status, reason, observed,
                  observed_text, v."limit", limit_text, measures
           FROM verdicts v LEFT JOIN ({_MADE}) c ON c.task = v.item_id
           ORDER BY 1, 2"""  # noqa: S608 — a constant
    ).fetchall()
    rejections = connection.execute(
        f"""SELECT coalesce(c.instance, r.item_id), r.stage, unit, r.outcome, gate, reason,
                  observed, "limit", n, path, line
           FROM rejections r LEFT JOIN ({_MADE}) c ON c.task = r.item_id AND unit = 'candidate'
           LEFT JOIN (SELECT stage, min(step) AS step FROM funnel GROUP BY stage) f
                  ON f.stage = r.stage
           ORDER BY f.step NULLS LAST, 2, 5, 6, 1"""  # noqa: S608
    ).fetchall()
    return Books(
        dict(zip(names, told, strict=True)),
        tuple(_verdict(row) for row in verdicts),
        tuple(Rejection(*row) for row in rejections),
    )


def _verdict(row: tuple[Any, ...]) -> Row:
    item, gate, status, reason, observed, observed_text, limit, limit_text, measures = row
    return Row(
        item=item,
        gate=gate,
        status=Status(status),
        reason=reason,
        observed=_scalar(observed, observed_text),
        limit=_scalar(limit, limit_text),
        measures=orjson.loads(measures) if measures else {},
    )


def _scalar(number: float | None, text: str | None) -> Scalar:
    """The number, whole where it is; else the text. Truth values are stored as 0 and 1."""
    if number is None or text in ("True", "False"):
        return text
    return int(number) if number.is_integer() else number
