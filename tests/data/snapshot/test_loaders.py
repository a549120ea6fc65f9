"""Every table of the demo release, loaded with the tools that people have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pandas as pd
import polars as pl
import pytest
import yaml

from data.snapshot.tasks import from_line, task_table
from tests.demo import Demo

OLD_DUCKDB = Path(sys.prefix) / "duckdb-1.4"
_COUNT_ROWS = (
    "import duckdb, sys; print(duckdb.__version__, *(duckdb.sql(query).fetchone()[0]"
    " for query in sys.argv[1:]))"
)


def rows_of(path: Path) -> str:
    """A table as DuckDB reads it. A CSV file of nothing but text needs to be said to have a head:

    DuckDB 1.4 would take the head for a row, DuckDB 2 would not.
    """
    return f"read_csv('{path}', header=true)" if path.suffix == ".csv" else f"'{path}'"


@pytest.fixture(scope="module")
def public(demo: Demo) -> Path:
    return demo.out / "snapshots/latest/public"


def test_the_two_lists_of_tasks_are_equal(public: Path) -> None:
    lines = (public / "tasks.jsonl").read_bytes().splitlines()
    rows = [from_line(orjson.loads(line)) for line in lines]
    assert pl.read_parquet(public / "tasks.parquet").to_dicts() == rows


@pytest.mark.parametrize(
    "last",
    [
        "sessions",  # the lane with most columns
        *(pytest.param(lane, marks=pytest.mark.slow) for lane in ("analytics", "workflows")),
        pytest.param("questions", marks=pytest.mark.slow),
    ],
)
def test_a_list_loads_whichever_lane_comes_first(public: Path, tmp_path: Path, last: str) -> None:
    """Polars looks at 100 lines, DuckDB at 20,480; none of them may need what stands behind."""
    by_lane: dict[str, list[bytes]] = {}
    for line in (public / "tasks.jsonl").read_bytes().splitlines(keepends=True):
        by_lane.setdefault(orjson.loads(line)["lane"], []).append(line)
    tail = by_lane.pop(last)
    for first, lines in by_lane.items():
        listed = [*(lines * 21_000)[:21_000], *tail]
        path = tmp_path / f"{first}.jsonl"
        path.write_bytes(b"".join(listed))
        frame = pl.read_ndjson(path)
        types = set(pl.read_ndjson(public / "tasks.jsonl").schema.items())
        assert (frame.height, set(frame.schema.items())) == (len(listed), types)
        assert frame.tail(len(tail)).to_dicts() == [orjson.loads(line) for line in tail]
        query = f"select max(length(fixtures)), count(*) from '{path}'"
        longest = max(len(orjson.loads(line)["fixtures"]) for line in listed)
        assert duckdb.connect().execute(query).fetchall() == [(longest, len(listed))]
        assert len(pd.read_json(path, lines=True)) == len(listed)


def test_the_columns_of_the_tasks_are_those_of_every_release(public: Path) -> None:
    empty = task_table([]).schema
    assert pl.read_parquet_schema(public / "tasks.parquet") == empty
    assert pl.Null not in empty.dtypes()


@pytest.fixture(scope="module")
def heights(public: Path) -> dict[str, int]:
    """Rows of each table by name, the tasks included, as Polars counts them."""
    rows = {path.stem: pl.read_parquet(path).height for path in (public / "tables").iterdir()}
    return rows | {"tasks": pl.read_ndjson(public / "tasks.jsonl").height}


@pytest.fixture(scope="module")
def tables(demo: Demo) -> dict[Path, int]:
    """Every table of both halves, the files of shared environments too, with Polars' row counts."""
    snapshot = (demo.out / "snapshots/latest").resolve()
    public, private = snapshot / "public", snapshot / "private"
    files = [public / "tasks.jsonl", public / "tasks.parquet", *(public / "tables").iterdir()]
    files += [*(public / "environments").rglob("*.csv"), *private.glob("*.parquet")]
    counted: dict[str, Callable[[Path], int]] = {
        ".jsonl": lambda path: pl.read_ndjson(path).height,
        ".parquet": lambda path: pl.read_parquet(path).height,
        ".csv": lambda path: pl.read_csv(path, infer_schema_length=None).height,
    }
    return {path: counted[path.suffix](path) for path in sorted(files)}


