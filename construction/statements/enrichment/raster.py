"""SVG to PNG with the project's own CJK font."""

from __future__ import annotations

from pathlib import Path

from construction.statements.enrichment.picture import FONT

FONT_FILE = Path(__file__).parent / "fonts" / "NotoSansCJKjp-subset.otf"  # see `font_subset`


def render_png(svg: str, zoom: float = 2.0) -> bytes:
    """The picture as PNG; only the project's font is used, so that all machines agree."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            skip_system_fonts=True,
            font_files=[str(FONT_FILE)],
            font_family=FONT,
            sans_serif_family=FONT,
        )
    )
