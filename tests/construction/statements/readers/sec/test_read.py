"""SEC data sets to statements: each trap of the format once."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.statements.model import TABLES, Statements
from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.read import read_sec
from data.contracts import Outcome
from data.errors import InputError
from tests.construction.statements.readers.sec.written import FIRST, GAAP, SECOND, DataSet, Row

# The SEC's companyfacts: alone, beside a data set of the same filing, and broken.

_YEAR = {"start": "2009-04-05", "end": "2010-04-03", "fy": 2009, "fp": "FY", "form": "10-K"}


def write(folder: Path, facts: dict[str, dict[str, list[dict[str, Any]]]], cik: int = 42) -> Path:
    """A file with these facts by tag and unit."""
    concepts = {
        tag: {"label": f"{tag} label", "description": "", "units": units}
        for tag, units in facts.items()
    }
    path = folder / f"CIK{cik:010}.json"
    record = {"cik": cik, "entityName": "ACME CORP", "facts": {"us-gaap": concepts}}
    path.write_bytes(orjson.dumps(record))
    return path


def fact(
    value: object, adsh: str = SECOND, filed: str = "2010-05-20", **more: Any
) -> dict[str, Any]:
    return _YEAR | {"val": value, "accn": adsh, "filed": filed} | more


def reasons(statements: Statements, unit: str = "fact") -> dict[str, int]:
    rows = [row for row in statements.ledger if row.unit == unit and row.reason]
    return {str(row.reason): row.n for row in rows}


def test_a_year_of_weeks_has_its_true_day(tmp_path: Path) -> None:
    facts = {
        "Revenues": {
            "USD": [fact(5_000_000), fact("4100000.50", end="2009-04-04", start="2008-03-30")]
        },
        "EarningsPerShareBasic": {"USD/shares": [fact(1.25)]},
        "Assets": {"USD": [fact(900, start=None)]},
        "SomeNote": {"USD": [fact(3)]},
    }
    statements = read_sec([write(tmp_path, facts)])
    about = statements.series.select("series_id", "concept", "statement", "unit")
    record = statements.points.join(about, on="series_id")
    rows = record.sort("concept", "period_end").select(
        "concept", "statement", "unit", "value", "period_end", "months", "auto_generated"
    )
    year = date(2010, 3, 31)
    assert rows.rows() == [
        ("Assets", "Balance sheet", "USD", "900", date(2010, 3, 31), 0, False),
        ("EarningsPerShareBasic", "Income statement", "USD/share", "1.25", year, 12, False),
        ("Revenues", "Income statement", "USD", "4100000.5", date(2009, 3, 31), 12, False),
        ("Revenues", "Income statement", "USD", "5000000", date(2010, 3, 31), 12, False),
        ("SomeNote", "Other", "USD", "3", date(2010, 3, 31), 12, True),
    ]  # fmt: skip
    assert statements.companies["fiscal_year_end"].to_list() == ["03-31"]
    closed = statements.closings.sort("period_end").select("closed", "evidence").rows()
    assert closed == [(date(2009, 4, 4), "companyfacts"), (date(2010, 4, 3), "companyfacts")]
    assert statements.conventions["days"].to_list() == ["rounded"]


def test_a_filing_that_a_data_set_shows_too_counts_once(tmp_path: Path) -> None:
    quarter = {"start": "2010-01-01", "end": "2010-03-31", "fp": "Q1", "form": "10-Q"}
    facts = {
        "Revenues": {"USD": [fact(1234, FIRST, "2010-05-07", **quarter)]},
        "Goodwill": {"USD": [fact(7, FIRST, "2010-05-07", **quarter | {"start": None})]},
    }
    data = DataSet().zip(tmp_path / "2010q2.zip")
    statements = read_sec([data, write(tmp_path, facts)])
    assert statements.companies.height == 1
    assert reasons(statements) == {"sec.duplicate": 1}
    assert reasons(statements, "filing") == {"sec.duplicate_filing": 1}
    values: dict[str, bool] = dict(statements.points.select("value", "auto_generated").iter_rows())
    assert values == {"1234": False, "7": True}  # the note is in no statement of the filing
    assert statements.rows.height == 1
    assert statements.rows["label"].to_list() == ["Total revenues"]


def test_a_later_filing_restates(tmp_path: Path) -> None:
    facts = {"Revenues": {"USD": [fact(5, FIRST, "2010-05-07"), fact(6, SECOND, "2011-05-07")]}}
    statements = read_sec([write(tmp_path, facts)])
    assert statements.points["value"].to_list() == ["6"]
    assert statements.history["value"].to_list() == ["5"]


def test_odd_facts_have_reasons(tmp_path: Path) -> None:
    odd = [
        fact(None),
        fact("x", start="2008-04-05", end="2009-04-03"),
        fact(1, end="no day"),
        fact(2, start="2009-12-01"),  # 4 months
    ]
    statements = read_sec([write(tmp_path, {"Revenues": {"USD": odd}})])
    assert statements.points.is_empty()
    assert reasons(statements) == {"sec.bad_period": 2, "sec.bad_value": 1, "sec.no_value": 1}


def test_files_that_are_none(tmp_path: Path) -> None:
    good = write(tmp_path, {"Revenues": {"USD": [fact(5)]}})
    (tmp_path / "CIK0000000007.json").write_text('{"cik": 7}')
    (tmp_path / "CIK0000000008.json").write_text("[" * 100_000)
    statements = read_sec([tmp_path])
    assert reasons(statements, "file") == {"sec.no_columns": 1, "sec.unreadable": 1}
    assert statements.points.height == 1
    good.unlink()
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="companyfacts"):
        read_sec([tmp_path / "none"])


def test_names_of_filings_and_days_do_not_depend_on_order(tmp_path: Path) -> None:
    first = write(tmp_path, {"Revenues": {"USD": [fact(5)]}})
    second = write(tmp_path, {"Revenues": {"USD": [fact(6, FIRST)]}}, cik=43)
    entry, other = read_sec([first, second]), read_sec([second, first])
    assert entry.points.equals(other.points)
    assert entry.closings.equals(other.closings)
    assert set(entry.points["value"]) == {"5", "6"}
    assert pl.Series(entry.companies["company_id"]).to_list() == ["sec:42", "sec:43"]


def read(tmp_path: Path, data: DataSet, **more: Any) -> Statements:
    return read_sec([data.zip(tmp_path / "2010q2.zip")], **more)


def facts(result: Statements) -> dict[str | None, int]:
    """Facts by reason; None are those kept."""
    counts: dict[str | None, int] = {}
    for row in result.ledger:
        if row.unit == "fact":
            counts[row.reason] = counts.get(row.reason, 0) + row.n
    return counts


def test_one_fact_becomes_a_company_a_series_a_point_and_a_row(tmp_path: Path) -> None:
    result = read(tmp_path, DataSet())
    for table in TABLES:
        assert getattr(result, table.name).schema == pl.Schema(table.schema)
    assert result.companies.row(0, named=True) == {
        "company_id": "sec:42",
        "source": "sec",
        "disclosure": "public",
        "ticker": "ACME",
        "name": "ACME CORP",
        "name_local": None,
        "name_kana": None,
        "country": "US",
        "exchange": None,
        "us": True,
        "industry": "3711",
        "fiscal_year_end": "12-31",
        "language": "en",
    }
    series = result.series.row(0, named=True)
    assert series["series_id"] == "sec:42/Revenues/Income statement/USD"
    assert series["name"] == "Income statement | Revenues, Total"
    assert (series["unit"], series["currency"], series["row_order"]) == ("USD", "USD", 1)
    assert (series["method"], series["depth"], series["label_method"]) == ("flat", 2, "reported")
    point = result.points.row(0, named=True)
    assert point["point_id"] == f"{series['series_id']}/2010-03-31/3m/{FIRST}"
    assert (point["value"], point["filed"]) == ("1234", date(2010, 5, 7))
    assert (point["period_start"], point["period_end"], point["months"]) == (
        date(2010, 1, 1),
        date(2010, 3, 31),
        3,
    )
    assert (point["report"], point["line"], point["auto_generated"]) == (4, 1, False)
    assert point["fiscal_year"] is None
    row = result.rows.row(0, named=True)
    assert (row["label"], row["series_id"]) == ("Total revenues", series["series_id"])
    assert [(tally.unit, tally.n_in) for tally in result.tallies] == [
        ("file", 4),
        ("line", 4),
        ("filing", 1),
        ("row", 1),
        ("fact", 1),
    ]


def test_quarters_and_years_to_date_are_points_of_their_own_length(tmp_path: Path) -> None:
    quarters = ("0", "1", "2", "3", "4", "8", "0")
    days = ("20100930",) * 6 + ("20100515",)
    result = read(
        tmp_path,
        DataSet(
            num=[
                {"qtrs": quarter, "ddate": day} for quarter, day in zip(quarters, days, strict=True)
            ]
        ),
    )
    assert result.points.sort("period_end", "months").select("months", "period_start").rows() == [
        (0, None),
        (0, None),
        (3, date(2010, 7, 1)),
        (6, date(2010, 4, 1)),
        (9, date(2010, 1, 1)),
        (12, date(2009, 10, 1)),
        (24, date(2008, 10, 1)),
    ]


@pytest.mark.parametrize(
    ("end", "quarters", "start"),
    [
        ("20100228", "1", date(2009, 12, 1)),
        ("20120229", "4", date(2011, 3, 1)),
        ("20100515", "1", date(2010, 2, 16)),
        ("20100530", "1", date(2010, 3, 1)),  # from the end of February
    ],
)
def test_a_period_starts_after_the_same_day_months_earlier(
    tmp_path: Path, end: str, quarters: str, start: date
) -> None:
    result = read(tmp_path, DataSet(num=[{"ddate": end, "qtrs": quarters}]))
    assert result.points["period_start"].to_list() == [start]


def test_a_negated_row_keeps_the_value_as_filed(tmp_path: Path) -> None:
    result = read(tmp_path, DataSet(num=[{"value": "-5.5000"}], pre=[{"negating": "1"}]))
    assert result.points["value"].to_list() == ["-5.5"]
    assert result.rows["negated"].to_list() == [True]


def test_a_bracketed_row_is_no_place_beside_another(tmp_path: Path) -> None:
    pre = [
        {"report": "2", "line": "3", "stmt": "BS", "inpth": "1"},
        {"report": "4", "line": "9", "stmt": "IS"},
    ]
    result = read(tmp_path, DataSet(pre=pre))
    assert result.series["statement"].to_list() == ["Income statement"]
    assert result.points.select("report", "line").rows() == [(4, 9)]
    assert result.rows.select("line", "parenthetical").rows() == [(3, True), (9, False)]
    alone = read(tmp_path, DataSet(pre=pre[:1]))
    assert alone.series["statement"].to_list() == ["Balance sheet"]


def test_a_balance_stands_in_the_row_for_the_end_of_the_period(tmp_path: Path) -> None:
    rows = [
        {"line": "7", "plabel": "Cash at the beginning of the quarter", "stmt": "CF"},
        {"line": "9", "plabel": "Cash at the end of the quarter", "stmt": "CF"},
    ]
    facts = [{"qtrs": "0"}, {"qtrs": "0", "ddate": "20091231"}]
    points = read(tmp_path, DataSet(num=facts, pre=rows)).points
    assert points["line"].to_list() == [9, 9]


def test_a_tag_in_several_statements_belongs_to_the_first_of_them(tmp_path: Path) -> None:
    pre = [
        {"report": "6", "line": "1", "stmt": "CF"},
        {"report": "4", "line": "7", "stmt": "IS"},
        {"report": "5", "line": "2", "stmt": "EQ"},
    ]
    result = read(tmp_path, DataSet(pre=pre))
    assert result.series.select("statement", "row_order").rows() == [("Income statement", 7)]
    assert result.rows["series_id"].n_unique() == 1


def test_a_fact_without_a_row_is_auto_generated(tmp_path: Path) -> None:
    result = read(tmp_path, DataSet(pre=[]))
    assert result.points.select("auto_generated", "report", "line").rows() == [(True, None, None)]
    assert result.series["statement"].to_list() == ["Other"]


def test_dimensions_make_series_and_coregistrants_do_not(tmp_path: Path) -> None:
    num: list[Row] = [
        {},
        {"segments": "ProductOrService=Mac;BusinessSegments=Asia;"},
        {"segments": "BusinessSegments=Asia;ProductOrService=Mac;", "ddate": "20090331"},
        {"segments": "EquityComponents=RetainedEarnings;"},
        {"segments": "ClassOfStock=CommonClassA;"},
        {"segments": "LegalEntity=Daughter;", "coreg": "Daughter"},
    ]
    result = read(tmp_path, DataSet(num=num))
    assert result.series.select("statement", "dimensions").sort(
        "statement", "dimensions"
    ).rows() == [
        ("Income statement", None),
        ("Income statement", "ClassOfStock=CommonClassA"),
        ("Segments", "BusinessSegments=Asia;ProductOrService=Mac"),
        ("Statement of equity", "EquityComponents=RetainedEarnings"),
    ]
    assert facts(result) == {None: 5, SecReason.COREG: 1}
    assert result.rows["series_id"].to_list() == ["sec:42/Revenues/Income statement/USD"]


def test_a_row_with_one_dimensioned_series_shows_it_and_with_two_none(tmp_path: Path) -> None:
    item = read(tmp_path, DataSet(num=[{"segments": "ClassOfStock=A;"}]))
    assert item.rows["series_id"].to_list() == item.series["series_id"].to_list()
    two = read(tmp_path, DataSet(num=[{"segments": f"ClassOfStock={a};"} for a in "AB"]))
    assert two.rows["series_id"].to_list() == [None]


@pytest.mark.parametrize(
    ("odd", "reason", "outcome"),
    [
        ({"value": ""}, SecReason.NO_VALUE, Outcome.REJECTED),
        ({"value": "1e9"}, SecReason.BAD_VALUE, Outcome.ERRORED),
        ({"value": "NaN"}, SecReason.BAD_VALUE, Outcome.ERRORED),
        ({"value": "9" * 41}, SecReason.BAD_VALUE, Outcome.ERRORED),
        ({"ddate": "20100231"}, SecReason.BAD_PERIOD, Outcome.ERRORED),
        ({"ddate": "99991231"}, SecReason.BAD_PERIOD, Outcome.ERRORED),
        ({"qtrs": "-1"}, SecReason.BAD_PERIOD, Outcome.ERRORED),
        ({"qtrs": "999999999999"}, SecReason.BAD_PERIOD, Outcome.ERRORED),
        ({"tag": ""}, SecReason.BAD_ROW, Outcome.ERRORED),
        ({"adsh": "0000000009-10-000009"}, SecReason.UNKNOWN_FILING, Outcome.REJECTED),
        ({"uom": "furlongs"}, SecReason.UNIT_UNKNOWN, Outcome.REJECTED),
        ({"uom": "pure"}, SecReason.UNIT_MISMATCH, Outcome.REJECTED),
    ],
)
def test_a_fact_that_is_none_has_its_reason(
    tmp_path: Path, odd: dict[str, str], reason: SecReason, outcome: Outcome
) -> None:
    result = read(tmp_path, DataSet(num=[{"ddate": "20090331"}, odd]))
    assert result.points.height == 1
    assert facts(result) == {None: 1, reason: 1}
    assert [row.outcome for row in result.ledger if row.reason == reason] == [outcome]


@pytest.mark.parametrize(
    ("filed", "plain"),
    [
        ("1234.0000", "1234"),
        ("100.0000", "100"),
        ("100", "100"),
        ("0.0000", "0"),
        ("-0.0000", "0"),
        ("-0.5000", "-0.5"),
        ("12345678901234567890.0001", "12345678901234567890.0001"),
    ],
)
def test_a_value_is_the_same_decimal_written_in_one_way(
    tmp_path: Path, filed: str, plain: str
) -> None:
    assert read(tmp_path, DataSet(num=[{"value": filed}])).points["value"].to_list() == [plain]


def test_labels_lose_remarks_of_the_taxonomy_and_separators(tmp_path: Path) -> None:
    tag = [
        {"tag": "Revenues", "tlabel": "Sales | net  (Deprecated 2009-01-31)"},
        {"tag": "Own", "version": FIRST, "tlabel": ""},
        {"tag": "Bare", "version": FIRST, "tlabel": " "},
    ]
    num: list[Row] = [{}, {"tag": "Own", "version": FIRST}, {"tag": "Bare", "version": FIRST}]
    pre: list[Row] = [{}, {"tag": "Own", "version": FIRST, "line": "2", "plabel": "Our own | line"}]
    result = read(tmp_path, DataSet(tag=tag, num=num, pre=pre))
    assert dict(result.series.select("concept", "label").iter_rows()) == {
        "Revenues": "Sales / net",
        "Own": "Our own / line",
        "Bare": "Bare",
    }


def test_the_label_is_that_of_the_newest_version(tmp_path: Path) -> None:
    tag = [
        {"tag": "Revenues", "version": "us-gaap/2009", "tlabel": "Old"},
        {"tag": "Revenues", "version": "us-gaap/2008", "tlabel": "New"},
    ]
    sub: list[Row] = [{}, {"adsh": SECOND, "filed": "20100810"}]
    num: list[Row] = [{}, {"adsh": SECOND, "version": "us-gaap/2008", "ddate": "20100630"}]
    result = read(tmp_path, DataSet(sub=sub, tag=tag, num=num))
    assert result.series["label"].to_list() == ["New"]
    assert result.points.height == 2


def test_rows_and_filings_that_are_none_have_their_reasons(tmp_path: Path) -> None:
    sub: list[Row] = [{}, {"adsh": "../../x"}, {"adsh": SECOND, "filed": "soon"}, {"cik": "-1"}]
    pre: list[Row] = [
        {},
        {"line": "x"},
        {"line": "1", "plabel": "Again"},
        {"adsh": SECOND, "line": "4"},
    ]
    result = read(tmp_path, DataSet(sub=sub, pre=pre))
    by_unit = {
        unit: sorted(str(row.reason) for row in result.ledger if row.unit == unit)
        for unit in ("filing", "row")
    }
    bad = str(SecReason.BAD_FILING)
    assert by_unit["filing"] == ["None", bad, bad, bad]
    assert by_unit["row"] == ["None", "sec.bad_row", "sec.duplicate", "sec.unknown_filing"]
    assert not any("../" in row.item_id for row in result.ledger)


def test_the_order_of_lines_and_data_sets_does_not_matter(tmp_path: Path) -> None:
    sub = [{"adsh": FIRST}, {"adsh": SECOND, "cik": "7", "filed": "20100508"}]
    num = [
        {"adsh": adsh, "ddate": day, "value": value, "segments": segments}
        for adsh in (FIRST, SECOND)
        for day, value in (("20100331", "1"), ("20090331", "2"))
        for segments in ("", "ClassOfStock=A;")
    ]
    pre = [{"adsh": adsh, "line": str(line)} for adsh in (FIRST, SECOND) for line in range(3)]
    item = read_sec([DataSet(sub=sub, num=num, pre=pre).zip(tmp_path / "a.zip")])
    back = DataSet(sub=sub[::-1], num=num[::-1], pre=pre[::-1]).zip(tmp_path / "b.zip")
    other = read_sec([back])
    for table in TABLES:
        assert getattr(item, table.name).equals(getattr(other, table.name)), table.name


def test_a_quarter_without_rows_gives_empty_tables(tmp_path: Path) -> None:
    result = read(tmp_path, DataSet(sub=[], tag=[], num=[], pre=[]))
    for table in TABLES:
        assert getattr(result, table.name).is_empty()
        assert getattr(result, table.name).schema == pl.Schema(table.schema)


def test_versions_of_one_tag_are_one_series(tmp_path: Path) -> None:
    num: list[Row] = [{}, {"version": FIRST, "ddate": "20090331"}]
    result = read(tmp_path, DataSet(num=num, tag=[{"tag": "Revenues", "version": GAAP}]))
    assert result.series.height == 1
    assert result.points.height == 2