def test_the_tables_are_those_of_every_lane(
    tables: dict[Path, int], heights: dict[str, int]
) -> None:
    assert {"tasks", "points", "amounts", "questions", "enterprise"} <= heights.keys()
    assert {"conventions", "closings", "narrative", "history"} <= heights.keys()
    names = {path.stem for path in tables}
    assert heights.keys() | {"answers", "ledger", "lineage", "verdicts"} <= names
    assert sum(path.suffix == ".csv" for path in tables) > 5
    assert all(heights.values())
    assert all(tables.values())


def test_pandas_and_duckdb_load_every_table(tables: dict[Path, int]) -> None:
    assert duckdb.__version__.startswith("2.")
    reading: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".jsonl": lambda path: pd.read_json(path, lines=True),
        ".parquet": pd.read_parquet,
        ".csv": pd.read_csv,
    }
    for path, height in tables.items():
        rows = duckdb.connect().execute(f"from {rows_of(path)}").fetchall()
        frame = reading[path.suffix](path)
        assert (path.name, len(rows), len(frame)) == (path.name, height, height)


def test_duckdb_1_4_loads_every_table(tables: dict[Path, int]) -> None:
    if not OLD_DUCKDB.is_dir():
        pytest.skip("no DuckDB 1.4 beside this environment: `make test` installs it")
    queries = [f"select count(*) from {rows_of(path)}" for path in tables]
    printed = subprocess.run(
        [sys.executable, "-c", _COUNT_ROWS, *queries],
        env={**os.environ, "PYTHONPATH": str(OLD_DUCKDB)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert printed[0].startswith("1.4.")
    assert [int(number) for number in printed[1:]] == [*tables.values()]


def test_every_configuration_of_the_card_loads_with_datasets(
    public: Path, heights: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    datasets = pytest.importorskip("datasets")
    front = yaml.safe_load((public / "README.md").read_text().split("---\n")[1])
    names = [config["config_name"] for config in front["configs"]]
    assert sorted(names) == sorted(heights)
    for name in names:
        loaded = datasets.load_dataset(str(public), name, cache_dir=str(tmp_path), split="test")
        assert (name, loaded.num_rows) == (name, heights[name])


def test_every_record_set_is_read_by_mlcroissant(public: Path, heights: dict[str, int]) -> None:
    croissant = pytest.importorskip("mlcroissant")
    dataset = croissant.Dataset(jsonld=str(public / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    document = orjson.loads((public / "croissant.json").read_bytes())
    assert {key for key in document if key.startswith("rai:")} >= {
        "rai:dataCollection",
        "rai:personalSensitiveInformation",
        "rai:dataLimitations",
        "rai:dataBiases",
        "rai:dataUseCases",
        "rai:dataReleaseMaintenancePlan",
    }
    by_name = {records["name"]: records for records in document["recordSet"]}
    assert by_name.keys() == heights.keys()
    for name, records in by_name.items():
        rows = list(dataset.records(name))
        fields = {f"{name}/{field['name']}" for field in records["field"]}
        assert (name, len(rows)) == (name, heights[name])
        assert fields == rows[0].keys()


def test_croissant_names_every_column(public: Path, heights: dict[str, int]) -> None:
    document = orjson.loads((public / "croissant.json").read_bytes())
    named = {records["name"]: columns(records) for records in document["recordSet"]}
    task = orjson.loads((public / "tasks.jsonl").read_bytes().splitlines()[0])
    assert named.pop("tasks") == set(task)
    assert named == {
        name: set(pl.read_parquet_schema(public / "tables" / f"{name}.parquet"))
        for name in heights
        if name != "tasks"
    }


def columns(records: dict[str, Any]) -> set[str]:
    return {field["source"]["extract"]["column"] for field in records["field"]}


def test_values_as_numbers_equal_the_filed_texts(public: Path) -> None:
    points = pl.read_parquet(public / "tables/points.parquet")
    amounts = pl.read_parquet(public / "tables/amounts.parquet")
    assert amounts["point_id"].to_list() == points["point_id"].to_list()
    assert amounts["value"].to_list() == points["value"].str.to_decimal(scale=10).to_list()
