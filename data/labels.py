"""What labels of tasks, agents and failures say to somebody who does not know them.

Pages show the words of a label, and its code beside them. `labels.toml` has the words of labels
that this package defines; flows add those of other packages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_TABLE = Path(__file__).with_name("labels.toml")


class Words(NamedTuple):
    """A label as it is shown: a short name, a sentence (empty if there is none), and its code."""

    name: str
    meaning: str
    code: str


Labels = Mapping[str, Mapping[str, Words]]  # by kind, as `surface`, and value


@cache
def own_labels() -> Labels:
    """The labels of `labels.toml`, in its order."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            kind: {
                code: Words(text[0], "", code) if isinstance(text, list) else named(code, text)
                for code, text in own.items()
            }
            for kind, own in table.items()
        }
    )


def named(code: str, meaning: str, name: str = "") -> Words:
    """A label with its sentence; without a name of its own it is called by its code in words."""
    return Words(name or code.replace("_", " "), meaning, code)


def words_of(labels: Labels, kind: str, code: str) -> Words:
    """A label in words; one that no table knows, as of a user's own taxonomy, by its code."""
    return labels.get(kind, {}).get(code) or named(code, "")
