"""What leaves of an anonymized file: rows, groups, characters, and pseudonyms per period."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pydantic import ValidationError

from anonymization.tables.config import TableConfig
from construction.analytics.environment.declaration import File
from construction.analytics.environment.variants import read_file
from data.errors import InputError
from flows.environments import _with_periods, open_environment
from tests.construction.analytics.world import declaration, demo_folder

CONFIG = TableConfig.model_validate(
    {
        "entity": "code",
        "columns": {
            "code": {"role": "identifier", "prefix": "V"},
            "name": {"role": "identifier", "kind": "name"},
            "start": {"role": "quasi_identifier"},
        },
    }
)
ROWS = "code,name,start,kind\nV1,A,2019-04-01,x\nV1,A,2020-04-01,x\nV2,B,2020-05-01,y\n"


def file(**changes: object) -> File:
    fields = {"path": "rows.csv", "domain": "enterprise", "disclosure": "anonymized"}
    return File.model_validate(fields | changes)


def test_less_leaves_than_there_is(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    kept = read_file(tmp_path, file(keep={"start": ["2020"]}, cut={"start": 7}))
    assert kept.rows() == [("V1", "A", "2020-04", "x"), ("V2", "B", "2020-05", "y")]
    assert read_file(tmp_path, file(least={"kind": 2}))["code"].to_list() == ["V1", "V1"]
    with pytest.raises(InputError, match="no column year"):
        read_file(tmp_path, file(cut={"year": 4}))


def test_what_is_public_leaves_as_it_is() -> None:
    with pytest.raises(ValidationError, match="keep, least and cut are for anonymized files"):
        file(disclosure="public", keep={"start": ["2020"]})


def test_a_company_has_another_code_in_each_period() -> None:
    frame = pl.read_csv(ROWS.encode(), infer_schema=False)
    made = _with_periods("rows", frame, CONFIG, "start")
    assert made["code"].to_list() == ["V12019", "V12020", "V22020"]
    assert made["name"].to_list() == ["A", "A", "B"]
    assert _with_periods("rows", frame, CONFIG, "2021")["code"][0] == "V12021"
    assert _with_periods("rows", frame, CONFIG, "").equals(frame)
    with pytest.raises(InputError, match="unlinked = begin"):
        _with_periods("rows", frame, CONFIG, "begin")


@pytest.mark.slow
def test_nothing_joins_a_company_over_years() -> None:
    whole = declaration()
    accounts = whole.files["accounts"].model_copy(update={"unlinked": "period_start"})
    register = whole.files["register"].model_copy(update={"unlinked": "2021"})
    files = {**whole.files, "accounts": accounts, "register": register}
    apart = whole.model_copy(update={"files": files})
    opened = open_environment(apart, demo_folder(), bytes(range(32)), 0)
    released = opened.replaced["accounts"]
    years = released.with_columns(pl.col("period_start").str.slice(0, 4).alias("year"))
    for column in ("reg_no", "name"):
        assert years.group_by(column).agg(pl.col("year").n_unique())["year"].max() == 1
    joined = opened.replaced["register"].join(years, on="reg_no")
    assert set(joined["year"]) == {"2021"}
    original = set(opened.original["accounts"]["reg_no"])
    assert original <= set(opened.identifiers)
    assert not original & set(released["reg_no"])
