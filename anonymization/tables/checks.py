"""Does a table fit its configuration?"""

from __future__ import annotations

import polars as pl

from anonymization.tables.config import TableConfig
from data.errors import InputError


def check_table(frame: pl.DataFrame, config: TableConfig) -> None:
    """Every column is declared, and every declared column is there.

    Errors: `InputError` naming the columns: one that nobody declared would leave as it is.
    """
    undeclared = [name for name in frame.columns if name not in config.columns]
    missing = [name for name in config.columns if name not in frame.columns]
    if undeclared:
        todo = "Declare a role for each; `benchmint profile` proposes them."
        raise InputError("table", f"undeclared columns {', '.join(undeclared)}", "none", todo)
    if missing:
        found, todo = f"no column {', '.join(missing)}", "Correct the configuration."
        raise InputError("table", found, "every declared column", todo)
