"""The shipped font: what it draws, and that the subset is the declared one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from PIL import Image, ImageChops

from construction.statements.enrichment.font_subset import characters, write_subset
from construction.statements.enrichment.picture import FONT, FONT_FILE, render_png
from tests.construction.statements.enrichment.glyphs import missing_glyphs

_UNKNOWN = "\U0001f9ff"  # in no text font: drawn as the missing-glyph box, or not at all
_SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def _drawn(char: str) -> Image.Image:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
        '<rect width="40" height="40" fill="#fff"/>'
        f'<text x="4" y="32" font-family="{FONT}" font-size="30">{char}</text></svg>'
    )
    return Image.open(io.BytesIO(render_png(svg, zoom=1.0))).convert("L")


def _ink(picture: Image.Image) -> int:
    return sum(picture.histogram()[:128])


@pytest.mark.parametrize("char", list("売上高株式会社現金資産髙﨑の合計Aé€→産余額"))
def test_characters_of_the_font_are_drawn(char: str) -> None:
    """Neither blank nor the box that stands for all missing characters."""
    picture = _drawn(char)
    assert missing_glyphs(char) == ""
    assert _ink(picture) > 20
    assert ImageChops.difference(picture, _drawn(_UNKNOWN)).getbbox() is not None


@pytest.mark.parametrize("char", list("现产额"))
def test_simplified_chinese_is_drawn_as_the_missing_glyph(char: str) -> None:
    assert missing_glyphs(char) == char
    assert ImageChops.difference(_drawn(char), _drawn(_UNKNOWN)).getbbox() is None


def test_the_font_is_the_declared_subset() -> None:
    with TTFont(FONT_FILE) as font:
        mapped = frozenset(font.getBestCmap())
        assert font["name"].getDebugName(1) == FONT
        assert "SIL Open Font License" in font["name"].getDebugName(13)
    assert mapped <= characters()
    kanji = {char for char in characters() if 0x4E00 <= char <= 0x9FFF}
    assert kanji <= mapped
    assert 6_600 < len(kanji) < 6_700
    assert FONT_FILE.stat().st_size < 2_000_000
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONT_FILE.parent / "OFL.txt").read_text("utf-8")


@pytest.mark.slow
def test_the_subset_is_made_anew_from_the_installed_font(tmp_path: Path) -> None:
    if not _SOURCE.is_file():
        pytest.skip(f"no {_SOURCE}: install fonts-noto-cjk (`make system`)")
    write_subset(_SOURCE, tmp_path / "again.otf")
    with TTFont(tmp_path / "again.otf") as again, TTFont(FONT_FILE) as shipped:
        assert again.getBestCmap().keys() == shipped.getBestCmap().keys()
