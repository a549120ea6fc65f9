"""The snapshots of the demo registry: repeatable, readable by the collector, like a real market."""

from __future__ import annotations

import csv
import datetime as dt
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from construction.signals.collect import CollectConfig, Collected, collect_file
from data.contracts import Popularity
from data.demo import generate
from data.demo.signals import FOLDER, NEW_MONTH, NOWHERE, OLD_MONTH, load_skills, write_signals
from tests.conftest import REPO

MONTHS = (OLD_MONTH, NEW_MONTH)
COUNTS = ("downloads", "stars", "installs_current", "installs_all_time", "comments", "versions")


def rows(folder: Path, month: str) -> dict[str, Mapping[str, str]]:
    with (folder / FOLDER / f"{month}.csv").open(encoding="utf-8", newline="") as handle:
        return {row["slug"]: row for row in csv.DictReader(handle)}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / FOLDER).iterdir()}


def collected(folder: Path, month: str, top: int | None = None) -> Collected:
    path = folder / FOLDER / f"{month}.csv"
    return collect_file(path, "demo", dt.date.fromisoformat(month), CollectConfig(top=top))


@pytest.fixture(scope="module", params=[0, 7, 2026])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("signals")
    write_signals(target, request.param)
    return target


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        write_signals(tmp_path / name, seed)
    item, two, other = (content(tmp_path / name) for name in ("one", "two", "other"))
    assert sorted(item) == [f"{month}.csv" for month in MONTHS]
    assert item == two
    assert not set(item.values()) & set(other.values())


def test_a_demo_workspace_holds_the_snapshots_of_its_seed(tmp_path: Path) -> None:
    generate(tmp_path / "demo", 1, 7)
    write_signals(tmp_path / "alone", 7)
    assert content(tmp_path / "demo") == content(tmp_path / "alone")


def test_the_number_of_rows_is_told(tmp_path: Path) -> None:
    n_rows = write_signals(tmp_path, 7)
    n_skills = sum(map(len, load_skills().families.values()))
    assert n_rows == sum(len(rows(tmp_path, month)) for month in MONTHS)
    assert n_rows == 2 * n_skills - 6 - 4  # the new ones and the dropped ones are in one month


def test_the_shape_is_that_of_the_registry_export(folder: Path) -> None:
    header = b"rank,slug,name,downloads,stars,installs_current,installs_all_time,comments,versions"
    for table in content(folder).values():
        assert table.startswith(header + b",owner,summary\r\n")
        assert table.endswith(b"\r\n")
        assert table.count(b"\n") == table.count(b"\r\n")


@pytest.mark.parametrize("month", MONTHS)
def test_the_collector_reads_every_row(folder: Path, month: str) -> None:
    result, written = collected(folder, month), rows(folder, month)
    assert result.issues == ()
    assert {signal.slug for signal in result.snapshot.signals} == written.keys()
    for signal in result.snapshot.signals:
        row = written[signal.slug]
        assert (signal.name, signal.summary) == (row["name"], row["summary"])
        assert signal.owner == row["owner"]
        assert signal.popularity == {Popularity(m): int(row[m]) for m in Popularity if m in row}


@pytest.mark.parametrize("month", MONTHS)
def test_ranks_follow_downloads_and_the_tail_is_heavy(folder: Path, month: str) -> None:
    written = list(rows(folder, month).values())
    downloads = [int(row["downloads"]) for row in written]
    assert [int(row["rank"]) for row in written] == list(range(1, len(written) + 1))
    assert downloads == sorted(downloads, reverse=True)
    assert downloads[-1] > 0
    tenth = len(downloads) // 10
    assert 0.4 < sum(downloads[:tenth]) / sum(downloads) < 0.9
    for row in written:
        assert int(row["installs_current"]) <= int(row["installs_all_time"])
        assert int(row["installs_all_time"]) < int(row["downloads"])
        assert int(row["stars"]) < int(row["downloads"])
        assert int(row["versions"]) >= 1


def test_skills_come_and_go_and_climb_but_no_count_shrinks(folder: Path) -> None:
    old, new = rows(folder, OLD_MONTH), rows(folder, NEW_MONTH)
    assert len(new.keys() - old.keys()) == 6
    assert len(old.keys() - new.keys()) == 4
    climbed = 0
    for slug in old.keys() & new.keys():
        assert all(int(old[slug][count]) <= int(new[slug][count]) for count in COUNTS)
        climbed += int(new[slug]["downloads"]) > 3 * int(old[slug]["downloads"])
    assert climbed == 5
    before, after = (
        {signal.slug: signal.popularity[Popularity.DOWNLOADS] for signal in top.snapshot.signals}
        for top in (collected(folder, month, 99) for month in MONTHS)
    )
    assert after.keys() - before.keys()
    assert before.keys() - after.keys()
    kept = sum(after[slug] for slug in before.keys() & after.keys())
    assert 0.5 < kept / sum(after.values()) < 1.0


def test_words_cover_every_family_and_both_languages() -> None:
    families = load_skills().families
    declared = tomllib.loads((REPO / "construction/signals/families.toml").read_text("utf-8"))
    assert families.keys() == {*declared, NOWHERE}
    assert len(families[NOWHERE]) == 3
    skills = [row for rows_ in families.values() for row in rows_]
    for position in range(3):
        assert len({row[position] for row in skills}) == len(skills)
    for family, rows_ in families.items():
        chinese = [row for row in rows_ if any("一" <= letter <= "鿿" for letter in row[2])]
        assert 0 < len(chinese) < len(rows_), family
        assert all(row[2].endswith((".", "。")) for row in rows_)


def test_every_family_is_in_both_months(folder: Path) -> None:
    for month in MONTHS:
        written = rows(folder, month).keys()
        for family, skills in load_skills().families.items():
            here = [row[0] for row in skills if row[0] in written]
            assert len(here) >= 2, family
            assert family != NOWHERE or len(here) == 3
