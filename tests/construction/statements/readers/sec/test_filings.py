"""Companies of filings, and what filings show of how these name and close a fiscal year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.statements.model import Statements
from construction.statements.readers.sec.read import read_sec
from data.errors import InputError
from tests.construction.statements.readers.sec.written import FIRST, SECOND, DataSet, Row


def company(tmp_path: Path, *filings: Row, tickers: Path | None = None) -> dict[str, object]:
    path = DataSet(sub=filings, num=[], pre=[]).zip(tmp_path / "a.zip")
    return read_sec([path], tickers=tickers).companies.row(0, named=True)


def listing(tmp_path: Path, *rows: tuple[str, str | None, str | None]) -> Path:
    path = tmp_path / "tickers.parquet"
    frame = pl.DataFrame(rows, schema=["cik", "ticker", "exchange"], orient="row")
    frame.with_columns(name=pl.lit("X")).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("filed", "result"),
    [
        ("BANK OF AMERICA CORP /DE/", "BANK OF AMERICA CORP"),
        ("DEVON ENERGY CORP/DE", "DEVON ENERGY CORP"),
        ("KEYCORP /NEW/", "KEYCORP"),
        ("WALT DISNEY CO/", "WALT DISNEY CO"),
        ("VERTEX PHARMACEUTICALS INC / MA", "VERTEX PHARMACEUTICALS INC"),
        ("NOBLE CORP / SWITZERLAND", "NOBLE CORP / SWITZERLAND"),
        ("A/B TESTING INC", "A/B TESTING INC"),
    ],
)
def test_marks_of_the_register_are_no_part_of_the_name(
    tmp_path: Path, filed: str, result: str
) -> None:
    assert company(tmp_path, {"name": filed})["name"] == result


@pytest.mark.parametrize(
    ("fye", "result"), [("0930", "09-30"), ("131", "01-31"), ("1332", None), ("", None)]
)
def test_the_fiscal_year_end_may_be_odd(tmp_path: Path, fye: str, result: str | None) -> None:
    assert company(tmp_path, {"fye": fye})["fiscal_year_end"] == result


def test_the_newest_filing_tells(tmp_path: Path) -> None:
    new = {"adsh": FIRST, "filed": "20100810", "name": "NEW INC", "fye": "0630", "countryba": "IE"}
    result = company(tmp_path, {"adsh": SECOND, "name": "OLD INC"}, new)
    assert (result["name"], result["fiscal_year_end"], result["country"]) == (
        "NEW INC",
        "06-30",
        "IE",
    )


def test_the_country_of_incorporation_stands_in(tmp_path: Path) -> None:
    result = company(tmp_path, {"countryba": "", "countryinc": "BM"})
    assert result["country"] == "BM"


@pytest.mark.parametrize(
    ("instance", "ticker"),
    [
        ("aapl-20240928_htm.xml", "AAPL"),
        ("f-20100331.xml", "F"),
        ("cik000008106-20100327.xml", None),
        ("", None),
    ],
)
def test_the_instance_document_names_a_ticker(
    tmp_path: Path, instance: str, ticker: str | None
) -> None:
    assert company(tmp_path, {"instance": instance})["ticker"] == ticker


def test_of_several_listings_the_common_share_on_an_exchange_counts(tmp_path: Path) -> None:
    listings = [
        ("0000000042", "ACMEF", "OTC"),
        ("0000000042", "ACME-PA", "NYSE"),
        ("0000000042", "ACMX", "NYSE"),
        ("0000000042", "AC", None),
        ("0000000007", "A", "NYSE"),
    ]
    result = company(tmp_path, {}, tickers=listing(tmp_path, *listings))
    assert (result["ticker"], result["exchange"]) == ("ACMX", "NYSE")
    own = listing(tmp_path, *listings, ("0000000042", "ACME", "NYSE"))
    assert company(tmp_path, {}, tickers=own)["ticker"] == "ACME"


@pytest.mark.parametrize(
    ("forms", "exchange", "us"),
    [
        (("6-K",), "NYSE", True),
        (("6-K",), None, True),  # nothing known: it files statements with the SEC
        (("6-K",), "OTC", False),
        (("6-K", "20-F/A"), "OTC", True),  # the list is of today, the filing is not
        (("10-Q",), "OTC", True),
    ],
)
def test_traded_in_the_us(
    tmp_path: Path, forms: tuple[str, ...], exchange: str | None, us: bool
) -> None:
    filings = [
        {"adsh": adsh, "form": form} for adsh, form in zip((FIRST, SECOND), forms, strict=False)
    ]
    tickers = None if exchange is None else listing(tmp_path, ("42", "ACME", exchange))
    assert company(tmp_path, *filings, tickers=tickers)["us"] is us


def test_unreadable_tickers_raise(tmp_path: Path) -> None:
    path = tmp_path / "tickers.parquet"
    path.write_bytes(b"no")
    with pytest.raises(InputError, match="cik, ticker, exchange"):
        company(tmp_path, {}, tickers=path)


JANUARY = {
    "form": "10-K", "fye": "0131", "period": "20100131", "fp": "FY", "filed": "20100401",
    "instance": "acme-20100131.xml",
}  # fmt: skip
_NOTE = "Includes rent in fiscal {}, respectively"


def read(tmp_path: Path, filings: Sequence[Row], labels: Sequence[str] = (), note: str = "") -> Any:
    """The statements of filings; the first one has the labels, and the note at its only fact."""
    numbered = [
        {"adsh": f"0000000001-10-{n:06}", "cik": str(n)} | dict(filing)
        for n, filing in enumerate(filings, 1)
    ]
    first = numbered[0]
    fact = {"adsh": first["adsh"], "ddate": first["period"], "footnote": note}
    rows = [
        {"adsh": first["adsh"], "line": str(line), "plabel": label}
        for line, label in enumerate(labels, 1)
    ]
    data = DataSet(sub=numbered, num=[fact], pre=rows or [{"adsh": first["adsh"]}])
    return read_sec([data.zip(tmp_path / "set.zip")])


def convention(result: Statements, company: str = "sec:1") -> Mapping[str, Any]:
    (row,) = result.conventions.filter(company_id=company).to_dicts()
    return row


def test_a_calendar_year_has_one_name_for_everybody(tmp_path: Path) -> None:
    filing = JANUARY | {"fye": "1231", "period": "20091231", "fy": "2009"}
    row = convention(read(tmp_path, [filing]))
    assert (row["named_by"], row["evidence"]) == (None, "calendar")


def test_fy_that_follows_the_rule_for_every_filer_shows_nothing(tmp_path: Path) -> None:
    june = JANUARY | {"fye": "0630", "period": "20100630", "fy": "2010", "filed": "20100801"}
    result = read(tmp_path, [JANUARY | {"fy": "2009"}, JANUARY | {"fy": "2009"}, june])
    for company in ("sec:1", "sec:2", "sec:3"):
        assert convention(result, company)["named_by"] is None


def test_fy_counts_where_two_companies_break_the_rule(tmp_path: Path) -> None:
    by_end = JANUARY | {"fy": "2010"}
    result = read(tmp_path, [JANUARY | {"fy": "2009"}, by_end, by_end])
    assert convention(result, "sec:1") == {
        "company_id": "sec:1",
        "named_by": "start",
        "evidence": "fy",
        "agreeing": 1,
        "disagreeing": 0,
        "example": "0000000001-10-000001: fiscal 2009, of the year that ends in 2010-01",
        "term_offset": None,
        "days": None,
    }
    assert convention(result, "sec:2")["named_by"] == "end"


def test_one_breach_of_the_rule_is_evidence_for_that_company_alone(tmp_path: Path) -> None:
    result = read(tmp_path, [JANUARY | {"fy": "2010"}, JANUARY | {"fy": "2009"}])
    assert [convention(result, f"sec:{n}")["named_by"] for n in (1, 2)] == ["end", None]


@pytest.mark.parametrize("fy", ["2012", "2008", "", "FY10"])
def test_a_year_that_is_far_off_or_none_shows_nothing(tmp_path: Path, fy: str) -> None:
    assert convention(read(tmp_path, [JANUARY | {"fy": fy}]))["named_by"] is None


def test_fy_is_the_filings_year_and_not_that_of_its_oldest_fact(tmp_path: Path) -> None:
    """An interim report of May 2010 is about the year that ends in January 2011."""
    interim = JANUARY | {"form": "10-Q", "period": "20100430", "fp": "Q1", "fy": "2011"}
    interim |= {"filed": "20100601", "instance": "acme-20100501.xml"}
    row = convention(read(tmp_path, [interim]))
    assert (row["named_by"], row["days"]) == ("end", "rounded")
    assert row["example"].endswith("fiscal 2011, of the year that ends in 2011-01")


@pytest.mark.parametrize(
    ("years", "named_by"),
    [
        ("2010, 2009 and 2008", "end"),
        ("2009 and 2008", "start"),
        ("2009", None),  # may be an earlier year
        ("2010", None),  # or a later one
        ("2001 and 2000", None),
    ],
)
@pytest.mark.parametrize("in_note", [False, True])
def test_the_filers_words_name_the_year(
    tmp_path: Path, years: str, named_by: str | None, in_note: bool
) -> None:
    words = _NOTE.format(years)
    labels: list[str] = [] if in_note else [words]
    note = words if in_note else ""
    row = convention(read(tmp_path, [JANUARY | {"fy": "2009"}], labels, note))
    assert row["named_by"] == named_by
    assert row["evidence"] == (None if named_by is None else "words")


def test_words_that_contradict_fy_or_each_other_show_nothing(tmp_path: Path) -> None:
    words = [_NOTE.format("2009 and 2008")]
    row = convention(read(tmp_path, [JANUARY | {"fy": "2010"}], words))
    assert (row["named_by"], row["agreeing"], row["disagreeing"]) == (None, 1, 1)
    (tmp_path / "other").mkdir()
    both = [*words, _NOTE.format("2010 and 2009")]
    row = convention(read(tmp_path / "other", [JANUARY], both))
    assert (row["named_by"], row["agreeing"], row["disagreeing"]) == (None, 1, 1)


def test_earlier_years_in_a_quarterly_report_show_nothing(tmp_path: Path) -> None:
    quarter = JANUARY | {"form": "10-Q", "fp": "Q1", "period": "20100430", "filed": "20100601"}
    row = convention(read(tmp_path, [quarter], [_NOTE.format("2010 and 2009")]))
    assert row["named_by"] is None


def test_a_name_of_years_that_ended_in_another_month_does_not_count(tmp_path: Path) -> None:
    june = JANUARY | {"cik": "1", "fye": "0630", "period": "20090630", "fy": "2008"}
    after = JANUARY | {"cik": "1", "fye": "0930", "period": "20100930", "filed": "20101101"}
    row = convention(read(tmp_path, [june | {"filed": "20090801"}, after]))
    assert row["named_by"] is None


def test_a_focus_on_another_part_of_the_year_shows_nothing(tmp_path: Path) -> None:
    quarter = JANUARY | {"form": "10-Q", "fp": "Q3", "period": "20100430", "fy": "2009"}
    row = convention(read(tmp_path, [quarter | {"filed": "20100601"}]))
    assert row["named_by"] is None


@pytest.mark.parametrize(
    "label",
    [
        "Sales, year ended January 31, 2009; a dividend was declared on February 3, 2010",
        "Offering period ended February 3, 2010",
    ],
)
def test_other_dates_close_nothing(tmp_path: Path, label: str) -> None:
    result = read(tmp_path, [JANUARY | {"instance": ""}], [label])
    assert date(2010, 1, 31) not in result.closings["period_end"].to_list()


def test_documents_that_contradict_each_other_close_nothing(tmp_path: Path) -> None:
    result = read(tmp_path, [JANUARY], ["Sales, for the 52 weeks ended January 30, 2010"])
    assert result.closings.is_empty()
    assert convention(result)["days"] == "rounded"


def test_the_day_of_filing_in_a_name_closes_nothing(tmp_path: Path) -> None:
    filing = JANUARY | {"instance": "acme-20100204.xml", "filed": "20100204"}
    assert read(tmp_path, [filing]).closings.is_empty()


def test_true_days_come_from_the_documents_name_and_from_words(tmp_path: Path) -> None:
    filing = JANUARY | {"instance": "acme-20100130_htm.xml"}
    labels = ["Sales, for the 13 weeks ended October 31, 2009 and November 1, 2008"]
    result = read(tmp_path, [filing], labels)
    assert result.closings.select("period_end", "closed", "evidence").rows() == [
        (date(2008, 10, 31), date(2008, 11, 1), "words"),
        (date(2009, 10, 31), date(2009, 10, 31), "words"),
        (date(2010, 1, 31), date(2010, 1, 30), "document_name"),
    ]
    assert convention(result)["days"] == "rounded"


@pytest.mark.parametrize(
    ("instance", "period", "days"),
    [
        ("acme-20100331.xml", "20100331", "stated"),  # a Wednesday
        ("acme-20100131.xml", "20100131", None),  # a Sunday: may end a 52-week year
        ("acme-20100503.xml", "20091231", None),  # the day of filing
        ("form10k_htm.xml", "20100331", None),
        ("acme-20101399.xml", "20100331", None),
    ],
)
def test_whether_days_are_true_is_shown_by_known_days_only(
    tmp_path: Path, instance: str, period: str, days: str | None
) -> None:
    filing = JANUARY | {"instance": instance, "period": period, "fp": "Q1", "form": "10-Q"}
    assert convention(read(tmp_path, [filing]))["days"] == days
