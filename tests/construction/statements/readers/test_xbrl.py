"""xBRL-JSON documents: facts, periods, units, duplicates, labels, and what is said of the rest."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.statements.labels import label_of, statement_of
from construction.statements.model import Statements
from construction.statements.readers.xbrl.convert import convert
from construction.statements.readers.xbrl.read import read_xbrl
from construction.statements.readers.xbrl.source import XbrlConfig
from data.errors import InputError
from tests.flows.command import inline

IFRS = "https://xbrl.ifrs.org/taxonomy/2023-03-23/ifrs-full"
LEI = "9999000BRAMBLEWICK00"
COMPANY = f"xbrl:{LEI}"
YEAR, YEAR_BEFORE = (f"{y}-02-01T00:00:00/{y + 1}-02-01T00:00:00" for y in (2023, 2022))
DAY = "2024-02-01T00:00:00"
_SHOWN = ("concept", "dimensions", "value")
Facts = list[dict[str, Any]]


def fact(
    concept: str,
    value: str | None,
    period: str = YEAR,
    unit: str | None = "iso4217:EUR",
    **more: Any,
) -> dict[str, Any]:
    """A fact; `more` are further dimensions (with __ for the colon) and `decimals`."""
    decimals = {"decimals": more.pop("decimals")} if "decimals" in more else {}
    dimensions = {"concept": concept, "entity": f"lei:{LEI}", "period": period}
    dimensions |= {"unit": unit} if unit else {"language": "en"}
    dimensions |= {name.replace("__", ":"): member for name, member in more.items()}
    return {"value": value, **decimals, "dimensions": dimensions}


def text(concept: str, said: str, language: str = "en") -> dict[str, Any]:
    return fact(concept, said, unit=None) | {
        "dimensions": {"concept": concept, "entity": f"lei:{LEI}", "period": YEAR,
                       "language": language}
    }  # fmt: skip


NAMED = [
    text("ifrs-full:NameOfReportingEntityOrOtherMeansOfIdentification", "Bramblewick Mills Oyj"),
    text("ifrs-full:CountryOfIncorporation", "Republic of Finland"),
]


def write(folder: Path, facts: Facts, name: str = "report", **info: Any) -> Path:
    """A document of these facts."""
    names = {
        "ifrs-full": IFRS,
        "bm": "http://bramblewick.example/2023",
        "lei": "http://standards.iso.org/iso/17442",
        "iso4217": "http://www.xbrl.org/2003/iso4217",
        "xbrli": "http://www.xbrl.org/2003/instance",
    }
    head = {"documentType": "https://xbrl.org/2021/xbrl-json", "namespaces": names} | info
    path = folder / f"{name}.json"
    listed = {f"f{number}": one for number, one in enumerate(facts)}
    path.write_bytes(orjson.dumps({"documentInfo": head, "facts": listed}))
    return path


def read(*paths: Path) -> Statements:
    return read_xbrl(paths, XbrlConfig())


def values(statements: Statements) -> dict[str, str]:
    """Values by concept and dimensions, of the newest period."""
    joined = statements.points.sort("period_end").join(
        statements.series.select("series_id", "concept", "dimensions", "unit"), on="series_id"
    )
    return {
        f"{concept} {dimensions or ''}".strip(): value
        for concept, dimensions, value in joined.select(
            "concept", "dimensions", "value"
        ).iter_rows()
    }


def reasons(statements: Statements) -> dict[str, int]:
    rows = (row for row in statements.ledger if row.unit == "fact" and row.reason)
    matches: dict[str, int] = {}
    for row in rows:
        matches[str(row.reason)] = matches.get(str(row.reason), 0) + row.n
    return matches


def test_a_period_ends_on_the_day_before_its_midnight(tmp_path: Path) -> None:
    facts = [fact("ifrs-full:Revenue", "5200000"), fact("ifrs-full:Assets", "9100000", DAY)]
    statements = read(write(tmp_path, NAMED + facts))
    spans = statements.points.sort("months").select("period_start", "period_end", "months").rows()
    assert spans == [
        (None, date(2024, 1, 31), 0),
        (date(2023, 2, 1), date(2024, 1, 31), 12),
    ]
    (company,) = statements.companies.to_dicts()
    assert (company["name"], company["country"]) == ("Bramblewick Mills Oyj", "FI")
    assert (company["fiscal_year_end"], company["us"]) == ("01-31", False)


@pytest.mark.parametrize(
    ("period", "span"),
    [
        ("2023-01-01T00:00:00Z/2023-12-31T24:00:00Z", (date(2023, 1, 1), date(2023, 12, 31), 12)),
        ("2022-12-25T00:00:00/2023-12-31T00:00:00", (date(2022, 12, 25), date(2023, 12, 30), 12)),
        ("2023-01-01T00:00:00.000/2023-07-01T00:00:00", (date(2023, 1, 1), date(2023, 6, 30), 6)),
        ("2023-01-01T00:00:00/2023-06-11T00:00:00", None),  # no whole quarters
        ("2023-01-01T00:00:00/2023-12-31T23:59:59", None),
        ("2023-01-01/2023-12-31", None),  # OIM knows no days
        ("2023-12-31T00:00:00/2023-01-01T00:00:00", None),
        ("2023-02-30T00:00:00", None),
        ("", None),
    ],
)
def test_limits_of_periods(tmp_path: Path, period: str, span: tuple[Any, ...] | None) -> None:
    facts = [fact("ifrs-full:Revenue", "10"), fact("ifrs-full:GrossProfit", "7", period)]
    statements = read(write(tmp_path, NAMED + facts))
    gross = statements.points.filter(pl.col("series_id").str.contains("GrossProfit"))
    matches = gross.select("period_start", "period_end", "months").rows()
    assert matches == ([span] if span else [])
    assert reasons(statements).get("xbrl.bad_period", 0) == (span is None)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("iso4217:EUR", "EUR"),
        ("iso4217:GBP/xbrli:shares", "GBP/share"),
        ("xbrli:shares", "shares"),
        ("xbrli:pure", "ratio"),
        ("bm:Stores", "count"),
        ("utr:t", "tonne"),
        ("utr:MWh", "MWh"),
        ("utr:A", None),
        ("bm:EUR", None),  # not a currency of ISO 4217
        ("(iso4217:EUR*xbrli:pure)/xbrli:shares", None),
    ],
)
def test_units(tmp_path: Path, unit: str, expected: str | None) -> None:
    statements = read(write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "12", unit=unit)]))
    assert statements.series["unit"].to_list() == ([expected] if expected else [])
    assert reasons(statements).get("xbrl.unit_unknown", 0) == (expected is None)


def test_of_consistent_duplicates_the_most_precise_counts_of_others_none(tmp_path: Path) -> None:
    facts = [
        fact("ifrs-full:Revenue", "5200000", decimals=-5),
        fact("ifrs-full:Revenue", "5234000", decimals=-3),
        fact("ifrs-full:GrossProfit", "17000", decimals=-3),
        fact("ifrs-full:GrossProfit", "17000", decimals=0),
        fact("ifrs-full:ProfitLoss", "41000", decimals=-3),
        fact("ifrs-full:ProfitLoss", "43000", decimals=-3),
        fact("ifrs-full:FinanceCosts", None, decimals=-3),
    ]
    statements = read(write(tmp_path, NAMED + facts))
    assert values(statements) == {"Revenue": "5234000", "GrossProfit": "17000"}
    assert reasons(statements) == {
        "xbrl.not_numeric": 2,
        "xbrl.duplicate_rounded": 1,
        "xbrl.duplicate": 1,
        "xbrl.inconsistent": 2,
        "xbrl.nil": 1,
    }


def test_a_document_without_any_usable_fact_is_in_the_ledger(tmp_path: Path) -> None:
    facts = [fact("ifrs-full:ProfitLoss", value, decimals=0) for value in ("41000", "43000")]
    statements = read(write(tmp_path, [*facts, fact("ifrs-full:FinanceCosts", None)]))
    assert statements.points.height == 0
    assert reasons(statements) == {"xbrl.inconsistent": 2, "xbrl.nil": 1}


def test_numbers_never_pass_through_a_float(tmp_path: Path) -> None:
    path = write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "VALUE")])
    for written, filed in {
        "9007199254740993.10": "9007199254740993.1",
        '"1.25E3"': "1250",
        '"-0.0"': "0",
        '"+17"': "17",
        "true": None,
        '"1e999999"': None,
        '"12,5"': None,
    }.items():
        other = tmp_path / "other.json"
        other.write_text(path.read_text().replace('"VALUE"', written))
        matches = values(read(other))
        assert matches == ({"Revenue": filed} if filed else {}), written


def test_dimensions_are_segments_geography_and_equity(tmp_path: Path) -> None:
    axes = {
        "ifrs-full__SegmentsAxis": "bm:MillsAndOatsMember",
        "ifrs-full__GeographicalAreasAxis": "bm:NordicCountriesMember",
        "ifrs-full__ComponentsOfEquityAxis": "ifrs-full:RetainedEarningsMember",
        "bm__SiteAxis": "Oulu 2",
    }
    facts = [fact("ifrs-full:Revenue", "90")]
    facts += [
        fact("ifrs-full:Revenue", str(n), **{axis: at})
        for n, (axis, at) in enumerate(axes.items(), 1)
    ]
    series = read(write(tmp_path, NAMED + facts)).series
    kinds: dict[str | None, str] = dict(series.select("dimensions", "statement").iter_rows())
    assert kinds == {
        None: "Income statement",
        "Segments=MillsAndOats": "Segments",
        "GeographicalAreas=NordicCountries": "Segments",
        "ComponentsOfEquity=RetainedEarnings": "Statement of equity",
        "Site=Oulu 2": "Income statement",
    }


def test_prefixes_mean_what_their_namespaces_say(tmp_path: Path) -> None:
    names = {"x1": IFRS, "own": "http://bramblewick.example/2023", "cur": "http://www.xbrl.org/2003/iso4217",
             "ifrs": "http://elsewhere.example/ifrs"}  # fmt: skip
    facts = [
        fact("x1:Revenue", "8", unit="cur:EUR"),
        fact("own:Revenue", "9", unit="cur:EUR"),
        fact("ifrs:Revenue", "10", unit="cur:EUR"),
    ]
    statements = read(write(tmp_path, NAMED + facts, namespaces=names))
    assert values(statements) == {"Revenue": "8", "own:Revenue": "9", "ifrs:Revenue": "10"}


SIDECAR = {
    "filed": "2024-04-02",
    "company": {"name": "Bramblewick Mills", "ticker": "BMW1"},
    "labels": {
        "ifrs-full:Revenue": {"fi": "Liikevaihto", "en": "Turnover"},
        "bm:Varastot": {"fi": "Myllyvarastot"},
    },
    "statements": [
        {
            "role": "http://bramblewick.example/role/income",
            "rows": [
                {"concept": "ifrs-full:Revenue"},
                {"concept": "ifrs-full:CostOfSales", "negated": True, "label": "Kulut"},
                {"concept": "bm:Varastot"},
            ],
        }
    ],
}


def test_labels_and_rows_of_the_package(tmp_path: Path) -> None:
    facts = [
        fact("bm:Varastot", "3"),
        fact("ifrs-full:CostOfSales", "40"),
        fact("ifrs-full:Revenue", "90"),
        text("ifrs-full:NameOfReportingEntityOrOtherMeansOfIdentification", "Oy", "fi"),
    ]
    path = write(tmp_path, facts)
    (tmp_path / "report.labels.json").write_bytes(orjson.dumps(SIDECAR))
    statements = read(path)
    rows = statements.rows.sort("line").select("label", "negated").rows()
    assert rows == [("Turnover", False), ("Kulut", True), ("Varastot", False)]
    named = {s["concept"]: (s["label"], s["name_local"], s["label_method"])
             for s in statements.series.to_dicts()}  # fmt: skip
    assert named["Revenue"] == ("Turnover", "Income statement | Liikevaihto", "reported")
    assert named["bm:Varastot"][2] == "untranslated"
    assert set(statements.points["filed"]) == {date(2024, 4, 2)}
    assert statements.companies["name"].to_list() == ["Bramblewick Mills"]


def test_plain_labels_beside_a_document(tmp_path: Path) -> None:
    path = write(tmp_path, [*NAMED, fact("bm:MillIncome", "3"), fact("ifrs-full:Revenue", "90")])
    (tmp_path / "report.labels.json").write_bytes(
        orjson.dumps({"bm:MillIncome": "Income of mills"})
    )
    labels = read(path).series.sort("concept")["label"].to_list()
    assert labels == ["Revenue", "Income of mills"]


def test_a_filers_own_concept_stands_where_both_neighbours_stand(tmp_path: Path) -> None:
    facts = [
        fact("ifrs-full:Inventories", "1", DAY),
        fact("bm:OatStocks", "2", DAY),
        fact("ifrs-full:Assets", "3", DAY),
        fact("bm:Between", "4", DAY),
        fact("ifrs-full:CashFlowsFromUsedInOperatingActivities", "5"),
    ]
    series = read(write(tmp_path, NAMED + facts)).series
    kinds: dict[str, str] = dict(series.select("concept", "statement").iter_rows())
    assert kinds["bm:OatStocks"] == "Balance sheet"
    assert kinds["bm:Between"] == "Other"


@pytest.mark.parametrize(
    ("scheme", "country", "language"),
    [
        ("http://www.dcca.dk/cvr", "DK", "und"),
        ("http://www.companieshouse.gov.uk/", "GB", "en"),
        ("http://standards.iso.org/iso/17442", None, "en"),
        ("https://register.example.eu/", None, "en"),
    ],
)
def test_the_register_tells_the_country_and_whether_words_may_be_english(
    tmp_path: Path, scheme: str, country: str | None, language: str
) -> None:
    own = fact("own:Grain", "5")
    named = text("gsd:NameOfReportingEntity", "Ardent Mills", "")
    other = text("own:NameOfReportingEntity", "Barley Mills", "")
    other["dimensions"]["own:SubsidiaryAxis"] = "own:Barley"
    for name in (named, other):
        del name["dimensions"]["language"]
    names = {"lei": scheme, "own": "https://own.example", "iso4217": "http://x/iso4217"}
    path = write(tmp_path, [own, other, named], namespaces=names)
    statements = read(path)
    columns = ("name", "country", "language")
    assert statements.companies.select(columns).rows() == [("Ardent Mills", country, language)]
    method = "reported" if language == "en" else "untranslated"
    assert statements.series["label_method"].to_list() == [method]


def test_a_later_document_restates(tmp_path: Path) -> None:
    first = write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "70", YEAR_BEFORE)], "a")
    later = [fact("ifrs-full:Revenue", "71", YEAR_BEFORE), fact("ifrs-full:Revenue", "90")]
    second = write(tmp_path, NAMED + later, "b")
    for order in ((first, second), (second, first)):
        statements = read(*order)
        assert statements.history["value"].to_list() == ["70"]
        assert sorted(statements.points["value"]) == ["71", "90"]


def test_files_that_are_no_documents_have_their_reason(tmp_path: Path) -> None:
    write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "1")], "good")
    write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "1")], "same")
    (tmp_path / "other.json").write_text('{"facts": {}}')
    (tmp_path / "broken.json").write_text("{" * 100_000)
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as package:
        package.writestr("x/reports/annual.xhtml", "<html/>")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as package:
        facts = [*NAMED, fact("ifrs-full:Revenue", "2", YEAR_BEFORE)]
        package.write(write(tmp_path, facts, "inside"), "reports/inside.json")
    (tmp_path / "inside.json").unlink()
    statements = read(tmp_path)
    matches = {row.item_id: str(row.reason) for row in statements.ledger if row.unit == "file"}
    assert matches == {
        "broken.json": "xbrl.unreadable",
        "good.json": "None",
        "other.json": "xbrl.not_xbrl_json",
        "package.zip": "xbrl.needs_conversion",
        "packed.zip/reports/inside.json": "None",
        "same.json": "xbrl.repeated",
    }
    assert statements.points.height == 2
    (tmp_path / "empty").mkdir()
    for path, todo in (("nothing", "Check the path"), ("empty", "convert-xbrl")):
        with pytest.raises(InputError, match=todo):
            read(tmp_path / path)


def test_a_document_above_the_limits_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, [*NAMED, fact("ifrs-full:Revenue", "1")])
    for config in (XbrlConfig(max_facts=2), XbrlConfig(max_document_bytes=50)):
        (row,) = (r for r in read_xbrl([path], config).ledger if r.unit == "file")
        assert row.reason == "xbrl.too_large"


@pytest.mark.parametrize(
    "odd", [None, [], "x", {"dimensions": 3}, {"dimensions": {"concept": None}}]
)
def test_odd_facts_are_counted_not_fatal(tmp_path: Path, odd: Any) -> None:
    statements = read(write(tmp_path, [*NAMED, odd, fact("ifrs-full:Revenue", "1")]))
    assert reasons(statements)["xbrl.bad_fact"] == 1
    assert values(statements) == {"Revenue": "1"}


def test_names_of_concepts_in_words() -> None:
    assert label_of("ProfitLossBeforeTax") == "Profit (loss) before tax"
    assert label_of("CashFlowsFromUsedInInvestingActivities") == (
        "Cash flows from (used in) investing activities"
    )
    assert label_of("PropertyPlantAndEquipment") == "Property, plant and equipment"
    assert label_of("AccumulatedDepreciationImpairmentPropertyPlantEquipment") == (
        "Accumulated depreciation and impairment of property, plant and equipment"
    )
    assert label_of("CashBankOnHand") == "Cash at bank and in hand"
    assert label_of("DepreciationRightofuseAssets") == "Depreciation of right-of-use assets"
    assert statement_of("NumberOfEmployees", instant=True) == "Operating indicators"
    assert statement_of("NoncurrentLeaseLiabilities", instant=True) == "Balance sheet"
    assert statement_of("Whatever", instant=True) is None


@pytest.mark.slow(seconds=3)
def test_questions_in_euros_with_segments(tmp_path: Path) -> None:
    sheet = {"Assets": 900, "Equity": 520, "Liabilities": 380, "Inventories": 77, "Goodwill": 31}
    income = {"Revenue": 610, "CostOfSales": 320, "GrossProfit": 290, "ProfitLoss": 84}
    facts = [
        fact(f"ifrs-full:{name}", f"{value + year}000000", f"{2024 + year}{DAY[4:]}", decimals=-6)
        for name, value in sheet.items() for year in (0, -1)
    ] + [
        fact(f"ifrs-full:{name}", f"{value}000000", period, decimals=-6)
        for name, value in income.items() for period in (YEAR, YEAR_BEFORE)
    ] + [
        fact("ifrs-full:Revenue", f"{value}000000", decimals=-6,
             **{"ifrs-full__SegmentsAxis": f"bm:{name}Member"})
        for name, value in {"OatMills": 400, "Bakeries": 210}.items()
    ]  # fmt: skip
    write(tmp_path, NAMED + facts)
    result = inline(
        "lane", "questions", "--xbrl", tmp_path, "--size", 12, "--out", tmp_path / "out"
    )
    assert result.returncode == 0, result.stderr
    questions = pl.read_parquet(tmp_path / "out/public/questions.parquet")
    assert set(questions["unit"]) <= {"EUR", "percent"}
    segments = questions.filter(pl.col("category") == "segments_geography")["question"]
    assert len(segments) >= 1
    assert all("Oat mills" in one or "Bakeries" in one for one in segments)
    assert questions["question"].str.contains("in millions of euros").any()
    assert set(questions["company"]) == {"Bramblewick Mills Oyj"}


@pytest.mark.slow(seconds=3)
def test_forecasts_are_guidance(tmp_path: Path) -> None:
    names = {"tse-ed-t": "http://www.xbrl.tdnet.info/taxonomy/jp/tse/ed/t/2014-01-12"}
    names |= {"iso4217": "http://www.xbrl.org/2003/iso4217", "ifrs-full": IFRS}
    ahead = "2024-02-01T00:00:00/2025-02-01T00:00:00"
    kinds = {"tse-ed-t__ConsolidatedNonconsolidatedAxis": "tse-ed-t:ConsolidatedMember",
             "tse-ed-t__ResultForecastAxis": "tse-ed-t:ForecastMember"}  # fmt: skip
    group = dict(list(kinds.items())[:1])
    facts = [
        fact("tse-ed-t:NetSales", "610000000", YEAR, "iso4217:JPY", decimals=-6, **group),
        fact("tse-ed-t:NetSales", "655000000", ahead, "iso4217:JPY", decimals=-6, **kinds),
        fact("tse-ed-t:OperatingIncome", "71000000", ahead, "iso4217:JPY", decimals=-6, **kinds),
    ]
    path = write(tmp_path, NAMED + facts, namespaces=names)
    (tmp_path / "report.labels.json").write_text('{"labels": {}, "filed": "2024-03-15"}')
    series = read(path).series
    assert dict(series.select("dimensions", "statement").iter_rows()) == {
        None: "Income statement",
        "ResultForecast=Forecast": "Guidance",
    }
    given = ("--xbrl", tmp_path, "--size", 3, "--out", tmp_path / "out")
    assert inline("lane", "questions", *given).returncode == 0
    questions = pl.read_parquet(tmp_path / "out/public/questions.parquet")
    wanted = questions.filter(pl.col("category") == "guidance")["question"].sort().to_list()
    assert len(wanted) == 2
    for text in wanted:
        assert "forecast" in text
        assert "the fiscal year ending January 31, 2025" in text
        assert "n its filing of March 15, 2024" in text
        assert "“Forecast”" not in text


def test_conversion_says_how_to_get_arelle(tmp_path: Path) -> None:
    package = tmp_path / "report.xhtml"
    package.write_text("<html/>")
    stand_in = tmp_path / "python"
    stand_in.write_text("#!/bin/sh\nexit 3\n")
    stand_in.chmod(0o755)
    written, problem = convert(package, tmp_path, str(stand_in), [], online=False, seconds=30)
    assert written is None
    assert "pip install arelle-release" in problem
    result = inline("lane", "convert-xbrl", package, "--python", stand_in, "--out", tmp_path / "o")
    assert result.returncode == 1
    assert "pip install arelle-release" in result.stdout


def test_what_arelle_wrote_is_returned(tmp_path: Path) -> None:
    stand_in = tmp_path / "python"
    stand_in.write_text('#!/bin/sh\necho "{}" > "$3/report.json"\n')
    stand_in.chmod(0o755)
    package = tmp_path / "report.xhtml"
    written, problem = convert(package, tmp_path, str(stand_in), [], online=False, seconds=30)
    assert (written, problem) == (tmp_path / "report.json", "")
    stand_in.write_text("#!/bin/sh\necho 'taxonomy not found' >&2\nexit 1\n")
    written, problem = convert(package, tmp_path, str(stand_in), [], online=False, seconds=30)
    assert (written, problem) == (None, "taxonomy not found")
