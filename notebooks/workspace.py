"""What the notebooks share: the built workspace, questions to its staging file, plain pictures.

Nothing here reads the private half. Names come from session logs and tables that anyone may have
written: they are shown as text, control characters named.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import marimo as mo
import orjson
import polars as pl

from data.errors import InputError
from data.neutralise import one_line
from data.staging.database import open_read_only

VARIABLE = "BENCHMINT_RUNTIME__OUT"
BOARD_VARIABLE = "BENCHMINT_LEADERBOARD"
_WIDTH, _LABEL, _BAR, _ROW = 760, 270, 330, 22
_LONGEST = 40
_DIGITS = 4
_COLOURS = ("#2f6f8f", "#b8452d", "#2f8f5b", "#8f6a2f", "#6a4f9c", "#5b6675")
_HEIGHT, _SIDE, _LEGEND = 220, 50, 240


def workspace(given: str | None = None) -> Path:
    """The directory that was built into: `--out`, else the environment, else `workspace`.

    Raises InputError where nothing was built yet.
    """
    out = Path(given or os.environ.get(VARIABLE) or "workspace")
    if not (out / "staging.duckdb").is_file():
        raise InputError(str(out), "no staging.duckdb", "a built workspace", "benchmint build.")
    return out


def query(
    out: Path, sql: str, values: Sequence[Any] = (), *, every_run: bool = False
) -> pl.DataFrame:
    """The rows of one question to the newest run, or to all runs; the file is opened read-only."""
    with open_read_only(out / "staging.duckdb", every_run=every_run) as staging:
        return shown(pl.DataFrame(staging.sql(sql, params=list(values))))


def audit_file(out: Path, name: str) -> dict[str, Any]:
    """A JSON file of the newest release's public audit; empty if nothing was released."""
    path = out / "snapshots" / "latest" / "public" / "audit" / name
    if not path.is_file():
        return {}
    document: dict[str, Any] = orjson.loads(path.read_bytes())
    return document


def board_table(given: str | None, name: str) -> pl.DataFrame:
    """A table that `benchmint leaderboard` wrote: `--board`, else the environment, else here.

    Raises InputError where there is no leaderboard; other tables are empty where there are none.
    """
    folder = Path(given or os.environ.get(BOARD_VARIABLE) or "leaderboard")
    if not (folder / "leaderboard.parquet").is_file():
        expected = "the folder of a leaderboard"
        raise InputError(str(folder), "no leaderboard", expected, "benchmint leaderboard SNAPSHOT.")
    path = folder / f"{name}.parquet"
    return shown(pl.read_parquet(path)) if path.is_file() else pl.DataFrame()


def shown(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with every text on one line, hidden and control characters named."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(
        pl.col(name).map_elements(one_line, return_dtype=pl.String) for name in texts
    )


def listing(frame: pl.DataFrame, none: str) -> mo.Html:
    """`frame` as a table to read, its numbers in four significant digits; `none` if it is empty."""
    if frame.is_empty():
        return mo.md(none)
    numbers = pl.col(pl.Float64).round_sig_figs(_DIGITS)
    return mo.ui.table(shown(frame.with_columns(numbers)), selection=None)


def paragraph(text: str) -> str:
    """`text` as a `<p>` that wraps, whatever stands in it."""
    return f"<p>{_plain(text)}</p>"


def bars(rows: Sequence[tuple[str, float, str]], title: str) -> str:
    """An `<svg>` of horizontal bars; a row is a label, a length of 0 or more, and a note."""
    top = max((length for _, length, _ in rows), default=0) or 1
    parts = [_text(0, 18, title, weight="600")]
    for at, (label, length, note) in enumerate(rows):
        y = 32 + at * _ROW
        width = _BAR * length / top
        parts.append(_text(_LABEL - 8, y + 13, label, anchor="end"))
        parts.append(
            f'<rect x="{_LABEL}" y="{y + 2}" width="{width:.1f}" height="14" fill="{_COLOURS[0]}"/>'
        )
        parts.append(_text(_LABEL + width + 6, y + 13, note))
    return _svg(parts, 40 + len(rows) * _ROW, title)


def lines(series: Mapping[str, Sequence[float | None]], labels: Sequence[str], title: str) -> str:
    """An `<svg>` of one line per series over the labelled points; None leaves a gap.

    Six colours: give six series at most.
    """
    top = max((y for ys in series.values() for y in ys if y is not None), default=0) or 1
    wide = _WIDTH - _SIDE - _LEGEND
    step = wide / max(len(labels) - 1, 1)
    parts = [_text(0, 18, title, weight="600"), _text(0, 44, f"{top:.1%}"), _text(0, 240, "0")]
    for at, label in enumerate(labels):
        anchor = "start" if at == 0 else "end" if at == len(labels) - 1 else "middle"
        parts.append(_text(_SIDE + at * step, _HEIGHT + 44, label, anchor=anchor))
    for number, (series_name, ys) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(_SIDE + at * step, 40 + 200 * (1 - y / top)) for at, y in _known_points(ys)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(_text(_WIDTH - _LEGEND + 16, 44 + number * _ROW, series_name, fill=colour))
    return _svg(parts, _HEIGHT + 60, title)


def _known_points(ys: Sequence[float | None]) -> list[tuple[int, float]]:
    return [(at, y) for at, y in enumerate(ys) if y is not None]


def _svg(parts: Sequence[str], height: int, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
        f"<title>{_plain(title)}</title>{''.join(parts)}</svg>"
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400", fill: str = ""
) -> str:
    coloured = f' fill="{fill}"' if fill else ""
    shortened = text if len(text) <= _LONGEST or weight != "400" else f"{text[: _LONGEST - 1]}…"
    return (
        f'<text x="{x:.1f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}"{coloured}>'
        f"{_plain(shortened)}</text>"
    )


def _plain(text: str) -> str:
    return escape(one_line(text))
