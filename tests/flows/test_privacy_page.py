"""Hostile tables, released: their headers and cells are no markup and no formulas anywhere."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from data.atomic import private_dir
from data.snapshot.card import privacy_page
from data.snapshot.manifest import Manifest
from data.snapshot.release import CardConfig
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from data.stage_tables import read_records
from tests.data.snapshot.sample import release
from tests.flows.command import key_file
from tests.flows.tables_lane import TablesLane, run_tables_lane

HEADER = "<script>alert(1)</script>\u202e=1+1"
INDUSTRY = '"><img src=x onerror=alert(2)>'
FORMULA = "=cmd|' /C calc'!A0"


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def hostile_table() -> pl.DataFrame:
    rows = range(1, 81)
    return pl.DataFrame(
        {
            "id": [f"C{row:05d}" for row in rows],
            "name": [f"{FORMULA} {row:03d} Ltd" for row in rows],
            "industry": [INDUSTRY if row % 2 else "steel" for row in rows],
            HEADER: [f"{row * 7919 % 997 + 1},000" for row in rows],
        }
    )


def hostile_recipe() -> dict[str, Any]:
    columns = {
        "id": {"role": "identifier", "prefix": "C"},
        "name": {"role": "identifier", "kind": "name"},
        "industry": {"role": "quasi_identifier"},
        HEADER: {"role": "measure", "steps": [{"method": "rank_swap", "strength": 0.3}]},
    }
    table = {"entity": "id", "group": "industry", "columns": columns}
    accepted = {"one_company": 1, "whole_industry": 1, "history": 1, "largest": 1}
    tried = {"strengths": {"log_noise": [0.3]}}
    return {
        "tables": {"companies_x": table},
        "risk": accepted,
        "frontier": tried,
        "fidelity": {"max_beyond": 1},
    }


@pytest.fixture(scope="module")
def anonymized(tmp_path_factory: pytest.TempPathFactory) -> TablesLane:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "companies_x.csv").write_bytes(hostile_table().write_csv().encode())
    out = folder / "out"
    key_file(private_dir(out / "private"))
    runtime = {"out": out, "tables": (folder / "companies_x.csv",), "quiet": True}
    lane = run_tables_lane(runtime, hostile_recipe())
    assert lane is not None
    return lane


@pytest.fixture(scope="module")
def public(anonymized: TablesLane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("snapshot")
    given = release(folder)
    own = read_records(list(anonymized.folders))
    ledger_tables = replace(
        given.ledger_tables,
        ledger=[*given.ledger_tables.ledger, *own.ledger],
        verdicts=[*given.ledger_tables.verdicts, *own.verdicts],
        tallies=[*given.ledger_tables.tallies, *own.tallies],
    )
    whole = replace(
        given,
        ledger_tables=ledger_tables,
        tables=anonymized.tables,
        pictures=anonymized.pictures,
        privacy_report={"tables": anonymized.report},
    )
    ref = write_snapshot(whole, folder / "snapshots")
    assert verify(ref.path).findings == ()
    return ref.path / "public"


def test_headers_are_no_markup(public: Path) -> None:
    text = (public / "audit" / "privacy.html").read_text(encoding="utf-8")
    actual = Tags(text)
    assert actual.tags.isdisjoint({"script", "img", "iframe", "object", "form", "base"})
    assert not any(name.startswith("on") or name == "style" for name in actual.attributes)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+202E⟩=1+1" in text
    assert "\u202e" not in text
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text
    for name in ("attacks", "frontier"):
        picture = (public / "audit" / f"privacy-companies_x-{name}.svg").read_text()
        assert Tags(picture).tags <= {"svg", "style", "text", "rect", "path", "circle"}


@pytest.mark.parametrize(
    ("beyond", "assessable", "said"),
    [
        (3, 42, "7.1 % (3 of 42) of the column-industry pairs"),
        (0, 0, "none of the column-industry pairs"),
    ],
)
def test_the_gate_of_fidelity_prints_its_share_and_the_counts_behind_it(
    public: Path, anonymized: TablesLane, beyond: int, assessable: int, said: str
) -> None:
    manifest = Manifest.model_validate_json((public / "manifest.json").read_bytes())
    (table,) = anonymized.report["tables"].values()
    fidelity = table["fidelity"] | {"beyond": beyond, "assessable": assessable}
    tables = {"companies_x": {**table, "fidelity": fidelity}}
    report = {"tables": {**anonymized.report, "tables": tables}}
    assert said in privacy_page(CardConfig(), manifest, report, {})


def test_the_report_leads_to_the_page(public: Path) -> None:
    text = (public / "audit" / "report.html").read_text(encoding="utf-8")
    assert '<a href="privacy.html">Anonymized tables</a>' in text
    assert "companies re-identified by the best attack" in text


def test_no_cell_leaves_as_a_formula_and_no_identifier_leaves_at_all(
    public: Path, anonymized: TablesLane
) -> None:
    frame = pl.read_parquet(public / "tables" / "companies_x.parquet")
    assert frame.height == 80
    assert not any(name.startswith(("=", "+", "-", "@")) for name in frame["name"])
    result = (public / "audit" / "privacy.json").read_bytes()
    values = {str(value) for name in frame.columns for value in frame[name]}
    assert len(anonymized.identifiers) == 160
    assert not any(name in values or name.encode() in result for name in anonymized.identifiers)
    (table,) = orjson.loads(result)["tables"]["tables"].values()
    assert table["columns"][-1] == {
        "column": HEADER,
        "role": "measure",
        "steps": ["rank_swap 0.3"],
    }
