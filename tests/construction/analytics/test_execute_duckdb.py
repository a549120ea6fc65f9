"""Where the two executors differ, column by column."""

from __future__ import annotations

import numpy as np
import polars as pl

from construction.analytics.execute_duckdb import Rows, first_disagreement

FIRMS = pl.DataFrame({"id": list("abcde")})


def test_rows_that_differ_are_told_apart() -> None:
    mine = [FIRMS.select("id")]
    for ids, expected in {"abcde": None, "edcba": None, "abcdf": 1, "abcd": 1}.items():
        theirs = Rows({"id": np.array(list(ids), dtype=object)})
        assert first_disagreement(mine, [theirs]) == expected
    numbers = pl.DataFrame({"x": [1.0, None, 2.0]})
    for cells, mask, expected in (
        ([2.0 + 1e-12, 1.0, 7.0], [False, False, True], None),
        ([2.1, 1.0, 7.0], [False, False, True], 1),
        ([2.0, 1.0, 7.0], [False, True, True], 1),
        ([2.0, 1.0, 7.0], [False, False, False], 1),
    ):
        theirs = Rows({"x": np.ma.masked_array(cells, mask)})
        assert first_disagreement([numbers], [theirs]) == expected
