"""The font: what it draws, and what it says it cannot draw."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from PIL import Image, ImageChops

from construction.statements.enrichment.raster import font_path, missing_glyphs, render_png

_UNKNOWN = "\U0001f9ff"  # in no text font: drawn as the missing-glyph box, or not at all


def _drawn(char: str) -> Image.Image:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
        '<rect width="40" height="40" fill="#fff"/>'
        f'<text x="4" y="32" font-family="IPAexGothic" font-size="30">{char}</text></svg>'
    )
    return Image.open(io.BytesIO(render_png(svg, zoom=1.0))).convert("L")


def _ink(picture: Image.Image) -> int:
    return sum(picture.histogram()[:128])


@pytest.mark.parametrize("char", list("売上高株式会社現金資産髙﨑の合計Aé€資产余额"))
def test_characters_that_the_font_knows_are_drawn(char: str) -> None:
    """Neither blank nor the box that stands for all missing characters."""
    picture = _drawn(char)
    assert _ink(picture) > 20
    alike = ImageChops.difference(picture, _drawn(_UNKNOWN)).getbbox() is None
    assert alike is bool(missing_glyphs(char))
    assert missing_glyphs(char) in ("", "产", "额")


def test_chinese_characters_that_are_missing_are_told() -> None:
    assert missing_glyphs("现金及现金等价物, 売上高") == "现"
    assert missing_glyphs("Équité: 1,000 €\n") == ""


def test_missing_characters_look_all_the_same() -> None:
    told = ImageChops.difference(_drawn("现"), _drawn(_UNKNOWN)).getbbox()
    assert told is None


def test_the_font_is_found_without_matplotlib() -> None:
    code = (
        "import sys; from construction.statements.enrichment.raster import font_path; font_path();"
        "print('matplotlib' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
    assert font_path().name == "ipaexg.ttf"
