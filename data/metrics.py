"""Metrics of a run: items, seconds, bytes and cost, as rows and as OpenMetrics text.

Seconds are measured when a stage is computed; a later run that reuses its output reports the same.
Nothing of this enters a digest (law 5): `timings.parquet` lies in the private stage directories.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from data.schemas import COSTS, TIMINGS
from data.tables import write_table

if TYPE_CHECKING:  # every stage writes timings, but few queries need the database
    import duckdb

_Labels = tuple[tuple[str, str], ...]  # name and value, sorted by name

FILE = "metrics.prom"
_PREFIX = "benchmint"
_ROUNDED = 6  # decimals of seconds and money


class Measure(StrEnum):
    """What is measured; the value completes the metric's name."""

    ITEMS = "stage_items"
    SECONDS = "work_seconds"
    CPU = "work_cpu_seconds"
    BYTES = "work_bytes"
    COST = "judging_cost"
    TOKENS = "judging_tokens"


_HELP = {
    Measure.ITEMS: "Units in a stage: those that entered, and each outcome.",
    Measure.SECONDS: "Wall-clock time that a piece of work took to compute.",
    Measure.CPU: "CPU time, user and system, that a piece of work took to compute.",
    Measure.BYTES: "Size of the files written by a piece of work.",
    Measure.COST: "Cost of judging by a model, in the currency of the configured prices.",
    Measure.TOKENS: "Tokens used by the judge model.",
}
_UNITS = {Measure.SECONDS: "seconds", Measure.CPU: "seconds", Measure.BYTES: "bytes"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement: what is measured, for which part of which run, and the value."""

    measure: Measure
    labels: Mapping[str, str]
    value: float


def cpu_seconds() -> float:
    """Processor time of this process so far, and of the processes that it has waited for."""
    return sum(os.times()[:4])


def write_timing(folder: Path, work: str, seconds: float, cpu: float) -> int:
    """Record in a stage's directory what time it took and how much it wrote; returns the bytes."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    times = {"seconds": round(seconds, _ROUNDED), "cpu_seconds": round(cpu, _ROUNDED)}
    row = {"work": work, **times, "bytes": size}
    write_table(folder / f"{TIMINGS.name}.parquet", [row], TIMINGS.schema)
    return size


def samples(staging: duckdb.DuckDBPyConnection) -> list[Sample]:
    """All measurements of the runs that the connection shows."""
    return [*_items(staging), *_work(staging), *_costs(staging)]


def openmetrics(rows: Iterable[Sample]) -> str:
    """The samples in the OpenMetrics 1.0 text format: gauges, sorted by their labels.

    Characters that UTF-8 cannot encode become `?`. Raises ValueError where two samples have the
    same name and labels, which the format forbids.
    """
    # Late: every build imports this module to write timings, few print metrics.
    from prometheus_client import CollectorRegistry, Gauge
    from prometheus_client.openmetrics.exposition import generate_latest

    families: dict[Measure, dict[_Labels, float]] = {}
    for row in rows:
        family = families.setdefault(row.measure, {})
        labels = tuple(sorted((name, _encodable(text)) for name, text in row.labels.items()))
        if labels in family:
            raise ValueError(f"{row.measure} has two samples with the labels {dict(labels)}")
        family[labels] = row.value
    registry = CollectorRegistry()
    for measure in Measure:
        if samples_of_measure := sorted(families.get(measure, {}).items()):
            label_names = [name for name, _ in samples_of_measure[0][0]]
            gauge = Gauge(
                f"{_PREFIX}_{measure}",
                _HELP[measure],
                label_names,
                unit=_UNITS.get(measure, ""),
                registry=registry,
            )
            for labels, value in samples_of_measure:
                gauge.labels(**dict(labels)).set(value)
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text.decode()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _items(staging: duckdb.DuckDBPyConnection) -> Iterator[Sample]:
    outcomes = ("n_in", "passed", "rejected", "errored", "not_chosen")
    result = staging.execute(
        "SELECT run_id, stage, unit, n_in, passed, rejected, errored, not_chosen FROM funnel"
    )
    for run_id, stage, unit, *counts in result.fetchall():
        for outcome, n in zip(outcomes, counts, strict=True):
            labels = {"run_id": run_id, "stage": stage, "unit": unit, "outcome": outcome}
            yield Sample(Measure.ITEMS, labels, float(n))


def _work(staging: duckdb.DuckDBPyConnection) -> Iterator[Sample]:
    result = staging.execute(
        "SELECT run_id, work, sum(seconds), sum(cpu_seconds), sum(bytes) "  # noqa: S608
        f"FROM {TIMINGS.name} GROUP BY run_id, work"
    )
    for run_id, work, seconds, cpu, size in result.fetchall():
        labels = {"run_id": run_id, "work": work}
        yield Sample(Measure.SECONDS, labels, round(seconds, _ROUNDED))
        if cpu is not None:  # a run that was staged before this was measured
            yield Sample(Measure.CPU, labels, round(cpu, _ROUNDED))
        yield Sample(Measure.BYTES, labels, float(size))


def _costs(staging: duckdb.DuckDBPyConnection) -> Iterator[Sample]:
    result = staging.execute(
        "SELECT run_id, stage, sum(cost), sum(prompt_tokens), sum(completion_tokens) "  # noqa: S608
        f"FROM {COSTS.name} GROUP BY run_id, stage"
    )
    for run_id, stage, cost, prompt, completion in result.fetchall():
        labels = {"run_id": run_id, "stage": stage}
        yield Sample(Measure.COST, labels, round(cost, _ROUNDED))
        yield Sample(Measure.TOKENS, {**labels, "kind": "prompt"}, float(prompt))
        yield Sample(Measure.TOKENS, {**labels, "kind": "completion"}, float(completion))
