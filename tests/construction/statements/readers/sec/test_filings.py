"""Companies: name, ticker, country, fiscal year end, and whether they are traded in the US."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

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
