"""The picture of the mixture, and the pictures of a release: drawn only where there are figures."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, replace
from xml.etree import ElementTree

from construction.signals.config import GapConfig
from construction.signals.mixture import _draw, _gap_panel, _mixture_panel, pictures_of
from construction.signals.weights import (
    Mixture,
    MixtureChange,
    _FamilyWeight,
    _WeightChange,
    coverage_gap,
)
from selection.release import _choose_lite, _LiteItem

SVG = "{http://www.w3.org/2000/svg}"
MIXTURE = Mixture(
    "downloads",
    "fractional",
    100.0,
    (),
    (_FamilyWeight("a", 30.0, 0.3, 1), _FamilyWeight("b", 70.0, 0.7, 1)),
    0.0,
    0.0,
    (),
)
CHANGE = MixtureChange(
    dt.date(2026, 3, 1),
    dt.date(2026, 5, 1),
    (_WeightChange("b", 0.75, 0.7, -5.0), _WeightChange("a", 0.29996, 0.3, 0.004)),
    (),
    0.05,
)


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_weights_heaviest_first_with_their_change() -> None:
    panel = _mixture_panel(MIXTURE, {"b": "Books"}, CHANGE)
    labels = texts(_draw([panel], "Mixture"))
    assert labels[0] == "Market weight by downloads, fractional counting; points since 2026-03-01"
    assert labels[1:4] == ["Books", "70.0 %", "−5.0"]
    assert labels[4:] == ["a", "30.0 %", "0.0"]  # what rounds to nothing has no sign


def test_a_family_that_vanished_stays_without_a_bar() -> None:
    gone = replace(CHANGE, families=(*CHANGE.families, _WeightChange("gone", 0.1, 0.0, -10.0)))
    panel = _mixture_panel(MIXTURE, {}, gone)
    assert texts(_draw([panel], "Mixture"))[-3:] == ["gone", "0.0 %", "−10.0"]


def test_bars_are_to_scale() -> None:
    svg = ElementTree.fromstring(_draw([_mixture_panel(MIXTURE, {})], "Mixture"))
    widths = [float(node.get("width", "")) for node in svg.iter(f"{SVG}rect")]
    assert widths == [198.0, 84.9]  # 198 · 0.3 / 0.7


def test_the_gap_marks_what_the_pool_holds() -> None:
    gap = coverage_gap({"a": 0.5, "b": 0.5}, {"a": 3, "b": 1}, 4, GapConfig())
    svg = _draw([_gap_panel(gap, {})], "Gap")
    assert "+25.0 PRIORITY" in texts(svg)
    assert "50.0 %, pool 75.0 %" in texts(svg)
    assert "−25.0 REDUCE" in texts(svg)
    assert svg.count('class="held"') == 2


def test_foreign_names_are_escaped() -> None:
    svg = _draw([_mixture_panel(MIXTURE, {"a": '<script>&"\x00'})], 'a "title" <b>')
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == 'a "title" <b>'
    assert '<script>&" ' in texts(svg)
    assert [node.tag for node in root.iter() if "script" in node.tag] == []


def test_a_long_name_is_cut() -> None:
    svg = _draw([_mixture_panel(MIXTURE, {"a": "x" * 60})], "Mixture")
    assert "x" * 37 + "…" in texts(svg)


def test_an_empty_mixture_can_be_drawn() -> None:
    empty = Mixture("downloads", "fractional", 0.0, (), (), 0.0, 0.0, ())
    assert len(texts(_draw([_mixture_panel(empty, {})], "Empty", standalone=True))) == 1


def test_gap_and_lite_subset_are_drawn() -> None:
    weights = {"family-0": 0.7, "family-1": 0.2, "family-2": 0.1}
    held = {"family-0": 4, "family-1": 5, "family-2": 5}
    items = [_LiteItem(f"s-{n:02d}", f"family-{n % 3}", None, None) for n in range(13)]
    report = {
        "coverage_gap": asdict(coverage_gap(weights, held, 13, GapConfig())),
        "lite": asdict(_choose_lite(items, 6, 1)),
    }
    pictures = pictures_of((), report)
    assert sorted(pictures) == ["coverage-gap", "lite-subset"]
    assert "PRIORITY" in pictures["coverage-gap"].inline
    assert "6 of 13 tasks" in pictures["lite-subset"].title


def test_without_figures_there_is_no_picture() -> None:
    assert pictures_of((), {"rule": "all of the pool"}) == {}
