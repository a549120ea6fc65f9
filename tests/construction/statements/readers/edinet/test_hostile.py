"""Broken and hostile files, lines and filings: all in the ledger, none in silence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from data.contracts import Outcome
from tests.construction.statements.readers.edinet.made import (
    QUARTERS,
    company,
    filing,
    read,
    reasons,
    write,
)

GOOD = company("E00001", filing("S1", pl={"売上高": "1"}))
NAME = "edinet_summaries_1.jsonl.gz"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line.not_json"),
        ("nonsense", "line.not_json"),
        ("[" * 4000, "line.not_json"),
        ('{"edinetCode": "\\ud800"}', "line.not_json"),
        ("[]", "line.not_company"),
        ("7", "line.not_company"),
        ("{}", "line.not_company"),
        (company("00001"), "line.not_company"),
        (company("E00001", filerName=""), "line.not_company"),
        (company("E00001", filerName="あ" * 501), "line.not_company"),
        (company("E00001", periods={}), "line.not_company"),
        (company("E00001") | {"edinetCode": 7}, "line.not_company"),
        (company("E00001", pad="x" * 5000), "line.too_long"),
    ],
)
def test_a_line_that_is_no_company(tmp_path: Path, line: object, reason: str) -> None:
    read_in = read(tmp_path, line, GOOD, max_line_bytes=5000)
    result = [row for row in read_in.ledger if row.unit == "line"]
    assert [(row.item_id, row.outcome, row.reason) for row in result] == [
        (f"{NAME}:1", Outcome.ERRORED, reason)
    ]
    assert result[0].evidence["line"] == 1
    assert read_in.points["value"].to_list() == ["1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"docID": None}, "filing.field"),
        ({"docID": "../x"}, "filing.field"),
        ({"docDescription": None}, "filing.field"),
        ({"docDescription": "x" * 501}, "filing.field"),
        ({"periodStart": "2020"}, "filing.field"),
        ({"periodEnd": "0001-01-01"}, "filing.field"),
        ({"submitDateTime": 20210625}, "filing.field"),
        ({"pl": [1]}, "filing.field"),
        ({"bs": None}, "filing.field"),
        ({"docDescription": "臨時報告書"}, "filing.unknown_kind"),
        ({"submitDateTime": "2021-03-30 10:00"}, "filing.period"),
        ({"periodStart": "2021-04-01"}, "filing.period"),
        ({"pl": {}}, "filing.empty"),
    ],
)
def test_a_filing_that_cannot_be_used(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    odd = filing("S2", pl={"売上高": "1"}) | change
    read_in = read(tmp_path, company("E00001", odd, *GOOD["periods"]))
    assert reasons(read_in) == {reason: 1}
    assert [tally.n_in for tally in read_in.tallies if tally.unit == "filing"] == [2]
    assert read_in.points.height == 1


def test_a_filing_that_is_no_object(tmp_path: Path) -> None:
    read_in = read(tmp_path, company("E00001", periods=[7, None, "x", *GOOD["periods"]]))
    assert reasons(read_in) == {"filing.not_object": 3}


def test_a_document_told_twice_counts_once(tmp_path: Path) -> None:
    again = filing("S1", pl={"売上高": "2"})
    values = []
    for order in ([GOOD, company("E00001", again)], [company("E00001", again), GOOD]):
        read_in = read(tmp_path, *order)
        assert reasons(read_in) == {"filing.repeated": 1}
        values.append(read_in.points["value"].to_list())
    assert values == [["1"], ["1"]]


@pytest.mark.parametrize(
    "change", [{"docDescription": QUARTERS[1]}, {"submitDateTime": "2021-06-26 15:02"}]
)
def test_which_copy_of_a_document_stays_depends_on_all_it_says(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    once = filing("S1", QUARTERS[0], pl={"売上高": "1"})
    copies = [company("E00001", once), company("E00001", once | change)]
    result = [read(tmp_path, *order) for order in (copies, copies[::-1])]
    assert result[0].points.equals(result[1].points)
    assert result[0].rows.equals(result[1].rows)


@pytest.mark.parametrize("cut", [5, 60, -12])
def test_a_broken_file_keeps_the_lines_before_the_break(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / NAME, [GOOD, GOOD])
    path.write_bytes(path.read_bytes()[:cut])
    read_in = read_edinet([path], EdinetConfig())
    result = [row for row in read_in.ledger if row.unit == "file"]
    assert [(row.outcome, row.reason) for row in result] == [(Outcome.ERRORED, "file.broken")]


def test_a_file_that_is_no_gzip_is_broken(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"plain")
    assert reasons(read_edinet([tmp_path], EdinetConfig())) == {"file.broken": 1}


def test_a_bomb_is_not_inflated_past_the_limit(tmp_path: Path) -> None:
    line = json.dumps(GOOD).encode() + b"\n"
    (tmp_path / NAME).write_bytes(gzip.compress(line + b" " * 5_000_000))
    limits = EdinetConfig(max_inflated_bytes=100_000, max_line_bytes=10_000)
    read_in = read_edinet([tmp_path], limits)
    assert reasons(read_in)["file.too_large"] == 1
    assert read_in.points.height == 1


def test_a_byte_order_mark_and_blank_lines_are_tolerated(tmp_path: Path) -> None:
    read_in = read(tmp_path, "\ufeff" + json.dumps(GOOD), "", " ", company("E00002"))
    assert reasons(read_in) == {}
    assert read_in.companies.height == 2


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    for folder, code in (("a", "E00001"), ("b", "E00002")):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / NAME, [company(code, "x")])
    read_in = read_edinet([tmp_path / "b", tmp_path / "a"], EdinetConfig())
    files = [row.item_id for row in read_in.ledger if row.unit == "file"]
    assert files == [f"a/{NAME}", f"b/{NAME}"]
    assert all(str(tmp_path) not in str(row) for row in read_in.ledger)


_ITEMS = st.dictionaries(
    st.sampled_from(["売上高", "当期利益", "税引前利益", "売上収益（IFRS）", "資産", "その他"]),
    st.sampled_from(["1", "-2", "－", "x", "１，０００"]) | st.none() | st.integers(-9, 9),
    max_size=4,
)
_FILINGS = st.builds(
    lambda n, kind, **tables: filing(f"S{n}", kind, **tables),
    st.integers(0, 5),
    st.sampled_from([*QUARTERS, "有価証券報告書", "半期報告書－第3期", "臨時報告書"]),
    pl=_ITEMS,
    bs=_ITEMS,
    cf=_ITEMS,
    summary=_ITEMS,
)
_COMPANIES = st.lists(
    st.builds(
        lambda code, filings: company(f"E0000{code}", *filings),
        st.integers(1, 3),
        st.lists(_FILINGS, max_size=4),
    ),
    max_size=5,
)


@settings(max_examples=30)
@given(_COMPANIES, st.randoms(use_true_random=False))
def test_the_order_of_lines_and_filings_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], mixer: Any
) -> None:
    """The tables are the same, and the books close (or `read` raises LedgerError)."""
    folder = tmp_path_factory.mktemp("mixed")
    item = read(folder, *records)
    mixed = [
        record | {"periods": mixer.sample(record["periods"], len(record["periods"]))}
        for record in records
    ]
    mixer.shuffle(mixed)
    other = read(folder, *mixed)
    for name in ("companies", "series", "points", "history", "rows"):
        assert getattr(item, name).equals(getattr(other, name)), name
    assert item.tallies == other.tallies
    assert item.points["point_id"].is_unique().all()
    assert item.series["series_id"].is_unique().all()
    assert set(item.points["series_id"]) == set(item.series["series_id"])
    assert set(item.rows["series_id"]) >= set(item.points["series_id"])
