"""The audit pages beside the report: one per instance, and one about the privacy of the tables.

Pages of instances belong to the private half: they hold ids, numbers and pointers (file, line,
turn), no session text. At most `LIMIT` instances get a page, rejected ones first; the tables hold
all of them. `audit/privacy.html` shows what `audit/privacy.json` holds under `tables`. Names of
tables and columns are as hostile as their files: the template escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from data.contracts import Outcome
from data.reasons import ReasonWords
from data.snapshot.ledger import Frames
from data.snapshot.manifest import Manifest
from data.snapshot.pages import asset, page
from data.snapshot.release import CardConfig, Picture

LIMIT = 5_000
PER_INDEX = 500
_UNIT = "instance"
_TURNED_AWAY = (Outcome.REJECTED, Outcome.ERRORED)

_Record = Mapping[str, Any]
_PICTURES = "privacy-"
_RISKS = ("one company", "whole industry", "history", "largest company")
# Drift per column: key in the report, and heading.
_DRIFTS = (
    ("drift_mean", "mean"),
    ("drift_variance", "variance"),
    ("drift_skewness", "skewness"),
    ("drift_kurtosis", "kurtosis"),
)
# Keys that a table without measures lacks.
_MEASURED = ("statement", "verdict", "attacks", "frontier", "fidelity", "attacked", "limits")


@dataclass(slots=True)
class _InstanceHistory:
    """All rows of the ledger tables about one instance."""

    item_id: str
    opaque: str
    ledger: list[_Record] = field(default_factory=list)
    verdicts: list[_Record] = field(default_factory=list)
    parents: list[_Record] = field(default_factory=list)
    children: list[_Record] = field(default_factory=list)

    @property
    def turned_away(self) -> _Record | None:
        """The ledger row that rejected it, None if none did."""
        return next((row for row in self.ledger if row["outcome"] in _TURNED_AWAY), None)


def write_pages(
    frames: Frames,
    manifest: Manifest,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
    words: ReasonWords,
) -> Iterator[tuple[str, str]]:
    """Yield (file name, HTML): a page per instance, then the index pages that list them."""
    known = _histories(frames, stages, gates, opaque)
    shown = sorted(known, key=lambda instance: (instance.turned_away is None, instance.opaque))[
        :LIMIT
    ]
    for instance in shown:
        yield (
            f"{instance.opaque}.html",
            page(
                "instance.html.j2",
                asset("report.css"),
                instance=instance,
                manifest=manifest,
                words=words,
            ),
        )
    parts = [shown[at : at + PER_INDEX] for at in range(0, len(shown), PER_INDEX)] or [[]]
    for number, part in enumerate(parts, start=1):
        yield (
            _index_name(number),
            page(
                "index.html.j2",
                asset("report.css"),
                instances=part,
                manifest=manifest,
                number=number,
                names=[_index_name(n) for n in range(1, len(parts) + 1)],
                shown=len(shown),
                known=len(known),
                sentences=words.sentences,
            ),
        )


def _index_name(number: int) -> str:
    """`index.html`, `index-2.html`, …"""
    return "index.html" if number == 1 else f"index-{number}.html"


def _histories(
    frames: Frames,
    stages: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
    opaque: Callable[[str], str],
) -> list[_InstanceHistory]:
    histories: dict[str, _InstanceHistory] = {}
    stage_at = {stage["stage"]: index for index, stage in enumerate(stages)}
    gate_at = {gate: index for index, gate in enumerate(gates)}
    for row in frames.ledger.iter_rows(named=True):
        if row["unit"] == _UNIT:
            item = row["item_id"]
            instance = histories.setdefault(item, _InstanceHistory(item, opaque(item)))
            instance.ledger.append(row | {"evidence": _pairs(row["evidence"])})
    for row in frames.verdicts.iter_rows(named=True):
        if row["item_id"] in histories:
            histories[row["item_id"]].verdicts.append(row | {"measures": _pairs(row["measures"])})
    _link(frames, histories)
    for instance in histories.values():
        instance.ledger.sort(key=lambda row: stage_at.get(row["stage"], len(stage_at)))
        instance.verdicts.sort(key=lambda row: gate_at.get(row["gate"], len(gate_at)))
    return list(histories.values())


def _link(frames: Frames, histories: Mapping[str, _InstanceHistory]) -> None:
    for row in frames.lineage.iter_rows(named=True):
        if row["child_unit"] == _UNIT and row["child"] in histories:
            histories[row["child"]].parents.append(row)
        if row["parent_unit"] == _UNIT and row["parent"] in histories:
            histories[row["parent"]].children.append(row)


def _pairs(text: str) -> list[tuple[str, Any]]:
    """The entries of a JSON object as pairs."""
    return list(orjson.loads(text).items())


def has_tables(report: Mapping[str, Any] | None) -> bool:
    """Whether there is anything to show on the page."""
    return bool(report and report.get("tables"))


def privacy_page(
    card: CardConfig,
    manifest: Manifest,
    report: Mapping[str, Any],
    pictures: Mapping[str, Picture],
) -> str:
    """The page, with those of the release's `pictures` whose names start with `privacy-`."""
    mine = {name: picture for name, picture in pictures.items() if name.startswith(_PICTURES)}
    styles = dict.fromkeys(picture.style for _, picture in sorted(mine.items()))
    tables_report = report["tables"]
    shown = sorted(tables_report["tables"].items())
    return page(
        "privacy.html.j2",
        asset("report.css") + "".join(styles),
        card=card,
        manifest=manifest,
        tables_report=tables_report,
        tables=[_table(name, table, mine) for name, table in shown],
        risks=_RISKS,
        drifts=_DRIFTS,
    )


def _table(name: str, table: Mapping[str, Any], pictures: Mapping[str, Picture]) -> dict[str, Any]:
    own = [pictures[f"{_PICTURES}{name}-{kind}"] for kind in _kinds(name, pictures)]
    return {
        **dict.fromkeys(_MEASURED),
        "name": name,
        "pictures": own,
        "beyond": _beyond(table),
        **table,
    }


def _kinds(name: str, pictures: Mapping[str, Picture]) -> Sequence[str]:
    return [kind for kind in ("attacks", "frontier") if f"{_PICTURES}{name}-{kind}" in pictures]


def _beyond(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Columns that drifted beyond the limits in an industry, largest drift first."""
    cells: list[Mapping[str, Any]] = table["fidelity"]["by_group"] if "fidelity" in table else []
    far = [cell for cell in cells if cell["assessable"] and cell["within"] is False]
    return sorted(far, key=lambda cell: (-(cell["wasserstein"] or 0.0), -cell["d"], cell["column"]))
