"""`benchmint lane questions` as a user runs it, on the generated statements."""

from __future__ import annotations

import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import GoldAnswer
from construction.statements.questions.contracts import Operation
from data.demo.generate import FROZEN, STATEMENTS
from tests.flows.command import inline

pytestmark = pytest.mark.slow(seconds=1)


@pytest.fixture(scope="module")
def statements() -> Path:
    return FROZEN / STATEMENTS


@pytest.fixture(scope="module")
def made(statements: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("questions")
    requests(statements, out)
    return out


def requests(statements: Path, out: Path) -> None:
    sources = ("--sec", statements / "sec", "--edinet", statements / "edinet")
    result = inline("lane", "questions", *sources, "--size", 50, "--out", out)
    assert result.returncode == 0, result.stderr
    assert "50 of 50 questions" in result.stdout
    assert "\ncategory            region  available  askable  drawn  asked" in result.stdout


def test_questions_are_half_us_and_answers_are_apart(made: Path) -> None:
    questions = pl.read_parquet(made / "public/questions.parquet")
    answers = pl.read_parquet(made / "private/questions/answers.parquet")
    assert questions["index"].to_list() == answers["index"].to_list() == list(range(50))
    assert not {"answer", "value", "point_id"} & set(questions.columns)
    assert questions["company_id"].str.starts_with("sec:").sum() == 25
    assert questions["question"].n_unique() == 50
    assert questions["pi_design"].is_between(0, 1, closed="right").all()
    pages = sorted(path.name for path in (made / "private/questions/pages").iterdir())
    assert pages == [f"{index:05}.svg" for index in range(50)]


def test_every_answer_is_right_and_traced_to_its_filed_values(made: Path) -> None:
    points = pl.read_parquet(made / "public/tables/points.parquet")
    filed = {row["point_id"]: row for row in points.iter_rows(named=True)}
    questions = pl.read_parquet(made / "public/questions.parquet")
    answers = pl.read_parquet(made / "private/questions/answers.parquet")
    traced = answers.join(questions, on="index")
    assert traced.height == 50
    for row in traced.iter_rows(named=True):
        value, scale = Decimal(row["value"]), Decimal(row["scale"])
        gold = GoldAnswer(value, row["unit"], scale, row["decimals"])
        assert check_answer(row["answer"], gold, row["question"]).is_correct
        ids = [row["point_id"], row["second_point_id"]]
        sources = [filed[point_id] for point_id in ids if point_id is not None]
        assert len(sources) == (1 if row["operation"] is None else 2)
        assert value * scale == recomputed(row, [Decimal(source["value"]) for source in sources])
        assert not any(source["computed"] or source["auto_generated"] for source in sources)
    assert {*Operation, None} == {*traced["operation"]}


def recomputed(row: dict[str, Any], filed: list[Decimal]) -> Decimal:
    """The answer, in base units of what is asked for, from the filed values that it rests on."""
    match row["operation"]:
        case None:
            return filed[0] * (100 if row["unit"] == "percent" else 1)
        case Operation.DIFFERENCE:
            return filed[0] - filed[1]
        case Operation.GROWTH:
            return round((filed[0] - filed[1]) / filed[1] * 100, 1)
        case _:
            return round(filed[0] / filed[1] * 100, 1)


def test_the_same_key_gives_the_same_bytes(statements: Path, made: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    shutil.copy(made / "private/release.key", tmp_path / "private/release.key")
    requests(statements, tmp_path)
    for name in ("public/questions.parquet", "public/tables/points.parquet"):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes()
    item, other = (
        pl.read_parquet(out / "private/questions/answers.parquet") for out in (made, tmp_path)
    )
    assert item.equals(other)


def test_the_report_tells_what_was_left_out(made: Path) -> None:
    result = orjson.loads((made / "private/questions/questions.json").read_bytes())
    assert result["filters"]["n_in"] == result["filters"]["n_kept"] + sum(
        result["filters"]["rejected"].values()
    )
    assert sum(result["by_category"].values()) == result["questions"] == 50
    assert [row["damping"] for row in result["dampings"]] == [
        "none",
        "sqrt",
        "log",
        "loglog",
        "sqrtlog",
    ]
    ledger = pl.read_parquet(made / "private/questions/ledger.parquet")
    assert ledger.filter(stage="sample")["n"].sum() == result["filters"]["n_kept"]


def test_wrong_use_is_one_line(tmp_path: Path) -> None:
    missing = inline("lane", "questions", "--sec", tmp_path / "none.zip", "--out", tmp_path / "out")
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    assert "none.zip: found nothing" in missing.stderr
    (tmp_path / "note.txt").write_text("no statements")
    other = inline(
        "lane", "questions", "--edinet", tmp_path / "note.txt", "--out", tmp_path / "out"
    )
    assert (other.returncode, other.stderr.count("\n")) == (2, 1), other.stderr


def test_private_statements_are_refused(statements: Path, tmp_path: Path) -> None:
    config = tmp_path / "private.toml"
    config.write_text('[questions.sec]\ndisclosure = "private"\n')
    given = ("--sec", statements / "sec", "--config", config, "--out", tmp_path / "out")
    result = inline("lane", "questions", *given)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "[questions.sec] disclosure: found private; expected public" in result.stderr
    assert not (tmp_path / "out/public").exists()


def test_files_that_cannot_be_read_are_named(statements: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    broken.write_bytes((statements / "sec/demo.zip").read_bytes()[:5000])
    sources = ("--sec", statements / "sec", "--sec", broken)
    result = inline("lane", "questions", *sources, "--size", 5, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert "not read: broken.zip" in result.stderr
    ledger = pl.read_parquet(tmp_path / "out/private/questions/statements-ledger.parquet")
    assert ledger.filter(unit="file", item_id="broken.zip")["outcome"].to_list() == ["errored"]
    alone = inline("lane", "questions", "--sec", broken, "--out", tmp_path / "alone")
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1), alone.stderr


def test_without_the_code_list_nothing_is_asked_in_silence(
    statements: Path, tmp_path: Path
) -> None:
    lone = tmp_path / "edinet"
    lone.mkdir()
    summaries = next((statements / "edinet").glob("*.jsonl.gz"))
    (lone / summaries.name).write_bytes(summaries.read_bytes())
    for sources in (("--edinet", lone), ("--sec", statements / "sec", "--edinet", lone)):
        result = inline("lane", "questions", *sources, "--size", 5, "--out", tmp_path / "out")
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
        assert "EdinetcodeDlInfo.csv" in result.stderr


def test_the_table_of_categories_says_what_cannot_be_filled(made: Path) -> None:
    rows = orjson.loads((made / "private/questions/questions.json").read_bytes())["coverage"]
    assert len({(row["category"], row["region"]) for row in rows}) == len(rows) == 14
    assert sum(row["asked"] for row in rows) == 50
    for row in rows:
        assert row["available"] >= row["askable"] >= row["drawn"] >= row["asked"] >= 0
        assert bool(row["available"]) != (row["why_not"] == "no_filed_value")
    frame = pl.read_parquet(made / "public/questions.parquet")
    questions = Counter({row["category"]: 0 for row in rows})
    for row in rows:
        questions[row["category"]] += row["asked"]
    assert +questions == Counter(frame["category"])
