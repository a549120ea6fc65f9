from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selection.quality import Shape, _Chart, draw

finite = st.floats(-1e6, 1e6)
SVG = "{http://www.w3.org/2000/svg}"


@given(st.lists(st.tuples(finite, finite), max_size=8), st.sampled_from(Shape), st.text())
def test_any_numbers_and_names_make_well_formed_svg(
    points: list[tuple[float, float]], shape: Shape, name: str
) -> None:
    chart = _Chart(name, name, name, tuple(points), shape, (name,) * len(points), bar_width=1.0)
    root = ET.fromstring(draw(chart))
    marks = {Shape.BARS: "rect", Shape.DOTS: "circle", Shape.LINE: "circle"}
    background = 1 if shape is Shape.BARS else 0
    assert len(root.findall(f"{SVG}{marks[shape]}")) == len(points) + background


def test_places_and_ticks() -> None:
    text = draw(_Chart("t", "x", "y", ((0.0, 0.0), (10.0, 1.0)), Shape.LINE)).decode()
    assert 'points="64.00,288.00 544.00,40.00"' in text
    assert [f">{tick}</text>" in text for tick in ("0", "0.2", "0.4", "1", "2", "10")] == [True] * 6


def test_markup_in_names_stays_text() -> None:
    name = '<script>"&'
    text = draw(_Chart(name, "x", "y", ((0.0, 1.0),), Shape.DOTS, (name,))).decode()
    assert "<script>" not in text
    assert "&lt;script&gt;&quot;&amp;" in text


def test_numbers_must_be_finite() -> None:
    with pytest.raises(ValueError, match="not finite"):
        draw(_Chart("t", "x", "y", ((0.0, float("nan")),), Shape.DOTS))
