"""The rows around a point, and their page as SVG and PNG: the same bytes for the same rows.

The PNG is drawn with the project's own CJK font.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from data.neutralise import one_line

FONT = "Noto Sans CJK JP"
_WIDTH, _EDGE = 860, 24
_ROW, _HEAD = 24, 140
_VALUE_AT, _BEFORE_AT = 680, _WIDTH - _EDGE  # right edges of the columns
_CELL = 150
_LABEL_UNITS = 66  # label width in narrow letters
_TITLE_UNITS = 100
_STYLE = (
    "text{font:14px 'Noto Sans CJK JP','Hiragino Sans',sans-serif;fill:#1d2430}"
    ".title{font-size:17px}.soft{fill:#5b6675}.heading{font-weight:bold}"
    ".paper{fill:#fff}.rule{stroke:#c9d0d9}.stripe{fill:#f4f6f8}"
    ".cell{fill:#ffe98a;stroke:#c28a00;stroke-width:2}"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a statement as a reader sees it: its value for the point's period as printed, and
    for the comparative period `before`, empty if there is none. `own` is the point's row."""

    own: bool
    label: str
    shown: str
    before: str
    heading: bool
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A statement as it is drawn: its title lines, column heads and rows."""

    company: str
    statement: str
    section: str
    unit: str
    period: str
    before: str
    source: str
    rows: tuple[Row, ...]


def draw(page: Page) -> str:
    """The page with the cell of the point's row highlighted."""
    height = _HEAD + _ROW * len(page.rows) + _EDGE
    title = f"{page.company}: {page.statement}"
    value_at = _VALUE_AT if page.before else _BEFORE_AT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" aria-label={quoteattr(_clipped(title, _TITLE_UNITS))}>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        _text(_EDGE, 34, _clipped(page.company, _TITLE_UNITS), "title"),
        _text(_EDGE, 56, _clipped(f"{page.statement}, {page.unit}", _TITLE_UNITS), ""),
        _text(_EDGE, 78, _clipped(page.section, _TITLE_UNITS), "soft"),
        *_column_head(value_at, page.period, ""),
        *_column_head(_BEFORE_AT, page.before, "soft"),
        f'<path class="rule" d="M{_EDGE} 130H{_WIDTH - _EDGE}"/>',
    ]
    for at, row in enumerate(page.rows):
        parts += _row(row, _HEAD + at * _ROW, value_at, striped=at % 2 == 1)
    parts.append(_text(_EDGE, height - 8, _clipped(page.source, _TITLE_UNITS), "soft"))
    return "".join(parts) + "</svg>\n"


def _column_head(x: int, period: str, kind: str) -> list[str]:
    """The period, its length above its day ("12 months to"), so that columns do not meet."""
    length, to, day = period.rpartition(" to ")
    lines = [(106, f"{length} to"), (122, day)] if to else [(122, period)]
    return [_text(x, y, text, kind, end=True) for y, text in lines]


def _row(row: Row, top: int, value_at: int, *, striped: bool) -> list[str]:
    parts = []
    if striped:
        width = _WIDTH - 2 * _EDGE
        parts.append(
            f'<rect class="stripe" x="{_EDGE}" y="{top}" width="{width}" height="{_ROW}"/>'
        )
    if row.own:
        left_edge = value_at - _CELL + 8
        parts.append(
            f'<rect class="cell" x="{left_edge}" y="{top + 1}" width="{_CELL}" height="{_ROW - 2}" '
            'rx="3"/>'
        )
    base = top + 17
    kind = "heading" if row.heading else ""
    parts.append(_text(_EDGE + 4, base, _clipped(row.label, _LABEL_UNITS), kind))
    parts.append(_text(value_at, base, row.shown, "", end=True))
    parts.append(_text(_BEFORE_AT, base, row.before, "soft", end=True))
    return parts


def _clipped(text: str, units: int) -> str:
    """One line of XML characters, cut to a width; wide characters count twice."""
    text = "".join(char if _is_xml(char) else "\ufffd" for char in one_line(text[:1000]))
    used = 0
    for at, char in enumerate(text):
        used += 2 if unicodedata.east_asian_width(char) in "FW" else 1
        if used > units:
            return f"{text[: max(at - 1, 0)]}…"
    return text


def _is_xml(char: str) -> bool:
    return char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff"


def _text(x: int, y: int, text: str, kind: str, *, end: bool = False) -> str:
    if not text:
        return ""
    styled = f' class="{kind}"' if kind else ""
    anchored = ' text-anchor="end"' if end else ""
    return f'<text x="{x}" y="{y}"{styled}{anchored}>{escape(text)}</text>'


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
