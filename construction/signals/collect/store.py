"""Stores snapshots as `<root>/<source>/<YYYY-MM-DD>.parquet` with a JSON header beside it.

The header is written last: a snapshot without header is incomplete and ignored.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from construction.signals.collect.snapshot import make_snapshot
from construction.signals.config import check_source
from data.atomic import replacing, write_bytes
from data.canonical import pretty_json
from data.contracts import Popularity, Signal, SignalProvenance, SignalSnapshot
from data.errors import InputError
from data.tables import write_table

SIGNALS: Mapping[str, Any] = {
    "slug": pl.String,
    "name": pl.String,
    "summary": pl.String,
    "owner": pl.String,
    **{str(measure): pl.Int64 for measure in Popularity},
    "tags": pl.List(pl.String),
    "created_at": pl.Float64,
    "source": pl.String,
    "date": pl.Date,
    "url": pl.String,
    "rank": pl.Int64,
}
_REPAIR = "Restore the files, or delete both and collect again."


@dataclass(frozen=True, slots=True)
class SnapshotHeader:
    """The description of a stored snapshot; `mass` is the sum of `measure` over its signals."""

    source: str
    date: dt.date
    measure: Popularity
    signals: int
    mass: int
    digest: str


def save_snapshot(root: Path, snapshot: SignalSnapshot, *, replace: bool = False) -> Path:
    """Store a snapshot and return its Parquet file; equal snapshots give equal bytes.

    Does nothing if exactly this snapshot is stored. Raises InputError if a different one of this
    source and date is stored, unless `replace` is set.
    """
    path = _path(root, snapshot.source, snapshot.date)
    header = path.with_suffix(".json")
    if header.exists():
        known = _read_header(header)
        if known.digest == snapshot.digest and path.exists():
            return path
        if not replace:
            raise InputError(
                str(header),
                f"a snapshot with digest {known.digest[:12]}",
                f"{snapshot.digest[:12]}, or no snapshot of this source and date",
                "Use another date or source name, or replace the stored snapshot.",
            )
        header.unlink()
    with replacing(path) as part:
        write_table(part, map(_record, snapshot.signals), SIGNALS)
    description = SnapshotHeader(
        source=snapshot.source,
        date=snapshot.date,
        measure=snapshot.measure,
        signals=len(snapshot.signals),
        mass=sum(signal.popularity[snapshot.measure] for signal in snapshot.signals),
        digest=snapshot.digest,
    )
    write_bytes(header, pretty_json(description))
    return path


def list_snapshots(root: Path, source: str | None = None) -> tuple[SnapshotHeader, ...]:
    """Headers of all complete snapshots (of `source`, if given), by source and date."""
    folder = "*" if source is None else check_source(source)
    headers = [_read_header(path) for path in sorted(root.glob(f"{folder}/????-??-??.json"))]
    return tuple(sorted(headers, key=lambda header: (header.source, header.date)))


def load_snapshot(root: Path, source: str, date: dt.date | None = None) -> SignalSnapshot:
    """The snapshot of a date, or the latest one; its digest is checked.

    Raises InputError if there is none, or if it differs from what was stored.
    """
    if date is None:
        stored = list_snapshots(root, source)
        if not stored:
            actual, todo = "no snapshot", "Collect one first."
            raise InputError(str(root / source), actual, "at least one", todo)
        date = stored[-1].date
    path = _path(root, source, date)
    header = _read_header(path.with_suffix(".json"))
    try:
        frame = pl.read_parquet(path, columns=list(SIGNALS))
        signals = [_signal(record) for record in frame.iter_rows(named=True)]
        snapshot = make_snapshot(header.source, header.date, header.measure, signals)
    except (OSError, pl.exceptions.PolarsError, TypeError) as error:
        actual = f"no table of signals ({type(error).__name__})"
        raise InputError(str(path), actual, "the stored snapshot", _REPAIR) from None
    if (header.source, header.date, header.digest) != (source, date, snapshot.digest):
        actual = f"signals with digest {snapshot.digest[:12]}"
        raise InputError(str(path), actual, f"{header.digest[:12]}, as in the header", _REPAIR)
    return snapshot


def _path(root: Path, source: str, date: dt.date) -> Path:
    return root / check_source(source) / f"{date.isoformat()}.parquet"


def _read_header(path: Path) -> SnapshotHeader:
    try:
        record = orjson.loads(path.read_bytes())
        return SnapshotHeader(
            source=check_source(record["source"]),
            date=dt.date.fromisoformat(record["date"]),
            measure=Popularity(record["measure"]),
            signals=int(record["signals"]),
            mass=int(record["mass"]),
            digest=str(record["digest"]),
        )
    except FileNotFoundError:
        raise InputError(str(path), "no file", "a stored snapshot", "Check the date.") from None
    except (ValueError, KeyError, TypeError) as error:
        actual = f"no header ({type(error).__name__})"
        raise InputError(str(path), actual, "the header of a snapshot", _REPAIR) from None


def _record(signal: Signal) -> dict[str, Any]:
    counts = {str(measure): signal.popularity.get(measure) for measure in Popularity}
    return {
        "slug": signal.slug,
        "name": signal.name,
        "summary": signal.summary,
        "owner": signal.owner,
        **counts,
        "tags": list(signal.tags),
        "created_at": signal.created_at,
        "source": signal.provenance.source,
        "date": signal.provenance.date,
        "url": signal.provenance.url,
        "rank": signal.provenance.rank,
    }


def _signal(record: Mapping[str, Any]) -> Signal:
    return Signal(
        slug=record["slug"],
        name=record["name"],
        summary=record["summary"],
        owner=record["owner"],
        popularity={m: record[m] for m in Popularity if record[m] is not None},
        tags=tuple(record["tags"]),
        provenance=SignalProvenance(
            record["source"], record["date"], record["url"], record["rank"]
        ),
        created_at=record["created_at"],
    )
