from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data.errors import InputError
from selection.scores import ScoreMatrix, _examine, _Finding, _FindingCode, _Level, read_scores

HEAD = "item,family,model,score\n"


def written(folder: Path, content: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(content)
    return path


def matrix_of(columns: dict[str, list[float]], costs: list[float] | None = None) -> ScoreMatrix:
    n_items = len(next(iter(columns.values())))
    return ScoreMatrix(
        items=tuple(f"i{number}" for number in range(n_items)),
        families=tuple(f"f{number}" for number in range(n_items)),
        models=tuple(columns),
        scores=np.array(list(columns.values())).T,
        costs=None if costs is None else np.array(costs),
    )


@pytest.mark.parametrize(
    ("content", "matches"),
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
def test_a_bad_table_is_one_clear_error(tmp_path: Path, content: str, matches: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_scores(path)
    assert matches in caught.value.actual
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


def test_a_file_that_is_not_there_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_scores(tmp_path / "scores.csv")
    assert (caught.value.actual, caught.value.expected) == ("no file", "a score matrix")


def test_of_several_faults_the_first_is_named(tmp_path: Path) -> None:
    torn = "a,f,m,1\na,g,n,1\nb,f,m,1\nb,g,n,1\n"
    with pytest.raises(InputError, match="2 items in several families, first a"):
        read_scores(written(tmp_path, HEAD + torn))
    with pytest.raises(InputError, match="1 scores outside"):
        read_scores(written(tmp_path, HEAD + torn + "c,f,m,2\n"))


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
    result = {finding.code: finding for finding in findings}
    assert result[_FindingCode.MISSING_CELLS].count == 1
    assert result[_FindingCode.DUPLICATE_MODEL].subject == "twin"
    assert result[_FindingCode.IMPOSSIBLE_MODEL].subject == "broken"
    assert result[_FindingCode.CONSTANT_ITEMS].count == 151


def test_scores_of_exactly_0_and_1_are_inside_and_any_beyond_are_counted(tmp_path: Path) -> None:
    matrix, _ = read_scores(written(tmp_path, HEAD + "a,f,m,0\na,f,n,1\nb,f,m,1.0\nb,f,n,-0.0\n"))
    assert matrix.scores.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    beyond = HEAD + "a,f,m,1\nb,f,m,1.000000001\nc,f,m,-1e-12\nd,f,m,0\n"
    with pytest.raises(InputError) as caught:
        read_scores(written(tmp_path, beyond))
    assert caught.value.actual == "2 scores outside [0, 1], first 1.000000001 for b"


def test_a_cost_of_zero_is_one_and_any_negative_one_is_refused(tmp_path: Path) -> None:
    head = "item,family,model,score,cost\n"
    matrix, _ = read_scores(written(tmp_path, head + "a,f,m,1,0\nb,f,m,1,0.5\n"))
    assert matrix.costs is not None
    assert matrix.costs.tolist() == [0.0, 0.5]
    with pytest.raises(InputError, match="1 costs that are negative or not finite, first for b"):
        read_scores(written(tmp_path, head + "a,f,m,1,0\nb,f,m,1,-1e-9\n"))


def test_a_name_may_have_500_characters(tmp_path: Path) -> None:
    matrix, _ = read_scores(written(tmp_path, HEAD + "a" * 500 + ",f,m,1\n"))
    assert len(matrix.items[0]) == 500


def test_a_file_that_the_system_cannot_read_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, HEAD + "a,f,m,1\n")
    for error, matches in (
        (OSError(5, "Input/output error"), "Input/output error"),
        (OSError(), "a file that cannot be read to its end"),
    ):

        def failing(*_: object, _error: OSError = error, **__: object) -> None:
            raise _error

        monkeypatch.setattr(pl, "read_csv", failing)
        with pytest.raises(InputError) as caught:
            read_scores(path)
        assert caught.value.actual == matches


def test_only_models_that_are_there_and_named_once_can_be_taken() -> None:
    matrix = matrix_of({"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.6]}, [7.0, 8.0])
    turned = matrix.of_models(["c", "a"])
    assert (turned.models, turned.scores.tolist()) == (("c", "a"), [[0.5, 0.1], [0.6, 0.2]])
    assert (turned.items, turned.families) == (matrix.items, matrix.families)
    with pytest.raises(InputError, match="no model d, e; expected some of: a, b, c"):
        matrix.of_models(["e", "a", "d"])
    with pytest.raises(InputError, match="found b, c listed more than once"):
        matrix.of_models(["c", "b", "c", "a", "b"])


def test_items_can_be_taken_in_any_order_with_their_costs() -> None:
    matrix = matrix_of({"a": [0.1, 0.2, 0.3]}, [7.0, 8.0, 9.0])
    part = matrix.of_items(np.array([2, 0]))
    assert (part.items, part.families) == (("i2", "i0"), ("f2", "f0"))
    assert part.scores.tolist() == [[0.3], [0.1]]
    assert part.costs is not None
    assert part.costs.tolist() == [9.0, 7.0]
    assert matrix_of({"a": [0.1, 0.2, 0.3]}).of_items(np.array([1])).costs is None


def test_an_item_is_empty_only_without_any_score() -> None:
    nan = float("nan")
    findings = _examine(matrix_of({"a": [1.0, nan, 0.0, nan], "b": [0.0, 0.5, 1.0, nan]}))
    assert findings == (
        _Finding(
            _Level.WARNING,
            _FindingCode.MISSING_CELLS,
            "matrix",
            3,
            "3 of 8 cells missing (37.5 %)",
        ),
        _Finding(
            _Level.WARNING,
            _FindingCode.EMPTY_ITEM,
            "i3",
            1,
            "no model has a score for this item",
        ),
        _Finding(
            _Level.WARNING,
            _FindingCode.CONSTANT_ITEMS,
            "matrix",
            1,
            "1 of 4 items get the same score from every model",
        ),
    )


def test_a_twin_has_the_same_scores_and_the_same_gaps() -> None:
    nan = float("nan")
    columns = {"a": [1.0, nan], "b": [1.0, 1.0], "c": [1.0, nan], "d": [1.0, 0.0]}
    twins = [f for f in _examine(matrix_of(columns)) if f.code is _FindingCode.DUPLICATE_MODEL]
    assert [(f.subject, f.count, f.detail) for f in twins] == [
        ("c", 1, "the same scores as a on all 2 items")
    ]


def test_a_gap_is_no_score_of_zero_with_either_sign() -> None:
    matrix = matrix_of({"a": [1.0, float("nan")], "b": [1.0, 0.0], "c": [1.0, -0.0]})
    codes = {finding.code for finding in _examine(matrix)}
    assert _FindingCode.DUPLICATE_MODEL not in codes


@pytest.mark.parametrize(("n_items", "odd"), [(199, []), (200, ["a", "b"])])
def test_one_score_for_200_items_is_impossible_for_fewer_it_may_be_real(
    n_items: int, odd: list[str]
) -> None:
    nan = float("nan")
    columns = {
        "a": [0.0] * n_items,
        "b": [1.0] * n_items + [nan] * 3,
        "c": [0.0] * (n_items - 1) + [0.5],
    }
    longest = max(map(len, columns.values()))
    filled = {name: [*cells, *[nan] * (longest - len(cells))] for name, cells in columns.items()}
    matches = [f for f in _examine(matrix_of(filled)) if f.code is _FindingCode.IMPOSSIBLE_MODEL]
    assert [f.subject for f in matches] == odd
    assert [f.count for f in matches] == [n_items] * len(odd)


def test_an_item_costs_the_mean_over_its_models(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("item,family,model,score,cost\na,f,m,1,2\na,f,n,0,4\nb,f,m,1,\nb,f,n,0,\n")
    matrix, _ = read_scores(path)
    assert matrix.costs is not None
    assert matrix.costs.tolist() == [3.0, 0.0]
    path.write_text("item,family,model,score,cost\na,f,m,1,0\na,f,n,0,0\na,f,o,0,1\n")
    matrix, _ = read_scores(path)
    assert matrix.costs is not None
    assert matrix.costs.tolist() == [0.333333333]  # rounded to 1e-9, as it decides


def test_the_real_matrix_with_missing_cells(material: Path) -> None:
    matrix, findings = read_scores(material / "scores" / "swebench_pro.csv.gz")
    assert matrix.scores.shape == (729, 9)
    assert [f.count for f in findings if f.code is _FindingCode.MISSING_CELLS] == [423]
