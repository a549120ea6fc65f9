"""What the pages share."""

from __future__ import annotations

import pytest

from data.snapshot.pages import _name_parts


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("file.not_<json", ["file.", "not_<json"]),
        ("1.5 to 2.5", ["1.5 to 2.5"]),
        ("marketing.market_research", ["marketing.", "market_", "research"]),
    ],
)
def test_a_name_breaks_behind_dots_and_underscores_and_a_number_does_not(
    name: str, parts: list[str]
) -> None:
    assert _name_parts(name) == parts
