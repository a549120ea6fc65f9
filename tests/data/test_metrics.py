"""Measurements of runs: what is noted, what is asked, and the text that monitors read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from data.metrics import Measure, Sample, openmetrics, samples, write_timing
from data.schemas import TIMINGS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def parsed(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """What another party's parser reads: name and labels of each sample, and its value."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
        for sample in family.samples
    }


@pytest.fixture
def staging() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            """CREATE TABLE funnel AS SELECT 'r' AS run_id, 'gates' AS stage, 'instance' AS unit,
               10::BIGINT AS n_in, 7::BIGINT AS passed, 2::BIGINT AS rejected,
               1::BIGINT AS errored, 0::BIGINT AS not_chosen"""
        )
        connection.execute(
            """CREATE TABLE timings AS FROM (VALUES
               ('r', 'recover', 1.5, 1.0, 100), ('r', 'recover', 0.25, 0.25, 20),
               ('r', 'scan', 0.5, 0.25, 3), ('older', 'scan', 0.5, NULL, 3)
               ) AS t(run_id, work, seconds, cpu_seconds, bytes)"""
        )
        connection.execute(
            """CREATE TABLE costs AS FROM (VALUES
               ('r', 'labels', 'model:m', 3, 0, 90, 10, 0.25::DOUBLE)
               ) AS t(run_id, stage, judge, items, errors, prompt_tokens, completion_tokens,
                      cost)"""
        )
        yield connection


def test_a_timing_tells_the_size_of_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "sub" / "b").write_bytes(b"123")
    assert write_timing(tmp_path, "scan", 1.23456789, 0.5) == 8
    frame = pl.read_parquet(tmp_path / "timings.parquet")
    assert dict(frame.schema) == TIMINGS.schema
    row = {"work": "scan", "seconds": 1.234568, "cpu_seconds": 0.5, "bytes": 8}
    assert frame.to_dicts() == [row]


def test_shards_of_a_stage_add_up(staging: duckdb.DuckDBPyConnection) -> None:
    actual = {
        (row.measure, tuple(sorted(row.labels.items()))): row.value for row in samples(staging)
    }
    recover = (("run_id", "r"), ("work", "recover"))
    assert actual[Measure.SECONDS, recover] == 1.75
    assert actual[Measure.CPU, recover] == 1.25
    assert actual[Measure.BYTES, recover] == 120
    items = {dict(labels)["outcome"]: n for (m, labels), n in actual.items() if m is Measure.ITEMS}
    assert items == {"n_in": 10, "passed": 7, "rejected": 2, "errored": 1, "not_chosen": 0}


def test_the_text_is_what_the_format_asks_for(staging: duckdb.DuckDBPyConnection) -> None:
    text = openmetrics(samples(staging))
    assert text.splitlines()[-8:] == [
        "# HELP benchmint_judging_cost "
        "Cost of judging by a model, in the currency of the configured prices.",
        "# TYPE benchmint_judging_cost gauge",
        'benchmint_judging_cost{run_id="r",stage="labels"} 0.25',
        "# HELP benchmint_judging_tokens Tokens used by the judge model.",
        "# TYPE benchmint_judging_tokens gauge",
        'benchmint_judging_tokens{kind="completion",run_id="r",stage="labels"} 10.0',
        'benchmint_judging_tokens{kind="prompt",run_id="r",stage="labels"} 90.0',
        "# EOF",
    ]
    assert "# UNIT benchmint_work_seconds seconds\n" in text
    actual = parsed(text)
    assert len(actual) == 5 + 2 * 3 + 2 + 3
    key = frozenset({"run_id": "r", "work": "recover"}.items())
    assert actual["benchmint_work_seconds", key] == 1.75


def test_nothing_measured_is_still_a_whole_exposition() -> None:
    assert openmetrics([]) == "# EOF\n"
    assert parsed("# EOF\n") == {}


@given(st.dictionaries(TEXT, st.floats(allow_nan=False), max_size=5))
def test_any_label_and_value_comes_back(values: dict[str, float]) -> None:
    rows = [Sample(Measure.ITEMS, {"stage": name}, value) for name, value in values.items()]
    actual = parsed(openmetrics(rows))
    assert {dict(labels)["stage"]: value for (_, labels), value in actual.items()} == values
    assert openmetrics(reversed(rows)) == openmetrics(rows)


def test_what_no_utf8_holds_and_what_is_no_number_are_told_all_the_same() -> None:
    text = openmetrics([Sample(Measure.COST, {"stage": 'a\ud800\n"\\'}, math.nan)])
    assert 'benchmint_judging_cost{stage="a?\\n\\"\\\\"} NaN' in text
    text.encode()


def test_two_samples_of_one_name_are_refused() -> None:
    row = Sample(Measure.COST, {"stage": "a"}, 1)
    with pytest.raises(ValueError, match="two samples with the labels"):
        openmetrics([row, row])
