"""The table of all rejections in `audit/report.html`, as the page embeds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from data.contracts import MISSING, Outcome
from data.neutralise import public_text
from data.reasons import ReasonWords

_TURNED_AWAY = (str(Outcome.REJECTED), str(Outcome.ERRORED))


def rejection_rows(
    ledger: pl.DataFrame, opaque: Callable[[str], str], reasons: ReasonWords
) -> dict[str, Any]:
    """Rejected and errored units for the table: each text once, rows as indices into the texts.

    A row is [opaque id, stage, unit, outcome, gate, reason, missing, observed, limit, units]; the
    units are a number, limits have their unit. What is missing is described, never named.
    Rejections by gates come first.
    """
    words: dict[str, int] = {}
    columns = [
        "item_id", "stage", "unit", "outcome", "gate", "reason", "missing", "observed", "limit",
        "n",
    ]  # fmt: skip
    missing = pl.col("evidence").str.json_path_match(f"$.{MISSING}").alias("missing")
    chosen = (
        ledger.filter(pl.col("outcome").is_in(_TURNED_AWAY)).with_columns(missing).select(columns)
    )
    rows = [
        [opaque(row[0]), *_coded(row[1:-1], reasons, words), row[-1]] for row in chosen.iter_rows()
    ]
    gate = columns.index("gate")
    rows.sort(key=lambda row: (row[gate] == words.get(""), row))
    return {"words": list(words), "rows": rows}


def _coded(
    values: Sequence[str | None], reasons: ReasonWords, words: dict[str, int]
) -> Iterator[int]:
    *names, gate, reason, missing, observed, limit = values
    allowed = reasons.allowed(gate, reason, public_text(limit))
    for value in (*names, gate, reason, missing, public_text(observed), allowed):
        yield words.setdefault("" if value is None else str(value), len(words))
