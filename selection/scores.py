"""Score matrices: tidy files read into one item × model array; every oddity is a named finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.errors import InputError
from data.figures import percent

Floats = NDArray[np.float64]
COLUMNS = ("item", "family", "model", "score")
_NAMES = COLUMNS[:3]
_LONGEST_NAME = 500  # characters; names appear in messages and tables
_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
_MANY_ITEMS = 200  # with fewer items, a perfect or an empty column may be real


class _Level(StrEnum):
    WARNING = "warning"
    ERROR = "error"


class _FindingCode(StrEnum):
    BAD_NAME = "scores.bad_name"
    BAD_COST = "scores.bad_cost"
    OUT_OF_RANGE = "scores.out_of_range"
    REPEATED_CELL = "scores.repeated_cell"
    FAMILY_CONFLICT = "scores.family_conflict"
    MISSING_CELLS = "scores.missing_cells"
    EMPTY_ITEM = "scores.empty_item"
    DUPLICATE_MODEL = "scores.duplicate_model"
    CONSTANT_ITEMS = "scores.constant_items"
    IMPOSSIBLE_MODEL = "scores.impossible_model"


@dataclass(frozen=True, slots=True)
class _Finding:
    """Something that the user of a matrix must know. `count` is a number of cells or items."""

    level: _Level
    code: _FindingCode
    subject: str
    count: int
    detail: str


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """Scores in [0, 1]: rows are items (sorted by id), columns are models (sorted by name).

    `scores` is float64 of shape (items, models) with NaN where a cell is missing; `costs` has
    one value per item (mean over models), None where the file has no cost column.
    """

    items: tuple[str, ...]
    families: tuple[str, ...]
    models: tuple[str, ...]
    scores: Floats
    costs: Floats | None = None

    def of_models(self, models: Sequence[str]) -> ScoreMatrix:
        """The same items with only these models, in the order given.

        Raises InputError naming the models that are not there, or are named twice.
        """
        if twice := sorted({model for model in models if models.count(model) > 1}):
            actual = f"{', '.join(twice)} listed more than once"
            raise InputError("pilots", actual, "each model once", "Check the names.")
        missing = sorted(set(models) - set(self.models))
        if missing:
            known = ", ".join(self.models)
            raise InputError(
                "pilots", f"no model {', '.join(missing)}", f"some of: {known}", "Check the names."
            )
        columns = [self.models.index(model) for model in models]
        return ScoreMatrix(
            self.items, self.families, tuple(models), self.scores[:, columns], self.costs
        )

    def of_items(self, rows: NDArray[np.intp]) -> ScoreMatrix:
        """The same models with only the items at `rows`, in the order given."""
        return ScoreMatrix(
            tuple(self.items[row] for row in rows),
            tuple(self.families[row] for row in rows),
            self.models,
            self.scores[rows],
            None if self.costs is None else self.costs[rows],
        )

    def with_unscored(self, items: Sequence[str], families: Sequence[str]) -> ScoreMatrix:
        """The same with more items, of which no model has a score."""
        names, own = (*self.items, *items), (*self.families, *families)
        empty = np.full((len(items), len(self.models)), np.nan)
        order = sorted(range(len(names)), key=names.__getitem__)
        costs = None if self.costs is None else np.append(self.costs, np.zeros(len(items)))
        scores = np.concatenate([self.scores, empty])
        whole = ScoreMatrix(names, own, self.models, scores, costs)
        return whole.of_items(np.array(order, dtype=np.intp))


def read_scores(path: Path) -> tuple[ScoreMatrix, tuple[_Finding, ...]]:
    """Read `item,family,model,score[,cost]` from CSV (plain or gzip) or Parquet and examine it.

    Raises InputError if the file or a column is missing, or if any finding is an error.
    """
    frame = _read(path)
    errors = _name_errors(frame) or [*_cell_errors(frame), *_cost_errors(frame)]
    if errors:
        first = errors[0]
        raise InputError(
            str(path), first.detail, "scores in [0, 1], one per item and model", "Fix the file."
        )
    matrix = _matrix(frame)
    return matrix, _examine(matrix)


def _read(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise InputError(str(path), "no file", "a score matrix", "Check the path.")
    try:
        if path.suffix == ".parquet":
            return _columns(pl.read_parquet(path), path)
        types = dict.fromkeys(_NAMES, pl.String) | {"score": pl.Float64, "cost": pl.Float64}
        return _columns(pl.read_csv(path, schema_overrides=types), path)
    except OSError as error:
        actual = error.strerror or "a file that cannot be read to its end"
        raise InputError(str(path), actual, "a score matrix", "Fix the file.") from None
    except pl.exceptions.PolarsError as error:
        actual = f"text that is not a table ({type(error).__name__})"
        raise InputError(str(path), actual, ",".join(COLUMNS), "Fix the file.") from None


def _columns(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The columns in use, cast to their types. Raises PolarsError if a value does not fit."""
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        actual = f"{len(frame.columns)} columns without {', '.join(missing)}"
        raise InputError(str(path), actual, ", ".join(COLUMNS), "Rename or add the columns.")
    if frame.is_empty():
        raise InputError(str(path), "no rows", "scores", "Fix the file.")
    numbers = ["score", *(["cost"] if "cost" in frame.columns else [])]
    return frame.select(
        *(pl.col(name).cast(pl.String) for name in _NAMES),
        *(pl.col(name).cast(pl.Float64) for name in numbers),
    )


