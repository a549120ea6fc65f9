"""The pictures of the tutorial: report, audit page and leaderboard, as one sees them after it.

Run after the tutorial: python -m benchmarks.tutorial_pictures RELEASE LEADERBOARD, the folders of
its `--out`. Writes docs/images/*.png, 1,000 pixels wide, in 64 colours so that they stay small.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from tests.conftest import REPO
from tests.flows.browser import READY, chromium, served

IMAGES = REPO / "docs" / "images"
_WIDTH, _COLOURS = 1000, 64
_HEIGHTS = {"report": 800, "audit": 760, "leaderboard": 700}


def pictures(release: Path, leaderboard: Path, folder: Path) -> None:
    """Write one picture for each of `_HEIGHTS` to `folder`."""
    with chromium() as browser, served(release) as (address, _):
        pages = {
            "report": (release / "snapshots/latest/public/audit/report.html").resolve().as_uri(),
            "audit": address,
            "leaderboard": (leaderboard / "leaderboard.html").resolve().as_uri(),
        }
        for name, url in pages.items():
            page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHTS[name]})
            page.goto(url)
            if name == "audit":
                _choose_a_rejection(page)
            _write(page.screenshot(), folder / f"{name}.png")


def _choose_a_rejection(page: Any) -> None:
    """Show the rejections of a gate, and what was measured of the first."""
    page.wait_for_selector(READY)
    option = page.locator("#by-gate option").filter(has_text="fixture").first
    page.select_option("#by-gate", option.get_attribute("value"))
    page.click("#list .line >> nth=0")
    page.wait_for_selector("#chosen")
    page.locator("#by-gate").evaluate("node => node.scrollIntoView()")


def _write(content: bytes, path: Path) -> None:
    """A screenshot in few colours."""
    picture = Image.open(BytesIO(content)).convert("RGB")
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("release", type=Path)
    parser.add_argument("leaderboard", type=Path)
    given = parser.parse_args()
    pictures(given.release, given.leaderboard, IMAGES)


if __name__ == "__main__":
    main()
