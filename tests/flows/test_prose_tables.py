"""Tables between markers in pages that are written by hand."""

from __future__ import annotations

import pytest

from flows.docs import _between_markers, _markdown_table


def test_markers_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers"):
        _between_markers("a page", "stages", "")


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert _markdown_table(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |"