def _name_errors(frame: pl.DataFrame) -> list[_Finding]:
    """Empty, overlong or unprintable names; they would end up in messages and file names."""
    errors = []
    for column in _NAMES:
        name = pl.col(column)
        bad = frame.filter(
            name.is_null()
            | (name.str.strip_chars() == "")
            | (name.str.len_chars() > _LONGEST_NAME)
            | name.str.contains(_CONTROL)
        )
        if bad.height:
            detail = (
                f"{bad.height} rows whose {column} is empty, longer than {_LONGEST_NAME} "
                "characters or has control characters"
            )
            errors.append(_Finding(_Level.ERROR, _FindingCode.BAD_NAME, column, bad.height, detail))
    return errors


def _cost_errors(frame: pl.DataFrame) -> list[_Finding]:
    if "cost" not in frame.columns:
        return []
    cost = pl.col("cost")
    bad = frame.filter(cost.is_not_null() & (~cost.is_finite() | (cost < 0)))
    if not bad.height:
        return []
    item = str(bad.row(0, named=True)["item"])
    detail = f"{bad.height} costs that are negative or not finite, first for {item}"
    return [_Finding(_Level.ERROR, _FindingCode.BAD_COST, item, bad.height, detail)]


def _cell_errors(frame: pl.DataFrame) -> list[_Finding]:
    errors = []
    outside = frame.filter(
        pl.col("score").is_not_null()
        & (~pl.col("score").is_between(0, 1) | pl.col("score").is_nan())
    )
    if outside.height:
        row = outside.row(0, named=True)
        detail = f"{outside.height} scores outside [0, 1], first {row['score']} for {row['item']}"
        errors.append(
            _Finding(
                _Level.ERROR, _FindingCode.OUT_OF_RANGE, str(row["item"]), outside.height, detail
            )
        )
    repeated = frame.group_by("item", "model").len().filter(pl.col("len") > 1)
    if repeated.height:
        item, model, _ = repeated.sort("item", "model").row(0)
        detail = f"{repeated.height} cells given more than once, first {item} by {model}"
        errors.append(
            _Finding(_Level.ERROR, _FindingCode.REPEATED_CELL, str(item), repeated.height, detail)
        )
    torn = frame.group_by("item").agg(pl.col("family").n_unique()).filter(pl.col("family") > 1)
    if torn.height:
        item = torn.sort("item").row(0)[0]
        detail = f"{torn.height} items in several families, first {item}"
        errors.append(
            _Finding(_Level.ERROR, _FindingCode.FAMILY_CONFLICT, str(item), torn.height, detail)
        )
    return errors


