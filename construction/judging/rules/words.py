"""The editable tables of the offline judge as patterns and sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from data.text.lexicon import any_of, load_table


def table(name: str) -> Mapping[str, Any]:
    """A table of `construction/judging/tables` by its file name without `.toml`."""
    return load_table("construction.judging", "tables", f"{name}.toml")


@cache
def phrases(name: str, key: str) -> re.Pattern[str]:
    """The phrases of one list, wherever they stand in the plain form of a sentence."""
    return any_of(table(name)[key])


@cache
def starts(name: str, key: str) -> re.Pattern[str]:
    """The phrases of one list at the start of a plain sentence."""
    return any_of(f" | {phrase}" for phrase in table(name)[key])
