"""Small score matrices for the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from selection.scores import ScoreMatrix


def drawn(n_items: int, n_models: int, n_families: int = 3, seed: int = 0) -> ScoreMatrix:
    """Pass or fail by a logistic rule: the abler the model, the likelier it passes."""
    generator = np.random.default_rng(seed)
    ability = np.linspace(1.5, -1.5, n_models)
    difficulty = generator.normal(0, 1, n_items)
    chance = 1 / (1 + np.exp(-2 * (ability[None, :] - difficulty[:, None])))
    return ScoreMatrix(
        items=tuple(f"i{number:04d}" for number in range(n_items)),
        families=tuple(f"f{number % n_families}" for number in range(n_items)),
        models=tuple(f"m{number:02d}" for number in range(n_models)),
        scores=(generator.random((n_items, n_models)) < chance).astype(np.float64),
    )


def write_csv(path: Path, matrix: ScoreMatrix, shuffle: int | None = None) -> Path:
    """The matrix as a tidy file, missing cells left out, rows shuffled if asked for."""
    rows = [
        f"{item},{family},{model},{float(matrix.scores[i, j])!r}"
        for i, (item, family) in enumerate(zip(matrix.items, matrix.families, strict=True))
        for j, model in enumerate(matrix.models)
        if not np.isnan(matrix.scores[i, j])
    ]
    if shuffle is not None:
        rows = [rows[i] for i in np.random.default_rng(shuffle).permutation(len(rows))]
    path.write_text("\n".join(["item,family,model,score", *rows, ""]))
    return path
