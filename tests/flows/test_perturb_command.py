"""`privacy perturb`: tables leave in an order from the key, attacked, and within their limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from data.errors import BenchmintError, InputError, ReleaseError
from flows.commands.anonymize import perturb_command

app = typer.Typer()
app.command()(perturb_command)

ROLES = """
[tables.tables.{name}]
entity = "code"
{group}
steps = [{{ method = "{method}", strength = {strength} }}]
columns.code = {{ role = "identifier", prefix = "S" }}
columns.industry = {{ role = "quasi_identifier" }}
columns.revenue = {{ role = "measure" }}
columns.costs = {{ role = "measure" }}
[tables.frontier.strengths]
[tables.risk]
one_company = 1
whole_industry = 1
largest = 1
"""


def settings(folder: Path, **changes: Any) -> Path:
    given = {"name": "firms", "group": 'group = "industry"', "method": "rank_swap", "strength": 0.3}
    path = folder / "benchmint.toml"
    path.write_text(ROLES.format(**given | changes) + "[tables.fidelity]\nmax_beyond = 1.0\n")
    return path


def firms(folder: Path, industries: Mapping[str, int], name: str = "firms.csv") -> Path:
    """Companies in order of size within industries, so that the source's order says who is who."""
    draw = np.random.default_rng(7)
    rows = [
        {
            "code": f"S{10_000 + 137 * number:05d}",
            "industry": industry,
            "revenue": str(int(draw.lognormal(12, 1))),
            "costs": str(int(draw.lognormal(11, 1))),
        }
        for number, industry in enumerate(i for i, n in industries.items() for _ in range(n))
    ]
    path = folder / name
    pl.DataFrame(rows).write_csv(path)
    return path


