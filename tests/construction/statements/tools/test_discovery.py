"""The lookups: what they find, in which order, and what they say when there is nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.tools.agent_tools import get_company_fundamentals
from construction.statements.tools.database import (
    Companies,
    Fundamentals,
    Refusal,
    SeriesList,
    core,
    fold_concept,
    index_database,
)
from construction.statements.tools.discovery import discover_companies, discover_company_series
from data.text.folding import fold_words
from tests.construction.statements.tools.tiny import (
    CASH,
    KIRIGAURA,
    QUANDELL,
    QUANDELL_LTD,
    REVENUE,
    SALES_JA,
    SEGMENT,
    TAVISTRAND,
    tiny_database,
    tiny_statements,
)

DATABASE = tiny_database()
LONG = "x" * 201


def companies(query: str, country: str | None = None, limit: int = 10) -> Companies:
    actual = discover_companies(DATABASE, query, country, limit)
    assert isinstance(actual, Companies)
    return actual


def series(query: str | None = None, category: str | None = None) -> SeriesList:
    actual = discover_company_series(DATABASE, QUANDELL, query, category)
    assert isinstance(actual, SeriesList)
    return actual


@pytest.mark.parametrize(
    ("text", "folded", "bare"),
    [
        ("Quandell Software, Inc.", "quandell software inc", "quandell software"),
        ("ＱＵＡＮＤＥＬＬ  S.A.", "quandell sa", "quandell"),
        ("株式会社　霧ヶ浦", "株式会社 霧ヶ浦", "霧ヶ浦"),
        ("霧ヶ浦精機㈱", "霧ヶ浦精機 株", "霧ヶ浦精機"),
        ("The Company", "the company", "the company"),  # nothing else is in it
        ("Brel’mora & Co", "brelmora co", "brelmora"),
    ],
)
def test_names_fold(text: str, folded: str, bare: str) -> None:
    assert (fold_words(text), core(text)) == (folded, bare)


def test_tags_are_read_as_words() -> None:
    assert fold_concept("SalesRevenueNet") == "sales revenue net"
    assert fold_concept("売上高") == "売上高"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("QNDX", QUANDELL),
        ("qndx", QUANDELL),
        ("9990002", TAVISTRAND),
        ("edinet:E90001", KIRIGAURA),
        ("e90001", KIRIGAURA),
        ("0101", KIRIGAURA),
        ("Quandell Software Ltd", QUANDELL_LTD),
        ("quandell software inc", QUANDELL),
        ("Quandel Sofware", QUANDELL),  # two letters missing
        ("Outfitters Tavistrand", TAVISTRAND),
        ("霧ヶ浦", KIRIGAURA),
        ("㈱霧ヶ浦精機", KIRIGAURA),
        ("Kirigaura", KIRIGAURA),
        ("Kirigaura Precision Works (0101)", KIRIGAURA),
    ],
)
def test_the_company_meant_stands_first(query: str, first: str) -> None:
    assert companies(query).companies[0].company_id == first


def test_an_exact_ticker_stands_before_a_name() -> None:
    made = tiny_statements()
    renamed = made.companies.to_dicts()
    renamed[1]["name"] = "QNDX"
    frame = type(made.companies)(renamed, schema=made.companies.schema)
    actual = discover_companies(index_database(frame, made.series, made.points), "qndx")
    assert isinstance(actual, Companies)
    scores = {hit.company_id: hit.score for hit in actual.companies}
    assert actual.companies[0].company_id == QUANDELL
    assert (scores[QUANDELL], scores[TAVISTRAND]) == (100.0, 99.9)


def test_legal_forms_count_a_little() -> None:
    scores = {hit.company_id: hit.score for hit in companies("Quandell Software Inc").companies}
    assert scores[QUANDELL] > scores[QUANDELL_LTD] > 95


def test_country_and_limit_narrow() -> None:
    assert [hit.company_id for hit in companies("Quandell", "ca").companies] == [QUANDELL_LTD]
    actual = companies("Quandell", limit=1)
    assert (len(actual.companies), actual.matched) == (1, 2)


def test_nothing_found_names_the_nearest() -> None:
    actual = companies("Zzyzx Marble")
    assert actual.companies == () and actual.matched == 0
    assert actual.note is not None and actual.note.startswith("Nothing fits. Nearest: ")


@pytest.mark.parametrize(
    ("query", "country", "limit", "result"),
    [
        (LONG, None, 10, "1 to 200 characters"),
        ("?! ", None, 10, "1 to 200 characters"),
        ("Quandell", "ZZ", 10, "Known countries: CA, GB, JP, US"),
    ],
)
def test_companies_refused(query: str, country: str | None, limit: int, result: str) -> None:
    actual = discover_companies(DATABASE, query, country, limit)
    assert isinstance(actual, Refusal) and result in actual.text


def test_all_series_in_order_of_the_statements() -> None:
    assert [hit.series_id for hit in series().series] == [CASH, REVENUE, SEGMENT]


@pytest.mark.parametrize("query", ["total revenue", "Revenues", "revenues total", "TOTAL REVENUES"])
def test_series_by_words(query: str) -> None:
    actual = series(query)
    assert [hit.series_id for hit in actual.series] == [REVENUE, SEGMENT]
    hit = actual.series[0]
    assert (hit.values, hit.first_period, hit.last_period) == (2, "FY2023", "FY2024-Q1")
    assert hit.period_types == ("annual", "quarter")


def test_series_by_category_and_local_name() -> None:
    assert [hit.series_id for hit in series(category="SEGMENTS").series] == [SEGMENT]
    actual = discover_company_series(DATABASE, KIRIGAURA, "売上高")
    assert isinstance(actual, SeriesList) and actual.series[0].series_id == SALES_JA


def test_series_not_found_names_the_nearest() -> None:
    actual = series("goodwill")
    assert actual.series == () and actual.note is not None and "Balance sheet" in actual.note


@pytest.mark.parametrize(
    ("company_id", "query", "category", "result"),
    [
        ("sec:999000", None, None, "No such company_id"),
        (LONG, None, None, "No such company_id"),
        (QUANDELL, None, "Guidance", "It has: Balance sheet, Income statement, Segments"),
        (QUANDELL, LONG, None, "1 to 200 characters"),
    ],
)
def test_series_refused(
    company_id: str, query: str | None, category: str | None, result: str
) -> None:
    actual = discover_company_series(DATABASE, company_id, query, category)
    assert isinstance(actual, Refusal) and result in actual.text


def test_an_unknown_company_suggests_the_nearest_ids() -> None:
    actual = discover_company_series(DATABASE, "Quandell Software")
    assert isinstance(actual, Refusal)
    assert actual.suggestions[0].startswith((QUANDELL, QUANDELL_LTD))


@pytest.mark.parametrize(
    "query", ["キリガウラ", "きりがうら", "キリガウラ精機", "ｷﾘｶﾞｳﾗ", "霧ヶ浦", "kirigaura"]
)
def test_a_company_is_found_by_how_its_name_is_read(query: str) -> None:
    actual = discover_companies(DATABASE, query)
    assert isinstance(actual, Companies)
    assert actual.companies[0].company_id == KIRIGAURA


def test_a_whole_word_stands_before_a_part_of_one() -> None:
    made = tiny_statements()
    rows = made.companies.to_dicts()
    rows[0]["name"], rows[1]["name"] = "Quandellford & Co", "Ford Outfitters Motor plc"
    frame = type(made.companies)(rows, schema=made.companies.schema)
    actual = discover_companies(index_database(frame, made.series, made.points), "ford")
    assert isinstance(actual, Companies)
    assert [hit.company_id for hit in actual.companies] == [TAVISTRAND, QUANDELL]


@settings(max_examples=60)
@given(st.text(max_size=250), st.text(max_size=250))
def test_no_text_breaks_a_lookup(first: str, second: str) -> None:
    for actual in (
        discover_companies(DATABASE, first),
        discover_company_series(DATABASE, first, second),
        discover_company_series(DATABASE, QUANDELL, first, None),
        get_company_fundamentals(DATABASE, QUANDELL, series_name=first, period=second),
        get_company_fundamentals(DATABASE, QUANDELL, series_id=CASH, period=first),
    ):
        assert isinstance(actual, Companies | SeriesList | Fundamentals | Refusal)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.sampled_from(["Quandell", "revenue", "霧"]))
def test_order_of_rows_does_not_matter(shuffle: st.DataObject, query: str) -> None:
    made = tiny_statements()
    frames = []
    for frame in (made.companies, made.series, made.points):
        order = list(range(frame.height))
        shuffle.shuffle(order)  # type: ignore[attr-defined]
        frames.append(frame[order])
    other = index_database(*frames)
    assert discover_companies(other, query) == discover_companies(DATABASE, query)
    assert discover_company_series(other, QUANDELL) == discover_company_series(DATABASE, QUANDELL)
    assert get_company_fundamentals(other, QUANDELL, REVENUE) == get_company_fundamentals(
        DATABASE, QUANDELL, REVENUE
    )
