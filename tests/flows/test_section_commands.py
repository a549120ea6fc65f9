"""Commands that stand alone read their section of the file that a build reads."""

from __future__ import annotations

from pathlib import Path

import orjson
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from data.errors import BenchmintError
from flows.commands import anonymize, lanes
from flows.recipe import load_settings

app = typer.Typer()
for name, function in (
    ("mask", anonymize.mask_command),
    ("perturb", anonymize.perturb_command),
    ("profile", anonymize.profile_command),
    ("scan", anonymize.scan_command),
    ("select", lanes.select_command),
):
    app.command(name)(function)


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(done.exception, BenchmintError):
        raise done.exception
    return done.exit_code, done.output


def config(folder: Path, text: str) -> Path:
    path = folder / "benchmint.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    rows = [
        {"code": f"{number:06d}", "year": 2024, "revenue": 1000.0 + 37 * number}
        for number in range(40)
    ]
    path = tmp_path / "firms.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rows = [
        {"item": f"t{item:02d}", "family": "ab"[item % 2], "model": f"m{model}", "score": score}
        for item in range(20)
        for model, score in enumerate([1.0, float(item % 3 > 0), 0.0])
    ]
    path = tmp_path / "scores.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def test_what_profile_proposes_is_taken_by_perturb_and_by_a_build(
    firms: Path, tmp_path: Path
) -> None:
    _, proposed = run("profile", firms, "--toml")
    # forty rows of one column: the attacks' luck with a key is not this test's question
    key = tmp_path / "release.key"
    key.write_text("17" * 32)
    key.chmod(0o600)
    accepted = "one_company = 0.5\nlargest = 1\nwhole_industry = 1\nunchanged_row = 1\n"
    limits = f"[tables.risk]\n{accepted}[tables.fidelity]\nmax_beyond = 1.0\n"
    path = config(tmp_path, f"{proposed}\n{limits}")
    assert load_settings(path, environment={}).tables.risk.one_company == 0.5
    code, said = run("perturb", firms, "--config", path, "--out", tmp_path / "out", "--key", key)
    assert code == 0, said
    released = pl.read_csv(tmp_path / "out" / "tables" / "firms.csv", infer_schema=False)
    assert set(released["code"]).isdisjoint(pl.read_csv(firms, infer_schema=False)["code"])


def test_select_reads_what_a_build_reads(scores: Path, tmp_path: Path) -> None:
    result = "max_tasks = 6\nlite_size = 2\nmax_changed = 0.3\npilots = ['m0', 'm1', 'm2']\n"
    path = config(tmp_path, f"[selection]\n{result}lane_shares.questions = {{ high = 0.3 }}\n")
    assert load_settings(path, environment={}).selection.max_tasks == 6
    out = tmp_path / "selected"
    assert run("select", scores, "--config", path, "--out", out, "--no-quality")[0] == 0
    assert len(orjson.loads((out / "selection.json").read_bytes())["chosen"]) == 6
    given = ("--size", 4, "--out", out, "--no-quality")
    assert run("select", scores, "--config", path, *given)[0] == 0
    assert len(orjson.loads((out / "selection.json").read_bytes())["chosen"]) == 4
    with pytest.raises(BenchmintError, match="size"):
        run("select", scores, "--out", out)


def test_masking_reads_what_a_build_reads(tmp_path: Path) -> None:
    path = config(tmp_path, "[masking]\nmode = 'placeholder'\n[masking.leaks]\nmin_letters = 5\n")
    assert load_settings(path, environment={}).masking.leaks.min_letters == 5
    assert anonymize._masking_settings(path, None).mode == "placeholder"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode = 'placeholder'", "found no section named mode; expected [masking]"),
        ("masking = 3", "masking: found a value; expected a section"),
        ("[masking]\nmoed = 'placeholder'", "moed: unknown key; did you mean mode"),
        ("[masking", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.txt").write_text("Nothing.")
    path = config(tmp_path, text)
    with pytest.raises(BenchmintError) as refused:
        run("scan", tmp_path / "a.txt", "--config", path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value) and "pydantic" not in str(refused.value)


def test_an_undeclared_perturbation_is_refused_in_one_line(firms: Path, tmp_path: Path) -> None:
    path = config(tmp_path, "[tables.tables.firms]\nentity = 'code'\n")
    with pytest.raises(BenchmintError, match="is missing") as refused:
        run("perturb", firms, "--config", path, "--out", tmp_path / "out")
    assert "\n" not in str(refused.value) and "pydantic" not in str(refused.value)
    assert not (tmp_path / "out").exists()
