"""The HTML of the audit page and the policy that fits it: no request leaves the page's origin.

Also the rejections of a page as files: CSV that no spreadsheet runs, and JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from data import hash_chain
from data.atomic import write_bytes
from data.audit_page.columns import FIELDS, WORDS
from data.canonical import canonical_json, digest, pretty_json
from data.contracts import TurnedAway
from data.figures import number
from data.neutralise import csv_cell, script_json, storable, visible
from data.snapshot.pages import block_source
from data.staging.audit import Rows, changed_parts, missing_inputs

# What the token of the audit page opens: private evidence, and sign-offs of what is shown.

SIGNATURES = "sign-offs.log"
_MAX_NAME, _MAX_NOTE = 100, 2000


class Refused(Exception):
    """A request that is not answered: status code of HTTP, and what the person may do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class PrivateHalf:
    """Answers requests (JSON objects) about the run in `out` that the page shows.

    `items` are the ids as staging has them; `columns` show them without control characters.
    `evidence` gives role, file, line and words of each turn of an item of `out`.
    """

    def __init__(
        self,
        out: Path,
        items: Sequence[str],
        columns: Mapping[str, Any],
        evidence: Callable[[Path, str], Rows],
    ) -> None:
        private = out / "private"
        self._evidence = evidence
        self._out, self._items, self._about = out, items, columns["about"]
        self._content = digest(canonical_json(columns))
        self._looks, self._signatures = private / "access.log", private / SIGNATURES

    def look(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What an item lacks or masking changed, and its text; the item is given by its position.

        Logged first: no log, no text.
        """
        position = request.get("item")
        if type(position) is not int or not 0 <= position < len(self._items):
            raise Refused(404, "There is no such item in this run.")
        item = self._items[position]
        hash_chain.record_access(self._looks, "audit page", item)
        return {
            "missing": missing_inputs(self._out, item),
            "changed": changed_parts(self._out, item),
            "turns": self._evidence(self._out, item),
        }

    def sign(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Append a sign-off of exactly what the page shows: run, and digest of its columns."""
        hash_chain.append(
            self._signatures,
            {
                "action": "sign-off",
                "run_id": self._about["run_id"],
                "units": self._about["units"],
                "entries": self._about["entries"],
                "content_sha256": self._content,
                "name": _text(request, "name", _MAX_NAME),
                "note": _text(request, "note", _MAX_NOTE),
            },
        )
        return self.signed({})

    def signed(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """All sign-offs, newest first, once the chain was checked."""
        del request
        return {"signed": hash_chain.entries(self._signatures)[::-1]}


def parsed_request(content: bytes) -> dict[str, Any]:
    """The JSON object of a request. Raises Refused."""
    try:
        request = orjson.loads(content)
    except orjson.JSONDecodeError:
        request = None
    if not isinstance(request, dict):
        raise Refused(400, "Send a JSON object.")
    return request


def _text(request: Mapping[str, Any], name: str, most: int) -> str:
    value = request.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise Refused(400, f"{name}: enter text of 1 to {most} characters.")
    return visible(str(storable(value.strip())))


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
