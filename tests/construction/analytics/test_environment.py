"""Environments: what is read, which noise is found, what a careless reader gets, three variants."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w
from polars.testing import assert_frame_equal

from benchmarks.analysts import read_raw
from construction.analytics.environment.declaration import (
    IGNORABLE,
    Declaration,
    Noise,
    read_declaration,
)
from construction.analytics.environment.variants import (
    Inventory,
    clean_tables,
    noise_inventory,
    read_file,
    read_files,
    write_variants,
)
from data.errors import ConfigError, InputError
from tests.construction.analytics.world import bench, declaration, demo_folder


def test_the_inventory_counts_exactly_the_noise_that_was_planted() -> None:
    inventory = Inventory()
    clean_tables(declaration(), read_files(demo_folder(), declaration()), (), inventory)
    counted: Counter[str] = Counter()
    for row in noise_inventory(declaration(), inventory):
        counted[str(row["kind"])] += int(str(row["n"]))
    assert counted == json.loads((demo_folder() / "truth.json").read_text())


SMALL: dict[str, Any] = {
    "name": "small",
    "words": {},
    "files": {"firms": {"path": "firms.csv", "domain": "enterprise"}},
    "aliases": {"homes": {"X-town": "x"}},
    "tables": [
        {
            "name": "firms",
            "file": "firms",
            "key": ["id", "year"],
            "latest": "filed",
            "columns": [
                {"name": "id", "source": "id"},
                {"name": "home", "source": "home", "aliases": "homes"},
                {"name": "year", "source": "start", "type": "year", "lag": "end"},
                {
                    "name": "sales",
                    "source": "sales",
                    "type": "number",
                    "factor": 0.001,
                    "recorded": "thousand dollars",
                    "missing": ["-"],
                },
            ],
        }
    ],
}
CSV = """id,home,start,end,filed,sales
a,X-town,2020-04-01,2021-03-31,2,"2,000"
a, x ,2020-04-01,2021-03-31,1,1000
b,y,2020-01-01,2020-12-31,1,-
"""


@pytest.mark.parametrize(
    ("ignoring", "rows"),
    [
        ([], [("a", "x", 2020, 2.0), ("b", "y", 2020, None)]),
        ([Noise.UNITS], [("a", "x", 2020, 2000.0), ("b", "y", 2020, None)]),
        ([Noise.MISSING], [("a", "x", 2020, 2.0), ("b", "y", 2020, 0.0)]),
        ([Noise.ALIASES], [("a", "X-town", 2020, 2.0), ("b", "y", 2020, None)]),
        ([Noise.YEARS], [("a", "x", 2021, 2.0), ("b", "y", 2020, None)]),
        (
            [Noise.REPEATS],
            [("a", "x", 2020, 1.0), ("a", "x", 2020, 2.0), ("b", "y", 2020, None)],
        ),
    ],
)
def test_each_kind_of_noise_is_removed_unless_it_is_ignored(
    tmp_path: Path, ignoring: list[Noise], rows: list[tuple[object, ...]]
) -> None:
    (tmp_path / "firms.csv").write_text(CSV)
    declared = Declaration.model_validate(SMALL)
    files = read_files(tmp_path, declared)
    assert clean_tables(declared, files, ignoring)["firms"].rows() == rows


@pytest.mark.parametrize("ignoring", [None, *IGNORABLE])
def test_a_second_reader_makes_the_same_tables(ignoring: Noise | None) -> None:
    declared, kinds = declaration(), [] if ignoring is None else [ignoring]
    first = clean_tables(declared, read_files(demo_folder(), declared), kinds)
    second = read_raw(declared, demo_folder(), kinds)
    assert first.keys() == second.keys()
    for name, frame in first.items():
        assert_frame_equal(frame, second[name], check_row_order=False)


def test_another_release_stands_in_only_for_a_careless_reader() -> None:
    clean, careless = bench().tables, bench().careless[Noise.SCOPE]
    assert careless["regions"].equals(clean["regions_2020"])
    assert not clean["regions"].equals(clean["regions_2020"])


def test_the_variants_hold_what_they_should(tmp_path: Path) -> None:
    declared = declaration()
    replaced = {"accounts": pl.DataFrame({"reg_no": ["V1"]})}
    write_variants(declared, demo_folder(), replaced, bench().tables, tmp_path)
    names = {
        variant: {p.relative_to(tmp_path / variant).as_posix() for p in files if p.is_file()}
        for variant in ("raw", "cleaned", "guided")
        for files in [(tmp_path / variant).rglob("*")]
    }
    assert {"irrelevant/weather.csv", "policy/documents/climate_levy.txt"} <= names["raw"]
    assert 12 <= len(names["raw"]) <= 20
    assert (tmp_path / "raw/enterprise/annual_accounts.csv").read_text() == "reg_no\nV1\n"
    units = (tmp_path / "raw/units.csv").read_text().splitlines()
    assert "enterprise/annual_accounts.csv,revenue,thousand kronor" in units
    assert "enterprise/register.csv,capital,million kronor" in units
    assert names["cleaned"] == {f"tables/{name}.csv" for name in bench().tables} | {"metrics.csv"}
    assert names["guided"] == names["cleaned"] | {"SCHEMA.md"}
    schema = (tmp_path / "guided/SCHEMA.md").read_text()
    assert "Another release of `regions`: use that one unless asked." in schema


@pytest.mark.parametrize(
    ("path", "actual"),
    [
        ("../secret.csv", "a path out of the folder"),
        ("none.csv", "no such file"),
        ("none\0.csv", "no name of a file"),
        ("n" * 5_000, "no name of a file"),
    ],
)
def test_only_files_of_the_folder_are_read(tmp_path: Path, path: str, actual: str) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    file = Declaration.model_validate(SMALL).files["firms"].model_copy(update={"path": path})
    (tmp_path / "inside").mkdir()
    with pytest.raises(InputError) as error:
        read_file(tmp_path / "inside", file)
    assert error.value.actual == actual


def test_a_ragged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("a,b\n1,2\n3\n")
    file = Declaration.model_validate(SMALL).files["firms"]
    with pytest.raises(InputError, match=r"firms.csv:3: found 1 cells; expected 2"):
        read_file(tmp_path, file)


def test_a_wrong_declaration_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(
        'name = "x"\n[words]\n[files]\n[[tables]]\nname = "t"\nfile = "f"\nkey = ["a"]\n'
    )
    with pytest.raises(ConfigError, match=r"tables\.0\.columns"):
        read_declaration(path)


GZIP = gzip.compress(b"".join(b"%d,%d\n" % (n, n * n) for n in range(500)), mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("firms.csv", b"a,b\n" + b"x" * 200_000 + b",1\n", "field larger than field limit"),
        ("firms.csv", b"a,a,a.1\n1,2,3\n", "columns of one name"),
        ("firms.csv", b"a,b\n", "1 lines; expected data from line 2"),
        ("firms.parquet", b"PAR1 and no more", "ComputeError"),
        ("firms.csv.gz", GZIP[:20] + b"\xff" * 20 + GZIP[40:], "error"),
    ],
)
def test_files_that_are_damaged_are_named(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    file = Declaration.model_validate(SMALL).files["firms"].model_copy(update={"path": name})
    with pytest.raises(InputError, match=rf"{name}.*found {problem}"):
        read_file(tmp_path, file)


TWO_OF_ONE_NAME = {
    name: {"path": f"{folder}firms.csv", "domain": "enterprise"}
    for name, folder in (("firms", ""), ("other", "b/"))
}
METRIC = {
    "name": "sales", "table": "firms", "column": "sales", "kind": "money",
    "label": {"en": "sales", "zh": "销售"},
}  # fmt: skip


SCALED = {"name": "sales", "source": "sales", "type": "number", "unit": "million", "factor": 1e-6}


@pytest.mark.parametrize(
    ("file", "table", "more", "problem"),
    [
        ({"header": 3, "data_from": 2}, {}, {}, "data_from: expected a line after the header"),
        ({"texts": {"../../out": "a.txt"}}, {}, {}, "texts: '../../out': expected letters"),
        ({}, {}, {"files": TWO_OF_ONE_NAME}, "files firms and other: both are firms.csv"),
        ({}, {"key": ["id", "nope"]}, {}, "key: no column nope"),
        ({}, {"stands_for": "firms"}, {}, "found the table itself"),
        ({}, {"columns": [SCALED | {"factor": 0.0}]}, {}, "found 0, which leaves nothing"),
        ({}, {"columns": [SCALED]}, {}, "say in which unit the file records it"),
        ({}, {"columns": [{"name": "id", "source": s} for s in "ab"]}, {}, "two columns"),
        ({}, {}, {"metrics": [METRIC | {"column": "nope"}]}, "metric sales: no column nope"),
        ({}, {}, {"metrics": [METRIC | {"label": {"en": "sales"}}]}, "label: no words in zh"),
        ({}, {}, {"metrics": [METRIC | {"kind": "nope"}]}, "kind: .*expected one of"),
        ({}, {}, {"slots": {"s": {"table": "nope", "column": "a"}}}, "slots s: no table nope"),
        ({}, {}, {"quotas": {"risk_assessment": {"easy": -1}}}, r"risk_assessment\.easy"),
        ({}, {}, {"quotas": {"nope": {"easy": 1}}}, r"quotas\.nope"),
        ({}, {}, {"quotas": {"risk_assessment": {"nope": 1}}}, r"risk_assessment\.nope"),
        ({}, {}, {"metrics": [METRIC, METRIC]}, "two metrics have the name sales"),
        ({}, {}, {"metrics": [METRIC | {"column": "id"}]}, "metric sales: id is a text"),
        ({}, {}, {"metrics": [METRIC | {"label": {"en": "", "zh": "x"}}]}, r"label\.en"),
        ({}, {}, {"metrics": [METRIC | {"label": {"en": "a\x1b", "zh": "x"}}]}, r"label\.en"),
        ({}, {}, {"slots": {"nth": {"values": [3, 99]}}}, "slots nth: found 99; expected ranks"),
        ({}, {}, {"limits": {"tries": 10**9}}, r"limits\.tries"),
        ({}, {}, {"prominence": {"home": "nope"}}, "prominence of home: no metric nope"),
    ],
)
def test_declarations_that_contradict_themselves_are_refused(
    tmp_path: Path,
    file: dict[str, object],
    table: dict[str, object],
    more: dict[str, Any],
    problem: str,
) -> None:
    wrong = copy.deepcopy(SMALL) | more
    wrong["files"]["firms"] |= file
    wrong["tables"][0] |= table
    path = tmp_path / "wrong.toml"
    path.write_text(tomli_w.dumps(wrong))
    with pytest.raises(ConfigError, match=problem):
        read_declaration(path)


def test_rows_to_drop_by_a_column_that_is_not_there_are_named(tmp_path: Path) -> None:
    wrong = copy.deepcopy(SMALL)
    wrong["tables"][0]["drop"] = {"nope": ["a"]}
    (tmp_path / "firms.csv").write_text(CSV)
    declared = Declaration.model_validate(wrong)
    with pytest.raises(InputError, match="found no column nope"):
        clean_tables(declared, read_files(tmp_path, declared))


@pytest.mark.parametrize("cell", ["1,5", "12,34", "1,2345", "1.234,5", ",5"])
def test_a_comma_that_groups_no_thousands_is_refused(cell: str) -> None:
    declared = Declaration.model_validate(SMALL)
    files = {"firms": small_rows(cell)}
    with pytest.raises(InputError, match="a comma that groups no thousands in the column sales"):
        clean_tables(declared, files)


def test_cells_that_are_no_number_are_counted_as_missing() -> None:
    inventory = Inventory()
    declared = Declaration.model_validate(SMALL)
    made = clean_tables(declared, {"firms": small_rows("many")}, (), inventory)
    assert made["firms"]["sales"].to_list() == [None]
    assert inventory.counts["firms", "sales", Noise.MISSING] == 1
    made = clean_tables(declared, {"firms": small_rows("-1,234,567.5")})
    assert made["firms"]["sales"].to_list() == pytest.approx([-1234.5675])


def small_rows(cell: str) -> pl.DataFrame:
    row = {"id": "1", "home": "x", "start": "2020", "end": "2020", "filed": "1", "sales": cell}
    return pl.DataFrame([row])


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").symlink_to("firms.csv")
    with pytest.raises(InputError, match="found a path out of the folder"):
        read_file(tmp_path, Declaration.model_validate(SMALL).files["firms"])
