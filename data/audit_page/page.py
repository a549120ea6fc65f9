"""The HTML of the audit page and the policy that fits it: no request leaves the page's origin.

Also the rejections of a page as files: CSV that no spreadsheet runs, and JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from data.atomic import write_bytes
from data.audit_page.columns import FIELDS, WORDS
from data.canonical import pretty_json
from data.contracts import TurnedAway
from data.figures import number
from data.neutralise import csv_cell, script_json
from data.snapshot.pages import block_source

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("whatif", "rejections", "list", "detail", "knobs", "served", "main")


def audit_page(columns: Mapping[str, Any], *, served: bool) -> str:
    """The page. Served, it asks for its columns and offers evidence and sign-off; else it holds
    the columns itself and works from a file.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["n"] = number
    return environment.get_template("page.html.j2").render(
        about=columns["about"],
        turned_away=str(TurnedAway(columns["about"]["units"], columns["about"]["entries"])),
        served=served,
        policy=_policy(served=served),
        style=_asset("page.css"),
        script=_script(),
        island="" if served else script_json(columns),
    )


def header_policy() -> str:
    """The policy of the served page as a header, which alone can forbid framing."""
    return _policy(served=True) + "; frame-ancestors 'none'"


def _policy(*, served: bool) -> str:
    rules = [
        "default-src 'none'",
        f"style-src {block_source(_asset('page.css'))}",
        f"script-src {block_source(_script())}",
        "img-src data:",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if served else rules)


@cache
def _script() -> str:
    return '"use strict";\n' + "".join(_asset(f"{name}.js") for name in _SCRIPTS)


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def write_page(columns: Mapping[str, Any], target: Path) -> list[Path]:
    """Write `audit.html`, `rejections.csv` and `rejections.json` into `target`; returns them."""
    files = {
        "audit.html": audit_page(columns, served=False).encode(),
        "rejections.csv": as_csv(columns).encode(),
        "rejections.json": as_json(columns),
    }
    for name, content in files.items():
        write_bytes(target / name, content)
    return [target / name for name in files]


def as_csv(columns: Mapping[str, Any]) -> str:
    """All rejections as CSV with a header; cells that look like formulas get an apostrophe."""
    shown = cache(csv_cell)  # most cells repeat
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    writer.writerows(zip(*(map(shown, values) for values in _rows(columns)), strict=True))
    return text.getvalue()


def as_json(columns: Mapping[str, Any]) -> bytes:
    """Facts of the run and all rejections as JSON."""
    rows = [dict(zip(FIELDS, row, strict=True)) for row in zip(*_rows(columns), strict=True)]
    return pretty_json({"about": columns["about"], "rejections": rows})


def _rows(columns: Mapping[str, Any]) -> list[list[Any]]:
    """The values of each field, a place per rejection, words spelled out; null for empty ones."""
    table, words, ids = columns["rejections"], columns["words"], columns["ids"]
    columns_by_name = {name: _spread(table[name], columns["about"]["entries"]) for name in FIELDS}
    columns_by_name["id"] = [ids[place] for place in columns_by_name["id"]]
    for name in WORDS:
        columns_by_name[name] = [words[place] or None for place in columns_by_name[name]]
    return [columns_by_name[name] for name in FIELDS]


def _spread(values: list[Any] | dict[str, Any], n: int) -> list[Any]:
    return [values["same"]] * n if isinstance(values, dict) else values