def perturb(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, BenchmintError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def mapping(out: Path) -> dict[str, str]:
    codes = orjson.loads((out / "private" / "pseudonyms.json").read_bytes())["codes"]["code"]
    return {str(old): str(new) for old, new in codes.items()}


def unchanged(before: pl.DataFrame, out: Path) -> int:
    """Companies whose own row has all its figures as they came."""
    after, row = read(out / "tables" / "firms.csv"), ["code", "revenue", "costs"]
    named = before.with_columns(pl.col("code").replace_strict(mapping(out)))
    return after.select(row).join(named.select(row), on=row, how="semi").height


def test_rows_leave_in_an_order_that_the_source_does_not_reveal(tmp_path: Path) -> None:
    source, out = firms(tmp_path, {"retail": 80, "steel": 80}), tmp_path / "out"
    said = perturb(source, "--config", settings(tmp_path), "--out", out)
    assert "firms: re-identification passed" in said and "1 table in" in said
    before, after = read(source), read(out / "tables" / "firms.csv")
    codes = mapping(out)
    assert sorted(codes[code] for code in before["code"]) == sorted(after["code"])
    at_its_place = sum(
        codes[old] == new for old, new in zip(before["code"], after["code"], strict=True)
    )
    assert at_its_place <= 5  # one of 160 by chance
    assert after["industry"].to_list() != before["industry"].to_list()


def test_the_order_of_the_source_changes_nothing(tmp_path: Path) -> None:
    source = firms(tmp_path, {"retail": 30, "steel": 30})
    (tmp_path / "turned").mkdir()
    turned = tmp_path / "turned" / "firms.csv"
    read(source).reverse().write_csv(turned)
    config, key = settings(tmp_path), tmp_path / "key"
    for file, out in ((source, "a"), (turned, "b")):
        perturb(file, "--config", config, "--out", tmp_path / out, "--key", key)
    for made in ("tables/firms.csv", "reports/privacy.json"):
        assert (tmp_path / "a" / made).read_bytes() == (tmp_path / "b" / made).read_bytes()


def test_a_table_above_its_limits_is_not_written(tmp_path: Path) -> None:
    source, out = firms(tmp_path, {"retail": 60}), tmp_path / "out"
    config = settings(tmp_path, method="log_noise", strength=0.0001)
    config.write_text(config.read_text().replace("one_company = 1\n", "one_company = 0.2\n"))
    with pytest.raises(ReleaseError, match=r"firms: re-identification: 1\.000 found") as refused:
        perturb(source, "--config", config, "--out", out)
    report = out / "private" / "tables-report.json"
    assert str(report) in str(refused.value)
    assert not (out / "tables").exists() and not (out / "reports").exists()
    assert {path.name for path in (out / "private").iterdir()} == {"release.key", report.name}


def _small() -> Iterator[Any]:
    for method, strength in (("rank_swap", 0.1), ("level_swap", 0.3), ("microaggregation", 3)):
        for sizes in ((1, 1, 1, 1, 1, 1), (30, 1, 2), (3, 3, 3, 4), (11, 1)):
            yield pytest.param(method, strength, sizes, id=f"{method} {sizes}")


@pytest.mark.parametrize(("method", "strength", "sizes"), list(_small()))
def test_small_industries_are_merged_and_no_row_leaves_as_it_came(
    method: str, strength: float, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    source = firms(tmp_path, {f"industry {at}": size for at, size in enumerate(sizes)})
    config, out = settings(tmp_path, method=method, strength=strength), tmp_path / "out"
    config.write_text(config.read_text().replace("[tables.risk]", "[tables.risk]\nunchanged_row=1"))
    perturb(source, "--config", config, "--out", out)
    before = read(source)
    kept = unchanged(before, out)
    report = orjson.loads((out / "reports" / "privacy.json").read_bytes())["tables"]["firms"]
    (attack,) = [r for r in report["attacks"] if r["risk"] == "unchanged row"]
    assert attack["hits"] == kept and attack["n"] == before.height
    # a level swap draws a place for each company, which may be its own
    assert kept < before.height if method == "level_swap" else kept == 0


def test_a_table_of_one_row_is_refused(tmp_path: Path) -> None:
    source, out = firms(tmp_path, {"retail": 1}), tmp_path / "out"
    with pytest.raises(ReleaseError, match=r"1\.000 found, limit 0\.05 \(unchanged row"):
        perturb(source, "--config", settings(tmp_path), "--out", out)
    assert not (out / "tables").exists()


def test_a_file_that_is_not_declared_is_refused(tmp_path: Path) -> None:
    source, other = firms(tmp_path, {"retail": 9}), firms(tmp_path, {"steel": 9}, "other.csv")
    with pytest.raises(InputError, match=r"other\.csv: found table\.not_declared"):
        perturb(source, other, "--config", settings(tmp_path), "--out", tmp_path / "out")


def test_text_in_a_measure_is_released_empty(tmp_path: Path) -> None:
    source, out = firms(tmp_path, {"retail": 40}), tmp_path / "out"
    cells = ["Jane Roe", "Acme 12", "USD 500", "n/a", "△7,100"]
    frame = read(source).with_columns(
        revenue=pl.concat([pl.Series(cells), read(source)["revenue"][len(cells) :]])
    )
    frame.write_csv(source)
    perturb(source, "--config", settings(tmp_path), "--out", out)
    after, codes = read(out / "tables" / "firms.csv"), mapping(out)
    released = dict(zip(after["code"], after["revenue"], strict=True))
    jane, acme, dollars, missing, loss = (released[codes[code]] for code in frame["code"][:5])
    assert (jane, acme, missing) == (None, None, "n/a")
    assert dollars is not None and dollars.startswith("USD ")
    assert loss is not None and loss.startswith("△")
    report = orjson.loads((out / "reports" / "privacy.json").read_bytes())["tables"]["firms"]
    assert report["perturbation"]["emptied"] == {"revenue": 2}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b"code,industry,revenue,costs\nS1,a,5,6\nS2,a,7\n", r"line 3: found 3 cells"),
        (b"code,industry,revenue,costs\nS1,a,5,6\nS2,a,7,8,9\n", r"found ComputeError"),
        (b"code,industry,revenue,costs\n", r"found no row"),
        (
            b"code,industry,revenue,costs\nS1,a,x,6\nS2,a,y,8\n",
            r"firms, column revenue: found 2 text cells",
        ),
    ],
)
def test_a_table_that_is_none_is_refused(rows: bytes, said: str, tmp_path: Path) -> None:
    source, out = tmp_path / "firms.csv", tmp_path / "out"
    source.write_bytes(rows)
    with pytest.raises(InputError, match=said):
        perturb(source, "--config", settings(tmp_path), "--out", out)
    assert not (out / "tables").exists()
