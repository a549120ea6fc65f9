from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data.errors import InputError
from selection.scores import FindingCode, read_scores

HEAD = "item,family,model,score\n"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (HEAD + "a,f,m,NaN\n", "1 scores outside [0, 1], first nan"),
        (HEAD + "a,f,m,inf\n", "1 scores outside [0, 1], first inf"),
        (HEAD + "a,f,m,1e400\n", "1 scores outside [0, 1]"),
        (HEAD + "a,f,m,-0.1\n", "1 scores outside [0, 1], first -0.1 for a"),
        (HEAD + "a,f,m,1\na,f,m,1\n", "1 cells given more than once, first a by m"),
        (HEAD + "a,f,m,1\na,g,n,1\n", "1 items in several families, first a"),
        (HEAD + "a,f,m,high\n", "text that is not a table (ComputeError)"),
        (HEAD + "a,f,m,1,0\n", "text that is not a table (ComputeError)"),
        (HEAD, "no rows"),
        ("", "text that is not a table (NoDataError)"),
        ("item,fam,model,score\na,f,m,1\n", "4 columns without family"),
        (HEAD + ",f,m,1\n", "1 rows whose item is empty"),
        (HEAD + "a,,m,1\n", "1 rows whose family is empty"),
        (HEAD + "a,f, ,1\n", "1 rows whose model is empty"),
        (HEAD + "a\x1b[2J,f,m,1\n", "has control characters"),
        (HEAD + "a" * 501 + ",f,m,1\n", "longer than 500"),
        ("item,family,model,score,cost\na,f,m,1,-5\n", "1 costs that are negative"),
        ("item,family,model,score,cost\na,f,m,1,NaN\n", "1 costs that are negative or not finite"),
    ],
)
def test_a_bad_table_is_one_clear_error(tmp_path: Path, content: str, found: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_scores(path)
    assert found in caught.value.actual
    assert str(path) in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", bytes(range(256)) * 20),
        ("scores.csv", HEAD.encode() + b"\xed\xa0\x80,f,m,1\n"),
        ("scores.csv.gz", gzip.compress((HEAD + "a,f,m,1\n" * 200).encode(), mtime=0)[:40]),
        ("scores.parquet", b"PAR1xxxx"),
    ],
)
def test_a_broken_file_is_one_clear_error(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match="Fix the file"):
        read_scores(path)


def test_parquet_of_wrong_types_is_one_clear_error(tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": [[1]], "family": ["f"], "model": ["m"], "score": ["x"]})
    frame.write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(InputError, match="not a table"):
        read_scores(tmp_path / "scores.parquet")


def test_missing_cells_and_odd_models_are_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    cells = [f"i{n},f,a,{n % 2}\ni{n},f,twin,{n % 2}\ni{n},f,broken,1\n" for n in range(300)]
    path.write_text(HEAD + "".join(cells) + "gap,f,a,1\ngap,f,twin,1\n")
    matrix, findings = read_scores(path)
    assert matrix.scores.shape == (301, 3)
    assert int(np.isnan(matrix.scores).sum()) == 1
    told = {finding.code: finding for finding in findings}
    assert told[FindingCode.MISSING_CELLS].count == 1
    assert told[FindingCode.DUPLICATE_MODEL].subject == "twin"
    assert told[FindingCode.IMPOSSIBLE_MODEL].subject == "broken"
    assert told[FindingCode.CONSTANT_ITEMS].count == 151


def test_an_item_costs_the_mean_over_its_models(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("item,family,model,score,cost\na,f,m,1,2\na,f,n,0,4\nb,f,m,1,\nb,f,n,0,\n")
    matrix, _ = read_scores(path)
    assert matrix.costs is not None
    assert matrix.costs.tolist() == [3.0, 0.0]


def test_the_real_matrix_with_missing_cells(material: Path) -> None:
    matrix, findings = read_scores(material / "scores" / "swebench_pro.csv.gz")
    assert matrix.scores.shape == (729, 9)
    assert [f.count for f in findings if f.code is FindingCode.MISSING_CELLS] == [423]
