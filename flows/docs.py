"""The generated parts of the docs: settings, stages, gates, limits and reasons.

python -m flows.docs
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from construction.sessions.readers.registry import FORMATS, Format, Named
from data.atomic import write_bytes
from data.labels import own_labels
from data.prose_tables import (
    between_markers,
    gate_table,
    limit_table,
    markdown_table,
    meaning_table,
    reason_table,
    stage_table,
)
from data.reasons import sentences
from data.settings_page import Part, Reference, settings_page
from flows import ROOT
from flows.build_snapshot import PIPELINE
from flows.gates import GATES
from flows.recipe import Settings
from selection.evaluation.board import COLUMNS

SETTINGS_PAGE = ROOT / "docs" / "configuration.md"
COMMON_FILE = Path(__file__).with_name("common_settings.toml")
_FIRST = Part(
    "Settings that most releases need",
    """
These {common} of {all} settings are enough for most releases; the others rarely need changing.
Each example is a line for the file; `release.name` is the key `name` in section `[release]`.""",
)
_USUAL = Part(
    "Reference",
    """
Generated from the models by `flows/docs.py` (`make docs`); do not edit this part. Sections follow
the order of the recipe, with `[runtime]` last; limits and weights that rarely change are under
[Advanced](#advanced). A default of *none* means that nothing is set. The environment variable for
`seed` in `[selection]` is `BENCHMINT_SELECTION__SEED`; dots in a section name become `__`.""",
)
_ADVANCED = Part(
    "Advanced",
    """
Limits and weights that were set by measurement. Before you change one, check what it affects:
`benchmint build --dry-run` shows which stages would run again.""",
)


def configuration_page(current: str) -> str:
    """The reference of settings made anew. Raises ValueError where a heading is missing."""
    common = tomllib.loads(COMMON_FILE.read_text(encoding="utf-8"))
    meanings = {
        (gate.config, limit.name): limit.meaning
        for gate in GATES
        for limit in gate.limits
        if limit.at is None
    }
    by_machine = {"runtime.workers": "processors, at most 4"}
    rows, behind = common["setting"], common["advanced"]
    reference = Reference(_FIRST, _USUAL, _ADVANCED, rows, behind, meanings, by_machine)
    return settings_page(current, Settings(), reference)


def format_table() -> str:
    """The formats of session logs with what must be present, and what is named and not read."""
    read: dict[str, list[str]] = {}
    for entry in FORMATS:
        if isinstance(entry, Format):
            read.setdefault(entry.name, []).append(entry.signature)
    rows = [(f"`{name}`", "; ".join(signatures)) for name, signatures in read.items()]
    rows += [
        (entry.name, f"not read: {entry.why}") for entry in FORMATS if isinstance(entry, Named)
    ]
    return markdown_table(("format", "what must be present"), rows)


def agent_table() -> str:
    """The agents without a model."""
    agents = own_labels()["agent"].values()
    return meaning_table("`--agent`", {f"`{words.code}`": words.meaning for words in agents})


def tables() -> Mapping[Path, Mapping[str, str]]:
    """The tables of each page, by the names of their marked parts."""
    return {
        ROOT / "docs" / "sessions.md": {"session formats": format_table()},
        ROOT / "docs" / "audit.md": {
            "gates": gate_table(GATES),
            "limits": limit_table(GATES),
            "reasons": reason_table(sentences(GATES)),
        },
        ROOT / "docs" / "run.md": {"agents": agent_table()},
        ROOT / "docs" / "leaderboard.md": {"columns": meaning_table("column", COLUMNS)},
        ROOT / "docs" / "architecture.md": {"stages": stage_table(PIPELINE)},
    }


def page_with_tables(path: Path) -> str:
    """The text of a page with its tables made anew."""
    page = path.read_text("utf-8")
    for name, table in tables()[path].items():
        page = between_markers(page, name, table)
    return page


def main() -> None:
    """Write the generated parts into their pages."""
    page = SETTINGS_PAGE.read_text(encoding="utf-8")
    write_bytes(SETTINGS_PAGE, configuration_page(page).encode())
    for path in tables():
        write_bytes(path, page_with_tables(path).encode())


if __name__ == "__main__":
    main()
