"""Reading table files: which types their columns have."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from anonymization.tables.config import FrontierConfig, TablesRecipe
from anonymization.tables.files import _find_tables, read_table, write_table
from anonymization.tables.release_tables import (
    RELEASED,
    Anonymizing,
    released_file,
    write_anonymized,
)
from data.errors import InputError
from tests.anonymization.tables.build import KEY, company_config, company_table

COMPANIES = [f"C{number:04d}" for number in range(60)]


@pytest.mark.parametrize(
    ("codes", "industries"),
    [
        (pl.Categorical(), pl.Categorical()),
        (pl.Enum([*COMPANIES, "C9999"]), pl.Enum(["food", "steel", "no row is of this industry"])),
    ],
)
def test_categories_leave_as_text_without_those_that_no_row_has(
    tmp_path: Path, codes: pl.DataType, industries: pl.DataType
) -> None:
    frame = company_table().cast({"id": codes, "industry": industries})
    frame.write_parquet(tmp_path / "firms.parquet")
    recipe = TablesRecipe(tables={"firms": company_config()}, frontier=FrontierConfig(strengths={}))
    files = _find_tables([tmp_path / "firms.parquet"], recipe.tables)
    mapping = write_anonymized(files, Anonymizing(recipe, KEY, 0), tmp_path)
    released = pl.read_parquet(tmp_path / RELEASED / released_file("firms"))
    assert released.select("id", "industry").dtypes == [pl.String, pl.String]
    assert list(dict.fromkeys(released["id"])) == sorted(mapping.codes["id"].values())


def test_no_cell_of_a_released_csv_is_a_formula(tmp_path: Path) -> None:
    safe = ["-1,234.50", "+3 %", "-", "1.5e-05", "a = b", "", None, "△12", "--"]
    risky = ["=1+2", "+SUM(A1)", "-cmd|' /C calc'!A0", "@now", " =2", "-1+cmd", "%x", "|y"]
    frame = pl.DataFrame({"text": [*safe, *risky], "n": range(len(safe) + len(risky))})
    write_table(tmp_path / "t.csv", frame)
    back = pl.read_csv(tmp_path / "t.csv", infer_schema_length=0)["text"].to_list()
    assert back[: len(safe)] == safe
    assert back[len(safe) :] == [f"'{text}" for text in risky]


def test_a_parquet_file_that_its_reader_panics_over_is_named(tmp_path: Path) -> None:
    path = tmp_path / "firms.parquet"
    frame = pl.DataFrame({"a": ["x", "y", None] * 4})
    frame.write_parquet(path, compression="uncompressed", statistics=False)
    data = bytearray(path.read_bytes())
    data[32] = 0  # of the levels of the first page
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"firms\.parquet: found .* a readable table"):
        read_table(path)
