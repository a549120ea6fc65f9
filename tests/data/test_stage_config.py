"""Settings that cannot be meant are refused when they are read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from data.contracts import Count, Share, StageConfig


class Limits(StageConfig):
    """One setting of each kind."""

    files: Count = 3
    share: Share = 0.5
    threshold: float = 0.0


@pytest.mark.parametrize(
    "values",
    [
        {"files": -1},
        {"files": 1.5},
        {"share": 1.01},
        {"share": -0.01},
        {"threshold": float("nan")},
        {"threshold": float("inf")},
        {"thresold": 1},
    ],
)
def test_what_cannot_be_meant_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Limits(**values)


def test_the_ends_of_the_ranges_are_allowed() -> None:
    result = Limits(files=0, share=1, threshold=-3)
    assert (result.files, result.share, result.threshold) == (0, 1.0, -3.0)
