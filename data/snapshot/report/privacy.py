"""`audit/privacy.html`: who could be found again in the released tables, and what it cost.

It tells what `audit/privacy.json` holds under `tables`. Names of tables and columns are as hostile
as their files: the template escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from data.snapshot.manifest import Manifest
from data.snapshot.pages import asset, page
from data.snapshot.release import CardConfig, Picture

PICTURES = "privacy-"
_RISKS = ("one company", "whole industry", "history", "largest company")
# Drift per column: key in the report, heading, whether it is a share.
_DRIFTS = (
    ("drift_mean", "mean"),
    ("drift_variance", "variance"),
    ("drift_skewness", "skewness"),
    ("drift_kurtosis", "kurtosis"),
)


# What a table without measures lacks.
_MEASURED = ("statement", "verdict", "attacks", "frontier", "fidelity", "attacked", "limits")


def has_tables(report: Mapping[str, Any] | None) -> bool:
    """Whether there is anything for the page to tell."""
    return bool(report and report.get("tables"))


def privacy_page(
    card: CardConfig,
    manifest: Manifest,
    report: Mapping[str, Any],
    pictures: Mapping[str, Picture],
) -> str:
    """The page; `pictures` are those of the release, of which `privacy-…` are taken."""
    mine = {name: picture for name, picture in pictures.items() if name.startswith(PICTURES)}
    styles = dict.fromkeys(picture.style for _, picture in sorted(mine.items()))
    told = report["tables"]
    return page(
        "privacy.html.j2",
        asset("report.css") + "".join(styles),
        card=card,
        manifest=manifest,
        told=told,
        tables=[_table(name, table, mine) for name, table in sorted(told["tables"].items())],
        risks=_RISKS,
        drifts=_DRIFTS,
    )


def _table(name: str, told: Mapping[str, Any], pictures: Mapping[str, Picture]) -> dict[str, Any]:
    own = [pictures[f"{PICTURES}{name}-{kind}"] for kind in _kinds(name, pictures)]
    return {
        **dict.fromkeys(_MEASURED),
        "name": name,
        "pictures": own,
        "beyond": _beyond(told),
        **told,
    }


def _kinds(name: str, pictures: Mapping[str, Picture]) -> Sequence[str]:
    return [kind for kind in ("attacks", "frontier") if f"{PICTURES}{name}-{kind}" in pictures]


def _beyond(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Columns in industries that drifted beyond the limits, the farthest first."""
    cells = told["fidelity"]["by_group"] if "fidelity" in told else []
    far = [cell for cell in cells if cell["assessable"] and cell["within"] is False]
    return sorted(far, key=lambda cell: (-(cell["wasserstein"] or 0.0), -cell["d"], cell["column"]))
