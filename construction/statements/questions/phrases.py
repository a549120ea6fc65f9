"""Labels of taxonomies in plain words: whole labels and shapes of labels, from `phrases.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_TABLE: Mapping[str, Any] = tomllib.loads(
    files(__package__).joinpath("phrases.toml").read_text(encoding="utf-8")
)
_WHOLE: Mapping[str, str] = _TABLE["whole"]
_SHAPES = tuple((re.compile(rule["pattern"], re.I), rule["by"]) for rule in _TABLE["shape"])


def whole_phrase(label: str) -> str | None:
    """The finished phrase of a whole label; None if the table has none."""
    return _WHOLE.get(label.lower())


def reshaped(label: str) -> str:
    """The label with the shapes of taxonomies put into the order of a sentence."""
    for pattern, by in _SHAPES:
        label = pattern.sub(by, label, count=1)
    return label