def _matrix(frame: pl.DataFrame) -> ScoreMatrix:
    items = frame.group_by("item").agg(pl.col("family").first()).sort("item")
    models = frame["model"].unique().sort()
    cells = frame.join(items.select("item").with_row_index("row"), on="item").join(
        models.to_frame().with_row_index("column"), on="model"
    )
    scores = np.full((items.height, len(models)), np.nan)
    values = cells["score"].fill_null(np.nan).to_numpy()
    scores[cells["row"].to_numpy(), cells["column"].to_numpy()] = values
    costs = None
    if "cost" in frame.columns:
        mean = frame.group_by("item").agg(pl.col("cost").mean().round(9)).sort("item")
        costs = mean["cost"].fill_null(0.0).to_numpy()
    return ScoreMatrix(tuple(items["item"]), tuple(items["family"]), tuple(models), scores, costs)


def _examine(matrix: ScoreMatrix) -> tuple[_Finding, ...]:
    """What a user should know before selecting from this matrix; warnings only."""
    return (*_missing(matrix), *_constant(matrix), *_duplicates(matrix), *_impossible(matrix))


def _missing(matrix: ScoreMatrix) -> list[_Finding]:
    gaps = np.isnan(matrix.scores)
    findings = []
    if gaps.any():
        share = float(gaps.mean())
        detail = f"{int(gaps.sum())} of {gaps.size} cells missing ({percent(share)})"
        findings.append(
            _Finding(_Level.WARNING, _FindingCode.MISSING_CELLS, "matrix", int(gaps.sum()), detail)
        )
    for row in np.flatnonzero(gaps.all(axis=1)):
        detail = "no model has a score for this item"
        findings.append(
            _Finding(_Level.WARNING, _FindingCode.EMPTY_ITEM, matrix.items[row], 1, detail)
        )
    return findings


def _constant(matrix: ScoreMatrix) -> list[_Finding]:
    low = np.nanmin(np.where(np.isnan(matrix.scores), np.inf, matrix.scores), axis=1)
    high = np.nanmax(np.where(np.isnan(matrix.scores), -np.inf, matrix.scores), axis=1)
    constant = int((low == high).sum())
    if not constant:
        return []
    detail = f"{constant} of {len(matrix.items)} items get the same score from every model"
    return [_Finding(_Level.WARNING, _FindingCode.CONSTANT_ITEMS, "matrix", constant, detail)]


def _duplicates(matrix: ScoreMatrix) -> list[_Finding]:
    """Models whose columns are equal cell by cell: probably one model under two names."""
    first: dict[bytes, str] = {}
    findings = []
    for column, model in enumerate(matrix.models):
        values = np.where(np.isnan(matrix.scores[:, column]), -1.0, matrix.scores[:, column])
        twin = first.setdefault(values.tobytes(), model)
        if twin != model:
            detail = f"the same scores as {twin} on all {len(matrix.items)} items"
            findings.append(
                _Finding(_Level.WARNING, _FindingCode.DUPLICATE_MODEL, model, 1, detail)
            )
    return findings


def _impossible(matrix: ScoreMatrix) -> list[_Finding]:
    """Models with one and the same score on very many items: a broken run, not a result."""
    findings = []
    for column, model in enumerate(matrix.models):
        values = matrix.scores[:, column]
        values = values[~np.isnan(values)]
        if len(values) >= _MANY_ITEMS and values.min() == values.max():
            detail = f"score {values[0]:g} on all {len(values)} items"
            findings.append(
                _Finding(_Level.WARNING, _FindingCode.IMPOSSIBLE_MODEL, model, len(values), detail)
            )
    return findings
