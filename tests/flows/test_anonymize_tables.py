"""The lane of anonymized tables, with its tasks run as plain functions: no Prefect server."""

from __future__ import annotations

import gzip
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from anonymization.tables.seal import RECORD, seal
from data.atomic import private_dir
from data.canonical import canonical_json
from data.contracts import Outcome
from data.demo.generate import CONFIG, FROZEN, TABLES
from data.errors import ConfigError, InputError, ReleaseError
from data.ledger import _merge
from data.stage_tables import read_records
from flows.recipe import load_settings
from flows.stages.tables import REPORT
from tests.conftest import REPO
from tests.flows.command import KEY, key_file
from tests.flows.tables_lane import TablesLane, run_tables_lane

# So few companies are found by chance: limits are those of the tests, not of a release.
LOOSE = {
    "fidelity": {"max_beyond": 1.0},
    "risk": {"one_company": 0.6, "whole_industry": 0.7, "history": 0.7, "largest": 1.0},
    "frontier": {"strengths": {}},
}


@pytest.fixture(scope="module")
def tables() -> Path:
    return REPO / "tests/data/demo/small_tables"  # as those of the demo: 60 companies, two years


@pytest.fixture(scope="module")
def out(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def base(out: Path, tables: Path) -> TablesLane:
    return made(out, tables)


def made(
    out: Path, given: Path | None, changes: Mapping[str, Any] = LOOSE, key: str = KEY
) -> TablesLane:
    """Run the lane in `out`, whose key is `key` unless it was sealed."""
    if not (out / RECORD).exists():
        key_file(private_dir(out / "private")).write_text(key)
    runtime = {"out": out, "quiet": True, "workers": 1, "tables": (given,) if given else ()}
    section = demo_section() | {"attacks": {"known": ["revenue", "assets"]}} | dict(changes)
    lane = run_tables_lane(runtime, section)
    assert lane is not None
    return lane


def released(actual: TablesLane) -> dict[str, bytes]:
    return {name: table.path.read_bytes() for name, table in actual.tables.items()}


def demo_section() -> dict[str, Any]:
    section: dict[str, Any] = tomllib.loads((FROZEN / CONFIG).read_text("utf-8"))["tables"]
    return section


def steps(method: str, strength: float) -> dict[str, Any]:
    """The demo's tables with another setting."""
    section = demo_section()
    section["tables"]["enterprise"]["steps"] = [{"method": method, "strength": strength}]
    tried = {"frontier": {"strengths": {"rank_swap": [0.5]}}}
    return LOOSE | tried | {"tables": section["tables"]}


def test_the_demo_passes_its_declared_limits(tmp_path: Path) -> None:
    actual = made(tmp_path, FROZEN / TABLES, {})
    result = actual.report["tables"]["enterprise"]
    assert (result["verdict"]["status"], result["fidelity"]["status"]) == ("passed", "passed")
    assert result["limits"]["one_company"] == result["limits"]["history"] == 0.2  # the defaults
    assert len(result["frontier"]) == 4
    assert {noise["same_places"] for noise in result["native_noise"]} == {True}
    truth = orjson.loads((FROZEN / TABLES / "tables_truth.json").read_bytes())
    doubled = [n["after"] for n in result["native_noise"] if n["kind"] == "duplicate row"]
    assert doubled == [len(truth["noise"]["duplicate"])]
    assert all(r["hold_after"] == r["held_before"] for r in result["perturbation"]["relations"])
    (aligned,) = actual.report["aggregates"]["industry_totals"]
    assert abs(aligned["offset_after"] - aligned["offset_before"]) < 1e-3
    assert sorted(actual.pictures) == ["privacy-enterprise-attacks", "privacy-enterprise-frontier"]
    assert sorted(actual.inputs) == ["table-enterprise", "table-industry_totals", "table-narrative"]


def test_the_ledger_closes_over_files_columns_rows_and_tables(base: TablesLane) -> None:
    records = read_records(list(base.folders))
    counts = {(t.unit, o): n for t in _merge(records.tallies) for o, n in t.counts.items() if n}
    frames = [pl.read_parquet(table.path) for table in base.tables.values()]
    rows, columns = (sum(frame.shape[axis] for frame in frames) for axis in (0, 1))
    assert counts == {
        ("file", Outcome.KEPT): 3,
        ("file", Outcome.REJECTED): 2,  # configuration and truth of the demo are no tables
        ("column", Outcome.KEPT): columns,
        ("row", Outcome.KEPT): rows,
        ("table", Outcome.KEPT): 3,
    }
    result = {(row.unit, row.outcome): 0 for row in records.ledger}
    for row in records.ledger:
        result[row.unit, row.outcome] += row.n
    assert result == counts
    gates = {(item, verdict.gate) for item, verdict in records.verdicts}
    assert gates == {("tables/enterprise", gate) for gate in ("fidelity", "re-identification")}


def test_rows_and_files_in_any_order_give_the_same_bytes(
    base: TablesLane, tables: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("enterprise", "narrative", "industry_totals"):
        frame = pl.read_csv(tables / f"{name}.csv", infer_schema_length=0)
        text = frame.sample(fraction=1, shuffle=True, seed=3).write_csv().encode()
        (other / f"{name}.csv.gz").write_bytes(gzip.compress(text))
    again = made(tmp_path / "b", other)
    assert released(again) == released(base)
    assert again.report == base.report
    assert again.inputs != base.inputs


def test_another_key_gives_other_tables(base: TablesLane, tables: Path, tmp_path: Path) -> None:
    actual = made(tmp_path, tables, key="17" * 32)
    assert not {*released(actual).values()} & {*released(base).values()}
    assert actual.inputs == base.inputs


def test_rows_do_not_leave_in_the_order_of_the_source(base: TablesLane) -> None:
    codes = pl.read_parquet(base.tables["enterprise"].path)["code"]
    assert codes.to_list() == sorted(codes)
    attacks = base.report["tables"]["enterprise"]["attacks"]
    (order,) = [a for a in attacks if a["name"] == "row order"]
    assert order["rate"] < 0.1


def test_too_little_noise_is_refused_naming_what_would_pass(tables: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError) as refused:
        made(tmp_path, tables, steps("least_significant_digit", 2))
    result = str(refused.value)
    assert "\n" not in result
    assert "enterprise: re-identification: " in result
    assert "; would pass (of 2 tried): rank_swap 0.5;" in result
    report = orjson.loads((tmp_path / "private" / REPORT).read_bytes())
    verdict = report["tables"]["enterprise"]["verdict"]
    assert (verdict["status"], verdict["reason"]) == ("failed", "risk.above_limit")
    assert not (tmp_path / "private" / "pseudonymized").exists()


def test_where_nothing_passes_that_is_said(tables: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ReleaseError, match=r"would pass \(of 1 tried\): none of those tried; would also"
    ):
        made(tmp_path, tables, LOOSE | {"risk": {"one_company": 0.0}})


def test_drift_beyond_the_limits_is_refused(tables: Path, tmp_path: Path) -> None:
    strict = {"fidelity": {"max_d": 0.0, "max_beyond": 0.0}}
    with pytest.raises(ReleaseError, match=r"enterprise: fidelity: 1\.000 of .* drifted"):
        made(tmp_path, tables, LOOSE | strict)


def test_what_was_not_attacked_is_not_released(tables: Path, tmp_path: Path) -> None:
    quick = LOOSE | {"attacks": {"assignment": False}}
    with pytest.raises(ReleaseError, match="whole industries were not attacked"):
        made(tmp_path, tables, quick)
    accepted = quick | {"risk": {"one_company": 0.6, "whole_industry": 1, "history": 0.7}}
    assert made(tmp_path, tables, accepted).report["tables"]["enterprise"]["statement"]


def test_after_sealing_a_rebuild_starts_at_the_pseudonymized_tables(
    tables: Path, tmp_path: Path
) -> None:
    given, out = tmp_path / "given", tmp_path / "out"
    shutil.copytree(tables, given)
    first = released(made(out, given))
    shutil.rmtree(out / "private" / "stages")  # whatever a build prunes
    assert seal(out).destroyed == ("release.key",)
    assert (out / RECORD).is_file()
    again = made(out, given)
    assert (released(again), again.sealed) == (first, True)
    assert again.report["starts_at"] == "pseudonymized tables"
    assert all(name.startswith("pseudonymized-") for name in again.inputs)
    shutil.rmtree(given)
    assert released(made(out, None)) == first  # the originals are not needed
    strict = LOOSE | {"risk": {"one_company": 0.0}}
    with pytest.raises(ReleaseError, match="re-identification"):  # limits still hold
        made(out, None, strict)


def test_after_sealing_nothing_else_can_be_perturbed(tables: Path, tmp_path: Path) -> None:
    given, out = tmp_path / "given", tmp_path / "out"
    shutil.copytree(tables, given)
    made(out, given)
    seal(out)
    with pytest.raises(ConfigError, match=r"sealed, and \[tables\] changed since"):
        made(out, given, steps("rank_swap", 0.3))
    frame = pl.read_csv(given / "narrative.csv", infer_schema_length=0)
    (given / "narrative.csv").write_bytes(frame.head(20).write_csv().encode())
    with pytest.raises(ConfigError, match="sealed, and the tables changed since"):
        made(out, given)


def test_nothing_kept_links_a_pseudonym_to_its_original(base: TablesLane, out: Path) -> None:
    names = [name.encode() for name in base.identifiers if len(name) > 4]
    assert len(names) > 120
    contents = {p.name: p.read_bytes() for p in (out / "private").rglob("*") if p.is_file()}
    held = {at for at, content in contents.items() if any(name in content for name in names)}
    assert held == {"originals.json"}  # sorted, and apart from any pseudonym
    assert base.identifiers == tuple(sorted(base.identifiers))
    result = canonical_json([base.report, [p.standalone for p in base.pictures.values()]])
    assert not any(name in result for name in names)


def test_industries_that_do_not_leave_are_not_named(tables: Path, tmp_path: Path) -> None:
    section = demo_section()
    section["tables"]["enterprise"]["columns"]["industry"] = {"role": "dropped"}
    section |= {"aggregates": {}}
    given = tmp_path / "given"
    given.mkdir()
    for name in ("enterprise.csv", "narrative.csv"):
        shutil.copy(tables / name, given)
    actual = made(tmp_path, given, section | LOOSE)
    assert "industry" not in pl.read_parquet(actual.tables["enterprise"].path).columns
    assert "零售" not in canonical_json(actual.report).decode()
    groups = {c["group"] for c in actual.report["tables"]["enterprise"]["fidelity"]["by_group"]}
    assert groups == {f"group {at}" for at in range(1, 6)}


def test_input_that_does_not_fit_is_one_line(tables: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    shutil.copytree(tables, given)
    (given / "notes.csv").write_text("a\n1\n")  # nobody declared it
    (given / "linked.csv").symlink_to("/etc/hostname")
    actual = made(tmp_path / "a", given)
    result = (
        pl.read_parquet(actual.folders[0] / "ledger.parquet").select("item_id", "reason").rows()
    )
    assert ("given/notes.csv", "table.not_declared") in result
    assert ("given/linked.csv", "table.link") in result
    aggregate = pl.read_csv(given / "industry_totals.csv").with_columns(top=pl.lit("Acme"))
    (given / "industry_totals.csv").write_bytes(aggregate.write_csv().encode())
    with pytest.raises(InputError, match="industry_totals: found undeclared columns top"):
        made(tmp_path / "b", given)
    (given / "industry_totals.csv").unlink()
    with pytest.raises(InputError, match="no file for industry_totals"):
        made(tmp_path / "c", given)
    (given / "again").mkdir()
    shutil.copy(given / "narrative.csv", given / "again")
    with pytest.raises(InputError, match="two files for table narrative"):
        made(tmp_path / "d", given)
    with pytest.raises(ConfigError, match=r"\[tables\]: found no declared tables"):
        made(tmp_path / "e", given, {"tables": {}, "aggregates": {}, "attacks": {}})


def test_without_tables_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert run_tables_lane({"out": tmp_path}, {}) is None


@pytest.mark.parametrize("name", ["points", "Ent erprise", "../up", "questions"])
def test_names_that_no_release_may_hold_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="tables"):
        load_settings(
            None,
            {"tables": {"tables": {name: {"entity": "a", "columns": {"a": {"role": "unit"}}}}}},
            {},
        )
