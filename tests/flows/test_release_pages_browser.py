"""Every page of a release in Chromium: phone, tablet and desk, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.audit_server import export_page
from tests.demo import Demo
from tests.flows.browser import READY, chromium, overflow, violations, watched

pytestmark = pytest.mark.slow(seconds=4)

WIDTHS = (390, 768, 1440)
_FOCUSABLE = "a[href], button, input, select, summary, [tabindex='0']"
# Numbers that are wider than their boxes: 200000000 would read as 20000000.
_CUT = """[...document.querySelectorAll("input[type=number]")]
  .filter(node => node.scrollWidth > node.clientWidth).map(node => node.value)"""

# Words of charts that leave their picture, run into the next words, or are too small to read.
_SPOILT = """[...document.querySelectorAll("figure svg")].filter(svg => svg.checkVisibility())
  .flatMap(svg => {
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(node => node.textContent.length > 3);
    const boxes = texts.map(node => [node.textContent, node.getBoundingClientRect()]);
    return boxes.filter(([, box], at) => box.left < edge.left - 1 || box.right > edge.right + 1
      || box.height < 10 || boxes.slice(at + 1).some(([, other]) =>
        Math.abs(other.top - box.top) < 4 && other.left < box.right && box.left < other.right))
      .map(([words]) => words);
  })"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of both halves, of single instances the largest, and the exported audit page."""
    snapshot = demo.out / "snapshots/latest"
    instances = sorted((snapshot / "private/audit").glob("*.html"), key=lambda p: p.stat().st_size)
    return {
        "report": snapshot / "public/audit/report.html",
        "privacy": snapshot / "public/audit/privacy.html",
        "index": snapshot / "private/audit/index.html",
        "instance": [path for path in instances if path.name != "index.html"][-1],
        "audit": export_page(demo.out, tmp_path_factory.mktemp("audit"))[0],
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "privacy", "index", "instance", "audit"])
def test_a_page_fits_and_everyone_can_use_it(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    page, trouble = watched(browser, color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(pages[name].as_uri())
        if name == "audit":
            page.wait_for_selector(READY)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert (width, overflow(page)) == (width, [])
        assert (width, page.evaluate(_CUT)) == (width, [])
        assert (width, violations(page)) == (width, [])
    assert trouble == []


@pytest.mark.parametrize("name", ["report", "privacy"])
def test_the_words_of_charts_stand_apart_and_are_large_enough_to_read(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    page, _ = watched(browser)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(pages[name].as_uri())
        assert (width, page.evaluate(_SPOILT)) == (width, [])


def test_the_keyboard_follows_the_page(browser: Any, pages: dict[str, Path]) -> None:
    page, _ = watched(browser, viewport={"width": 1440, "height": 900})
    page.goto(pages["report"].as_uri())
    expected = page.evaluate(
        f"[...document.querySelectorAll(`{_FOCUSABLE}`)].filter(n => n.checkVisibility()).length"
    )
    reached = []
    for _ in range(min(expected, 60)):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.getBoundingClientRect().top + scrollY")
        )
    assert len(reached) > 20
    body = reached[reached.index(max(reached[:9])) :]  # what comes after the row of links on top
    assert body == sorted(body)


def test_the_report_speaks_of_sessions_first_and_folds_what_is_long(
    browser: Any, pages: dict[str, Path]
) -> None:
    page, _ = watched(browser)
    page.goto(pages["report"].as_uri())
    heads = page.eval_on_selector_all("h2", "nodes => nodes.map(node => node.innerText)")
    assert heads[:2] == ["Funnel", "Reasons"]
    assert heads.index("Every rejection") < heads.index("Coverage gap") < heads.index("Mixture")
    gates = page.eval_on_selector_all("h3", "nodes => nodes.map(node => node.innerText)")
    assert gates[:3] == ["length", "fixture", "restoration"]
    folded = page.eval_on_selector_all(
        "details:not([open]) > summary", "nodes => nodes.map(node => node.innerText)"
    )
    assert "Chosen and not chosen, per stratum" in folded
