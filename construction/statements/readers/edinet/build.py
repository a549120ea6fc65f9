"""Filings to tables, some companies at a time, so that memory holds the frames of one batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from construction.statements.model import HISTORY, POINTS, ROWS, SERIES
from construction.statements.readers.edinet.filings import Filing
from construction.statements.readers.edinet.periods import dated, span_frame
from construction.statements.readers.edinet.spans import Span
from construction.statements.readers.edinet.tables import (
    identified,
    point_frame,
    row_frame,
    series_frame,
)
from construction.statements.readers.edinet.values import value_frame
from construction.statements.readers.restate import latest

Dated = tuple[Filing, Span]
_BATCH = 2000  # filings


@dataclass(frozen=True, slots=True)
class Built:
    """The tables of some companies; `reasons`: values that were not taken, counted."""

    series: pl.DataFrame
    points: pl.DataFrame
    history: pl.DataFrame
    rows: pl.DataFrame
    n_values: int
    reasons: Counter[str]


def build(filings: Sequence[Dated], source: str) -> Built:
    """The tables of all filings, which come sorted by company."""
    parts = [_batch(batch, source) for batch in _batches(filings)]
    rows = pl.concat([pl.DataFrame(schema=ROWS.schema), *(part.rows for part in parts)])
    return Built(
        pl.concat([pl.DataFrame(schema=SERIES.schema), *(part.series for part in parts)]),
        pl.concat([pl.DataFrame(schema=POINTS.schema), *(part.points for part in parts)]),
        pl.concat([pl.DataFrame(schema=HISTORY.schema), *(part.history for part in parts)]),
        rows.sort("document", "report", "line"),
        sum(part.n_values for part in parts),
        sum((part.reasons for part in parts), Counter()),
    )


def _batches(filings: Sequence[Dated]) -> Iterator[list[Dated]]:
    """Whole companies, until a batch is full: a series and its rivals are in one batch."""
    batch: list[Dated] = []
    for _, group in groupby(filings, key=lambda pair: pair[0].company):
        batch += group
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _batch(batch: Sequence[Dated], source: str) -> Built:
    filings, spans = [filing for filing, _ in batch], [span for _, span in batch]
    values = identified(dated(value_frame(filings), span_frame(filings, spans)), source)
    points, history = latest(point_frame(values))
    series = series_frame(values)
    lost = values.filter(pl.col("reason").is_not_null())["reason"].to_list()
    rows = row_frame(values, series)
    return Built(series, points, history, rows, values.height, Counter(lost))
