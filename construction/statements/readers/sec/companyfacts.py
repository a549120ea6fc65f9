"""The SEC's `companyfacts` JSON, one company a file, as tables of a data set.

It gives true days where the data sets round to month ends, and has neither rows nor dimensions: the
statement of a tag is told by its name, and rows stand in the order of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import polars as pl

from construction.statements.model import CLOSINGS, CODES, Statement
from construction.statements.readers.concepts import statement_of
from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.filings import month_end
from construction.statements.readers.sec.source import SecTable, SourceError, empty_table

_LAST = "~"  # of equal facts that of the first version stands: a data set's, which has rows
STATED = "companyfacts"  # the evidence of a day, in CLOSINGS
_QUARTER = 91.3  # days
_LEEWAY = 10  # days
Row = dict[str, str | None]


def tables_of(
    content: bytes, label: str, source: str
) -> tuple[dict[SecTable, pl.DataFrame], pl.DataFrame]:
    """The tables of a file, and the true last days of its periods, as CLOSINGS.

    Raises SourceError for another JSON.
    """
    record = _parsed(content)
    cik, facts = str(record.get("cik") or "").lstrip("0"), record.get("facts")
    if not cik.isdigit() or not isinstance(facts, dict):
        actual, expected = "another JSON", "cik, entityName and facts"
        raise SourceError(SecReason.NO_COLUMNS, actual, expected)
    rows: dict[SecTable, list[Row]] = {table: [] for table in SecTable}
    filings: dict[str, Row] = {}
    lines: dict[tuple[str, str], tuple[str, str]] = {}
    ends: dict[tuple[date, date], str] = {}
    for tag, version, unit, fact in _listed(facts, rows[SecTable.TAG]):
        adsh = str(fact.get("accn") or "")
        end, quarters = _period(fact)
        rounded = month_end(end) if end else None
        filing = filings.setdefault(adsh, _filing(adsh, cik, record.get("entityName"), fact))
        if end is not None and rounded is not None and quarters is not None:
            statement = statement_of(tag, instant=quarters == "0")
            # A tag with "guidance" in its name is about new accounting guidance.
            if statement not in (None, Statement.GUIDANCE):
                lines.setdefault((adsh, tag), (CODES[str(statement)], version))
            if quarters != "0":
                ends.setdefault((rounded, end), adsh)
                filing["period"] = max(filing["period"] or "", f"{rounded:%Y%m%d}")
        number = {"tag": tag, "version": version, "qtrs": quarters, "uom": unit, "adsh": adsh}
        number["ddate"] = f"{rounded:%Y%m%d}" if rounded else None
        number["value"] = str(fact["val"]) if fact.get("val") is not None else None
        rows[SecTable.NUM].append(number)
    annual = [f["period"] for f in filings.values() if f["fp"] == "FY" and f["period"]]
    fye = max(annual, default="")[4:] or None
    rows[SecTable.SUB] = [one | {"fye": fye} for one in filings.values()]
    rows[SecTable.PRE] = list(_placed(lines))
    frames = {table: _frame(table, listed, label) for table, listed in rows.items()}
    closed = [(f"{source}:{cik}", day, end, STATED, adsh) for (day, end), adsh in ends.items()]
    return frames, pl.DataFrame(closed, schema=CLOSINGS.schema, orient="row")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        record = json.loads(content, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, "JSON in UTF-8") from None
    return record if isinstance(record, dict) else {}


def _listed(
    facts: Mapping[str, Any], tags: list[Row]
) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Tag, taxonomy, unit and the fact of every fact; the definitions go to `tags`."""
    for taxonomy, concepts in facts.items():
        version = f"{taxonomy}{_LAST}"
        for tag, concept in concepts.items() if isinstance(concepts, dict) else ():
            if not isinstance(concept, dict):
                continue
            label = concept.get("label")
            tags.append({"tag": tag, "version": version, "tlabel": label and str(label)})
            units = concept.get("units")
            for unit, listed in units.items() if isinstance(units, dict) else ():
                for fact in listed if isinstance(listed, list) else ():
                    if isinstance(fact, dict):
                        yield tag, version, unit, fact


def _filing(adsh: str, cik: str, name: object, fact: Mapping[str, Any]) -> Row:
    return {
        "adsh": adsh,
        "cik": cik,
        "name": str(name or ""),
        "form": str(fact.get("form") or ""),
        "filed": str(fact.get("filed") or "").replace("-", ""),
        "fy": str(fact.get("fy") or "") or None,
        "fp": str(fact.get("fp") or "") or None,
        "period": None,
        "prevrpt": "0",
    }


def _period(fact: Mapping[str, Any]) -> tuple[date | None, str | None]:
    """The last day, and the number of quarters; None for what is no period of whole quarters."""
    try:
        end = date.fromisoformat(str(fact.get("end")))
        start = date.fromisoformat(str(fact["start"])) if fact.get("start") else None
    except ValueError:
        return None, None
    if start is None:
        return end, "0"
    days = (end - start).days + 1
    quarters = round(days / _QUARTER)
    fits = quarters > 0 and abs(days - quarters * _QUARTER) <= _LEEWAY
    return (end, str(quarters)) if fits else (end, None)


def _placed(lines: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[Row]:
    """A row for each tag of a filing, in the statement that its name tells."""
    counts: Counter[tuple[str, str]] = Counter()
    reports = list(CODES.values())
    for (adsh, tag), (code, version) in lines.items():
        line = counts[adsh, code]
        counts[adsh, code] += 1
        yield {
            "adsh": adsh,
            "report": str(reports.index(code) + 2),
            "line": str(line),
            "stmt": code,
            "tag": tag,
            "version": version,
        }


def _frame(table: SecTable, rows: list[Row], label: str) -> pl.DataFrame:
    schema = dict(empty_table(table).schema)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(source=pl.lit(label))
