"""SVG to PNG with the project's own CJK font, and which characters that font lacks."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import resvg_py
from fontTools.ttLib import TTFont

from construction.statements.enrichment.picture import FONT
from data.errors import InputError

_PACKAGE, _FILE = "matplotlib_fontja", "fonts/ipaexg.ttf"


@cache
def font_path() -> Path:
    """The IPAex Gothic font in the package matplotlib-fontja; the package is not imported.

    It has Japanese and Latin letters but no simplified Chinese (see `missing_glyphs`). Errors:
    `InputError` if it is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    todo = "Install matplotlib-fontja."
    raise InputError(_PACKAGE, "no font", f"the file {_FILE} of the package", todo)


@cache
def _characters() -> frozenset[int]:
    with TTFont(font_path(), lazy=True) as font:
        return frozenset(font.getBestCmap())


def missing_glyphs(text: str) -> str:
    """The characters of a text that the font cannot draw, each once, in order of appearance."""
    known = _characters()
    lacking = (char for char in text if char.isprintable() and ord(char) not in known)
    return "".join(dict.fromkeys(lacking))


def render_png(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG; only the project's font is used, so that all machines agree."""
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            skip_system_fonts=True,
            font_files=[str(font_path())],
            font_family=FONT,
            sans_serif_family=FONT,
        )
    )
