"""What the release tells of its privacy: audit/privacy.json, and nothing private in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from anonymization.leaks.leak_targets import LeakTargets, counts_of
from data.schemas import MASKED_SPANS


def masking_report(masked: Sequence[Path], targets: LeakTargets) -> dict[str, Any] | None:
    """How much was masked, of which kind and by what, and what the leak scan looked for.

    None where no session was masked. A release that the scan finds anything in is never written.
    """
    if not masked:
        return None
    spans = pl.concat(
        [pl.read_parquet(folder / f"{MASKED_SPANS.name}.parquet") for folder in masked]
    )
    ledger = pl.concat([pl.read_parquet(folder / "ledger.parquet") for folder in masked])
    refused = ledger.filter(pl.col("reason").is_not_null())["reason"]
    return {
        "sessions": len(targets.sessions),
        "instances": ledger.height,
        "refused": dict(sorted(Counter(refused).items())),
        "spans": dict(sorted(Counter(spans["type"]).items())),
        "recognizers": dict(sorted(Counter(spans["recognizer"]).items())),
        "leak_scan": counts_of(targets),
    }
